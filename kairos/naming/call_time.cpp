// SPDX-License-Identifier: Apache-2.0
#include "kairos/naming/call_time.h"

#include "kairos/corba/CORBA.h"
#include "kairos/corba/Messaging.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <optional>

namespace kairos::naming {
namespace {

constexpr CORBA::PolicyType policy_type = Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE;
using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>; // of TimeBase::TimeT

/// What the program has said about calls on the reference; zero for "no limit".
std::optional<std::chrono::nanoseconds> limit_of_program(CORBA::Object_ptr reference)
{
    const CORBA::Policy_var policy = reference->_get_client_policy(policy_type);
    const auto limit = Messaging::RelativeRoundtripTimeoutPolicy_var(
        Messaging::RelativeRoundtripTimeoutPolicy::_narrow(policy.in()));
    if (!CORBA::is_nil(limit.in()))
        return Ticks(static_cast<std::int64_t>(limit->relative_expiry()));
    const CORBA::ORB_var orb = reference->_get_orb();
    if (CORBA::is_nil(orb.in())) return std::nullopt; // it was destroyed
    return orb->_kairos_core().options().call_policies.round_trip_max;
}

bool has_limit_of_its_own(CORBA::Object_ptr reference)
{
    CORBA::PolicyTypeSeq types;
    types.length(1);
    types[0] = policy_type;
    const CORBA::PolicyList_var overrides = reference->_get_policy_overrides(types);
    return overrides->length() != 0;
}

CORBA::Object_ptr with_limit(CORBA::Object_ptr reference, std::chrono::nanoseconds limit)
{
    const auto ticks = std::chrono::ceil<Ticks>(limit).count(); // zero would be no limit
    CORBA::Any value;
    value <<= static_cast<TimeBase::TimeT>(ticks);
    const CORBA::ORB_var orb = reference->_get_orb();
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = orb->create_policy(policy_type, value);
    return reference->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
}

} // namespace

CallTime::CallTime(CORBA::Object_ptr whose)
{
    if (CORBA::is_nil(whose)) return;
    const std::chrono::nanoseconds time = limit_of_program(whose).value_or(time_default);
    if (time.count() != 0) deadline_ = Deadline::after(time);
}

CORBA::Object_ptr CallTime::limit(CORBA::Object_ptr reference, int share)
{
    if (CORBA::is_nil(reference) || deadline_.is_never())
        return CORBA::Object::_duplicate(reference);
    const std::chrono::nanoseconds left = *deadline_.left();
    if (left.count() == 0)
        throw CORBA::TIMEOUT(orb::minor_code::not_sent_in_time, CORBA::COMPLETED_NO,
                             "others took all the time that there is for the request");
    if (has_limit_of_its_own(reference)) return CORBA::Object::_duplicate(reference);
    return with_limit(reference, left / share);
}

} // namespace kairos::naming
