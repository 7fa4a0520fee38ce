// SPDX-License-Identifier: Apache-2.0
#include "kairos/gateway/targets.h"

#include "kairos/corba/Messaging.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/reference.h"

#include <utility>

namespace kairos::gateway {

namespace {

CORBA::PolicyList only(CORBA::Policy_ptr owned)
{
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = owned;
    return policies;
}

CORBA::Policy_ptr limit_of(CORBA::ORB_ptr orb, std::chrono::milliseconds timeout)
{
    constexpr TimeBase::TimeT units_in_ms = 10'000; // of 100 ns
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(timeout.count()) * units_in_ms;
    return orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value);
}

CORBA::Policy_ptr confirmation(CORBA::ORB_ptr orb)
{
    CORBA::Any value;
    value <<= Messaging::SYNC_WITH_SERVER;
    return orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, value);
}

} // namespace

Target::Target(CORBA::Object_ptr limited, CORBA::Object_ptr confirmed)
    : limited_(limited), confirmed_(confirmed)
{
}

std::shared_ptr<const Interface> Target::interface(Interfaces& interfaces) const
{
    {
        const std::lock_guard lock(mutex_);
        if (interface_ != nullptr) return interface_;
    }
    // Several threads may ask at the same time, and get the same.
    std::shared_ptr<const Interface> found = interfaces.interface_of(limited_.in());
    const std::lock_guard lock(mutex_);
    interface_ = found;
    return found;
}

Targets::Targets(CORBA::ORB_ptr orb, const Seal& seal, std::chrono::milliseconds timeout,
                 std::size_t targets_max)
    : orb_(CORBA::ORB::_duplicate(orb)), seal_(seal), targets_max_(targets_max),
      limit_(only(limit_of(orb, timeout))), confirmation_(only(confirmation(orb)))
{
}

std::shared_ptr<const Target> Targets::find(Bytes id)
{
    const std::string_view text = as_text(id);
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = by_id_.find(text); found != by_id_.end()) return found->second;
    }
    std::shared_ptr<const Target> made = make(id);
    std::shared_ptr<const Target> forgotten; // ends without the lock
    const std::lock_guard lock(mutex_);
    if (by_id_.size() >= targets_max_ && !by_id_.empty()) {
        forgotten = std::move(by_id_.begin()->second);
        by_id_.erase(by_id_.begin());
    }
    return by_id_.try_emplace(std::string(text), std::move(made)).first->second;
}

std::shared_ptr<const Target> Targets::make(Bytes id) const
{
    const auto reference = seal_.open(id);
    if (!reference)
        orb::raise<CORBA::OBJECT_NOT_EXIST>(orb::minor_code::no_such_object, CORBA::COMPLETED_NO,
                                            "the reference is none of this gateway");
    const CORBA::Object_var target = orb_->string_to_object(ior::to_string(*reference).c_str());
    if (CORBA::is_nil(target.in()))
        orb::raise<CORBA::OBJECT_NOT_EXIST>(orb::minor_code::no_such_object, CORBA::COMPLETED_NO);
    CORBA::Object_var limited = target->_set_policy_overrides(limit_, CORBA::SET_OVERRIDE);
    CORBA::Object_var confirmed =
        limited->_set_policy_overrides(confirmation_, CORBA::ADD_OVERRIDE);
    return std::make_shared<Target>(limited._retn(), confirmed._retn());
}

} // namespace kairos::gateway
