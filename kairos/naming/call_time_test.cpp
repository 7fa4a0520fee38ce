// SPDX-License-Identifier: Apache-2.0
#include "kairos/naming/call_time.h"

#include "kairos/corba/CORBA.h"
#include "kairos/corba/Messaging.h"

#include <gtest/gtest.h>

namespace kairos::naming {
namespace {

CORBA::ORB_ptr make_orb(std::vector<const char*> arguments)
{
    int count = static_cast<int>(arguments.size());
    return CORBA::ORB_init(count, const_cast<char**>(arguments.data()));
}

CORBA::Object_ptr reference_of(CORBA::ORB_ptr orb)
{
    return orb->string_to_object("corbaloc::127.0.0.1:1/nobody");
}

CORBA::Object_ptr with_policy(CORBA::ORB_ptr orb, CORBA::Object_ptr object, TimeBase::TimeT time)
{
    CORBA::Any value;
    value <<= time;
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = orb->create_policy(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, value);
    return object->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
}

/// In units of 100 ns; 0 for no override.
TimeBase::TimeT limit_of(CORBA::Object_ptr object)
{
    CORBA::PolicyTypeSeq types;
    types.length(1);
    types[0] = Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE;
    const CORBA::PolicyList_var found = object->_get_policy_overrides(types);
    if (found->length() == 0) return 0;
    return Messaging::RelativeRoundtripTimeoutPolicy_var(
               Messaging::RelativeRoundtripTimeoutPolicy::_narrow(found[0]))
        ->relative_expiry();
}

constexpr TimeBase::TimeT second = 10'000'000;

TEST(CallTime, IsThreeSecondsWhereTheProgramSaysNothing)
{
    const CORBA::ORB_var orb = make_orb({"test", "-ORBid", "nothing"});
    const CORBA::Object_var object = reference_of(orb.in());
    CallTime time(object.in());
    const TimeBase::TimeT all = limit_of(time.limited(object.in()).in());
    EXPECT_GT(all, 0u);
    EXPECT_LE(all, 3 * second);
    EXPECT_LE(limit_of(time.briefly(object.in()).in()), 3 * second / 2);
    EXPECT_EQ(limit_of(object.in()), 0u);
    EXPECT_TRUE(CORBA::is_nil(time.limited(CORBA::Object::_nil()).in()));
    orb->destroy();
}

TEST(CallTime, IsWhatTheProgramSays)
{
    const CORBA::ORB_var orb =
        make_orb({"test", "-ORBid", "option", "-ORBClientTimeout", "3600000"});
    const CORBA::Object_var object = reference_of(orb.in());
    CallTime by_option(object.in());
    EXPECT_GT(limit_of(by_option.limited(object.in()).in()), 3 * second);

    const CORBA::Object_var patient = with_policy(orb.in(), object.in(), 7200 * second);
    CallTime by_policy(patient.in());
    EXPECT_EQ(limit_of(by_policy.limited(patient.in()).in()), 7200 * second); // as it was
    EXPECT_GT(limit_of(by_policy.limited(object.in()).in()), 3600 * second);

    const CORBA::Object_var exempt = with_policy(orb.in(), object.in(), 0);
    CallTime none(exempt.in());
    EXPECT_EQ(limit_of(none.limited(object.in()).in()), 0u);
    orb->destroy();
}

TEST(CallTime, RunsOut)
{
    const CORBA::ORB_var orb = make_orb({"test", "-ORBid", "end"});
    const CORBA::Object_var object = reference_of(orb.in());
    const CORBA::Object_var hurried = with_policy(orb.in(), object.in(), 1);
    CallTime time(hurried.in());
    for (bool over = false; !over;) { // 100 ns
        try {
            (void)time.limited(object.in());
        } catch (const CORBA::TIMEOUT& exception) {
            EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
            over = true;
        }
    }
    EXPECT_THROW((void)time.limited(hurried.in()), CORBA::TIMEOUT);
    orb->destroy();
}

} // namespace
} // namespace kairos::naming
