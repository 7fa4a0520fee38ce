// SPDX-License-Identifier: Apache-2.0
//
// When oneways return, by each client's connection architecture and each way to the server.
#include "tests/client/policies.h"
#include "tests/robust/local.h"

namespace kairos::orb_testing {
namespace {

struct Way {
    const char* name;
    const char* endpoint; ///< beside TCP, whose port nobody can use then; null for TCP
};
using Tested = std::tuple<const char*, Way, Messaging::SyncScope>;

class ScopesByWay : public ::testing::TestWithParam<Tested> {
  protected:
    [[nodiscard]] static Way way() { return std::get<1>(GetParam()); }
    [[nodiscard]] static Arguments server_options()
    {
        Arguments options{"-ORBDebug", "0"};
        if (way().endpoint != nullptr)
            options.insert(options.end(), {"-ORBListenEndpoints", way().endpoint});
        return options;
    }
    [[nodiscard]] Probe::Target_var target(Client& client) const
    {
        const std::string& reference = server_.reference();
        const Probe::Target_var any = client.target(
            way().endpoint == nullptr ? reference : with_port(reference, dead_.port()));
        return with(any, make_policy(client.orb(), Messaging::SYNC_SCOPE_POLICY_TYPE,
                                     std::get<2>(GetParam())));
    }

    LogLines log_;
    DeadPort dead_;
    Event inside_; // these outlive what the server's threads still do when callers have returned
    Event may_end_;
    // Held until the servant is what it is to be.
    RunningServer server_{"worker-pool", server_options(), RunningServer::Start::holding};
    Client client_{{"-ORBConnection", std::get<0>(GetParam())}};
};

/// The servant is inside until the caller has returned, or else until it was seen that the caller
/// waits; then it throws, which only a caller hears that waits for it.
TEST_P(ScopesByWay, ReturnWhenTheySay)
{
    const bool waits_for_servant = std::get<2>(GetParam()) == Messaging::SYNC_WITH_TARGET;
    server_.servant().note_action = [this] {
        inside_.set();
        EXPECT_TRUE(may_end_.wait());
        throw CORBA::NO_PERMISSION();
    };
    server_.manager()->activate();
    const Probe::Target_var called = target(client_);
    Event returned;
    std::string ended;
    std::thread caller([&] {
        ended = outcome([&] { called->note(7); });
        returned.set();
    });
    EXPECT_TRUE(inside_.wait());
    if (waits_for_servant)
        EXPECT_FALSE(returned.is_set());
    else
        EXPECT_TRUE(returned.wait());
    may_end_.set();
    caller.join();
    EXPECT_EQ(ended, waits_for_servant ? "NO_PERMISSION 0x0 NO" : "ok");
    EXPECT_EQ(called->add(20, 3), 23); // whose reply is not the oneway's
    EXPECT_EQ(server_.servant().calls, 2u);
}

/// Who is confirmed hears that there is no object; the others never do.
TEST_P(ScopesByWay, TellWhatTheyKnow)
{
    const auto scope = std::get<2>(GetParam());
    const bool confirmed =
        scope == Messaging::SYNC_WITH_SERVER || scope == Messaging::SYNC_WITH_TARGET;
    server_.manager()->activate();
    const Probe::Target_var called = target(client_);
    EXPECT_EQ(called->add(20, 3), 23);
    server_.poa()->deactivate_object(server_.id());
    const std::string ended = outcome([&] { called->note(7); });
    EXPECT_EQ(ended.substr(0, 17), confirmed ? "OBJECT_NOT_EXIST " : "ok");
    EXPECT_EQ(outcome([&] { called->ping(); }).substr(0, 17), "OBJECT_NOT_EXIST ");
    EXPECT_EQ(server_.servant().calls, 1u);
}

std::string name_of(const ::testing::TestParamInfo<Tested>& tested)
{
    constexpr const char* scopes[] = {"none", "with_transport", "with_server", "with_target"};
    std::string name = std::string(std::get<0>(tested.param)) + "_" +
                       std::get<1>(tested.param).name + "_" + scopes[std::get<2>(tested.param)];
    std::ranges::replace(name, '-', '_');
    return name;
}

constexpr Way memory{"memory", "shmiop://"};
constexpr auto all_scopes = [] {
    return ::testing::Values(Messaging::SYNC_NONE, Messaging::SYNC_WITH_TRANSPORT,
                             Messaging::SYNC_WITH_SERVER, Messaging::SYNC_WITH_TARGET);
};

INSTANTIATE_TEST_SUITE_P(
    Sockets, ScopesByWay,
    ::testing::Combine(::testing::Values("non-multiplexed", "leader-followers", "active"),
                       ::testing::Values(Way{"tcp", nullptr}, Way{"unix", "uiop://"}),
                       all_scopes()),
    name_of);
// Threads do not share memory connections (docs/transports.md).
INSTANTIATE_TEST_SUITE_P(Memory, ScopesByWay,
                         ::testing::Combine(::testing::Values("non-multiplexed"),
                                            ::testing::Values(memory), all_scopes()),
                         name_of);

} // namespace
} // namespace kairos::orb_testing
