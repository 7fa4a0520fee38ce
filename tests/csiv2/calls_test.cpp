// SPDX-License-Identifier: Apache-2.0
//
// Calls by CSIv2, from end to end: who the servant finds calling, what is refused and how, and
// where a password does not go.
#include "amh_skel.h"
#include "kairos/access/access.h"
#include "kairos/cdr/reader.h"
#include "kairos/corba/request.h"
#include "kairos/csi/context.h"
#include "kairos/csiv2/csiv2.h"
#include "kairos/ior/component.h"
#include "kairos/ior/object_url.h"
#include "kairos/ior/profile.h"
#include "kairos/orb/adapter.h"
#include "kairos/tls/peer.h"
#include "tests/access/rules.h"
#include "tests/csiv2/files.h"
#include "tests/malformed/fixture.h"
#include "tests/tls/certificates.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <openssl/x509.h>
#include <optional>
#include <span>
#include <thread>
#include <tuple>

namespace kairos::orb_testing {
namespace {

using csiv2_testing::CsiFiles;
using tls_testing::Certificates;

constexpr const char* refused = "NO_PERMISSION 0x4b52001d NO";
constexpr const char* nobody_said = "NO_PERMISSION 0x4b52001e NO";
constexpr const char* not_sent = "NO_PERMISSION 0x4b52001f NO";

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

std::string text_of(const std::optional<csiv2::Caller>& caller)
{
    using Identity = csiv2::Caller::Identity;
    if (!caller) return "nobody";
    const char* const kinds[] = {"", " for somebody", " for ", " for certificate ", " for name "};
    std::string text = "'" + caller->user + "'" + kinds[static_cast<int>(caller->identity)];
    if (caller->identity >= Identity::name) text += "'" + caller->name + "'";
    for (const std::string& each : caller->names)
        text += ", " + each;
    return text;
}

/// A certificate of a file, in DER.
csi::OctetVector certificate_in(const std::string& name)
{
    const auto read = tls::read_certificate(Certificates::get().path(name + ".pem")).value();
    csi::OctetVector octets(static_cast<std::size_t>(i2d_X509(read.get(), nullptr)));
    auto* at = reinterpret_cast<unsigned char*>(octets.data());
    EXPECT_GT(i2d_X509(read.get(), &at), 0);
    return octets;
}

/// Its subject, likewise.
csi::OctetVector subject_in(const std::string& name)
{
    const auto read = tls::read_certificate(Certificates::get().path(name + ".pem")).value();
    const X509_NAME* const subject = X509_get_subject_name(read.get());
    csi::OctetVector octets(static_cast<std::size_t>(i2d_X509_NAME(subject, nullptr)));
    auto* at = reinterpret_cast<unsigned char*>(octets.data());
    EXPECT_GT(i2d_X509_NAME(subject, &at), 0);
    return octets;
}

/// Those of several files.
class Chain {
  public:
    explicit Chain(const std::vector<std::string>& names)
    {
        for (const std::string& each : names)
            octets_.push_back(certificate_in(each));
        for (const csi::OctetVector& each : octets_)
            views_.emplace_back(each);
    }
    [[nodiscard]] std::span<const Bytes> views() const { return views_; }
    [[nodiscard]] csi::OctetVector token() const { return csi::chain_of(views_); }

  private:
    std::vector<csi::OctetVector> octets_;
    std::vector<Bytes> views_;
};

/// As SSLIOP has it.
struct ChainOfIdl {
    std::vector<CORBA::OctetSeq> all;

    [[nodiscard]] CORBA::ULong length() const { return static_cast<CORBA::ULong>(all.size()); }
    const CORBA::OctetSeq& operator[](CORBA::ULong i) const { return all[i]; }
};

constexpr const char* with_users = "[server]\nusers = \"users\"\ntarget = \"plant\"\n";
constexpr const char* with_trust = "[[trust]]\nwho = \"user:gateway\"\nnames = [\"*@web\"]\n"
                                   "[[trust]]\nwho = \"certificate:CN=client\"\n"
                                   "names = [\"carol\"]\nanonymous = true\n";
constexpr const char* with_subjects =
    "[[trust]]\nwho = \"user:gateway\"\n"
    "subjects = [\"CN=client\", \"CN=*,O=Plant\", \"DNS:*.plant.example\"]\n"
    "[[trust]]\nwho = \"user:alice\"\nsubjects = \"**\"\n";

Arguments by_tls(const char* check = "optional")
{
    return Certificates::get().shows("server") + Certificates::get().trusts("ca") +
           Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0", "-ORBTlsVerifyClient", check};
}
Arguments trusting() { return Certificates::get().trusts("ca"); }

class Csiv2Calls : public ::testing::Test {
  protected:
    /// Has the servant note who calls.
    void note(RunningServer& server)
    {
        server.servant().action = [this] { said = text_of(csiv2::caller()); };
    }
    /// What comes of a call by a client with these options, and whom the servant found.
    std::string call(RunningServer& server, const Arguments& options, int calls = 1)
    {
        Client client(options);
        return call(client, server, calls);
    }
    std::string call(Client& client, RunningServer& server, int calls = 1)
    {
        const Probe::Target_var target = client.target(server.reference());
        std::string outcomes;
        for (int i = 0; i < calls; ++i) {
            said = "no servant";
            outcomes = outcome([&] { target->act(); });
        }
        return outcomes == "ok" ? said : outcomes;
    }

