// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/call_policies.h"

#include "kairos/corba/BiDirPolicy.h"
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

/// One of a few values, 0 to `last`.
template <typename P, CORBA::PolicyType type, CORBA::Short last>
class ChoicePolicy : public P {
  public:
    CORBA::PolicyType policy_type() override { return type; }
    void destroy() override {}

  protected:
    explicit ChoicePolicy(CORBA::Short value) : value_(value) {}
    /// Of what a program gives to create_policy.
    static CORBA::Short value_of(const CORBA::Any& any)
    {
        CORBA::Short value = 0;
        if (!(any >>= value)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
        if (value < 0 || value > last) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return value;
    }
    const CORBA::Short value_;
};

class SyncScopePolicy final
    : public ChoicePolicy<Messaging::SyncScopePolicy, Messaging::SYNC_SCOPE_POLICY_TYPE,
                          Messaging::SYNC_WITH_TARGET> {
  public:
    explicit SyncScopePolicy(CORBA::Short value) : ChoicePolicy(value) {}
    explicit SyncScopePolicy(const CORBA::Any& any) : ChoicePolicy(value_of(any)) {}
    Messaging::SyncScope synchronization() override { return value_; }
    CORBA::Policy_ptr copy() override { return new SyncScopePolicy(value_); }
};

class RebindPolicy final
    : public ChoicePolicy<Messaging::RebindPolicy, Messaging::REBIND_POLICY_TYPE,
                          Messaging::NO_RECONNECT> {
  public:
    explicit RebindPolicy(CORBA::Short value) : ChoicePolicy(value) {}
    explicit RebindPolicy(const CORBA::Any& any) : ChoicePolicy(value_of(any)) {}
    Messaging::RebindMode rebind_mode() override { return value_; }
    CORBA::Policy_ptr copy() override { return new RebindPolicy(value_); }
};

class ConnectionPolicy final
    : public ChoicePolicy<KairosPolicies::ConnectionArchitecturePolicy,
                          KairosPolicies::CONNECTION_ARCHITECTURE_POLICY_TYPE,
                          KairosPolicies::ACTIVE> {
  public:
    explicit ConnectionPolicy(CORBA::Short value) : ChoicePolicy(value) {}
    explicit ConnectionPolicy(const CORBA::Any& any) : ChoicePolicy(value_of(any)) {}
    KairosPolicies::ConnectionArchitecture architecture() override { return value_; }
    CORBA::Policy_ptr copy() override { return new ConnectionPolicy(value_); }
};

class BidirectionalPolicy final : public BiDirPolicy::BidirectionalPolicy {
  public:
    explicit BidirectionalPolicy(BiDirPolicy::BidirectionalPolicyValue value) : value_(value) {}
    CORBA::PolicyType policy_type() override { return BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE; }
    BiDirPolicy::BidirectionalPolicyValue value() override { return value_; }
    CORBA::Policy_ptr copy() override { return new BidirectionalPolicy(value_); }
    void destroy() override {}

    static CORBA::Policy_ptr of(const CORBA::Any& any)
    {
        BiDirPolicy::BidirectionalPolicyValue value = 0;
        if (!(any >>= value)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
        if (value > BiDirPolicy::BOTH) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
        return new BidirectionalPolicy(value);
    }

  private:
    const BiDirPolicy::BidirectionalPolicyValue value_;
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

bool is_call_policy(CORBA::PolicyType type) noexcept
{
    switch (type) {
    case Messaging::SYNC_SCOPE_POLICY_TYPE:
    case Messaging::REBIND_POLICY_TYPE:
    case KairosPolicies::CONNECTION_ARCHITECTURE_POLICY_TYPE:
    case Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE:
    case Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE:
    case KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE:
    case BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE:
        return true;
    default:
        return false;
    }
}

CORBA::Policy_ptr create_call_policy(CORBA::PolicyType type, const CORBA::Any& value)
{
    switch (type) {
    case Messaging::SYNC_SCOPE_POLICY_TYPE:
        return new SyncScopePolicy(value);
    case Messaging::REBIND_POLICY_TYPE:
        return new RebindPolicy(value);
    case KairosPolicies::CONNECTION_ARCHITECTURE_POLICY_TYPE:
        return new ConnectionPolicy(value);
    case Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE:
        return RequestTimeout::of(value);
    case Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE:
        return RoundtripTimeout::of(value);
    case KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE:
        return ConnectionTimeout::of(value);
    case BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE:
        return BidirectionalPolicy::of(value);
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
    if (auto* rebind = dynamic_cast<Messaging::RebindPolicy*>(policy); rebind != nullptr)
        calls.rebind = orb::RebindMode{rebind->rebind_mode()};
    using Connection = KairosPolicies::ConnectionArchitecturePolicy;
    if (auto* connection = dynamic_cast<Connection*>(policy); connection != nullptr)
        calls.connection = orb::ConnectionArchitecture{connection->architecture()};
    if (auto* both = dynamic_cast<BiDirPolicy::BidirectionalPolicy*>(policy); both != nullptr)
        calls.bidirectional = both->value() == BiDirPolicy::BOTH ? orb::BidirectionalUse::both
                                                                 : orb::BidirectionalUse::normal;
}

} // namespace kairos::corba
