// SPDX-License-Identifier: Apache-2.0
//
// KairosTls::CallersPolicy: objects that take requests by TLS only, from clients with a
// certificate, or with one of certain names.
#include "kairos/corba/BiDirPolicy.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/orb.h"
#include "kairos/server/serving.h"
#include "kairos/ssliop/KairosTls.h"
#include "tests/robust/local.h"
#include "tests/tls/files.h"

#include <memory>
#include <thread>

namespace kairos::orb_testing {
namespace {

using tls_testing::Certificates;

constexpr const char* refused = "NO_PERMISSION 0x4b520021 NO";

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

/// By TCP as well, as RunningServer has it.
Arguments of_server(const char* check = "optional")
{
    return Certificates::get().shows("server") + Certificates::get().trusts("ca") +
           Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0", "-ORBTlsVerifyClient", check};
}
Arguments of_client(const char* certificate = "client")
{
    return Certificates::get().trusts("ca") + Certificates::get().shows(certificate);
}
Arguments of_nobody() { return Certificates::get().trusts("ca"); }
Arguments in_the_clear() { return {"-ORBTlsClient", "never"}; }

CORBA::Policy_var callers(CORBA::ORB_ptr orb, bool certificate,
                          const std::vector<std::string>& names = {})
{
    KairosTls::Callers wanted;
    wanted.certificate = certificate;
    wanted.names.length(static_cast<CORBA::ULong>(names.size()));
    for (CORBA::ULong i = 0; i < wanted.names.length(); ++i)
        wanted.names[i] = names[i].c_str();
    CORBA::Any value;
    value <<= wanted;
    return orb->create_policy(KairosTls::CALLERS_POLICY_TYPE, value);
}

/// Where the server listens by TCP.
std::uint16_t plain_port(const RunningServer& server)
{
    std::uint16_t port = 0;
    (void)changed(server.reference(), [&](ior::IiopProfile& profile) { port = profile.port; });
    return port;
}

/// A POA with this policy, and an object of it, which outlives neither.
class Protected {
  public:
    Protected(RunningServer& server, const char* name, const CORBA::Policy_var& policy,
              PortableServer::ThreadPolicyValue threads = PortableServer::ORB_CTRL_MODEL)
    {
        CORBA::PolicyList policies;
        policies.length(3);
        policies[0] = policy;
        policies[1] = server.poa()->create_thread_policy(threads);
        CORBA::Any both;
        both <<= BiDirPolicy::BOTH;
        policies[2] = server.orb()->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
        poa_ = server.poa()->create_POA(name, server.manager(), policies);
        const PortableServer::ObjectId_var id = poa_->activate_object(&servant_);
        object_ = poa_->id_to_reference(id);
        reference_ = CORBA::String_var(server.orb()->object_to_string(object_)).in();
    }
    ~Protected() { poa_->destroy(true, true); }
    Protected(const Protected&) = delete;
    Protected& operator=(const Protected&) = delete;

    [[nodiscard]] const std::string& reference() const { return reference_; }
    [[nodiscard]] Octets key() const
    {
        const Bytes key = object_->_kairos_reference()->object_key();
        return {key.begin(), key.end()};
    }
    [[nodiscard]] Probe::Target_var target() const
    {
        return Probe::Target::_unchecked_narrow(object_);
    }
    /// As somebody makes one who knows the key and where the server listens by TCP.
    [[nodiscard]] std::string forged(const RunningServer& server) const
    {
        return changed(reference_, [&](ior::IiopProfile& profile) {
            profile.port = plain_port(server);
            profile.components.clear();
        });
    }

