// SPDX-License-Identifier: Apache-2.0
//
// SSLIOP::Current: what servants and interceptors are told of the client that calls them.
#include "kairos/rtcorba/RTCORBA.h"
#include "kairos/ssliop/KairosTls.h"
#include "kairos/tls/peer.h"
#include "tests/faults/faults.h"
#include "tests/interceptors/fixture.h"
#include "tests/robust/local.h"
#include "tests/tls/files.h"

#include <array>
#include <openssl/x509.h>
#include <optional>
#include <thread>

namespace kairos::orb_testing {
namespace {

using tls_testing::Certificates;

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Arguments of_server(const char* check = "required")
{
    return Certificates::get().shows("server") + Certificates::get().trusts("ca") +
           Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0",
                     "-ORBTlsVerifyClient", check,
                     "-ORBDebug",           "1"};
}
Arguments of_client(const char* certificate = "client")
{
    return Certificates::get().trusts("ca") + Certificates::get().shows(certificate);
}
Arguments of_nobody() { return Certificates::get().trusts("ca"); }
Arguments in_the_clear() { return {"-ORBTlsClient", "never"}; }

KairosTls::Current_var current_of(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("SSLIOPCurrent");
    return KairosTls::Current::_narrow(object);
}

/// The names in certificates, as "client, Authority".
std::string names_in(const SSLIOP::SSL_Cert& chain)
{
    std::string all;
    for (CORBA::ULong i = 0; i < chain.length(); ++i) {
        const unsigned char* octets = chain[i].get_buffer();
        const tls::CertificatePointer certificate(
            d2i_X509(nullptr, &octets, static_cast<long>(chain[i].length())));
        std::array<char, 64> name{};
        EXPECT_GT(X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()),
                                            NID_commonName, name.data(), name.size()),
                  0);
        all.append(all.empty() ? "" : ", ").append(name.data());
    }
    return all;
}

/// Who calls, as a servant may write it down.
std::string caller(SSLIOP::Current_ptr plain)
{
    if (plain->no_context()) {
        EXPECT_THROW((void)plain->get_peer_certificate(), SSLIOP::Current::NoContext);
        EXPECT_THROW((void)plain->get_peer_certificate_chain(), SSLIOP::Current::NoContext);
        return "no TLS";
    }
    const KairosTls::Current_var current = KairosTls::Current::_narrow(plain);
    const KairosTls::Peer_var peer = current->get_peer();
    EXPECT_STREQ(peer->version, "TLSv1.3");
    EXPECT_TRUE(std::string(peer->cipher).starts_with("TLS_")) << peer->cipher;
    const SSLIOP::ASN_1_Cert_var certificate = plain->get_peer_certificate();
    const SSLIOP::SSL_Cert_var chain = plain->get_peer_certificate_chain();
    EXPECT_EQ(chain->length() == 0, certificate->length() == 0);
    if (chain->length() == 0) return "nobody";
    EXPECT_EQ(chain[CORBA::ULong{0}].length(), certificate->length());
    return std::string(peer->subject) + " of " + peer->issuer.in() + " [" + names_in(chain) + "]";
}

class SsliopCurrent : public EveryArchitecture {
  protected:
    /// What the servant of this server notes of a client with these options.
    [[nodiscard]] static std::string noted(RunningServer& server, const Arguments& options,
                                           int calls = 1)
    {
        std::string said;
        const KairosTls::Current_var current = current_of(server.orb());
        server.servant().action = [&] { said = caller(current); };
        Client client(options);
        const Probe::Target_var target = client.target(server.reference());
        for (int i = 0; i < calls; ++i)
            EXPECT_EQ(outcome([&] { target->act(); }), "ok");
        EXPECT_EQ(caller(current), "no TLS"); // outside of requests
        return said;
    }
};

constexpr const char* known = "CN=client of CN=Authority [client, Authority]";

