// SPDX-License-Identifier: Apache-2.0
//
// Calls by TLS, in every architecture of servers and clients; what references say of it; and what
// callers get where it cannot be had.
#include "tests/bidirectional/fixture.h"
#include "tests/robust/local.h"
#include "tests/tls/files.h"

#include "kairos/net/acceptor.h"
#include "kairos/orb/transport.h"

namespace kairos::orb_testing {
namespace {

using tls_testing::Certificates;
using tls_testing::Files;

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Arguments of_server(const std::string& certificate = "server")
{
    return Certificates::get().shows(certificate) +
           Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0", "-ORBDebug", "1"};
}

Arguments of_client() { return Certificates::get().trusts("ca"); }

/// How clients may connect.
const std::vector<Arguments> clients{
    of_client(),
    of_client() + Arguments{"-ORBConnection", "leader-followers"},
    of_client() + Arguments{"-ORBConnection", "active"},
};

std::uint16_t tls_port(const std::string& reference)
{
    std::uint16_t port = 0;
    (void)changed(reference, [&](ior::IiopProfile& profile) {
        port = ior::decode_secure_address(component(profile, ior::tag_ssl_sec_trans)).value().port;
    });
    return port;
}

/// What a call ends with, and what its exception says.
template <typename Call>
std::string told(Call call)
{
    try {
        call();
        return "ok";
    } catch (const CORBA::SystemException& exception) {
        return exception.what();
    }
}

class Ssliop : public EveryArchitecture {
  protected:
    /// Of one who could not be called but by TLS.
    [[nodiscard]] std::string reference_of(RunningServer& server) const
    {
        return with_port(server.reference(), dead_.port());
    }
    DeadPort dead_;
};

TEST_P(Ssliop, CallsOfEverySize)
{
    for (const Arguments& client : clients) {
        RunningServer server(GetParam(), of_server());
        expect_calls_of_every_size(server, reference_of(server), client);
    }
}

TEST_P(Ssliop, ManyClientsAtOnce)
{
    RunningServer server(GetParam(), of_server());
    std::vector<Arguments> many;
    for (int i = 0; i < 4; ++i)
        many.insert(many.end(), clients.begin(), clients.end());
    expect_many_clients(server, reference_of(server), many);
}

/// Each reads while it writes, and replies that the peer does not take at once go on when it does.
TEST_P(Ssliop, ThreadsThatShareAConnectionSendAndReceiveMuch)
{
    for (const Arguments& options_of_client : clients) {
        RunningServer server(GetParam(), of_server() + Arguments{"-ORBSendQueue", "8192"});
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

TEST_P(Ssliop, PartnersCallEachOtherBack)
{
    for (const Arguments& connections : clients) {
        RunningServer left(GetParam(), of_server() + connections);
        RunningServer right(GetParam(), of_server() + connections);
        expect_partners_call_back(left, reference_of(left), right, reference_of(right),
                                  connections);
    }
}

/// A peer that stops while it shakes hands delays nobody, and is cut off.
TEST_P(Ssliop, WhoStopsShakingHandsIsCutOffAndHoldsUpNobody)
{
    RunningServer server(GetParam(), of_server() + Arguments{"-ORBReceiveTimeout", "50"});
    Client client(of_client());
    const Probe::Target_var target = client.target(reference_of(server));
    // On a busy machine it may itself be cut off.
    const auto calls = [&] {
        for (int i = 0; i < 1000; ++i)
            if (outcome([&] { target->ping(); }) == "ok") return true;
        return false;
    };
    EXPECT_TRUE(calls());
    const std::uint16_t port = tls_port(server.reference());
    RawPeer silent = RawPeer::connect(port);
    RawPeer begins = RawPeer::connect(port);
    begins.send(as_bytes(std::string_view("\x16\x03\x01", 3)));
    RawPeer stops = RawPeer::connect(port);
    stops.send(as_bytes(std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11)));
    EXPECT_TRUE(calls());
    for (RawPeer* peer : {&silent, &begins, &stops})
        EXPECT_TRUE(peer->at_end());
    EXPECT_GE(LogLines::count("refused: nothing was agreed within -ORBReceiveTimeout"), 3u);
    EXPECT_TRUE(calls());
}

TEST_P(Ssliop, GiopInTheClearIsRefused)
{
    RunningServer server(GetParam(), of_server());
    RawPeer plain = RawPeer::connect(tls_port(server.reference()));
    plain.send(server.ping());
    EXPECT_TRUE(LogLines::wait_for("refused: it speaks GIOP in the clear where TLS is expected"));
    Client client(of_client());
    const Probe::Target_var target = client.target(reference_of(server));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_EQ(server.servant().calls, 1u);
}

TEST_P(Ssliop, ClientsMayHaveToShowACertificate)
{
    RunningServer server(GetParam(), of_server() + Certificates::get().trusts("ca") +
                                         Arguments{"-ORBTlsVerifyClient", "required"});
    Client known(of_client() + Certificates::get().shows("client"));
    const Probe::Target_var target = known.target(reference_of(server));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    Client nobody(of_client());
    const Probe::Target_var refused = nobody.target(reference_of(server));
    EXPECT_NE(outcome([&] { refused->ping(); }), "ok");
    EXPECT_TRUE(LogLines::wait_for("refused: the client shows no certificate "
                                   "(-ORBTlsVerifyClient required)"));
    EXPECT_EQ(server.servant().calls, 1u);
}

KAIROS_EVERY_ARCHITECTURE(Ssliop);

// --- what clients do -----------------------------------------------------------------------------

class SsliopClient : public testing::Test {
  protected:
    [[nodiscard]] static std::string call(const std::string& reference, const Arguments& options)
    {
        Client client(options);
        const Probe::Target_var target = client.target(reference);
        return told([&] { target->ping(); });
    }
    LogLines log_;
    DeadPort dead_;
};

TEST_F(SsliopClient, DoesNotCallInTheClearWhereTlsIsOfferedAndFails)
{
    RunningServer server("reactor", of_server("self-signed"));
    const std::string said = call(server.reference(), of_client());
    EXPECT_NE(said.find("NO_PERMISSION"), std::string::npos) << said;
    EXPECT_NE(said.find("certificate 'CN=self-signed' is not accepted: self-signed certificate: "
                        "nobody whom -ORBTlsTrust names has signed it"),
              std::string::npos)
        << said;
    EXPECT_EQ(call(server.reference(), of_client() + Arguments{"-ORBTlsVerifyServer", "no"}), "ok");
    EXPECT_EQ(call(server.reference(), {"-ORBTlsClient", "never"}), "ok");
}

TEST_F(SsliopClient, WantsTheNameOfTheReference)
{
    RunningServer server("reactor", of_server("elsewhere"));
    const std::string said = call(server.reference(), of_client());
    EXPECT_NE(said.find("NO_PERMISSION"), std::string::npos) << said;
    EXPECT_NE(said.find("it is not for '127.0.0.1' (-ORBTlsVerifyServer name)"), std::string::npos)
        << said;
    EXPECT_EQ(call(server.reference(), of_client() + Arguments{"-ORBTlsVerifyServer", "chain"}),
              "ok");
}

TEST_F(SsliopClient, CallsInTheClearWhereNothingElseIsOffered)
{
    RunningServer server("reactor");
    EXPECT_EQ(call(server.reference(), of_client()), "ok");
    const std::string said =
        call(server.reference(), of_client() + Arguments{"-ORBTlsClient", "required"});
    EXPECT_NE(said.find("NO_PERMISSION"), std::string::npos) << said;
    EXPECT_NE(said.find("-ORBTlsClient required: the reference offers no TLS that can be used"),
              std::string::npos)
        << said;
}

TEST_F(SsliopClient, NeverCallsWhoWantsTls)
{
    OnlyLocal server(of_server());
    EXPECT_EQ(call(server.text(), of_client()), "ok");
    const std::string said = call(server.text(), {"-ORBTlsClient", "never"});
    EXPECT_NE(said.find("TRANSIENT"), std::string::npos) << said;
    EXPECT_NE(said.find("the server wants TLS, and -ORBTlsClient is never"), std::string::npos)
        << said;
}

/// An ORB that wants TLS from others reaches its own objects.
TEST_F(SsliopClient, NeedsNoTlsWithinTheProcess)
{
    OnlyLocal server({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBTlsClient", "required"});
    EXPECT_EQ(outcome([&] { server.object()->_non_existent(); }), "ok");
    EXPECT_TRUE(server.object()->_kairos_reference()->is_local());
}

/// A reference that claims to be to one of its own objects is to nothing else.
TEST_F(SsliopClient, IsNotLedIntoTheClearByAKeyOfItsOwn)
{
    RunningServer server("reactor");
    OnlyLocal own({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBTlsClient", "required"});
    ior::Ior both = ior::from_string(server.reference()).value();
    both.profiles.push_back(ior::from_string(own.text()).value().profiles.at(0));
    const std::string text = ior::to_string(both);
    const CORBA::Object_var object = own.orb()->string_to_object(text.c_str());
    EXPECT_FALSE(object->_kairos_reference()->is_local());
    EXPECT_TRUE(object->_kairos_reference()->targets().empty());
}

/// Nor is one whose first profile has such a key and leads nowhere.
TEST_F(SsliopClient, IsNotLedIntoTheClearByAKeyOfItsOwnThatLeadsNowhere)
{
    RunningServer server("reactor");
    OnlyLocal own({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBTlsClient", "required"});
    const std::string nowhere = changed(own.text(), [](ior::IiopProfile& profile) {
        profile.host = "localhost";
        profile.port = 0;
    });
    ior::Ior both = ior::from_string(nowhere).value();
    both.profiles.push_back(ior::from_string(server.reference()).value().profiles.at(0));
    const std::string text = ior::to_string(both);
    const CORBA::Object_var object = own.orb()->string_to_object(text.c_str());
    EXPECT_FALSE(object->_kairos_reference()->is_local());
    EXPECT_TRUE(object->_kairos_reference()->targets().empty());
    EXPECT_NE(told([&] { (void)object->_non_existent(); }).find("NO_PERMISSION"),
              std::string::npos);
    EXPECT_EQ(server.servant().calls, 0u);
}

/// That nobody is at another address does not hide it.
TEST_F(SsliopClient, IsToldWhoWasNotTrustedFirst)
{
    RunningServer server("reactor", of_server("self-signed"));
    ior::Ior both = ior::from_string(server.reference()).value();
    const std::string elsewhere = changed(server.reference(), [&](ior::IiopProfile& profile) {
        component(profile, ior::tag_ssl_sec_trans) =
            ior::make_secure_address({.port = dead_.port()});
    });
    both.profiles.push_back(ior::from_string(elsewhere).value().profiles.at(0));
    const std::string said = call(ior::to_string(both), of_client());
    EXPECT_NE(said.find("NO_PERMISSION"), std::string::npos) << said;
    EXPECT_NE(said.find("certificate 'CN=self-signed' is not accepted"), std::string::npos) << said;
}

/// Nobody could connect to the client.
TEST_F(SsliopClient, IsCalledBackOverItsOwnConnection)
{
    for (const char* architecture : {"thread-per-connection", "reactor", "worker-pool"}) {
        HubServer server(of_server() + Arguments{"-ORBConcurrency", architecture});
        CallbackClient client(server.reference(),
                              of_client() + Arguments{"-ORBListenEndpoints", "none"});
        EXPECT_EQ(told([&] { EXPECT_EQ(client.hub()->bounce(client.callback(), 6), 7); }), "ok");
        Both::Octets octets(300'000);
        octets.length(300'000);
        octets[299'999] = 9;
        const Both::Octets_var back = client.hub()->mirror(client.callback(), octets);
        ASSERT_EQ(back->length(), octets.length());
        EXPECT_EQ(back[299'999], 9);
        client.hub()->attach(client.callback());
        const Both::Callback_var target = server.hub().attached();
        EXPECT_EQ(target->twice(5), 10);
    }
}

TEST_F(SsliopClient, IsToldOfAServerWithoutTls)
{
    RunningServer server("reactor");
    const std::string reference = changed(server.reference(), [](ior::IiopProfile& profile) {
        profile.components.push_back(ior::make_secure_address({.port = profile.port}));
        profile.port = 0;
    });
    const std::string said = call(reference, of_client());
    EXPECT_NE(said.find("the server speaks GIOP in the clear where TLS is expected"),
              std::string::npos)
        << said;
}

TEST_F(SsliopClient, TakesAddressesOfUrls)
{
    const HeldPorts port(1);
    const std::string number = port.endpoint().substr(port.endpoint().rfind(':') + 1);
    OnlyLocal server(Certificates::get().shows("server") +
                     Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:" + number});
    const std::string by_url = [&] {
        const auto ior = ior::from_string(server.text()).value();
        const auto profile = ior::decode_iiop(ior.profiles.at(0).data).value();
        EXPECT_EQ(profile.port, 0);
        std::string key;
        for (const std::byte octet : profile.object_key) {
            char hex[4];
            std::snprintf(hex, sizeof hex, "%%%02x", std::to_integer<unsigned>(octet));
            key += hex;
        }
        return "corbaloc:ssliop:1.2@localhost:" + number + "/" + key;
    }();
    EXPECT_EQ(call(by_url, of_client()), "ok");
}

/// A server that does not shake hands is given up within the time that a connection may take.
TEST_F(SsliopClient, DoesNotWaitForAServerThatStops)
{
    const net::Acceptor silent = net::Acceptor::open(net::Address::loopback_ipv4(), {}).value();
    const std::uint16_t port = silent.address().port();
    RunningServer server("reactor", of_server());
    const std::string reference = changed(server.reference(), [&](ior::IiopProfile& profile) {
        component(profile, ior::tag_ssl_sec_trans) = ior::make_secure_address({.port = port});
    });
    std::string said;
    // Where it takes longer to connect, it is that which is not done in time.
    for (unsigned ms = 50; ms < 60'000 && said.find("nothing was agreed") == std::string::npos;
         ms *= 2)
        said = call(reference, of_client() + Arguments{"-ORBConnectTimeout", std::to_string(ms)});
    EXPECT_NE(said.find("nothing was agreed in time"), std::string::npos) << said;
}

/// As soon as somebody looks at the files again.
TEST_F(SsliopClient, MeetsANewCertificateOfAServerThatGoesOn)
{
    const Files files;
    RunningServer server("reactor",
                         {"-ORBListenEndpoints", "ssliop://127.0.0.1:0", "-ORBTlsCertificate",
                          files.path("server.pem"), "-ORBTlsKey", files.path("server-key.pem")});
    Client old(of_client());
    const Probe::Target_var target = old.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    files.replace("server.pem", "elsewhere.pem");
    files.replace("server-key.pem", "elsewhere-key.pem");
    std::string said = "ok";
    for (int i = 0; i < 1'000'000 && said == "ok"; ++i)
        said = call(server.reference(), of_client());
    EXPECT_NE(said.find("certificate 'CN=elsewhere' of DNS:a.example"), std::string::npos) << said;
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

/// What connects in the clear shows no certificate.
TEST_F(SsliopClient, IsNotAskedForACertificateInTheClear)
{
    const Arguments required =
        Certificates::get().trusts("ca") + Arguments{"-ORBTlsVerifyClient", "required"};
    constexpr std::string_view warning = "-ORBTlsVerifyClient required asks nothing of those";
    const OnlyLocal protects(of_server() + required);
    EXPECT_EQ(LogLines::count(warning), 0u);
    const OnlyLocal both(of_server() + required +
                         Arguments{"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    EXPECT_EQ(LogLines::count(warning), 1u);
}

// --- what servers say ----------------------------------------------------------------------------

TEST(SsliopServer, NeedsACertificate)
{
    try {
        const OnlyLocal server({"-ORBListenEndpoints", "ssliop://127.0.0.1:0"});
        FAIL();
    } catch (const CORBA::SystemException& exception) {
        EXPECT_NE(
            std::string(exception.what())
                .find("-ORBListenEndpoints ssliop://127.0.0.1:0: it needs -ORBTlsCertificate"),
            std::string::npos)
            << exception.what();
    }
}

TEST(SsliopServer, IsNotMadeWithFilesThatAreNone)
{
    try {
        const Client client({"-ORBTlsTrust", "/nowhere.pem"});
        FAIL();
    } catch (const CORBA::BAD_PARAM& exception) {
        EXPECT_NE(std::string(exception.what())
                      .find("-ORBTlsTrust /nowhere.pem: No such file or directory"),
                  std::string::npos)
            << exception.what();
    }
}

/// A list in which nobody would be looked up.
TEST(SsliopServer, IsNotMadeWithRevocationsWhereNobodyIsChecked)
{
    try {
        const Client client({"-ORBTlsRevocations", "/nowhere.pem", "-ORBTlsVerifyServer", "no"});
        FAIL();
    } catch (const CORBA::BAD_PARAM& exception) {
        EXPECT_NE(std::string(exception.what())
                      .find("-ORBTlsRevocations /nowhere.pem: it needs an end that checks"),
                  std::string::npos)
            << exception.what();
    }
}

TEST(SsliopServer, IsNotMadeWithAnswersThatNobodyWouldShowOrLookAt)
{
    const auto why = [](const Arguments& options) -> std::string {
        try {
            const Client client(options);
        } catch (const CORBA::BAD_PARAM& exception) {
            return exception.what();
        }
        return "";
    };
    EXPECT_NE(why({"-ORBTlsVerifyStaple", "optional", "-ORBTlsVerifyServer", "no"})
                  .find("-ORBTlsVerifyStaple needs -ORBTlsVerifyServer other than 'no'"),
              std::string::npos);
    EXPECT_NE(why({"-ORBTlsStaple", "/nowhere.der"})
                  .find("-ORBTlsStaple /nowhere.der: it needs -ORBTlsCertificate"),
              std::string::npos);
    EXPECT_EQ(why(of_server() + Arguments{"-ORBTlsStaple", "/nowhere.der"}), "")
        << "nothing is shown, and the log says so";
}

TEST(SsliopServer, SaysWhereEachPriorityGoes)
{
    OnlyLocal server(of_server() +
                     Arguments{"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0,16000"});
    std::vector<ior::PriorityAddress> all;
    (void)changed(server.text(), [&](ior::IiopProfile& profile) {
        all = ior::decode_priority_addresses(component(profile, ior::tag_secure_priority_addresses))
                  .value();
    });
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].address.port, tls_port(server.text()));
    EXPECT_NE(all[0].address.port, all[1].address.port);
    Client client(of_client());
    const Probe::Target_var target = client.target(server.text());
    for (const ior::PriorityAddress& each : all) {
        const auto& ways = target->_kairos_reference()->targets_at(each.priority);
        ASSERT_EQ(ways.size(), 1u);
        ASSERT_EQ(ways.front().endpoint->ways().size(), 1u);
        EXPECT_EQ(ways.front().endpoint->ways().front().address, each.address);
        EXPECT_TRUE(ways.front().endpoint->ways().front().transport->protects());
    }
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST(SsliopServer, SaysWhatItWantsOfClients)
{
    const auto address = [](const std::string& reference) {
        ior::SecureAddress secure;
        std::uint16_t plain = 0;
        (void)changed(reference, [&](ior::IiopProfile& profile) {
            plain = profile.port;
            secure = ior::decode_secure_address(component(profile, ior::tag_ssl_sec_trans)).value();
        });
        return std::pair(plain != 0, secure);
    };
    using namespace ior::association;
    constexpr std::uint16_t always =
        integrity | confidentiality | detect_replay | detect_misordering | trust_in_target;
    OnlyLocal alone(of_server());
    auto [has_plain, secure] = address(alone.text());
    EXPECT_FALSE(has_plain);
    EXPECT_EQ(secure.supports, always);
    EXPECT_EQ(secure.requires_, integrity | confidentiality);
    OnlyLocal both(
        of_server() +
        Arguments{"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBTlsVerifyClient", "optional"} +
        Certificates::get().trusts("ca"));
    std::tie(has_plain, secure) = address(both.text());
    EXPECT_TRUE(has_plain);
    EXPECT_EQ(secure.supports, always | trust_in_client | no_protection);
    EXPECT_EQ(secure.requires_, no_protection);
}

} // namespace
} // namespace kairos::orb_testing