  private:
    Servant servant_;
    PortableServer::POA_var poa_;
    CORBA::Object_var object_;
    std::string reference_;
};

std::string called(const std::string& reference, const Arguments& options)
{
    Client client(options);
    const Probe::Target_var target = client.target(reference);
    return outcome([&] { target->ping(); });
}

class SsliopCallers : public EveryArchitecture {};

TEST_P(SsliopCallers, GetThroughWhoThePolicyWants)
{
    RunningServer server(GetParam(), of_server());
    const Protected by_tls(server, "tls", callers(server.orb(), false));
    const Protected known(server, "known", callers(server.orb(), true));
    const Protected named(server, "named", callers(server.orb(), false, {"CN=nobody", "CN=cl*t"}),
                          PortableServer::SINGLE_THREAD_MODEL);
    struct Case {
        const Protected& object;
        Arguments client;
        const char* expected;
    };
    const Case cases[] = {
        {by_tls, of_client(), "ok"},   {by_tls, of_nobody(), "ok"},
        {known, of_client(), "ok"},    {known, of_client("server"), "ok"},
        {known, of_nobody(), refused}, {named, of_client(), "ok"},
        {named, of_nobody(), refused}, {named, of_client("server"), refused},
    };
    for (const Case& each : cases)
        EXPECT_EQ(called(each.object.reference(), each.client), each.expected) << &each - cases;
    for (const Protected* each : {&by_tls, &known, &named}) {
        EXPECT_EQ(called(each->forged(server), in_the_clear()), refused);
        EXPECT_EQ(outcome([&] { each->target()->ping(); }), "ok"); // of the process itself
    }
    // Objects of other POAs are called as ever, and who was refused may call them.
    Client client(in_the_clear());
    const Probe::Target_var open = client.target(server.reference());
    const Probe::Target_var closed = client.target(by_tls.forged(server));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome([&] { open->ping(); }), "ok");
        EXPECT_EQ(outcome([&] { closed->ping(); }), refused);
    }
}

/// Whoever may not call an object cannot have another object of the ORB call it either.
TEST_P(SsliopCallers, CallByNobodyElse)
{
    for (const char* collocation : {"through-poa", "direct"}) {
        RunningServer server(GetParam(), of_server() + Arguments{"-ORBCollocation", collocation});
        const Protected by_tls(server, "tls", callers(server.orb(), false));
        const Protected known(server, "known", callers(server.orb(), true),
                              PortableServer::SINGLE_THREAD_MODEL);
        const Probe::Target_var of_tls = by_tls.target();
        const Probe::Target_var of_known = known.target();
        const CORBA::Object_var open = server.orb()->string_to_object(server.reference().c_str());
        const Probe::Target_var own = Probe::Target::_unchecked_narrow(open);
        std::atomic<bool> is_deep{false};
        std::atomic<int> acts{0};
        server.servant().action = [&] {
            if (!is_deep) return of_tls->ping();
            acts++ % 2 == 0 ? own->act() : of_known->ping();
        };
        // What the server does by itself, once and once more by the shortest way.
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(outcome([&] { of_tls->ping(); }), "ok");
            EXPECT_EQ(outcome([&] { of_known->ping(); }), "ok");
        }
        Client stranger(in_the_clear());
        Client nobody(of_nobody());
        Client client(of_client());
        const Probe::Target_var as_stranger = stranger.target(server.reference());
        const Probe::Target_var as_nobody = nobody.target(server.reference());
        const Probe::Target_var as_client = client.target(server.reference());
        EXPECT_EQ(outcome([&] { as_stranger->act(); }), refused);
        EXPECT_EQ(outcome([&] { as_nobody->act(); }), "ok");
        EXPECT_EQ(outcome([&] { as_stranger->act(); }), refused);
        is_deep = true; // through one more object of the server
        EXPECT_EQ(outcome([&] { as_stranger->act(); }), refused);
        EXPECT_EQ(outcome([&] { as_nobody->act(); }), refused);
        EXPECT_EQ(outcome([&] { as_client->act(); }), "ok");
        EXPECT_EQ(outcome([&] { own->act(); }), "ok");
    }
}

/// A request by hand that offers its connection for calls to this address.
Octets offering(const Octets& key, const ior::Address& point)
{
    orb::ContextList list;
    orb::append_listen_points(list, {&point, 1});
    WireMessage message(giop::MessageType::request);
    message.u32(0).u8(3).raw(std::string_view("\0\0\0", 3));
    message.u16(0).octets(key).string("ping").align(4);
    message.raw(list.bytes()).align(8);
    return message.finish();
}

