// SPDX-License-Identifier: Apache-2.0
//
// A transport that a program has added, in one file (xor_transport.h): it does what those of the
// ORB do, in every architecture of servers and clients, without a thread of its own.
#include "tests/robust/local.h"
#include "tests/robust/xor_transport.h"

#include "kairos/net/connector.h"
#include "kairos/orb/transport.h"

namespace kairos::orb_testing {
namespace {

/// The line that adds it.
const orb::LocalTransport& xor_transport()
{
    static constexpr XorTransport transport;
    static const bool added = orb::add_transport(transport).ok();
    EXPECT_TRUE(added);
    return transport;
}

/// How clients may connect.
const std::vector<Arguments> clients{
    {},
    {"-ORBConnection", "leader-followers"},
    {"-ORBConnection", "active"},
};

class OwnTransport : public EveryArchitecture {
  protected:
    static Arguments options(const Arguments& more = {})
    {
        (void)xor_transport();
        Arguments all{"-ORBDebug", "1", "-ORBListenEndpoints", "xoriop://"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] std::string reference_of(RunningServer& server) const
    {
        return with_port(server.reference(), dead_.port());
    }
    static RawPeer connect(const RunningServer& server)
    {
        const auto path = net::Address::unix_path(local_path(server.reference()));
        return RawPeer(net::connect(path.value()).value());
    }
    DeadPort dead_;
};

TEST_P(OwnTransport, CallsOfEverySize)
{
    for (const Arguments& client : clients) {
        RunningServer server(GetParam(), options());
        expect_calls_of_every_size(server, reference_of(server), client);
    }
}

TEST_P(OwnTransport, ManyClientsAtOnce)
{
    RunningServer server(GetParam(), options());
    std::vector<Arguments> many;
    for (int i = 0; i < 4; ++i)
        many.insert(many.end(), clients.begin(), clients.end());
    expect_many_clients(server, reference_of(server), many);
}

/// Replies that the peer does not take at once go on when it does.
TEST_P(OwnTransport, ThreadsThatShareAConnectionSendAndReceiveMuch)
{
    for (const Arguments& options_of_client : clients) {
        RunningServer server(GetParam(), options({"-ORBSendQueue", "8192"}));
        Client client(options_of_client);
        const Probe::Target_var target = client.target(reference_of(server));
        std::vector<std::thread> callers;
        for (CORBA::ULong n = 1; n <= 4; ++n)
            callers.emplace_back([&target, n] {
                Probe::Octets octets;
                octets.length(n * 100'000);
                for (int i = 0; i < 2; ++i) {
                    EXPECT_EQ(target->count_octets(octets), octets.length());
                    const Probe::Octets_var produced = target->produce(octets.length());
                    EXPECT_EQ(produced->length(), octets.length());
                }
            });
        for (std::thread& caller : callers)
            caller.join();
    }
}

TEST_P(OwnTransport, PartnersCallEachOtherBack)
{
    for (const Arguments& connections : clients) {
        RunningServer left(GetParam(), options(connections));
        RunningServer right(GetParam(), options(connections));
        expect_partners_call_back(left, reference_of(left), right, reference_of(right));
    }
}

TEST_P(OwnTransport, DeferredCallsAreAnsweredInAnyOrder)
{
    RunningServer server(GetParam(), options());
    Client client;
    const Probe::Target_var target = client.target(reference_of(server));
    std::vector<CORBA::Request_var> requests;
    for (CORBA::Long i = 0; i < 5; ++i) {
        requests.push_back(target->_request("add"));
        requests.back()->add_in_arg("left") <<= i;
        requests.back()->add_in_arg("right") <<= CORBA::Long{100};
        requests.back()->set_return_type(CORBA::_tc_long);
        requests.back()->send_deferred();
    }
    for (CORBA::Long i : {3, 0, 4, 1, 2}) {
        const CORBA::Request_var& request = requests[static_cast<std::size_t>(i)];
        while (!request->poll_response())
            std::this_thread::yield();
        request->get_response();
        CORBA::Long sum = 0;
        EXPECT_TRUE(request->return_value() >>= sum);
        EXPECT_EQ(sum, 100 + i);
    }
}

TEST_P(OwnTransport, ShuttingDownAnswersTheRequestInProgress)
{
    RunningServer server(GetParam(), options());
    Event inside;
    Event go_on;
    server.servant().action = [&] {
        inside.set();
        EXPECT_TRUE(go_on.wait());
    };
    RawPeer has_not_agreed = connect(server);
    Client client;
    const Probe::Target_var target = client.target(reference_of(server));
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); });
    ASSERT_TRUE(inside.wait());
    server.orb()->shutdown(false);
    go_on.set();
    server.end();
    calling.join();
    EXPECT_TRUE(has_not_agreed.at_end());
    EXPECT_FALSE(exists(local_path(server.reference())));
}

TEST_P(OwnTransport, WhoNeverAgreesIsCutOffAndHoldsUpNobody)
{
    RunningServer server(GetParam(), options({"-ORBReceiveTimeout", "50"}));
    Client client;
    const Probe::Target_var target = client.target(reference_of(server));
    target->ping();
    RawPeer silent = connect(server);
    RawPeer begins = connect(server);
    begins.send(as_bytes("abc"));
    RawPeer stops = connect(server);
    stops.send(as_bytes("12345678"));
    Octets answer(8);
    EXPECT_EQ(stops.socket().read(answer, net::ReadFlags::wait_all).bytes, answer.size());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    for (RawPeer* peer : {&silent, &begins, &stops})
        EXPECT_TRUE(peer->at_end());
    EXPECT_EQ(LogLines::count("refused: nothing was agreed within -ORBReceiveTimeout"), 3u);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_P(OwnTransport, WhoDoesNotAgreeIsRefused)
{
    RunningServer server(GetParam(), options());
    RawPeer stranger = connect(server);
    stranger.send(server.ping()); // of which the first octets are as good as any
    Octets answer(8);
    EXPECT_EQ(stranger.socket().read(answer, net::ReadFlags::wait_all).bytes, answer.size());
    EXPECT_TRUE(stranger.at_end());
    EXPECT_TRUE(LogLines::wait_for("refused: the peer has made something else of what both said"));
    {
        const RawPeer gone = connect(server);
    }
    EXPECT_TRUE(LogLines::wait_for("refused: "));
    Client client;
    const Probe::Target_var target = client.target(reference_of(server));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_EQ(server.servant().calls, 1u);
}

TEST_P(OwnTransport, OnewaysArriveFromClientsThatGoAway)
{
    constexpr int each = 500;
    RunningServer server(GetParam(), options());
    std::atomic<int> noted{0};
    server.servant().note_action = [&] { ++noted; };
    for (const Arguments& options_of_client : clients) {
        Client client(options_of_client);
        const Probe::Target_var target = client.target(reference_of(server));
        for (CORBA::Long n = 0; n < each; ++n)
            target->note(n);
    }
    const int all = each * static_cast<int>(clients.size());
    for (const auto until = Deadline::after(patience); noted < all && !until.has_passed();)
        std::this_thread::yield();
    EXPECT_EQ(noted, all);
}

KAIROS_EVERY_ARCHITECTURE(OwnTransport);

// --- Beyond the host -----------------------------------------------------------------------------

Arguments beyond_host(const Arguments& more = {})
{
    static constexpr XorBeyondHost transport;
    static const bool added = orb::add_transport(transport).ok();
    EXPECT_TRUE(added);
    Arguments all{"-ORBDebug", "1", "-ORBListenEndpoints", "xoriops://127.0.0.1:0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

class BeyondHost : public OwnTransport {
  protected:
    static Arguments options(const Arguments& more = {}) { return beyond_host(more); }
    /// Where its component says that it is.
    static ior::Address address_of(RunningServer& server)
    {
        ior::Address address;
        (void)changed(server.reference(), [&](ior::IiopProfile& profile) {
            const auto all =
                ior::decode_priority_addresses(component(profile, XorBeyondHost::own_tag));
            address = all.value().at(0).address;
        });
        return address;
    }
};

TEST_P(BeyondHost, CallsOfEverySize)
{
    for (const Arguments& client : clients) {
        RunningServer server(GetParam(), options());
        expect_calls_of_every_size(server, reference_of(server), client);
    }
}

TEST_P(BeyondHost, ManyClientsAtOnce)
{
    RunningServer server(GetParam(), options());
    std::vector<Arguments> many;
    for (int i = 0; i < 4; ++i)
        many.insert(many.end(), clients.begin(), clients.end());
    expect_many_clients(server, reference_of(server), many);
}

TEST_P(BeyondHost, WhoNeverAgreesIsCutOff)
{
    RunningServer server(GetParam(), options({"-ORBReceiveTimeout", "50"}));
    RawPeer silent = RawPeer::connect(address_of(server).port);
    const std::string address = silent.address();
    EXPECT_TRUE(silent.at_end());
    EXPECT_EQ(LogLines::count(address + " refused: nothing was agreed within -ORBReceiveTimeout"),
              1u);
    Client client;
    const Probe::Target_var target = client.target(reference_of(server));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_P(BeyondHost, TcpIsTriedBehindIt)
{
    RunningServer server(GetParam(), options());
    const std::string dead = changed(server.reference(), [&](ior::IiopProfile& profile) {
        auto& tagged = component(profile, XorBeyondHost::own_tag);
        auto all = ior::decode_priority_addresses(tagged).value();
        for (ior::PriorityAddress& each : all)
            each.address.port = dead_.port();
        tagged = ior::make_priority_addresses(all);
        tagged.tag = XorBeyondHost::own_tag;
    });
    Client client;
    const Probe::Target_var target = client.target(dead);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

KAIROS_EVERY_ARCHITECTURE(BeyondHost);

TEST(OnlyBeyondHost, IsReached)
{
    OnlyLocal server(beyond_host());
    Client client;
    const Probe::Target_var target = client.target(server.text());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_TRUE(server.object()->_kairos_reference()->is_local());
}

class OwnTransportAmongOthers : public testing::Test {
  protected:
    LogLines log_;
    const orb::LocalTransport& transport_ = xor_transport();
    RunningServer server_{"thread-per-connection",
                          {"-ORBListenEndpoints", "xoriop://;shmiop://;uiop://"}};
    DeadPort dead_;
};

/// In the order of their ranks.
TEST_F(OwnTransportAmongOthers, ClientsTryTheHighestRankFirst)
{
    std::vector<std::string> paths;
    (void)with_local(server_.reference(), [&](ior::LocalAddresses& local) {
        for (const ior::LocalAddress& each : local.addresses)
            paths.push_back(to_string(each));
    });
    ASSERT_EQ(paths.size(), 3u);
    EXPECT_EQ(std::ranges::count_if(
                  paths, [](const auto& path) { return path.starts_with("transport 200: /"); }),
              1);
    const auto local = [&](const Arguments& options) {
        Client client(options);
        const Probe::Target_var target =
            client.target(with_port(server_.reference(), dead_.port()));
        target->ping();
        std::vector<std::string> tried;
        for (const auto& way : target->_kairos_reference()->targets().front().endpoint->ways())
            tried.emplace_back(way.transport->scheme());
        return tried;
    };
    EXPECT_EQ(local({}), (std::vector<std::string>{"xoriop", "shmiop", "uiop", "iiop"}));
    for (const Arguments& options : clients)
        (void)local(options);
}

TEST_F(OwnTransportAmongOthers, OnesThatAreUnknownArePassedOver)
{
    const std::string other = with_local(server_.reference(), [](ior::LocalAddresses& local) {
        local.addresses.at(0).transport = orb::LocalTransport::Number{201};
    });
    Client client;
    const Probe::Target_var target = client.target(with_port(other, dead_.port()));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_EQ(target->_kairos_reference()->targets().front().endpoint->ways().size(), 3u);
}

class SameScheme final : public orb::LocalTransport {
  public:
    constexpr SameScheme() noexcept : LocalTransport("iiop", Number{202}, 0) {}
};
class SameNumber final : public orb::LocalTransport {
  public:
    constexpr SameNumber() noexcept : LocalTransport("other", Number::shared_memory, 0) {}
};

TEST_F(OwnTransportAmongOthers, SchemesAndNumbersAreTakenOnce)
{
    static constexpr SameScheme scheme;
    static constexpr SameNumber number;
    EXPECT_FALSE(orb::add_transport(scheme));
    EXPECT_FALSE(orb::add_transport(number));
    EXPECT_FALSE(orb::add_transport(transport_));
    EXPECT_EQ(orb::find_transport("other"), nullptr);
}

TEST_F(OwnTransportAmongOthers, IsNamedWhereEndpointsAreExplained)
{
    const std::string usages = orb::transport_usages();
    EXPECT_TRUE(usages.starts_with("iiop://[host][:port][/option=value], uiop://[path]")) << usages;
    EXPECT_NE(usages.find("xoriop://[path]"), std::string::npos) << usages;
}

} // namespace
} // namespace kairos::orb_testing
