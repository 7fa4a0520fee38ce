// SPDX-License-Identifier: Apache-2.0
//
// Object reference templates (CORBA 3.3 part 1, 16.5.3): what makes references to the objects of
// one POA, in its process and, having travelled, in others. Any thread.
#pragma once

#include "kairos/corba/poa.h"
#include "kairos/interceptors/KairosReferences.h"

#include <memory>
#include <mutex>
#include <string>

namespace kairos::interceptors {

/// The POA of a template, as long as there is one. Shared by the POA's references and its template.
class TemplatePoa {
  public:
    explicit TemplatePoa(PortableServer::POA_ptr poa) : poa_(PortableServer::POA::_duplicate(poa))
    {
    }
    /// Returns the POA, owned by the caller; nil when it has ended.
    [[nodiscard]] PortableServer::POA_ptr poa() const;
    void end() noexcept;

  private:
    mutable std::mutex mutex_; // guards what follows
    PortableServer::POA_var poa_;
};

class ReferenceTemplate final : public OBV_KairosReferences::Template,
                                public CORBA::DefaultValueRefCountBase {
  public:
    /// Makes an empty one, to be read from a message.
    ReferenceTemplate() = default;
    ReferenceTemplate(const ReferenceTemplate&) = delete;
    /// Makes the template of a POA. Throws what asking the POA throws.
    ReferenceTemplate(std::shared_ptr<const TemplatePoa> of, const std::string& orb_id,
                      const std::string& server_id);

    char* server_id() override;
    char* orb_id() override;
    PortableInterceptor::AdapterName* adapter_name() override;
    /// Makes a reference, owned by the caller. Throws BAD_PARAM 14 for an id that the POA would
    /// have to make itself and has not; MARSHAL where the template came from elsewhere and makes no
    /// sense.
    CORBA::Object_ptr make_object(const char* repository_id,
                                  const PortableInterceptor::ObjectId& id) override;

  private:
    ~ReferenceTemplate() override = default;
    [[nodiscard]] CORBA::Object_ptr from_sample(const char* repository_id,
                                                const PortableInterceptor::ObjectId& id);

    const std::shared_ptr<const TemplatePoa> poa_; // null where it has travelled
};

/// Returns the names of a POA and of those above it, the RootPOA's first. Owned by the caller.
[[nodiscard]] PortableInterceptor::AdapterName* name_of(PortableServer::POA& poa);

/// Has the ORB read templates out of messages.
void know_templates(CORBA::ORB& orb);

} // namespace kairos::interceptors
