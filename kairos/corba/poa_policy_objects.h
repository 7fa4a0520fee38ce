// SPDX-License-Identifier: Apache-2.0
//
// The policies of POAs as objects (CORBA 3.3 part 1, 15.3.8). Immutable. Of what every skeleton
// includes: light.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb_types.h"
#include "kairos/corba/poa.h"
#include "kairos/types/any_value.h"

namespace kairos::corba {

/// What the interfaces have in common. P says its names. It is one class with its interface, for
/// each virtual base of one more costs several tables.
template <typename P, typename Value>
class KAIROS_API PoaPolicy : public virtual CORBA::Policy {
  public:
    typedef P* _ptr_type;
    typedef mapping::ObjectVar<P> _var_type;

    static P* _duplicate(P* policy) { return duplicate(policy); }
    static P* _narrow(CORBA::Object_ptr object) { return narrow_local<P>(object); }
    static P* _nil() { return nullptr; }

    virtual Value value() { return value_; }
    CORBA::Policy_ptr copy() override { return make(value_); }
    void destroy() override {}
    CORBA::PolicyType policy_type() override { return P::_kairos_type; }
    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == P::_kairos_id || Policy::_kairos_supports(repository_id);
    }

    /// Kairos' own: owned by the caller.
    [[nodiscard]] static P* make(Value value) { return new P(value); }

  protected:
    explicit PoaPolicy(Value value) : value_(value) {}

  private:
    const Value value_;
};

} // namespace kairos::corba

namespace PortableServer {

inline constexpr CORBA::PolicyType THREAD_POLICY_ID = 16;
inline constexpr CORBA::PolicyType LIFESPAN_POLICY_ID = 17;
inline constexpr CORBA::PolicyType ID_UNIQUENESS_POLICY_ID = 18;
inline constexpr CORBA::PolicyType ID_ASSIGNMENT_POLICY_ID = 19;
inline constexpr CORBA::PolicyType IMPLICIT_ACTIVATION_POLICY_ID = 20;
inline constexpr CORBA::PolicyType SERVANT_RETENTION_POLICY_ID = 21;
inline constexpr CORBA::PolicyType REQUEST_PROCESSING_POLICY_ID = 22;

class KAIROS_API ThreadPolicy : public kairos::corba::PoaPolicy<ThreadPolicy, ThreadPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = THREAD_POLICY_ID;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/ThreadPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef ThreadPolicy::_var_type ThreadPolicy_var;
typedef kairos::mapping::ObjectOut<ThreadPolicy> ThreadPolicy_out;

class KAIROS_API LifespanPolicy
    : public kairos::corba::PoaPolicy<LifespanPolicy, LifespanPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = LIFESPAN_POLICY_ID;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/LifespanPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef LifespanPolicy::_var_type LifespanPolicy_var;
typedef kairos::mapping::ObjectOut<LifespanPolicy> LifespanPolicy_out;

class KAIROS_API IdUniquenessPolicy
    : public kairos::corba::PoaPolicy<IdUniquenessPolicy, IdUniquenessPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = ID_UNIQUENESS_POLICY_ID;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/IdUniquenessPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef IdUniquenessPolicy::_var_type IdUniquenessPolicy_var;
typedef kairos::mapping::ObjectOut<IdUniquenessPolicy> IdUniquenessPolicy_out;

class KAIROS_API IdAssignmentPolicy
    : public kairos::corba::PoaPolicy<IdAssignmentPolicy, IdAssignmentPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = ID_ASSIGNMENT_POLICY_ID;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/IdAssignmentPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef IdAssignmentPolicy::_var_type IdAssignmentPolicy_var;
typedef kairos::mapping::ObjectOut<IdAssignmentPolicy> IdAssignmentPolicy_out;

class KAIROS_API ImplicitActivationPolicy
    : public kairos::corba::PoaPolicy<ImplicitActivationPolicy, ImplicitActivationPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = IMPLICIT_ACTIVATION_POLICY_ID;
    static constexpr const char* _kairos_id =
        "IDL:omg.org/PortableServer/ImplicitActivationPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef ImplicitActivationPolicy::_var_type ImplicitActivationPolicy_var;
typedef kairos::mapping::ObjectOut<ImplicitActivationPolicy> ImplicitActivationPolicy_out;

class KAIROS_API ServantRetentionPolicy
    : public kairos::corba::PoaPolicy<ServantRetentionPolicy, ServantRetentionPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = SERVANT_RETENTION_POLICY_ID;
    static constexpr const char* _kairos_id =
        "IDL:omg.org/PortableServer/ServantRetentionPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef ServantRetentionPolicy::_var_type ServantRetentionPolicy_var;
typedef kairos::mapping::ObjectOut<ServantRetentionPolicy> ServantRetentionPolicy_out;

class KAIROS_API RequestProcessingPolicy
    : public kairos::corba::PoaPolicy<RequestProcessingPolicy, RequestProcessingPolicyValue> {
  public:
    static constexpr CORBA::PolicyType _kairos_type = REQUEST_PROCESSING_POLICY_ID;
    static constexpr const char* _kairos_id =
        "IDL:omg.org/PortableServer/RequestProcessingPolicy:1.0";

  private:
    friend PoaPolicy;
    using PoaPolicy::PoaPolicy;
};
typedef RequestProcessingPolicy::_var_type RequestProcessingPolicy_var;
typedef kairos::mapping::ObjectOut<RequestProcessingPolicy> RequestProcessingPolicy_out;

KAIROS_API extern const CORBA::TypeCode_ptr _tc_ThreadPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_LifespanPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_IdUniquenessPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_IdAssignmentPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_ImplicitActivationPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_ServantRetentionPolicyValue;
KAIROS_API extern const CORBA::TypeCode_ptr _tc_RequestProcessingPolicyValue;

// For ORB::create_policy. NOLINTBEGIN(bugprone-macro-parentheses): types take none
#define KAIROS_POLICY_IN_ANY(Value)                                                                \
    inline void operator<<=(CORBA::Any& any, Value value)                                          \
    {                                                                                              \
        kairos::types::insert_enum(any, _tc_##Value, value);                                       \
    }                                                                                              \
    inline CORBA::Boolean operator>>=(const CORBA::Any& any, Value& value)                         \
    {                                                                                              \
        return kairos::types::extract_enum(any, _tc_##Value, value);                               \
    }
KAIROS_POLICY_IN_ANY(ThreadPolicyValue)
KAIROS_POLICY_IN_ANY(LifespanPolicyValue)
KAIROS_POLICY_IN_ANY(IdUniquenessPolicyValue)
KAIROS_POLICY_IN_ANY(IdAssignmentPolicyValue)
KAIROS_POLICY_IN_ANY(ImplicitActivationPolicyValue)
KAIROS_POLICY_IN_ANY(ServantRetentionPolicyValue)
KAIROS_POLICY_IN_ANY(RequestProcessingPolicyValue)
#undef KAIROS_POLICY_IN_ANY // NOLINTEND(bugprone-macro-parentheses)

} // namespace PortableServer
