// SPDX-License-Identifier: Apache-2.0
//
// Calls back over the connections of clients, in every architecture of both ends.
#include "tests/bidirectional/fixture.h"
#include "tests/robust/xor_transport.h"

#include <tuple>

namespace kairos::orb_testing {
namespace {

constexpr CORBA::ULong large = 3 << 20;

/// The architecture of the server, that of the client, whether a thread of the client is in
/// ORB::run, and what the server is reached by: xoriops changes each octet, as ciphers do.
using Case = std::tuple<const char*, const char*, bool, const char*>;

class Callbacks : public ::testing::TestWithParam<Case> {
  protected:
    [[nodiscard]] static std::vector<std::string> server_options()
    {
        auto options = options_of_architecture(std::get<0>(GetParam()));
        const std::string way = std::get<3>(GetParam());
        options.insert(options.end(), {"-ORBListenEndpoints", way + "://127.0.0.1:0"});
        return options;
    }
    [[nodiscard]] static std::vector<std::string> client_options()
    {
        auto options = options_of_architecture(std::get<1>(GetParam()));
        options.insert(options.end(), {"-ORBListenEndpoints", "none"});
        return options;
    }
    [[nodiscard]] static bool client_runs() { return std::get<2>(GetParam()); }
    static bool add_changing()
    {
        static constexpr XorBeyondHost transport;
        static const bool added = orb::add_transport(transport).ok();
        return added;
    }

    LogLines log_;
    const bool can_change_ = add_changing();
    HubServer server_{server_options()};
    CallbackClient client_{server_.reference(), client_options(), client_runs()};
};

TEST_P(Callbacks, WithinTheCall)
{
    ASSERT_TRUE(can_change_);
    for (CORBA::Long i = 0; i < 20; ++i)
        EXPECT_EQ(client_.hub()->twice(client_.callback(), i), 2 * i);
    EXPECT_EQ(client_.servant().calls, 20);
}

TEST_P(Callbacks, Nested)
{
    EXPECT_EQ(client_.hub()->bounce(client_.callback(), 6), 7);
    EXPECT_EQ(client_.servant().calls, 7);
}

TEST_P(Callbacks, LargerThanWhatTheSystemKeeps)
{
    Both::Octets octets(large);
    octets.length(large);
    octets[large - 1] = 7;
    const Both::Octets_var back = client_.hub()->mirror(client_.callback(), octets);
    ASSERT_EQ(back->length(), large);
    EXPECT_EQ(back[large - 1], 7);
}

TEST_P(Callbacks, Oneway)
{
    client_.hub()->note(client_.callback(), 3);
    if (client_runs()) {
        EXPECT_TRUE(client_.servant().first_note.wait());
    } else {
        // A client that nobody runs serves while it calls.
        while (client_.servant().noted == 0)
            client_.hub()->twice(client_.callback(), 1);
    }
    EXPECT_EQ(client_.servant().noted, 3);
}

/// Both directions at once, from several threads, some of it large.
TEST_P(Callbacks, SeveralAtOnce)
{
    client_.hub()->attach(client_.callback());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            Both::Octets octets(large / 8);
            octets.length(large / 8);
            for (CORBA::Long n = 0; n < 10; ++n) {
                if (client_.hub()->twice(client_.callback(), n) != 2 * n) ++wrong;
                if (client_.hub()->bounce(client_.callback(), 2) != 3) ++wrong;
                if (i == 0) {
                    const Both::Octets_var back = client_.hub()->mirror(client_.callback(), octets);
                    if (back->length() != octets.length()) ++wrong;
                }
            }
        });
    if (client_runs())
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                const Both::Callback_var target = server_.hub().attached();
                Both::Octets octets(large / 8);
                octets.length(large / 8);
                for (CORBA::Long n = 0; n < 10; ++n) {
                    if (target->twice(n) != 2 * n) ++wrong;
                    const Both::Octets_var back = target->mirror(octets);
                    if (back->length() != octets.length()) ++wrong;
                }
            });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST_P(Callbacks, Later)
{
    client_.hub()->attach(client_.callback());
    const Both::Callback_var target = server_.hub().attached();
    if (!client_runs()) return; // nobody would serve
    EXPECT_EQ(target->twice(21), 42);
    EXPECT_FALSE(target->_non_existent());
    EXPECT_TRUE(target->_is_a("IDL:Both/Callback:1.0"));
}