    LogLines log_; // before any server
    CsiFiles files;
    std::string said;
};

TEST_F(Csiv2Calls, SayWhoCalls)
{
    for (const char* architecture : {"thread-per-connection", "reactor", "leader-followers"}) {
        RunningServer server(architecture, by_tls() + files.options(with_users));
        note(server);
        EXPECT_EQ(call(server, trusting() + files.is("alice"), 20), "'alice'");
        EXPECT_EQ(call(server, trusting() + files.is("bob@plant")), "'bob@plant'");
        EXPECT_EQ(call(server, trusting()), "nobody");
        EXPECT_EQ(text_of(csiv2::caller()), "nobody") << "outside of requests";
    }
}

/// Within a request: calls of the process's own, and calls of others that come meanwhile.
TEST_F(Csiv2Calls, AreTheInnermostOnes)
{
    RunningServer server("thread-per-connection", by_tls() + files.options(with_users));
    const CORBA::Object_var object = server.orb()->string_to_object(server.reference().c_str());
    const Probe::Target_var own = Probe::Target::_unchecked_narrow(object);
    Client bob(trusting() + files.is("bob@plant"));
    const Probe::Target_var inner = bob.target(server.reference());
    std::string all;
    std::atomic<int> depth{0};
    server.servant().action = [&] {
        const auto note = [&] { all += text_of(csiv2::caller()) + " "; };
        note();
        if (depth++ != 0) return;
        own->act();
        note();
        inner->act();
        note();
    };
    Client alice(trusting() + files.is("alice"));
    const Probe::Target_var target = alice.target(server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(all, "'alice' nobody 'alice' 'bob@plant' 'alice' ");
}

TEST_F(Csiv2Calls, AreRefusedWhereThePasswordIsWrong)
{
    RunningServer server("thread-per-connection", by_tls() + files.options(with_users));
    note(server);
    EXPECT_EQ(call(server, trusting() + files.is("mallory")), refused);
    EXPECT_EQ(said, "no servant");
    EXPECT_TRUE(LogLines::wait_for("user 'mallory' or the password is wrong"));
    EXPECT_TRUE(LogLines::wait_for("the server refuses who calls, user 'mallory': invalid evidence "
                                   "(1/1)"));
    EXPECT_EQ(LogLines::count("guess"), 0u) << "a password in the log";
    Client client(trusting() + files.is("alice"));
    EXPECT_EQ(call(client, server), "'alice'");
    csiv2::set_credentials(client.orb(), "alice", "wrong");
    EXPECT_EQ(call(client, server), refused) << "on the same connection";
    csiv2::set_credentials(client.orb(), "gateway", "gateway-secret");
    EXPECT_EQ(call(client, server), "'gateway'");
    csiv2::set_credentials(client.orb(), "", "");
    EXPECT_EQ(call(client, server), "nobody");
    EXPECT_THROW(csiv2::set_credentials(client.orb(), "a@b@c", ""), CORBA::BAD_PARAM);
    Client other;
    EXPECT_THROW(csiv2::set_credentials(other.orb(), "a", ""), CORBA::BAD_INV_ORDER);
}

TEST_F(Csiv2Calls, MayBeForThoseOnlyWhoSayWhoTheyAre)
{
    RunningServer server("thread-per-connection",
                         by_tls() + files.options(std::string(with_users) + "require = true\n"));
    note(server);
    EXPECT_EQ(call(server, trusting()), nobody_said);
    EXPECT_EQ(said, "no servant");
    EXPECT_EQ(call(server, trusting() + files.is("alice")), "'alice'");
}

TEST_F(Csiv2Calls, SpeakForOthersWhereThatIsTrusted)
{
    RunningServer server("thread-per-connection",
                         by_tls() + files.options(std::string(with_users) + with_trust));
    note(server);
    Client gateway(trusting() + files.is("gateway"));
    {
        const csiv2::SpeakingFor dave("dave@web");
        EXPECT_EQ(call(gateway, server), "'gateway' for 'dave@web'");
        {
            const csiv2::SpeakingFor other("dave@plant");
            EXPECT_EQ(call(gateway, server), refused);
            const auto nobody = csiv2::SpeakingFor::anonymous();
            EXPECT_EQ(call(gateway, server), refused);
        }
        EXPECT_EQ(call(gateway, server), "'gateway' for 'dave@web'");
        EXPECT_EQ(call(server, trusting() + files.is("alice")), refused);
    }
    EXPECT_EQ(call(gateway, server), "'gateway'");
    EXPECT_TRUE(LogLines::wait_for("user 'gateway' is not trusted to speak for 'dave@plant'"));
    // By a certificate, without a password.
    Client known(trusting() + Certificates::get().shows("client") + files.options(""));
    {
        const csiv2::SpeakingFor carol("carol");
        EXPECT_EQ(call(known, server), "'' for 'carol'");
        EXPECT_EQ(call(server, trusting() + files.options("")), refused) << "without a certificate";
        EXPECT_EQ(
            call(server, trusting() + Certificates::get().shows("server") + files.options("")),
            refused)
            << "with another";
    }
    {
        const auto somebody = csiv2::SpeakingFor::anonymous();
        EXPECT_EQ(call(known, server), "'' for somebody");
    }
    EXPECT_EQ(call(known, server), "nobody");
    EXPECT_THROW(csiv2::SpeakingFor("a@b@c"), CORBA::BAD_PARAM);
}

TEST_F(Csiv2Calls, SpeakForSubjectsOfCertificatesWhereThatIsTrusted)
{
    RunningServer server("thread-per-connection",
                         by_tls() +
                             files.options(std::string(with_users) + with_trust + with_subjects));
    note(server);
    Client gateway(trusting() + files.is("gateway"));
    Client alice(trusting() + files.is("alice"));
    {
        const auto client = csiv2::SpeakingFor::certificates(Chain({"client", "ca"}).views());
        EXPECT_EQ(call(gateway, server, 3), "'gateway' for certificate 'CN=client'");
        EXPECT_EQ(call(server, trusting() + files.is("bob@plant")), refused);
        EXPECT_TRUE(LogLines::wait_for("user 'bob@plant' is not trusted to speak for names of "
                                       "certificates"));
        const csiv2::SpeakingFor dave("dave@web");
        EXPECT_EQ(call(gateway, server), "'gateway' for 'dave@web'");
    }
    {
        const auto alone = csiv2::SpeakingFor::certificates(Chain({"client"}).views());
        EXPECT_EQ(call(gateway, server), "'gateway' for certificate 'CN=client'");
    }
    {
        // A component that looks like two; and its other name alone would have been enough, but
        // whoever speaks might make a certificate with it, and any subject.
        const auto evil = csiv2::SpeakingFor::certificates(Chain({"comma", "ca"}).views());
        EXPECT_EQ(call(gateway, server), refused);
        EXPECT_TRUE(LogLines::wait_for("is not trusted to speak for 'CN=evil\\,O=Plant'"));
        EXPECT_EQ(call(alice, server),
                  "'alice' for certificate 'CN=evil\\,O=Plant', DNS:a.plant.example");
    }
    {
        const csi::OctetVector subject = subject_in("client");
        const auto name = csiv2::SpeakingFor::distinguished_name(subject);
        EXPECT_EQ(call(gateway, server), "'gateway' for name 'CN=client'");
    }
    {
        const csi::OctetVector octets = certificate_in("client");
        ChainOfIdl chain;
        chain.all.emplace_back(static_cast<CORBA::ULong>(octets.size()));
        chain.all[0].length(static_cast<CORBA::ULong>(octets.size()));
        std::memcpy(chain.all[0].get_buffer(), octets.data(), octets.size());
        const auto client = csiv2::SpeakingFor::certificates(chain);
        EXPECT_EQ(call(gateway, server), "'gateway' for certificate 'CN=client'");
    }
    EXPECT_EQ(call(gateway, server), "'gateway'");
    const csi::OctetVector some(1);
    const csi::OctetVector much(csi::limits::chain_max);
    using Views = std::vector<Bytes>;
    for (const Views& none : {Views{}, Views{Bytes()}, Views(9, Bytes(some)), Views{Bytes(much)}})
        EXPECT_THROW((void)csiv2::SpeakingFor::certificates(none), CORBA::BAD_PARAM) << none.size();
    EXPECT_THROW((void)csiv2::SpeakingFor::distinguished_name({}), CORBA::BAD_PARAM);
    EXPECT_THROW((void)csiv2::SpeakingFor::distinguished_name(much), CORBA::BAD_PARAM);
}

/// Only who is allowed to speak for somebody so, has references say it.
TEST_F(Csiv2Calls, SayInReferencesForWhomOneMaySpeak)
{
    std::size_t namings = 0; // mechanisms that names of users are said by
    const auto types = [&](const std::string& trust) -> std::uint32_t {
        RunningServer server("thread-per-connection", by_tls() + files.options(with_users + trust));
        const auto url = ior::parse_object_url(server.reference());
        const auto profile = ior::decode_iiop(url->reference.profiles.at(0).data).value();
        for (const ior::TaggedComponent& each : profile.components) {
            if (each.tag != ior::tag_csi_sec_mech_list) continue;
            const csi::Mechanism mechanism = csi::decode_component(each)->all.at(0);
            namings = mechanism.namings.size();
            return mechanism.identity_types;
        }
        return 99;
    };
    EXPECT_EQ(types(""), 0u);
    EXPECT_EQ(namings, 0u);
    EXPECT_EQ(types(with_trust), 1u | 2u);
    EXPECT_EQ(namings, 1u);
    EXPECT_EQ(types(with_subjects), 4u | 8u);
    EXPECT_EQ(namings, 0u);
    EXPECT_EQ(types("[[trust]]\nwho = \"user:gateway\"\nanonymous = true\n"), 1u);
    EXPECT_EQ(namings, 0u);
    // And who may not is not told anything.
    RunningServer server("thread-per-connection",
                         by_tls() + files.options(std::string(with_users) + with_trust));
    Client gateway(trusting() + files.is("gateway"));
    const auto client = csiv2::SpeakingFor::certificates(Chain({"client"}).views());
    EXPECT_EQ(call(gateway, server), not_sent);
}

TEST_F(Csiv2Calls, KeepThePasswordFromWhereNothingIsProtected)
{
    RunningServer clear("thread-per-connection", files.options(with_users));
    note(clear);
    EXPECT_EQ(call(clear, files.is("alice")), "nobody");
    EXPECT_TRUE(LogLines::wait_for("csiv2: calls go out without a user: "));
    // A client that sends it nevertheless is refused, and so are those who only spoke for others.
    EXPECT_EQ(call(clear, files.is("alice", "unprotected = true\n")), refused);
    EXPECT_TRUE(LogLines::wait_for("a password in the clear, of user 'alice'"));
    RunningServer required("thread-per-connection",
                           files.options(std::string(with_users) + "require = true\n"));
    note(required);
    EXPECT_EQ(call(required, trusting() + files.is("alice")), not_sent);
    // Where both ends want it.
    RunningServer open("thread-per-connection",
                       files.options(std::string(with_users) + "unprotected = true\n"));
    note(open);
    EXPECT_EQ(call(open, files.is("alice", "unprotected = true\n"), 3), "'alice'");
}

TEST_F(Csiv2Calls, KeepThePasswordForWhomItIs)
{
    RunningServer server("thread-per-connection",
                         by_tls() + files.options(std::string(with_users) + "require = true\n"));
    note(server);
    const auto with = [&](const std::string& more, const Arguments& options) {
        return call(server, trusting() + files.is("alice", more) + options);
    };
    EXPECT_EQ(with("hosts = [\"127.*\"]\n", {}), "'alice'");
    EXPECT_EQ(with("hosts = [\"*.example\", \"plant\"]\n", {}), not_sent);
    EXPECT_EQ(with("", {"-ORBTlsVerifyServer", "chain"}), not_sent);
    EXPECT_EQ(with("", {"-ORBTlsVerifyServer", "no"}), not_sent);
    EXPECT_EQ(with("", {"-ORBTlsClient", "required"}), "'alice'");
}

/// What one thread serves one within the other: each is for itself.
TEST_F(Csiv2Calls, OfARequestAreNotForThoseOfAnother)
{
    RunningServer backend("thread-per-connection",
                          by_tls() + files.options(std::string(with_users) + with_trust));
    RunningServer gateway("reactor", by_tls() + files.is("gateway", with_users));
    const CORBA::Object_var object = gateway.orb()->string_to_object(backend.reference().c_str());
    const Probe::Target_var behind = Probe::Target::_unchecked_narrow(object);
    const CORBA::Object_var same = gateway.orb()->string_to_object(gateway.reference().c_str());
    const Probe::Target_var own = Probe::Target::_unchecked_narrow(same);
    Client mallory(trusting());
    const Probe::Target_var intruder = mallory.target(gateway.reference());
    std::string callers;
    int calls = 0;
    backend.servant().action = [&] {
        callers += text_of(csiv2::caller()) + "; ";
        if (++calls == 1) intruder->act(); // while the gateway's only thread waits
    };
    int depth = 0;
    gateway.servant().action = [&] {
        if (++depth != 1) return behind->act();
        const csiv2::SpeakingFor dave("dave@web");
        behind->act();
        behind->act();
        own->act(); // within the process, nobody is spoken for either
    };
    Client bob(trusting() + files.is("bob@plant"));
    const Probe::Target_var target = bob.target(gateway.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(callers, "'gateway' for 'dave@web'; 'gateway'; 'gateway' for 'dave@web'; "
                       "'gateway'; ");
}

/// A call that is sent again is for whom it was, whoever sends it and whatever is said by then.
TEST_F(Csiv2Calls, AreForTheSameWhenTheyAreForwarded)
{
    const Arguments options = by_tls() + files.options(std::string(with_users) + with_trust);
    RunningServer server("thread-per-connection", options);
    note(server);
    RunningServer forwarder("thread-per-connection", options);
    Client client(trusting() + files.is("gateway"));
    Event changed;
    forwarder.servant().action = [&] {
        if (!changed.wait()) throw CORBA::TIMEOUT();
        throw orb::LocationForward{ior::parse_object_url(server.reference())->reference};
    };
    const Probe::Target_var target = client.target(forwarder.reference());
    const CORBA::Request_var request = target->_request("act");
    {
        const csiv2::SpeakingFor dave("dave@web");
        request->send_deferred();
    }
    csiv2::set_credentials(client.orb(), "alice", "alice-secret");
    {
        const csiv2::SpeakingFor other("eve@web");
        changed.set();
        EXPECT_EQ(outcome([&] { request->get_response(); }), "ok");
    }
    EXPECT_EQ(said, "'gateway' for 'dave@web'");
    EXPECT_EQ(call(client, server), "'alice'");
}

TEST_F(Csiv2Calls, AreForOthersWithinABlock)
{
    RunningServer server("thread-per-connection",
                         by_tls() + files.options(std::string(with_users) + with_trust));
    note(server);
    Client gateway(trusting() + files.is("gateway"));
    // As in the frame of a coroutine, which other threads go on with.
    EXPECT_THROW(std::make_unique<csiv2::SpeakingFor>("dave@web"), CORBA::BAD_INV_ORDER);
    EXPECT_EQ(call(gateway, server), "'gateway'");
    std::optional<csiv2::SpeakingFor> one;
    std::optional<csiv2::SpeakingFor> other;
    one.emplace("dave@web");
    other.emplace("eve@web");
    one.reset(); // out of order
    EXPECT_EQ(call(gateway, server), "'gateway' for 'eve@web'");
    std::thread([&] { other.reset(); }).join();
    EXPECT_EQ(call(gateway, server), "'gateway'");
#ifndef __SANITIZE_ADDRESS__ // which has variables elsewhere than on the thread's stack
    // One of a request cannot outlast it.
    const CORBA::Object_var object = server.orb()->string_to_object(server.reference().c_str());
    const Probe::Target_var own = Probe::Target::_unchecked_narrow(object);
    server.servant().action = [&] {
        EXPECT_THROW(one.emplace("dave@web"), CORBA::BAD_INV_ORDER);
        EXPECT_NO_THROW(csiv2::SpeakingFor("dave@web"));
    };
    EXPECT_EQ(outcome([&] { own->act(); }), "ok");
    EXPECT_FALSE(one.has_value());
#endif
}

/// Makes a servant for each object, and notes who calls then.
class Noting final : public virtual PortableServer::ServantActivator {
  public:
    explicit Noting(std::string& said) : said_(said) {}
    PortableServer::Servant incarnate(const PortableServer::ObjectId&,
                                      PortableServer::POA_ptr) override
    {
        said_ += "incarnate " + text_of(csiv2::caller()) + "; ";
        auto* const servant = new Servant;
        servant->action = [this] { said_ += text_of(csiv2::caller()) + "; "; };
        return servant;
    }
    void etherealize(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                     PortableServer::Servant servant, CORBA::Boolean, CORBA::Boolean) override
    {
        servant->_remove_ref();
    }

  private:
    std::string& said_;
};

TEST_F(Csiv2Calls, AreKnownToServantManagersAndToNoOtherOrb)
{
    RunningServer server("reactor", by_tls() + files.options(with_users));
    std::string all;
    const CORBA::Object_var root = server.orb()->resolve_initial_references("RootPOA");
    const PortableServer::POA_var parent = PortableServer::POA::_narrow(root);
    const PortableServer::POAManager_var manager = parent->the_POAManager();
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    policies[1] = parent->create_id_assignment_policy(PortableServer::USER_ID);
    const PortableServer::POA_var poa = parent->create_POA("activated", manager, policies);
    const PortableServer::ServantManager_var activator = new Noting(all);
    poa->set_servant_manager(activator);
    const auto activated = [&](const char* id) {
        const PortableServer::ObjectId_var name = PortableServer::string_to_ObjectId(id);
        const CORBA::Object_var object =
            poa->create_reference_with_id(name, "IDL:Probe/Target:1.0");
        const CORBA::String_var text = server.orb()->object_to_string(object);
        return std::string(text.in());
    };
    RunningServer plain("reactor");
    plain.servant().action = [&] { all += "plain " + text_of(csiv2::caller()) + "; "; };
    const CORBA::Object_var object = plain.orb()->string_to_object(plain.reference().c_str());
    const Probe::Target_var of_another = Probe::Target::_unchecked_narrow(object);
    Client mallory(trusting());
    const Probe::Target_var intruder = mallory.target(activated("first"));
    Client bob(trusting() + files.is("bob@plant"));
    const Probe::Target_var inner = bob.target(activated("second"));
    RunningServer behind("thread-per-connection");
    behind.servant().action = [&] { // while the server's only thread waits
        intruder->act();
        inner->act();
    };
    Client client;
    const Probe::Target_var backend = client.target(behind.reference());
    server.servant().action = [&] {
        of_another->act();
        backend->act();
        all += text_of(csiv2::caller());
    };
    Client alice(trusting() + files.is("alice"));
    const Probe::Target_var target = alice.target(server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(all, "plain nobody; incarnate nobody; nobody; incarnate 'bob@plant'; 'bob@plant'; "
                   "'alice'");
}

/// A servant that answers in another thread, when its operation has returned.
class LaterServant final : public POA_Amh::AMH_Clash {
  public:
    explicit LaterServant(std::string& said) : said_(said) {}
    ~LaterServant() override
    {
        if (answering_.joinable()) answering_.join();
    }
    void go(Amh::AMH_AMH_ClashResponseHandler_ptr handler, CORBA::Long value) override
    {
        said_ += text_of(csiv2::caller()) + "; ";
        const auto kept = Amh::AMH_AMH_ClashResponseHandler::_duplicate(handler);
        answering_ = std::thread([this, kept, value] {
            const Amh::AMH_AMH_ClashResponseHandler_var answer = kept;
            if (!returned_.wait()) return;
            said_ += text_of(csiv2::caller()) + "; ";
            answer->go(value);
        });
        said_ += text_of(csiv2::caller()) + "; ";
        returned_.set();
    }
    void go_excep(Amh::AMH_AMH_ClashResponseHandler_ptr handler) override { handler->go_excep(); }

  private:
    std::string& said_;
    Event returned_;
    std::thread answering_;
};

TEST_F(Csiv2Calls, AreKnownToServantsThatAnswerLaterUntilTheyReturn)
{
    std::string all;
    LaterServant later(all);
    RunningServer server("reactor", by_tls() + files.options(with_users));
    note(server);
    const CORBA::Object_var root = server.orb()->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableServer::ObjectId_var id = poa->activate_object(&later);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server.orb()->object_to_string(object);
    Client alice(trusting() + files.is("alice"));
    const CORBA::Object_var there = alice.orb()->string_to_object(reference);
    const Amh::Clash_var clash = Amh::Clash::_unchecked_narrow(there);
    EXPECT_EQ(clash->go(7), 7);
    EXPECT_EQ(all, "'alice'; 'alice'; nobody; ");
    EXPECT_EQ(call(server, trusting()), "nobody") << "by the same thread";
}

/// As of application servers, which have no component of SSLIOP and no port in the clear.
TEST_F(Csiv2Calls, FindTlsByWhatTheServerWantsOfThem)
{
    RunningServer server("thread-per-connection", by_tls() + files.options(with_users));
    note(server);
    auto url = ior::parse_object_url(server.reference());
    ASSERT_TRUE(url.ok());
    ior::Ior& reference = url->reference;
    ASSERT_EQ(reference.profiles.size(), 1u);
    auto profile = ior::decode_iiop(reference.profiles[0].data).value();
    profile.port = 0;
    EXPECT_EQ(std::erase_if(profile.components,
                            [](const auto& each) { return each.tag == ior::tag_ssl_sec_trans; }),
              1u);
    reference.profiles[0] = ior::encode_iiop(profile);
    Client client(trusting() + files.is("alice"));
    const Probe::Target_var target = client.target(ior::to_string(reference));
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(said, "'alice'");
    Client clear({"-ORBTlsClient", "never"});
    const Probe::Target_var by_no_way = clear.target(ior::to_string(reference));
    EXPECT_NE(outcome([&] { by_no_way->act(); }), "ok");
}

TEST_F(Csiv2Calls, AreToldOfCertificatesAsSsliopSaysIt)
{
    using namespace csi::association;
    for (const auto& [check, supported, required] :
         {std::tuple("no", 0, 0), std::tuple("optional", int{trust_in_client}, 0),
          std::tuple("required", int{trust_in_client}, int{trust_in_client})}) {
        RunningServer server("thread-per-connection", by_tls(check) + files.options(with_users));
        const auto url = ior::parse_object_url(server.reference());
        ASSERT_TRUE(url.ok());
        const auto profile = ior::decode_iiop(url->reference.profiles.at(0).data).value();
        std::optional<csi::MechanismList> list;
        for (const ior::TaggedComponent& each : profile.components)
            if (each.tag == ior::tag_csi_sec_mech_list) list = csi::decode_component(each);
        ASSERT_TRUE(list && list->all.size() == 1 && list->all[0].tls);
        const csi::TlsTransport& tls = *list->all[0].tls;
        EXPECT_EQ(tls.supports & trust_in_client, supported) << check;
        EXPECT_EQ(tls.requires_ & trust_in_client, required) << check;
        EXPECT_EQ(tls.requires_ & (integrity | confidentiality), integrity | confidentiality);
        EXPECT_EQ(tls.supports & no_protection, 0);
    }
}

TEST_F(Csiv2Calls, AskAnAuthenticatorOfTheProgram)
{
    class Same final : public csiv2::Authenticator {
      public:
        bool is_right(const std::string& user, const std::string& password) override
        {
            if (user == "thrower") throw 1;
            return user + "!" == password;
        }
    };
    EXPECT_THROW(csiv2::set_authenticator(Client(trusting() + files.options("")).orb(),
                                          std::make_shared<Same>()),
                 CORBA::BAD_INV_ORDER);
    RunningServer server("thread-per-connection", by_tls() + files.options("[server]\n"),
                         RunningServer::Start::active, [](CORBA::ORB_ptr orb) {
                             csiv2::set_authenticator(orb, std::make_shared<Same>());
                         });
    note(server);
    Client client(trusting() + files.options(""));
    for (const auto& [password, expected] :
         {std::pair("eve!", "'eve'"), std::pair("eve", refused), std::pair("eve!", "'eve'")}) {
        csiv2::set_credentials(client.orb(), "eve", password);
        EXPECT_EQ(call(client, server), expected);
    }
    csiv2::set_credentials(client.orb(), "thrower", "x");
    EXPECT_EQ(call(client, server), refused);
}

TEST_F(Csiv2Calls, AreAllowedByRulesForThoseWhomTheyAreMadeFor)
{
    const access_testing::RulesFile rules("[[rule]]\nwho = \"login:alice\"\nallow = \"*\"\n"
                                          "[[rule]]\nwho = \"login:*@web\"\nallow = \"act\"\n");
    RunningServer server("thread-per-connection",
                         by_tls() + rules.options() +
                             files.options(std::string(with_users) + with_trust));
    note(server);
    constexpr const char* denied = "NO_PERMISSION 0x4b52001c NO";
    Client client(trusting() + files.is("alice"));
    for (int i = 0; i < 3; ++i) { // nothing is remembered for the connection
        csiv2::set_credentials(client.orb(), "alice", "alice-secret");
        EXPECT_EQ(call(client, server, 3), "'alice'");
        csiv2::set_credentials(client.orb(), "gateway", "gateway-secret");
        EXPECT_EQ(call(client, server, 3), denied);
        const csiv2::SpeakingFor dave("dave@web");
        EXPECT_EQ(call(client, server, 3), "'gateway' for 'dave@web'");
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(outcome([&] { target->ping(); }), denied);
    }
    EXPECT_EQ(call(server, trusting()), denied);
    EXPECT_TRUE(LogLines::wait_for("access denied: who=\"login dave@web\""));
}

/// A user may be called what somebody's certificate says.
TEST_F(Csiv2Calls, AreAllowedByRulesForSubjectsThatAreNoUsers)
{
    const access_testing::RulesFile rules(
        "[[rule]]\nwho = \"subject:CN=client\"\nallow = \"act\"\n"
        "[[rule]]\nwho = \"login:CN=elsewhere\"\nallow = \"act\"\n");
    RunningServer server("thread-per-connection",
                         by_tls() + rules.options() +
                             files.options(std::string(with_users) + with_subjects +
                                           "[[trust]]\nwho = \"user:alice\"\nnames = \"*\"\n"));
    note(server);
    constexpr const char* denied = "NO_PERMISSION 0x4b52001c NO";
    Client alice(trusting() + files.is("alice"));
    {
        const auto one = csiv2::SpeakingFor::certificates(Chain({"client", "ca"}).views());
        EXPECT_EQ(call(alice, server, 3), "'alice' for certificate 'CN=client'");
    }
    {
        const auto one = csiv2::SpeakingFor::certificates(Chain({"elsewhere"}).views());
        EXPECT_EQ(call(alice, server), denied);
        EXPECT_TRUE(LogLines::wait_for("access denied: who=\"subject CN=elsewhere\""));
    }
    {
        const csiv2::SpeakingFor user("CN=client");
        EXPECT_EQ(call(alice, server), denied);
    }
    const csiv2::SpeakingFor user("CN=elsewhere");
    EXPECT_EQ(call(alice, server), "'alice' for 'CN=elsewhere'");
}

// --- what comes otherwise ------------------------------------------------------------------------

/// The answer to a request with these contexts: what comes of it, and what is said of the context.
std::string answer(RunningServer& server, const std::vector<csi::OctetVector>& contexts)
{
    RawPeer peer = server.connect();
    WireMessage message(giop::MessageType::request);
    message.u32(7).u8(3).u8(0).u16(0).u16(0).octets(server.key()).string("ping");
    message.u32(static_cast<std::uint32_t>(contexts.size()));
    for (const csi::OctetVector& each : contexts)
        message.u32(csi::service_context).octets(each);
    peer.send(message.finish());
    const Octets reply = peer.read_message();
    const ParsedReply parsed(reply);
    std::string text = parsed.text();
    // The context is looked for where it is: behind the header, the id and the status.
    cdr::Reader reader(reply, (std::to_integer<int>(reply[6]) & 1) != 0, giop::header_size);
    (void)reader.read<std::uint32_t>();
    (void)reader.read<std::uint32_t>();
    const auto list = giop::ServiceContexts::read(reader);
    list.for_each([&](std::uint32_t id, Bytes data) {
        if (id != csi::service_context) return;
        const auto said = csi::decode_message(data);
        if (const auto* error = said ? std::get_if<csi::ContextError>(&*said) : nullptr)
            text += ", error " + std::to_string(error->client_context_id) + " " +
                    std::to_string(error->major) + "/" + std::to_string(error->minor) +
                    (error->token.empty() ? "" : " with a token");
        if (const auto* complete =
                said ? std::get_if<csi::CompleteEstablishContext>(&*said) : nullptr)
            text += ", complete " + std::to_string(complete->client_context_id) +
                    (complete->is_stateful ? " stateful" : "");
    });
    return text;
}

TEST_F(Csiv2Calls, AreAnsweredAsTheSpecificationSays)
{
    using csi::EstablishContext;
    using csi::IdentityType;
    RunningServer server(
        "thread-per-connection",
        files.options(std::string(with_users) + "unprotected = true\n" + with_trust));
    const std::string no(refused);
    const auto one = [&](const csi::Message& message) {
        return answer(server, {csi::encode(message)});
    };
    const auto password = [](const std::string& user, const std::string& word,
                             csi::OctetVector target = {}) {
        return csi::encode(
            csi::UserAndPassword{.user = user, .password = word, .target_name = std::move(target)});
    };
    const csi::OctetVector right = password("alice", "alice-secret");
    EXPECT_EQ(answer(server, {}), "NO_EXCEPTION");
    EXPECT_EQ(one(EstablishContext{.authentication = right}), "NO_EXCEPTION, complete 0");
    // Whoever would have the server keep a context is told that it keeps none.
    EXPECT_EQ(one(EstablishContext{.client_context_id = 77, .authentication = right}),
              "NO_EXCEPTION, complete 77");
    EXPECT_EQ(one(csi::MessageInContext{.client_context_id = 77}), no + ", error 77 4/1");
    EXPECT_EQ(one(EstablishContext{}), "NO_EXCEPTION, complete 0");
    EXPECT_EQ(
        one(EstablishContext{.client_context_id = 5, .authentication = password("alice", "wrong")}),
        no + ", error 5 1/1 with a token");
    EXPECT_EQ(one(EstablishContext{.authentication = password("alice", "alice-secret",
                                                              csi::exported_name("plant"))}),
              "NO_EXCEPTION, complete 0");
    EXPECT_EQ(one(EstablishContext{
                  .authentication = password("alice", "alice-secret", csi::exported_name("mill"))}),
              no + ", error 0 1/1 with a token");
    csi::OctetVector kerberos = right;
    kerberos[5] ^= std::byte{1};
    EXPECT_EQ(one(EstablishContext{.authentication = kerberos}), no + ", error 0 2/1");
    const auto identity = [&](IdentityType type, csi::OctetVector token = {}) {
        return one(EstablishContext{.identity = {.type = type, .token = std::move(token)},
                                    .authentication = password("gateway", "gateway-secret")});
    };
    EXPECT_EQ(identity(IdentityType::principal_name, csi::exported_name("ann@web")),
              "NO_EXCEPTION, complete 0");
    EXPECT_EQ(identity(IdentityType::principal_name, csi::exported_name("ann")),
              no + ", error 0 1/1");
    EXPECT_EQ(identity(IdentityType::principal_name, csi::exported_name("a@b@web")),
              no + ", error 0 1/1");
    EXPECT_EQ(identity(IdentityType::principal_name, right), no + ", error 0 1/1");
    EXPECT_EQ(identity(IdentityType::anonymous), no + ", error 0 1/1");
    EXPECT_EQ(identity(IdentityType::certificates, right), no + ", error 0 2/1");
    EXPECT_EQ(identity(IdentityType::distinguished_name, right), no + ", error 0 2/1");
    EXPECT_EQ(identity(static_cast<IdentityType>(64), right), no + ", error 0 2/1");
    // What no client sends.
    EXPECT_EQ(answer(server, {right}), no + ", error 0 1/1");
    EXPECT_EQ(answer(server, {{}}), no + ", error 0 1/1");
    EXPECT_EQ(one(csi::CompleteEstablishContext{}), no + ", error 0 1/1");
    EXPECT_EQ(one(csi::ContextError{.major = 1, .minor = 1}), no + ", error 0 1/1");
    const csi::OctetVector good = csi::encode(EstablishContext{.authentication = right});
    EXPECT_EQ(answer(server, {good, good}), no + ", error 0 3/1");
}

/// What is wrong with a chain; "" for none.
std::string fault_of(const csi::OctetVector& chain)
{
    const auto first = tls::first_of_chain(chain);
    return first ? "" : first.error().reason;
}

TEST_F(Csiv2Calls, AreRefusedForChainsThatAreNone)
{
    using csi::IdentityType;
    RunningServer server(
        "thread-per-connection",
        files.options(std::string(with_users) + "unprotected = true\n" + with_subjects));
    const auto identity = [&](IdentityType type, csi::OctetVector token) {
        return answer(server, {csi::encode(csi::EstablishContext{
                                  .identity = {.type = type, .token = std::move(token)},
                                  .authentication = csi::encode(csi::UserAndPassword{
                                      .user = "alice", .password = "alice-secret"})})});
    };
    const std::string taken = "NO_EXCEPTION, complete 0";
    const std::string no = std::string(refused) + ", error 0 1/1";
    const csi::OctetVector good = Chain({"client", "ca"}).token();
    EXPECT_EQ(identity(IdentityType::certificates, good), taken);
    EXPECT_EQ(fault_of(good), "");
    csi::OctetVector longer = good;
    longer.push_back(std::byte{0});
    csi::OctetVector altered = good; // within the signature of the last
    altered.back() ^= std::byte{1};
    csi::OctetVector endless = good; // of a length that is not said
    endless[1] = std::byte{0x80};
    const csi::OctetVector nothing{std::byte{0x30}, std::byte{0}};
    const csi::OctetVector other{std::byte{0x30}, std::byte{2}, std::byte{0x30}, std::byte{0}};
    struct Case {
        csi::OctetVector token;
        const char* fault;
    };
    const std::vector<Case> cases{
        {Chain({"client", "other-ca"}).token(), "'CN=Other' has not signed 'CN=client'"},
        {Chain({"ca", "client"}).token(), "'CN=client' has not signed 'CN=Authority'"},
        {Chain({"client", "server"}).token(), "'CN=server' has not signed 'CN=client'"},
        {Chain({"client", "ca", "client"}).token(), "'CN=client' has not signed 'CN=Authority'"},
        {Chain({"ca", "ca", "ca", "ca", "ca", "ca", "ca", "ca", "ca"}).token(),
         "a chain of more than 8 certificates"},
        {nothing, "a chain without certificates"},
        {other, "a chain that has something else than certificates"},
        {csi::OctetVector(), "a chain that is no sequence of certificates"},
        {longer, "a chain that is no sequence of certificates"},
        {endless, "a chain that is no sequence of certificates"},
        {csi::OctetVector(csi::limits::chain_max + 1), "a chain of more than 49152 octets"},
        {certificate_in("client"), "a chain that has something else than certificates"},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(identity(IdentityType::certificates, each.token), no) << each.fault;
        EXPECT_NE(fault_of(each.token).find(each.fault), std::string::npos)
            << fault_of(each.token) << " instead of " << each.fault;
    }
    EXPECT_EQ(fault_of(altered), "") << "nobody says who has signed the last one";
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_NE(fault_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}), "");
    csi::OctetVector signed_otherwise = Chain({"client"}).token();
    signed_otherwise.back() ^= std::byte{1};
    signed_otherwise.erase(signed_otherwise.begin(), signed_otherwise.begin() + 4);
    const csi::OctetVector ca = certificate_in("ca");
    EXPECT_NE(fault_of(csi::chain_of(std::vector<Bytes>{signed_otherwise, ca})), "");
    // Names by themselves.
    const csi::OctetVector name = subject_in("comma");
    EXPECT_EQ(identity(IdentityType::distinguished_name, name), taken);
    EXPECT_EQ(tls::written_name(name).value(), "CN=evil\\,O=Plant");
    csi::OctetVector more = name;
    more.push_back(std::byte{0});
    for (const csi::OctetVector& each :
         {more, nothing, csi::OctetVector(), good,
          csi::OctetVector(csi::limits::distinguished_name_max + 1), csi::exported_name("ann")})
        EXPECT_EQ(identity(IdentityType::distinguished_name, each), no);
    EXPECT_EQ(identity(IdentityType::certificates, name), no);
    EXPECT_EQ(identity(static_cast<IdentityType>(16), good),
              std::string(refused) + ", error 0 2/1");
}

TEST_F(Csiv2Calls, HoldUpWhoGuesses)
{
    RunningServer server("thread-per-connection", by_tls() + files.options(with_users));
    note(server);
    Client client(trusting() + files.is("alice"));
    EXPECT_EQ(call(client, server), "'alice'");
    Client mallory(trusting() + files.is("mallory"));
    std::string last;
    for (int i = 0; i < 1000 && (last = call(mallory, server)) == refused; ++i) {
    }
    EXPECT_EQ(last, "TRANSIENT 0x4b520020 NO");
    EXPECT_EQ(call(client, server), "'alice'") << "who was there before goes on";
    EXPECT_EQ(call(server, trusting() + files.is("alice")), "'alice'") << "by each connection";
    EXPECT_EQ(call(server, trusting() + files.is("gateway")), "'gateway'") << "of the same host";
}

TEST_F(Csiv2Calls, NeedAFileThatCanBeUsed)
{
    EXPECT_THROW(Client({"-ORBCsi", "/nowhere"}), CORBA::BAD_PARAM);
    EXPECT_THROW(Client(files.options("[server]\nusers = \"nobody\"\n")), CORBA::BAD_PARAM);
    EXPECT_THROW(Client(files.options("[client]\nuser = \"a\"\n")), CORBA::BAD_PARAM);
}

} // namespace
} // namespace kairos::orb_testing
