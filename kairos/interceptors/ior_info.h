// SPDX-License-Identifier: Apache-2.0
//
// What IOR interceptors are told of a POA that is being made (CORBA 3.3 part 1, 16.5.5). Belongs to
// the thread that makes the POA, and answers within the two points only.
#pragma once

#include "kairos/corba/poa.h"
#include "kairos/interceptors/PortableInterceptor.h"
#include "kairos/ior/ior.h"

#include <vector>

namespace kairos::interceptors {

/// Returns the value with one more owner.
template <typename Value>
[[nodiscard]] Value* counted(Value* value)
{
    CORBA::add_ref(value);
    return value;
}

class IorInfo final : public PortableInterceptor::IORInfo {
  public:
    /// Where the POA stands.
    enum class Point {
        establish_components,
        components_established,
        none, ///< outside of both: nothing may be asked
    };

    /// Tells of a POA, to whose references components are added in `components`. Both outlive the
    /// two points.
    IorInfo(PortableServer::POA& poa, std::vector<ior::TaggedComponent>& components) noexcept
        : poa_(poa), components_(components)
    {
    }

    char* manager_id() override;
    PortableInterceptor::AdapterState state() override;
    PortableInterceptor::ObjectReferenceTemplate* adapter_template() override;
    PortableInterceptor::ObjectReferenceFactory* current_factory() override;
    void current_factory(PortableInterceptor::ObjectReferenceFactory* value) override;
    CORBA::Policy_ptr get_effective_policy(CORBA::PolicyType type) override;
    void add_ior_component(const IOP::TaggedComponent& a_component) override;
    void add_ior_component_to_profile(const IOP::TaggedComponent& a_component,
                                      IOP::ProfileId profile_id) override;

    /// Has the two attributes say this template from now on.
    void set_template(PortableInterceptor::ObjectReferenceTemplate* made);
    void at(Point point) noexcept { point_ = point; }
    /// Returns the factory that the program has set; null where that is the template.
    [[nodiscard]] PortableInterceptor::ObjectReferenceFactory* other_factory() const;

  private:
    /// Throws BAD_INV_ORDER 14 at other points.
    void require(Point point) const;
    void require_any() const;

    PortableServer::POA& poa_;
    std::vector<ior::TaggedComponent>& components_;
    Point point_ = Point::none;
    PortableInterceptor::ObjectReferenceTemplate_var template_;
    PortableInterceptor::ObjectReferenceFactory_var factory_;
};

} // namespace kairos::interceptors