/// Whoever is refused does not get the calls to an address by having asked.
TEST_P(SsliopCallers, OnlyAreCalledBack)
{
    RunningServer server(GetParam(), of_server());
    const Protected known(server, "known", callers(server.orb(), true));
    orb::Bidirectional& claims = orb::Serving::of(server.orb()->_kairos_core()).bidirectional();
    RawPeer stranger = RawPeer::connect(plain_port(server));
    stranger.send(offering(known.key(), orb::unreachable_listen_point(0x1234)));
    EXPECT_EQ(ParsedReply(stranger.read_message()).text(), refused);
    EXPECT_FALSE(claims.has_claims());
    const auto offer = [&](const Arguments& options) {
        Client client(options + Arguments{"-ORBListenEndpoints", "none"});
        const CORBA::Object_var object = client.orb()->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        CORBA::Any both;
        both <<= BiDirPolicy::BOTH;
        CORBA::PolicyList policies;
        policies.length(1);
        policies[0] = client.orb()->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        const PortableServer::POA_var poa = root->create_POA("both", manager, policies);
        manager->activate();
        const Probe::Target_var target = client.target(known.reference());
        const CORBA::Object_var offering =
            target->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
        const Probe::Target_var offers = Probe::Target::_unchecked_narrow(offering);
        return outcome([&] { offers->ping(); });
    };
    EXPECT_EQ(offer(of_nobody()), refused);
    EXPECT_FALSE(claims.has_claims());
    EXPECT_EQ(offer(of_client()), "ok");
    EXPECT_TRUE(claims.has_claims());
}

KAIROS_EVERY_ARCHITECTURE(SsliopCallers);

/// Also where requests would be held, where one servant has all objects, and by each version and
/// way.
TEST(SsliopCallers, AreJudgedHoweverTheyCome)
{
    RunningServer server("reactor", of_server() + Arguments{"-ORBListenEndpoints", "uiop://"});
    Servant servant;
    CORBA::PolicyList policies;
    policies.length(3);
    policies[0] = callers(server.orb(), true);
    policies[1] =
        server.poa()->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    policies[2] = server.poa()->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("default", PortableServer::POAManager::_nil(), policies);
    poa->set_servant(&servant);
    const CORBA::Object_var object = poa->create_reference("IDL:Probe/Target:1.0");
    const Bytes key = object->_kairos_reference()->object_key();
    const std::string reference = CORBA::String_var(server.orb()->object_to_string(object)).in();
    // As the open object's, with its addresses in the clear.
    const std::string forged = changed(server.reference(), [&](ior::IiopProfile& profile) {
        profile.object_key.assign(key.begin(), key.end());
    });
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    for (const bool is_holding : {true, false}) {
        if (!is_holding) manager->activate();
        EXPECT_EQ(called(forged, in_the_clear()), refused); // by a Unix socket
        EXPECT_EQ(called(forged, in_the_clear() + Arguments{"-ORBPreferLocal", "0"}), refused);
        EXPECT_EQ(called(reference, of_nobody()), refused);
        RawPeer peer = RawPeer::connect(plain_port(server));
        for (const giop::Version version :
             {giop::version_1_0, giop::version_1_1, giop::version_1_2}) {
            peer.send(request(key, "ping", 1, version).finish());
            EXPECT_EQ(ParsedReply(peer.read_message()).text(), refused) << int(version.minor);
        }
    }
    EXPECT_EQ(servant.calls, 0u);
    EXPECT_EQ(called(reference, of_client()), "ok");
    EXPECT_EQ(servant.calls, 1u);
    poa->destroy(true, true);
}

/// Of more POAs than a connection remembers.
TEST(SsliopCallers, AreRememberedPerConnection)
{
    RunningServer server("thread-per-connection", of_server());
    struct Case {
        std::unique_ptr<Protected> object;
        Probe::Target_var as_known;
        Probe::Target_var as_other;
    };
    Client known(of_client());
    Client other(of_client("server"));
    std::vector<Case> cases;
    for (int i = 0; i < 20; ++i) {
        Case& made = cases.emplace_back();
        made.object = std::make_unique<Protected>(
            server, ("named-" + std::to_string(i)).c_str(),
            callers(server.orb(), false, {i % 3 == 0 ? "CN=server" : "CN=client"}));
        made.as_known = known.target(made.object->reference());
        made.as_other = other.target(made.object->reference());
    }
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 20; ++i)
            for (int again = 0; again < 2; ++again) {
                EXPECT_EQ(outcome([&] { cases[i].as_known->ping(); }), i % 3 ? "ok" : refused);
                EXPECT_EQ(outcome([&] { cases[i].as_other->ping(); }), i % 3 ? refused : "ok");
            }
}