TEST_P(SsliopCurrent, TellsWhoCalls)
{
    RunningServer server(GetParam(), of_server("optional"));
    EXPECT_EQ(noted(server, of_client(), 20), known);
    EXPECT_EQ(noted(server, of_client("server")), "CN=server of CN=Authority [server, Authority]");
    EXPECT_EQ(noted(server, of_nobody()), "nobody");
    EXPECT_EQ(noted(server, in_the_clear()), "no TLS");
    EXPECT_EQ(noted(server, of_client()), known);
}

/// Within a request: calls of the process's own, and calls that come meanwhile.
TEST_P(SsliopCurrent, TellsOfTheInnermostRequest)
{
    RunningServer server(GetParam(), of_server());
    const KairosTls::Current_var current = current_of(server.orb());
    const CORBA::Object_var own = server.orb()->string_to_object(server.reference().c_str());
    const Probe::Target_var itself = Probe::Target::_unchecked_narrow(own);
    Client outer(of_client());
    Client inner(in_the_clear()); // who waits for hands to be shaken serves nobody meanwhile
    const Probe::Target_var target = outer.target(server.reference());
    const Probe::Target_var again = inner.target(server.reference());
    std::vector<std::string> said;
    int depth = 0;
    server.servant().action = [&] {
        said.push_back(caller(current));
        if (++depth == 1) {
            again->act();
            said.push_back(caller(current));
            itself->act();
            said.push_back(caller(current));
        }
    };
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    const std::vector<std::string> expected{known, "no TLS", known, "no TLS", known};
    EXPECT_EQ(said, expected);
}

TEST_P(SsliopCurrent, TellsInterceptors)
{
    std::mutex mutex; // guards said
    std::vector<std::string> said;
    KairosTls::Current_var current;
    const auto note = [&](PI::ServerRequestInfo_ptr) {
        const std::lock_guard lock(mutex);
        said.push_back(caller(current));
    };
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_server(info, "all", nullptr,
                   {{"arrival", note}, {"receive_request", note}, {"send_reply", note}});
    });
    RunningServer server(GetParam(), of_server(), RunningServer::Start::active,
                         [&](CORBA::ORB_ptr orb) { current = current_of(orb); });
    server.servant().action = [] {};
    Client client(of_client());
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    const std::lock_guard lock(mutex);
    EXPECT_EQ(said, (std::vector<std::string>{known, known, known}));
}

TEST_P(SsliopCurrent, TellsInTheMainThread)
{
    Servant
        servant; // outlives the server: a request may still be leaving it when it is deactivated
    RunningServer server(GetParam(), of_server());
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = server.poa()->create_thread_policy(PortableServer::MAIN_THREAD_MODEL);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("main", server.manager(), policies);
    const KairosTls::Current_var current = current_of(server.orb());
    std::string said;
    servant.action = [&] { said = caller(current); };
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server.orb()->object_to_string(object);
    Client client(of_client());
    const Probe::Target_var target = client.target(reference.in());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(said, known);
    poa->deactivate_object(id);
}

KAIROS_EVERY_ARCHITECTURE(SsliopCurrent);