/// What is under way when a client ends is answered or fails; nobody waits for ever.
TEST_P(Callbacks, TheClientEnds)
{
    client_.hub()->attach(client_.callback());
    const Both::Callback_var target = server_.hub().attached();
    client_.party().shutdown();
    EXPECT_EQ(outcome([&] { (void)target->twice(1); }).substr(0, 9), "TRANSIENT");
}

TEST_P(Callbacks, TheServerEnds)
{
    EXPECT_EQ(client_.hub()->twice(client_.callback(), 1), 2);
    server_.party().shutdown();
    EXPECT_EQ(outcome([&] { client_.hub()->ping(); }).substr(0, 9), "TRANSIENT");
}

std::string name_of(const ::testing::TestParamInfo<Case>& parameter)
{
    std::string name =
        std::string(std::get<0>(parameter.param)) + "__" + std::get<1>(parameter.param) +
        (std::get<2>(parameter.param) ? "_runs" : "") + "_" + std::get<3>(parameter.param);
    std::ranges::replace(name, '-', '_');
    return name;
}

constexpr const char* servers[] = {"thread-per-connection", "reactor",
                                   "leader-followers",      "worker-pool",
                                   "thread-per-request",    "thread-per-object",
                                   "reactor-per-priority",  "reactor-per-priority-each"};
constexpr const char* clients[] = {"reactor", "leader-followers", "worker-pool",
                                   "thread-per-request", "thread-per-object"};