TEST(SsliopCallers, AreNamedInTheLog)
{
    LogLines log;
    RunningServer server("reactor", of_server());
    const Protected known(server, "known", callers(server.orb(), true));
    EXPECT_EQ(called(known.forged(server), in_the_clear()), refused);
    EXPECT_EQ(LogLines::count("operation=\"ping\": the POA takes requests by TLS only"), 1u);
    EXPECT_EQ(called(known.reference(), of_nobody()), refused);
    EXPECT_EQ(LogLines::count("operation=\"ping\": the client's certificate is none"), 1u);
}

TEST(SsliopCallers, FindNoAddressInTheClearInReferences)
{
    using namespace ior::association;
    for (const char* publish_as : {"alternates", "profiles"}) {
        RunningServer server("reactor",
                             of_server() + Arguments{"-ORBListenEndpoints", "uiop://",
                                                     "-ORBPublish", "host=a.example,host=b.example",
                                                     "-ORBPublishAs", publish_as});
        const Protected known(server, "known", callers(server.orb(), true));
        const auto reference = ior::from_string(known.reference()).value();
        ASSERT_FALSE(reference.profiles.empty());
        for (const auto& each : reference.profiles) {
            const auto profile = ior::decode_iiop(each.data).value();
            EXPECT_EQ(profile.port, 0) << profile.host;
            unsigned secure = 0;
            for (const ior::TaggedComponent& component : profile.components) {
                EXPECT_NE(component.tag, ior::tag_alternate_iiop_address);
                EXPECT_NE(component.tag, ior::tag_local_addresses);
                if (component.tag != ior::tag_ssl_sec_trans) continue;
                ++secure;
                const auto address = ior::decode_secure_address(component).value();
                EXPECT_EQ(address.requires_, integrity | confidentiality | trust_in_client);
                EXPECT_EQ(address.supports & no_protection, 0);
                EXPECT_NE(address.port, 0);
            }
            EXPECT_EQ(secure, 1u) << profile.host;
        }
        // A client that wants no TLS finds no way.
        EXPECT_EQ(called(known.reference(), in_the_clear()).substr(0, 9), "TRANSIENT");
    }
}

/// Nobody is asked for an object, and no request is held, for who may not call it.
TEST(SsliopCallers, AreTurnedAwayBeforeAnObjectIsLookedFor)
{
    RunningServer server("thread-per-connection", of_server());
    class Activator final : public PortableServer::ServantActivator {
      public:
        PortableServer::Servant incarnate(const PortableServer::ObjectId&,
                                          PortableServer::POA_ptr) override
        {
            ++asked;
            throw CORBA::OBJECT_NOT_EXIST();
        }
        void etherealize(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                         PortableServer::Servant, CORBA::Boolean, CORBA::Boolean) override
        {
        }
        std::atomic<int> asked{0};
    };
    CORBA::PolicyList policies;
    policies.length(4);
    policies[0] = callers(server.orb(), false);
    policies[1] =
        server.poa()->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    policies[2] = server.poa()->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[3] = server.poa()->create_id_assignment_policy(PortableServer::USER_ID);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("managed", server.manager(), policies);
    auto* const activator = new Activator;
    const PortableServer::ServantManager_var owner = activator;
    poa->set_servant_manager(activator);
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("7");
    const CORBA::Object_var object = poa->create_reference_with_id(id, "IDL:Probe/Target:1.0");
    const std::string reference = CORBA::String_var(server.orb()->object_to_string(object)).in();
    const std::string forged =
        changed(reference, [&](ior::IiopProfile& profile) { profile.port = plain_port(server); });
    EXPECT_EQ(called(forged, in_the_clear()), refused);
    Client client(in_the_clear());
    const Probe::Target_var target = client.target(forged);
    CORBA::PolicyList_var inconsistent;
    EXPECT_TRUE(target->_validate_connection(inconsistent.out())); // says nothing of the object
    EXPECT_EQ(activator->asked, 0);
    EXPECT_EQ(called(reference, of_nobody()).substr(0, 16), "OBJECT_NOT_EXIST");
    EXPECT_EQ(activator->asked, 1);
    poa->destroy(true, true);
}

