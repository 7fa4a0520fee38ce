// SPDX-License-Identifier: Apache-2.0
//
// KairosTls::CallersPolicy: objects that take requests by TLS only, from clients with a
// certificate, or with one of certain names.
#include "kairos/ssliop/KairosTls.h"
#include "tests/robust/local.h"
#include "tests/tls/files.h"

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
        policies.length(2);
        policies[0] = policy;
        policies[1] = server.poa()->create_thread_policy(threads);
        poa_ = server.poa()->create_POA(name, server.manager(), policies);
        const PortableServer::ObjectId_var id = poa_->activate_object(&servant_);
        object_ = poa_->id_to_reference(id);
        reference_ = CORBA::String_var(server.orb()->object_to_string(object_)).in();
    }
    ~Protected() { poa_->destroy(true, true); }
    Protected(const Protected&) = delete;
    Protected& operator=(const Protected&) = delete;

    [[nodiscard]] const std::string& reference() const { return reference_; }
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

KAIROS_EVERY_ARCHITECTURE(SsliopCallers);

TEST(SsliopCallers, AreRememberedPerConnection)
{
    RunningServer server("thread-per-connection", of_server());
    const Protected named(server, "named", callers(server.orb(), false, {"CN=client"}));
    Client known(of_client());
    Client other(of_client("server"));
    const Probe::Target_var as_known = known.target(named.reference());
    const Probe::Target_var as_other = other.target(named.reference());
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(outcome([&] { as_known->ping(); }), "ok");
        EXPECT_EQ(outcome([&] { as_other->ping(); }), refused);
    }
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
    const auto made = [](const Arguments& options, bool certificate) {
        LogLines log;
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
    EXPECT_EQ(made(of_server("required"), true), "made");
    EXPECT_EQ(made({}, false), "InvalidPolicy 1");
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