INSTANTIATE_TEST_SUITE_P(Servers, Callbacks,
                         ::testing::Combine(::testing::ValuesIn(servers),
                                            ::testing::Values("thread-per-connection"),
                                            ::testing::Values(false),
                                            ::testing::Values("iiop", "xoriops")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Clients, Callbacks,
                         ::testing::Combine(::testing::Values("thread-per-connection", "reactor"),
                                            ::testing::ValuesIn(clients), ::testing::Bool(),
                                            ::testing::Values("iiop")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ClientsOverOthers, Callbacks,
                         ::testing::Combine(::testing::Values("thread-per-connection"),
                                            ::testing::ValuesIn(clients), ::testing::Values(true),
                                            ::testing::Values("xoriops")),
                         name_of);

/// Who offers nothing is not called back, and neither is who calls an adapter that does not permit
/// it. Nobody can connect to these clients.
TEST(Offers, BothEndsMustPermit)
{
    const LogLines log;
    HubServer strict({"-ORBListenEndpoints", "iiop://127.0.0.1:0"}, BiDirPolicy::NORMAL);
    CallbackClient offers(strict.reference(), {"-ORBListenEndpoints", "none"});
    EXPECT_EQ(outcome([&] { (void)offers.hub()->twice(offers.callback(), 1); }).substr(0, 9),
              "TRANSIENT");

    HubServer permits({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    CallbackClient silent(permits.reference(), {"-ORBListenEndpoints", "none"}, true,
                          BiDirPolicy::NORMAL);
    EXPECT_EQ(outcome([&] { (void)silent.hub()->twice(silent.callback(), 1); }).substr(0, 9),
              "TRANSIENT");
}

/// A client that listens says its addresses, and is called at them over its own connection.
TEST(Offers, ListenPointsOfAClientThatListens)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    CallbackClient client(server.reference(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    client.hub()->attach(client.callback());
    const std::size_t before = descriptors();
    const Both::Callback_var target = server.hub().attached();
    EXPECT_EQ(target->twice(4), 8);
    EXPECT_LE(descriptors(), before + 1); // what wakes the thread that waits
}

TEST(Offers, OverUnixSockets)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "uiop://"});
    CallbackClient client(server.reference(), {"-ORBListenEndpoints", "none"});
    EXPECT_EQ(client.hub()->twice(client.callback(), 4), 8);
    client.hub()->attach(client.callback());
    const Both::Callback_var target = server.hub().attached();
    EXPECT_EQ(target->twice(5), 10);
}

/// Whatever -ORBConnection says: what is bidirectional has a connection of its own kind.
TEST(Offers, WithSharedConnections)
{
    const LogLines log;
    for (const char* sharing : {"leader-followers", "active"}) {
        HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBConnection", sharing});
        CallbackClient client(server.reference(),
                              {"-ORBListenEndpoints", "none", "-ORBConnection", sharing});
        EXPECT_EQ(client.hub()->bounce(client.callback(), 4), 5);
        client.hub()->attach(client.callback());
        const Both::Callback_var target = server.hub().attached();
        EXPECT_EQ(target->twice(5), 10);
    }
}

/// What is in fragments, the request that offers the connection too.
TEST(Offers, InFragments)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBFragmentSize", "1024"});
    CallbackClient client(server.reference(),
                          {"-ORBListenEndpoints", "none", "-ORBFragmentSize", "1024"});
    Both::Octets octets(100'000);
    octets.length(100'000);
    octets[99'999] = 9;
    const Both::Octets_var back = client.hub()->mirror(client.callback(), octets);
    ASSERT_EQ(back->length(), octets.length());
    EXPECT_EQ(back[99'999], 9);
}

TEST(Offers, FromAllClientsOfOneHost)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    std::vector<std::unique_ptr<CallbackClient>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<CallbackClient>(
            server.reference(), std::vector<std::string>{"-ORBListenEndpoints", "none"}));
        clients.back()->hub()->attach(clients.back()->callback());
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
        const Both::Callback_var target = server.hub().attached(i);
        EXPECT_EQ(target->twice(1), 2);
        EXPECT_EQ(clients[i]->servant().calls, 1);
    }
}

/// The limit of a call back is as that of any.
TEST(Offers, CallsBackHaveLimits)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBClientTimeout", "100"});
    CallbackClient client(server.reference(), {"-ORBListenEndpoints", "none"});
    client.hub()->attach(client.callback());
    const Both::Callback_var target = server.hub().attached();
    EXPECT_EQ(outcome([&] { target->linger(); }).substr(0, 7), "TIMEOUT");
    client.servant().may_go.set();
    EXPECT_EQ(target->twice(1), 2);
}

TEST(Policy, IsMadeOfItsTwoValues)
{
    Client client;
    const CORBA::Policy_var policy = bidirectional_policy(client.orb(), BiDirPolicy::BOTH);
    const auto both = BiDirPolicy::BidirectionalPolicy::_narrow(policy.in());
    const BiDirPolicy::BidirectionalPolicy_var owned = both;
    ASSERT_NE(both, nullptr);
    EXPECT_EQ(both->value(), BiDirPolicy::BOTH);
    EXPECT_EQ(both->policy_type(), 37u);
    try {
        (void)bidirectional_policy(client.orb(), 2);
        FAIL();
    } catch (const CORBA::PolicyError& error) {
        EXPECT_EQ(error.reason, CORBA::BAD_POLICY_VALUE);
    }
    CORBA::Any other;
    other <<= CORBA::Long{1};
    try {
        (void)client.orb()->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, other);
        FAIL();
    } catch (const CORBA::PolicyError& error) {
        EXPECT_EQ(error.reason, CORBA::BAD_POLICY_TYPE);
    }
}

} // namespace
} // namespace kairos::orb_testing
