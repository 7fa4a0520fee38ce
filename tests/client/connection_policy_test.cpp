// SPDX-License-Identifier: Apache-2.0
//
// How threads share connections, chosen for one reference, one thread or one ORB instead of by
// -ORBConnection.
#include "tests/client/policies.h"

#include "kairos/client/client.h"
#include "kairos/orb/orb.h"

namespace kairos::orb_testing {
namespace {

using KairosPolicies::ACTIVE;
using KairosPolicies::CONNECTION_ARCHITECTURE_POLICY_TYPE;
using KairosPolicies::LEADER_FOLLOWERS;
using KairosPolicies::NON_MULTIPLEXED;

[[nodiscard]] CORBA::Policy_ptr architecture(CORBA::ORB_ptr orb, CORBA::Short value)
{
    return make_policy(orb, CONNECTION_ARCHITECTURE_POLICY_TYPE, value);
}

class ConnectionPolicy : public testing::Test {
  protected:
    [[nodiscard]] static std::size_t shared(Client& client)
    {
        return orb::Client::of(client.orb()->_kairos_core()).shared_connections().count();
    }
    [[nodiscard]] static std::size_t own(Client& client)
    {
        return orb::Client::of(client.orb()->_kairos_core()).connections().count();
    }
    /// In a thread of its own.
    static void call_elsewhere(Probe::Target_ptr target)
    {
        std::thread([target] { EXPECT_EQ(target->add(20, 3), 23); }).join();
    }

    LogLines log_;
    RunningServer server_{"worker-pool"};
};

class SharingPolicy : public ConnectionPolicy, public testing::WithParamInterface<CORBA::Short> {};

TEST_P(SharingPolicy, OfAReference)
{
    Client client;
    const Probe::Target_var target = client.target(server_.reference());
    const Probe::Target_var sharing = with(target, architecture(client.orb(), GetParam()));
    call_elsewhere(sharing);
    EXPECT_EQ(sharing->add(1, 2), 3);
    EXPECT_EQ(shared(client), 1u);
    EXPECT_EQ(own(client), 0u);
    EXPECT_EQ(target->add(3, 4), 7); // the old reference stays as it is
    EXPECT_EQ(shared(client), 1u);
    EXPECT_EQ(own(client), 1u);
}

TEST_P(SharingPolicy, OfAThread)
{
    Client client;
    const Probe::Target_var target = client.target(server_.reference());
    std::thread([&] {
        set_for_thread(client.orb(), architecture(client.orb(), GetParam()));
        EXPECT_EQ(target->add(1, 2), 3);
    }).join();
    EXPECT_EQ(shared(client), 1u);
    EXPECT_EQ(own(client), 0u);
    EXPECT_EQ(target->add(3, 4), 7);
    EXPECT_EQ(own(client), 1u);
}

TEST_P(SharingPolicy, OfAnOrb)
{
    Client client;
    const Probe::Target_var target = client.target(server_.reference());
    EXPECT_TRUE(client.orb()->_kairos_core().has_plain_calls());
    set_for_orb(client.orb(), architecture(client.orb(), GetParam()));
    EXPECT_FALSE(client.orb()->_kairos_core().has_plain_calls());
    call_elsewhere(target);
    EXPECT_EQ(target->add(1, 2), 3);
    EXPECT_TRUE(target->_validate_connection());
    EXPECT_EQ(shared(client), 1u);
    EXPECT_EQ(own(client), 0u);
}

TEST_P(SharingPolicy, ConnectionsThatAreMadeEarly)
{
    Client client{{"-ORBBindEarly", "1"}};
    set_for_orb(client.orb(), architecture(client.orb(), GetParam()));
    const Probe::Target_var target = client.target(server_.reference());
    EXPECT_EQ(shared(client), 1u);
    EXPECT_EQ(own(client), 0u);
}

INSTANTIATE_TEST_SUITE_P(Architectures, SharingPolicy, testing::Values(LEADER_FOLLOWERS, ACTIVE),
                         [](const testing::TestParamInfo<CORBA::Short>& tested) {
                             return tested.param == ACTIVE ? "active" : "leader_followers";
                         });

TEST_F(ConnectionPolicy, OverrulesTheOption)
{
    Client client{{"-ORBConnection", "active"}};
    const Probe::Target_var target = client.target(server_.reference());
    const Probe::Target_var alone = with(target, architecture(client.orb(), NON_MULTIPLEXED));
    EXPECT_EQ(alone->add(1, 2), 3);
    EXPECT_EQ(shared(client), 0u);
    EXPECT_EQ(own(client), 1u);
    EXPECT_EQ(target->add(1, 2), 3);
    EXPECT_EQ(shared(client), 1u);
}

TEST_F(ConnectionPolicy, OfAReferenceComesBeforeTheThreadsAndTheOrbs)
{
    Client client;
    set_for_orb(client.orb(), architecture(client.orb(), ACTIVE));
    set_for_thread(client.orb(), architecture(client.orb(), LEADER_FOLLOWERS));
    const Probe::Target_var target = client.target(server_.reference());
    const Probe::Target_var alone = with(target, architecture(client.orb(), NON_MULTIPLEXED));
    EXPECT_EQ(alone->add(1, 2), 3);
    EXPECT_EQ(shared(client), 0u);
    EXPECT_EQ(target->add(1, 2), 3); // as the thread wants it
    EXPECT_EQ(shared(client), 1u);
    call_elsewhere(target); // as the ORB wants it
    EXPECT_EQ(shared(client), 2u) << "the architectures do not share with each other";
    const CORBA::Policy_var effective =
        alone->_get_client_policy(CONNECTION_ARCHITECTURE_POLICY_TYPE);
    auto* said = dynamic_cast<KairosPolicies::ConnectionArchitecturePolicy*>(effective.in());
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said->architecture(), NON_MULTIPLEXED);
}

TEST_F(ConnectionPolicy, OtherValuesAreRefused)
{
    Client client;
    const auto reason = [&](auto value) {
        try {
            const CORBA::Policy_var policy =
                make_policy(client.orb(), CONNECTION_ARCHITECTURE_POLICY_TYPE, value);
            return CORBA::PolicyErrorCode{-1};
        } catch (const CORBA::PolicyError& error) {
            return error.reason;
        }
    };
    EXPECT_EQ(reason(ACTIVE), -1);
    EXPECT_EQ(reason(CORBA::Short{3}), CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(reason(CORBA::Short{-1}), CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(reason(CORBA::Long{1}), CORBA::BAD_POLICY_TYPE);
}

} // namespace
} // namespace kairos::orb_testing