TEST(SsliopCallers, AreWantedOnlyWhereTheyCanBeKnown)
{
    LogLines log;
    const auto made = [](const Arguments& options, bool certificate) {
        RunningServer server("reactor", options);
        CORBA::PolicyList policies;
        policies.length(2);
        policies[0] = server.poa()->create_id_assignment_policy(PortableServer::USER_ID);
        policies[1] = callers(server.orb(), certificate);
        try {
            const PortableServer::POA_var poa =
                server.poa()->create_POA("wants", server.manager(), policies);
            return std::string("made");
        } catch (const PortableServer::POA::InvalidPolicy& invalid) {
            return "InvalidPolicy " + std::to_string(invalid.index);
        }
    };
    EXPECT_EQ(made(of_server("no"), false), "made");
    EXPECT_EQ(made(of_server("no"), true), "InvalidPolicy 1");
    EXPECT_EQ(LogLines::count("wants -ORBTlsVerifyClient other than 'no'"), 1u);
    EXPECT_EQ(made(of_server("required"), true), "made");
    EXPECT_EQ(made({}, false), "InvalidPolicy 1");
    EXPECT_EQ(LogLines::count("wants an ORB that listens at ssliop://"), 1u);
}

TEST(SsliopCallers, AreAPolicyOfObjectAdapters)
{
    Client client(of_nobody());
    const CORBA::ORB_ptr orb = client.orb();
    const auto why = [](auto call) -> CORBA::PolicyErrorCode {
        try {
            (void)call();
            return -1;
        } catch (const CORBA::PolicyError& error) {
            return error.reason;
        }
    };
    EXPECT_EQ(why([&] { return callers(orb, true, {"CN=a", ""}); }), CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(why([&] { return callers(orb, true, {std::string(1001, 'a')}); }),
              CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(why([&] { return callers(orb, true, std::vector<std::string>(65, "CN=a")); }),
              CORBA::BAD_POLICY_VALUE);
    CORBA::Any text;
    text <<= "CN=a";
    EXPECT_EQ(why([&] { return orb->create_policy(KairosTls::CALLERS_POLICY_TYPE, text); }),
              CORBA::BAD_POLICY_TYPE);
    const CORBA::Policy_var policy = callers(orb, true, {"CN=a"});
    const CORBA::Policy_var copy = policy->copy();
    const KairosTls::CallersPolicy_var narrowed = KairosTls::CallersPolicy::_narrow(copy);
    const KairosTls::Callers_var value = narrowed->value();
    EXPECT_EQ(copy->policy_type(), KairosTls::CALLERS_POLICY_TYPE);
    EXPECT_TRUE(value->certificate);
    ASSERT_EQ(value->names.length(), 1u);
    EXPECT_STREQ(value->names[CORBA::ULong{0}], "CN=a");
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = policy;
    const CORBA::Object_var object = orb->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var manager = CORBA::PolicyManager::_narrow(object);
    EXPECT_THROW(manager->set_policy_overrides(policies, CORBA::SET_OVERRIDE),
                 CORBA::NO_PERMISSION);
}

/// What '*' stands for, by what gets through.
TEST(SsliopCallers, AreNamedByPatterns)
{
    RunningServer server("reactor", of_server());
    const auto gets_through = [&](const char* pattern, const char* certificate) {
        const Protected named(server, "named", callers(server.orb(), false, {pattern}));
        return called(named.reference(), of_client(certificate)) == "ok";
    };
    EXPECT_TRUE(gets_through("CN=client", "client"));
    EXPECT_TRUE(gets_through("*", "client"));
    EXPECT_TRUE(gets_through("CN=*", "client"));
    EXPECT_TRUE(gets_through("C*=c*l*i*t*", "client"));
    EXPECT_FALSE(gets_through("CN=clien", "client"));
    EXPECT_FALSE(gets_through("CN=client*x", "client"));
    EXPECT_FALSE(gets_through("cn=client", "client"));
    // Names with what '*' does not stand for, and alternative names.
    EXPECT_TRUE(gets_through("CN=evil\\,O=Plant", "comma"));
    EXPECT_FALSE(gets_through("CN=*,O=Plant", "comma"));
    EXPECT_FALSE(gets_through("CN=*", "comma"));
    EXPECT_TRUE(gets_through("DNS:*.plant.example", "comma"));
    EXPECT_FALSE(gets_through("IP:*", "client"));
}

} // namespace
} // namespace kairos::orb_testing
