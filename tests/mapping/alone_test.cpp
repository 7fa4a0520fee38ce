// SPDX-License-Identifier: Apache-2.0
//
// What the mapping promises is there with any generated header: this file includes no other of
// Kairos, as programs that were written for other ORBs do.
#include "everything_skel.h"

#include <gtest/gtest.h>

namespace {

class Alone : public ::testing::Test {
  protected:
    Alone()
    {
        int argc = 0;
        orb_ = CORBA::ORB_init(argc, nullptr, "Alone");
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        root_ = PortableServer::POA::_narrow(object);
    }
    ~Alone() override { orb_->destroy(); }

    CORBA::ORB_var orb_;
    PortableServer::POA_var root_;
};

TEST_F(Alone, PoliciesOfPoasAreObjects)
{
    CORBA::PolicyList policies;
    policies.length(7);
    policies[0] = root_->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = root_->create_id_assignment_policy(PortableServer::USER_ID);
    policies[2] = root_->create_thread_policy(PortableServer::ORB_CTRL_MODEL);
    policies[3] = root_->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[4] = root_->create_implicit_activation_policy(PortableServer::NO_IMPLICIT_ACTIVATION);
    policies[5] = root_->create_servant_retention_policy(PortableServer::RETAIN);
    policies[6] = root_->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    const PortableServer::POAManager_var manager = root_->the_POAManager();
    const PortableServer::POA_var made = root_->create_POA("made", manager, policies);
    const CORBA::String_var name = made->the_name();
    EXPECT_STREQ(name, "made");
    const PortableServer::LifespanPolicy_var lifespan =
        PortableServer::LifespanPolicy::_narrow(policies[0]);
    EXPECT_EQ(lifespan->value(), PortableServer::PERSISTENT);
    EXPECT_EQ(policies[1]->policy_type(), PortableServer::ID_ASSIGNMENT_POLICY_ID);
    CORBA::Any value;
    value <<= PortableServer::USER_ID;
    const CORBA::Policy_var same =
        orb_->create_policy(PortableServer::ID_ASSIGNMENT_POLICY_ID, value);
    EXPECT_EQ(same->policy_type(), policies[1]->policy_type());
    for (CORBA::ULong i = 0; i < policies.length(); ++i)
        policies[i]->destroy();
}

TEST_F(Alone, TypesOfModuleCorbaAreThere)
{
    CORBA::OctetSeq octets;
    octets.length(4);
    const CORBA::StringSeq strings{"one"};
    CORBA::Any any;
    any <<= octets;
    any <<= strings;
    const CORBA::StringSeq* held = nullptr;
    ASSERT_TRUE(any >>= held);
    EXPECT_STREQ((*held)[0], "one");
    const CORBA::StringValue_var box = new CORBA::StringValue("boxed");
    EXPECT_STREQ(box->_value(), "boxed");
    const CORBA::Object_var object = orb_->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var overrides = CORBA::PolicyManager::_narrow(object);
    const CORBA::PolicyList_var none = overrides->get_policy_overrides(CORBA::PolicyTypeSeq());
    EXPECT_EQ(none->length(), 0u);
    any <<= CORBA::BAD_PARAM(1, CORBA::COMPLETED_NO);
    const CORBA::BAD_PARAM* exception = nullptr;
    ASSERT_TRUE(any >>= exception);
    EXPECT_EQ(exception->minor(), 1u);
}

} // namespace