/// The pool's only thread serves a client by TLS and waits in a call of its own, during which it
/// serves a call of this process, for there are no more threads.
TEST(SsliopCurrent, TellsInAPoolOfWhatItsThreadServesMeanwhile)
{
    Servant by_tls; // these outlive the server, too
    Servant of_process;
    RunningServer server("worker-pool", of_server());
    const CORBA::Object_var initial = server.orb()->resolve_initial_references("RTORB");
    const RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(initial);
    CORBA::PolicyList policies(1);
    policies.length(1);
    const auto pool = rtorb->create_threadpool(0, 1, 0, 0, false, 0, 0);
    policies[0] = rtorb->create_threadpool_policy(pool);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("pool", server.manager(), policies);
    const KairosTls::Current_var current = current_of(server.orb());
    RunningServer partner("reactor");
    Event is_waiting;
    Event is_done;
    partner.servant().action = [&] {
        is_waiting.set();
        EXPECT_TRUE(is_done.wait());
    };
    const CORBA::Object_var other = server.orb()->string_to_object(partner.reference().c_str());
    const Probe::Target_var to_partner = Probe::Target::_unchecked_narrow(other);
    std::vector<std::string> said;
    std::optional<net::testing::Faults> faults;
    by_tls.action = [&] {
        said.push_back(caller(current));
        net::testing::FaultPlan plan;
        plan.of(net::testing::SystemCall::thread) = 1000; // of a thousand
        faults.emplace(plan);
        to_partner->act();
        said.push_back(caller(current));
    };
    of_process.action = [&] { said.push_back(caller(current)); };
    const PortableServer::ObjectId_var first = poa->activate_object(&by_tls);
    const PortableServer::ObjectId_var second = poa->activate_object(&of_process);
    const CORBA::Object_var object = poa->id_to_reference(first);
    const CORBA::String_var reference = server.orb()->object_to_string(object);
    const CORBA::Object_var own = poa->id_to_reference(second);
    const Probe::Target_var itself = Probe::Target::_unchecked_narrow(own);
    Client client(of_client());
    const Probe::Target_var target = client.target(reference.in());
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); });
    EXPECT_TRUE(is_waiting.wait());
    EXPECT_EQ(outcome([&] { itself->act(); }), "ok");
    is_done.set();
    calling.join();
    faults.reset();
    EXPECT_EQ(said, (std::vector<std::string>{known, "no TLS", known}));
    poa->deactivate_object(first);
    poa->deactivate_object(second);
}

/// Who resumes a session shows no certificate, and is known by the one that the session is of.
TEST(SsliopCurrent, TellsWhoResumesASession)
{
    RunningServer server("thread-per-connection", of_server());
    const KairosTls::Current_var current = current_of(server.orb());
    std::string said;
    server.servant().action = [&] { said = caller(current); };
    Client client(of_client());
    const Probe::Target_var target = client.target(server.reference());
    std::vector<std::string> all;
    for (int i = 0; i < 2; ++i) { // a thread has connections of its own
        std::thread([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); }).join();
        all.push_back(said);
    }
    EXPECT_EQ(all, (std::vector<std::string>{known, "CN=client of CN=Authority [client]"}));
}

/// A request that came before anybody asked is not known to have come by TLS or not.
TEST(SsliopCurrent, IsNotResolvedWithinTheFirstRequest)
{
    RunningServer server("thread-per-connection", of_server());
    std::string said;
    server.servant().action = [&] { said = outcome([&] { (void)current_of(server.orb()); }); };
    Client client(of_client());
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(said, "BAD_INV_ORDER 0x0 NO");
    (void)current_of(server.orb());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(said, "ok");
}

TEST(SsliopCurrent, TellsOfNamesSoThatNoTwoAreTheSame)
{
    const auto made = tls::make_identity({.kind = tls::CertificateRequest::Kind::client,
                                          .name = "a,b\xc3\xa4\"\n",
                                          .hosts = {"a.example", "192.0.2.1", "::1"}},
                                         nullptr);
    const X509& certificate = *made.value().certificate;
    EXPECT_EQ(tls::distinguished_name(*X509_get_subject_name(&certificate)).value(),
              R"(CN=a\,b\C3\A4\"\0A)");
    EXPECT_EQ(tls::alternative_names_of(certificate).value(),
              (std::vector<std::string>{"DNS:a.example", "IP:192.0.2.1", "IP:::1"}));
}

TEST(SsliopCurrent, TellsNoNameWhereItCannotBeWritten)
{
    const tls::Owned<X509_NAME, &X509_NAME_free> name(X509_NAME_new());
    EXPECT_EQ(tls::distinguished_name(*name).value(), "");
    constexpr std::array<unsigned char, 2> one_character{0, 'a'};
    ASSERT_EQ(X509_NAME_add_entry_by_NID(name.get(), NID_commonName, V_ASN1_BMPSTRING,
                                         one_character.data(), one_character.size(), -1, 0),
              1);
    EXPECT_EQ(tls::distinguished_name(*name).value(), "CN=a");
    ASN1_STRING* const written = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name.get(), 0));
    ASSERT_EQ(ASN1_STRING_set(written, one_character.data(), 1), 1); // half of it
    EXPECT_FALSE(tls::distinguished_name(*name).ok());
}

} // namespace
} // namespace kairos::orb_testing
