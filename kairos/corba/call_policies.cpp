// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/call_policies.h"

#include "kairos/corba/KairosPolicies.h"
#include "kairos/corba/Messaging.h"

#include <limits>

namespace kairos::corba {

namespace {

template <typename P, CORBA::PolicyType type>
class TimePolicy final : public P {
  public:
    explicit TimePolicy(TimeBase::TimeT time) : time_(time) {}

    TimeBase::TimeT relative_expiry() override { return time_; }
    CORBA::PolicyType policy_type() override { return type; }
    CORBA::Policy_ptr copy() override { return new TimePolicy(time_); }
    void destroy() override {}

    static CORBA::Policy_ptr of(const CORBA::Any& value)
    {
        TimeBase::TimeT time = 0;
        if (!(value >>= time)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
        return new TimePolicy(time);
    }

  private:
    const TimeBase::TimeT time_;
};

using RequestTimeout = TimePolicy<Messaging::RelativeRequestTimeoutPolicy,
                                  Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE>;
using RoundtripTimeout = TimePolicy<Messaging::RelativeRoundtripTimeoutPolicy,
                                    Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE>;
using ConnectionTimeout = TimePolicy<KairosPolicies::ConnectionTimeoutPolicy,
                                     KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE>;

class SyncScopePolicy final : public Messaging::SyncScopePolicy {
  public:
    explicit SyncScopePolicy(Messaging::SyncScope scope) : scope_(scope) {}

    Messaging::SyncScope synchronization() override { return scope_; }
    CORBA::PolicyType policy_type() override { return Messaging::SYNC_SCOPE_POLICY_TYPE; }
    CORBA::Policy_ptr copy() override { return new SyncScopePolicy(scope_); }
    void destroy() override {}

    static CORBA::Policy_ptr of(const CORBA::Any& value)
    {
        Messaging::SyncScope scope = 0;
        if (!(value >>= scope)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
        if (scope < Messaging::SYNC_NONE || scope > Messaging::SYNC_WITH_TARGET)
            throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return new SyncScopePolicy(scope);
    }

  private:
    const Messaging::SyncScope scope_;
};

/// What no clock of nanoseconds can tell is no limit.
std::chrono::nanoseconds nanoseconds_of(TimeBase::TimeT time)
{
    constexpr TimeBase::TimeT unit_ns = 100;
    constexpr TimeBase::TimeT max = std::numeric_limits<std::int64_t>::max() / unit_ns;
    return std::chrono::nanoseconds(time > max ? 0 : time * unit_ns);
}

template <typename P, typename Time>
void add_time(Time& time, CORBA::Policy_ptr policy)
{
    if (auto* known = dynamic_cast<P*>(policy); known != nullptr)
        time = nanoseconds_of(known->relative_expiry());
}

} // namespace

CORBA::Policy_ptr create_call_policy(CORBA::PolicyType type, const CORBA::Any& value)
{
    switch (type) {
    case Messaging::SYNC_SCOPE_POLICY_TYPE:
        return SyncScopePolicy::of(value);
    case Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE:
        return RequestTimeout::of(value);
    case Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE:
        return RoundtripTimeout::of(value);
    case KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE:
        return ConnectionTimeout::of(value);
    default:
        return CORBA::Policy::_nil();
    }
}

void add_call_policy(orb::CallPolicies& calls, CORBA::Policy_ptr policy)
{
    add_time<Messaging::RelativeRequestTimeoutPolicy>(calls.request_max, policy);
    add_time<Messaging::RelativeRoundtripTimeoutPolicy>(calls.round_trip_max, policy);
    add_time<KairosPolicies::ConnectionTimeoutPolicy>(calls.connect_max, policy);
    if (auto* scope = dynamic_cast<Messaging::SyncScopePolicy*>(policy); scope != nullptr)
        calls.sync_scope = orb::SyncScope{scope->synchronization()};
}

} // namespace kairos::corba
