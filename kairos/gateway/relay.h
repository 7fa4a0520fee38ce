// SPDX-License-Identifier: Apache-2.0
//
// The servant of a gateway's objects: what comes in goes out to the target, and what that answers
// comes back. It works on messages: a body is copied whole where nothing in it has to be looked at,
// else value by value as the TypeCodes of the operation say. Stations 8 to 10 of the request walk
// (docs/TOUR.md), and 1 and 2 of another. Any thread.
#pragma once

#include "kairos/corba/portable_server.h"
#include "kairos/gateway/gateway.h"
#include "kairos/gateway/seal.h"
#include "kairos/gateway/targets.h"
#include "kairos/ior/ior.h"

#include <map>
#include <string>
#include <string_view>

namespace kairos::gateway {

/// Makes the POA of a gateway, owned by the caller, below the ORB's RootPOA. Throws what create_POA
/// throws.
[[nodiscard]] PortableServer::POA_ptr make_adapter(CORBA::ORB_ptr orb, const Options& options);

class Relay final : public virtual PortableServer::ServantBase {
  public:
    Relay(CORBA::ORB_ptr orb, Interfaces& interfaces, const Options& options);
    ~Relay() override;

    /// Takes the POA whose default servant this is; before there are requests.
    void serve(PortableServer::POA_ptr poa);
    [[nodiscard]] PortableServer::POA_ptr poa() const noexcept { return poa_.in(); }

    /// Returns the reference that takes the place of one that passes: one of the gateway's own is
    /// unwrapped, any other leads through the gateway afterwards; nil stays. Throws IMP_LIMIT.
    [[nodiscard]] ior::Ior exchanged(const ior::Ior& reference);
    /// Returns a reference that leads to the target through the gateway, owned by the caller.
    /// Throws IMP_LIMIT where the target's is too long.
    [[nodiscard]] CORBA::Object_ptr published(const ior::Ior& target);
    /// Returns the target of a reference of the gateway's own; nothing for any other.
    [[nodiscard]] std::optional<ior::Ior> unwrapped(const ior::Ior& reference) const;

    [[nodiscard]] Interfaces& interfaces() noexcept { return interfaces_; }
    [[nodiscard]] bool passes_unknown() const noexcept { return passes_unknown_; }
    [[nodiscard]] std::size_t references_max() const noexcept { return references_max_; }

    void _kairos_dispatch(orb::Upcall& upcall) override;
    /// Its objects have no interface of their own: only targets know.
    [[nodiscard]] bool _kairos_supports(std::string_view) const override { return false; }
    [[nodiscard]] const char* _kairos_id() const override { return CORBA::Object::_kairos_id; }

  private:
    class Passage;

    /// Returns what is known of the operation; null for nothing, where such requests may pass.
    /// Throws BAD_OPERATION, or INTF_REPOS where nobody knows the interface. `kept` keeps it.
    [[nodiscard]] const Operation* operation_of(const Target& target, std::string_view name,
                                                std::shared_ptr<const Interface>& kept);

    Interfaces& interfaces_;
    const bool passes_unknown_;
    const std::size_t references_max_;
    const Seal seal_;
    Targets targets_;
    const std::map<std::string, Operation, std::less<>> standard_; // what every object has
    PortableServer::POA_var poa_;
};

} // namespace kairos::gateway
