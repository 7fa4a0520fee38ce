// SPDX-License-Identifier: Apache-2.0
//
// Servers that heed rules: who is let in and who is not, by each way in, and what is said of it.
#include "kairos/access/access.h"
#include "kairos/orb/upcall_observer.h"
#include "kairos/rtcorba/RTCORBA.h"
#include "tests/access/rules.h"
#include "tests/robust/local.h"
#include "tests/tls/certificates.h"

#include <chrono>
#include <unistd.h>

namespace kairos::orb_testing {
namespace {

using access_testing::RulesFile;
using tls_testing::Certificates;

constexpr const char* denied = "NO_PERMISSION 0x4b52001c NO";

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

std::string rule(const std::string& who, const std::string& what)
{
    return "[[rule]]\nwho = " + who + "\n" + what + "\n";
}

/// What comes of each: "ok ok NO_PERMISSION…", where it is not ok.
std::string outcomes(Probe::Target_ptr target, int times)
{
    std::string all;
    for (int i = 0; i < times; ++i) {
        const std::string one = outcome([&] { target->ping(); });
        if (all.empty() || one != "ok") all = one;
    }
    return all;
}

class AccessRules : public EveryArchitecture {};

TEST_P(AccessRules, LetInWhomTheyNameAndNobodyElse)
{
    const RulesFile rules(rule("\"network:127.0.0.0/8\"", R"(allow = ["ping", "no*"])"));
    RunningServer server(GetParam(), rules.options());
    server.servant().action = [] {};
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcomes(target, 50), "ok");
    EXPECT_EQ(server.servant().calls, 50u);
    EXPECT_EQ(outcome([&] { (void)target->add(1, 2); }), denied);
    EXPECT_EQ(outcome([&] { target->act(); }), denied);
    // The operations that every object has are operations.
    EXPECT_EQ(outcome([&] { (void)target->_is_a("IDL:Other:1.0"); }), denied);
    EXPECT_EQ(outcome([&] { (void)target->_non_existent(); }), denied);
    EXPECT_EQ(server.servant().calls, 50u);
    target->note(7);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok"); // behind the oneway
    EXPECT_TRUE(LogLines::wait_for("access denied: who=\"127.0.0.1\" from=\"127.0.0.1:"));
    EXPECT_EQ(LogLines::count("operation=\"add\" adapter=\"RootPOA\" id=\""), 0u)
        << "the object was looked for in vain";
    EXPECT_EQ(LogLines::count("rule=\"" + rules.path() + ": default\""), 4u);
}

TEST_P(AccessRules, TellWhoCallsByTls)
{
    const RulesFile rules(rule("\"certificate:CN=client\"", "allow = \"*\"") +
                          rule("\"anyone\"", "allow = \"add\""));
    RunningServer server(GetParam(), rules.options() + Certificates::get().shows("server") +
                                         Certificates::get().trusts("ca") +
                                         Arguments{"-ORBListenEndpoints", "ssliop://127.0.0.1:0",
                                                   "-ORBTlsVerifyClient", "optional"});
    const auto by = [&](const Arguments& options) {
        Client client(options);
        const Probe::Target_var target = client.target(server.reference());
        return outcomes(target, 10) + ", " + outcome([&] { (void)target->add(1, 2); });
    };
    const Arguments trusts = Certificates::get().trusts("ca");
    const std::string others = std::string(denied) + ", ok";
    EXPECT_EQ(by(trusts + Certificates::get().shows("client")), "ok, ok");
    EXPECT_EQ(by(trusts + Certificates::get().shows("server")), others);
    EXPECT_EQ(by(trusts), others);
    EXPECT_EQ(by({"-ORBTlsClient", "never"}), others);
    EXPECT_EQ(by(trusts + Certificates::get().shows("client")), "ok, ok");
    EXPECT_TRUE(LogLines::wait_for("access denied: who=\"CN=server\""));
}

TEST_P(AccessRules, TellWhichUserCallsByUnixSocket)
{
    const std::string user = std::to_string(::getuid());
    const RulesFile rules(rule("\"user:" + user + "\"", "allow = \"ping\"") +
                          rule("\"group:" + std::to_string(::getgid()) + "\"", "allow = \"add\"") +
                          rule("\"user:" + std::to_string(::getuid() + 1) + "\"", "allow = \"*\""));
    RunningServer server(GetParam(), rules.options() + Arguments{"-ORBListenEndpoints", "uiop://"});
    Client local;
    const Probe::Target_var target = local.target(server.reference());
    EXPECT_EQ(outcomes(target, 20), "ok");
    EXPECT_EQ(outcome([&] { (void)target->add(1, 2); }), "ok");
    EXPECT_EQ(outcome([&] { (void)target->negate(true); }), denied);
    EXPECT_TRUE(
        LogLines::wait_for("access denied: who=\"user " + user + "\" from=\"unix:process "));
    Client by_tcp({"-ORBPreferLocal", "0"});
    const Probe::Target_var same = by_tcp.target(server.reference());
    EXPECT_EQ(outcomes(same, 2), denied);
}

TEST_P(AccessRules, TellNobodyWhatThereIs)
{
    const RulesFile rules(rule("\"anyone\"", "id = \"here\"\nallow = \"add\""));
    RunningServer server(GetParam(), rules.options());
    RawPeer peer = server.connect();
    Octets nowhere = server.key();
    nowhere.back() ^= std::byte{1};
    for (const Octets& key : {server.key(), nowhere, Octets(5, std::byte{'k'})}) {
        peer.send(
            WireMessage(giop::MessageType::locate_request).u32(1).u16(0).octets(key).finish());
        const Octets located = peer.read_message();
        ASSERT_EQ(located.size(), giop::header_size + 8);
        EXPECT_EQ(std::to_integer<int>(located[giop::header_size + 4]), 1); // OBJECT_HERE
        peer.send(request(key, "ping", 2).finish());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), denied);
    }
}

KAIROS_EVERY_ARCHITECTURE(AccessRules);

/// Whatever the architecture: looking is the same.
TEST(Access, ChangesWhileTheServerRuns)
{
    const LogLines log;
    const std::string all = rule("\"anyone\"", "allow = \"*\"");
    const RulesFile rules(all);
    RunningServer server("leader-followers", rules.options());
    Client client({"-ORBDebug", "2"}); // which is the process'
    const Probe::Target_var target = client.target(server.reference());
    const auto becomes = [&](const std::string& expected) {
        const auto end = std::chrono::steady_clock::now() + patience;
        std::string now;
        while ((now = outcome([&] { target->ping(); })) != expected)
            if (std::chrono::steady_clock::now() > end) return now;
        return now;
    };
    EXPECT_EQ(outcomes(target, 5), "ok");
    rules.replace(rule("\"anyone\"", "allow = \"add\""));
    EXPECT_EQ(becomes(denied), denied);
    EXPECT_EQ(
        LogLines::count("access: the rules of " + rules.path() + " have changed and are in force"),
        1u);
    rules.replace(all + "who = 7\n");
    const auto end = std::chrono::steady_clock::now() + patience;
    while (LogLines::count("; the rules of before stay in force") == 0) {
        ASSERT_EQ(outcome([&] { target->ping(); }), denied);
        ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
    rules.replace(all);
    EXPECT_EQ(becomes("ok"), "ok");
    EXPECT_EQ(LogLines::count("; the rules of before stay in force"), 1u);
}

/// One thread serves them all, and remembers what it has found of each.
TEST(Access, TellsCallersApartThatTakeTurns)
{
    const LogLines log;
    const RulesFile rules(rule("\"certificate:CN=client\"", "allow = \"ping\"") +
                          rule("\"certificate:CN=server\"", "allow = \"add\"") +
                          rule("\"local\"", "allow = \"negate\""));
    RunningServer server("reactor", rules.options() + Certificates::get().shows("server") +
                                        Certificates::get().trusts("ca") +
                                        Arguments{"-ORBListenEndpoints",
                                                  "iiop://127.0.0.1:0;ssliop://127.0.0.1:0",
                                                  "-ORBTlsVerifyClient", "optional"});
    const Arguments trusts = Certificates::get().trusts("ca");
    const auto asks = [](Probe::Target_ptr target) {
        return outcome([&] { target->ping(); }) + ", " + outcome([&] { (void)target->add(1, 2); }) +
               ", " + outcome([&] { (void)target->negate(true); });
    };
    // Connections come and go, and are where others were before.
    for (int i = 0; i < 3; ++i) {
        Client first(trusts + Certificates::get().shows("client"));
        Client second(trusts + Certificates::get().shows("server"));
        Client third({"-ORBTlsClient", "never"});
        const Probe::Target_var by_first = first.target(server.reference());
        const Probe::Target_var by_second = second.target(server.reference());
        const Probe::Target_var by_third = third.target(server.reference());
        for (int turn = 0; turn < 4; ++turn) {
            const std::string no = denied;
            EXPECT_EQ(asks(by_first), "ok, " + no + ", ok") << turn;
            EXPECT_EQ(asks(by_second), no + ", ok, ok") << turn;
            EXPECT_EQ(asks(by_third), no + ", " + no + ", ok") << turn;
        }
    }
}

TEST(Access, NamesObjectsByAdapterIdAndInterface)
{
    Servant servant; // outlives the server: requests may still be leaving it
    const LogLines log;
    const RulesFile rules(
        rule("\"anyone\"",
             "adapter = \"RootPOA/Plant/Presses\"\nid = \"7%2Fa\"\nallow = \"ping\"") +
        rule("\"anyone\"", "interface = \"IDL:Probe/Target:1.0\"\nallow = \"add\"") +
        rule("\"anyone\"", "interface = \"IDL:Other:1.0\"\nallow = \"*\""));
    RunningServer server("thread-per-connection", rules.options());
    const PortableServer::POA_var above =
        server.poa()->create_POA("Plant", server.manager(), CORBA::PolicyList());
    CORBA::PolicyList policies(3);
    policies.length(3);
    policies[0] = server.poa()->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = server.poa()->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[2] = server.poa()->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    const PortableServer::POA_var poa = above->create_POA("Presses", server.manager(), policies);
    const auto reference = [&](const char* name) {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name);
        poa->activate_object_with_id(id, &servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        return std::string(CORBA::String_var(server.orb()->object_to_string(object)).in());
    };
    Client client;
    const Probe::Target_var seven = client.target(reference("7/a"));
    const Probe::Target_var eight = client.target(reference("8"));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome([&] { seven->ping(); }), "ok");
        EXPECT_EQ(outcome([&] { eight->ping(); }), denied);
        EXPECT_EQ(outcome([&] { (void)eight->add(1, 2); }), "ok");
        EXPECT_EQ(outcome([&] { (void)eight->negate(true); }), denied);
    }
    EXPECT_EQ(servant.calls, 6u);
    EXPECT_TRUE(LogLines::wait_for("rule=\"" + rules.path() +
                                   ": default\" operation=\"negate\" "
                                   "adapter=\"RootPOA/Plant/Presses\" id=\"8\" "
                                   "interface=\"IDL:Probe/Target:1.0\""));
    poa->destroy(false, true);
}

/// What skeletons take for another operation than servants that read its name as C does.
TEST(Access, DeniesOperationsWithAnOctetNul)
{
    const LogLines log;
    const RulesFile rules("default = \"allow\"\n" + rule("\"anyone\"", "allow = \"*_read\""));
    RunningServer server("reactor", rules.options());
    RawPeer peer = server.connect();
    peer.send(request(server.key(), std::string_view("ping\0_read", 10), 1).finish());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), denied);
    EXPECT_TRUE(LogLines::wait_for("operation=\"ping\\x00_read\""));
    peer.send(server.ping(2));
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
}

/// An answer that the interface decides is of the servant at that time.
TEST(Access, AsksAgainWhereAnInterfaceDecides)
{
    class Changing : public PortableServer::DynamicImplementation {
      public:
        char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
        {
            return CORBA::string_dup(is_target ? "IDL:Probe/Target:1.0" : "IDL:Other:1.0");
        }
        void invoke(CORBA::ServerRequest_ptr call) override
        {
            ++calls;
            CORBA::NVList_ptr none = nullptr;
            orb->create_list(0, none);
            call->arguments(none);
        }
        CORBA::ORB_var orb;
        std::atomic<bool> is_target{true};
        std::atomic<int> calls{0};
    };
    Changing servant; // outlives the server
    const LogLines log;
    const RulesFile rules(
        rule("\"anyone\"", "interface = \"IDL:Probe/Target:1.0\"\nallow = \"ping\""));
    RunningServer server("reactor", rules.options());
    servant.orb = CORBA::ORB::_duplicate(server.orb());
    // Its key has the size that those of objects with one servant had.
    const PortableServer::ObjectId_var id = server.poa()->activate_object(&servant);
    const CORBA::Object_var object = server.poa()->id_to_reference(id);
    const CORBA::String_var text = server.orb()->object_to_string(object);
    {
        Client client;
        const Probe::Target_var target = client.target(text.in());
        EXPECT_EQ(outcomes(target, 3), "ok");
        servant.is_target = false;
        EXPECT_EQ(outcome([&] { target->ping(); }), denied);
    }
    EXPECT_EQ(servant.calls, 3);
    server.poa()->deactivate_object(id);
    servant.orb = CORBA::ORB::_nil();
}

/// Nothing of the program runs for those who may call none of it.
TEST(Access, IsAskedBeforeObjectsAreLookedFor)
{
    class Activator : public PortableServer::ServantActivator {
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
    const LogLines log;
    const RulesFile rules(rule("\"anyone\"", "adapter = \"RootPOA/Other\"\nallow = \"ping\"") +
                          rule("\"anyone\"", "adapter = \"RootPOA/Made\"\nallow = \"add\""));
    RunningServer server("reactor", rules.options());
    CORBA::PolicyList policies(3);
    policies.length(3);
    policies[0] = server.poa()->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = server.poa()->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[2] =
        server.poa()->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("Made", server.manager(), policies);
    auto* const activator = new Activator;
    const PortableServer::ServantManager_var kept = activator;
    poa->set_servant_manager(kept);
    const auto call = [&](const char* operation) {
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("7");
        const CORBA::Object_var object = poa->create_reference_with_id(id, "IDL:Probe/Target:1.0");
        const auto key = object->_kairos_reference()->object_key();
        RawPeer peer = server.connect();
        peer.send(request(key, operation, 1).finish());
        return ParsedReply(peer.read_message()).text();
    };
    EXPECT_EQ(call("ping"), denied);
    EXPECT_EQ(call("act"), denied);
    EXPECT_EQ(activator->asked, 0);
    EXPECT_TRUE(call("add").starts_with("OBJECT_NOT_EXIST"));
    EXPECT_EQ(activator->asked, 1);
}

TEST(Access, LetsTheProcessCallItself)
{
    const LogLines log;
    const RulesFile rules("");
    RunningServer server("thread-per-connection", rules.options());
    const CORBA::Object_var own = server.orb()->string_to_object(server.reference().c_str());
    const Probe::Target_var itself = Probe::Target::_unchecked_narrow(own);
    EXPECT_EQ(outcomes(itself, 3), "ok");
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcomes(target, 3), denied);
}

TEST(Access, IsAskedInPoolsOfRealTime)
{
    Servant servant; // outlives the server
    const LogLines log;
    const RulesFile rules(rule("\"local\"", "adapter = \"RootPOA/pool\"\nallow = \"ping\""));
    RunningServer server("worker-pool", rules.options());
    const CORBA::Object_var initial = server.orb()->resolve_initial_references("RTORB");
    const RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(initial);
    CORBA::PolicyList policies(1);
    policies.length(1);
    const auto pool = rtorb->create_threadpool(0, 2, 0, 0, false, 0, 0);
    policies[0] = rtorb->create_threadpool_policy(pool);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("pool", server.manager(), policies);
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server.orb()->object_to_string(object);
    Client client;
    const Probe::Target_var target = client.target(reference.in());
    EXPECT_EQ(outcomes(target, 20), "ok");
    EXPECT_EQ(outcome([&] { (void)target->add(1, 2); }), denied);
    EXPECT_EQ(servant.calls, 20u);
    const Probe::Target_var plain = client.target(server.reference());
    EXPECT_EQ(outcomes(plain, 2), denied);
    poa->destroy(false, true);
}

TEST(Access, IsAskedOfRequestsThatWereHeld)
{
    const LogLines log;
    const RulesFile rules(
        rule("\"anyone\"", "adapter = \"RootPOA\"\nallow = [\"ping\", \"note\"]"));
    RunningServer server("thread-per-connection", rules.options());
    server.manager()->hold_requests(false);
    RawPeer one = server.connect();
    RawPeer other = server.connect();
    one.send(server.ping());
    other.send(request(server.key(), "act", 1).finish());
    EXPECT_EQ(ParsedReply(other.read_message()).text(), denied); // it need not wait
    server.manager()->activate();
    EXPECT_EQ(ParsedReply(one.read_message()).text(), "NO_EXCEPTION");
    one.send(server.ping(2));
    EXPECT_EQ(ParsedReply(one.read_message()).text(), "NO_EXCEPTION");
}

/// Others hear of what is allowed each time, and of nothing that is denied whatever the object is.
TEST(Access, StandsInFrontOfOtherObservers)
{
    class Counts final : public orb::UpcallObserver {
      public:
        explicit Counts(std::atomic<int>& heard) : heard_(heard) {}
        void receive_request_service_contexts(orb::ObservedUpcall&) override { ++heard_; }

      private:
        std::atomic<int>& heard_;
    };
    std::atomic<int> heard{0};
    const LogLines log;
    const RulesFile rules(rule("\"anyone\"", "allow = \"ping\"") +
                          rule("\"anyone\"", "id = \"other\"\nallow = \"act\""));
    RunningServer server("reactor", rules.options(), RunningServer::Start::active,
                         [&](CORBA::ORB_ptr orb) {
                             orb->_kairos_add_upcall_observer(std::make_unique<Counts>(heard));
                         });
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcomes(target, 10), "ok");
    EXPECT_EQ(outcome([&] { (void)target->add(1, 2); }), denied);
    EXPECT_EQ(heard, 10);
    EXPECT_EQ(outcome([&] { target->act(); }), denied); // by its id, which is known later
    EXPECT_EQ(heard, 11);
}

TEST(Access, ThatIsDeniedOftenFillsNoLog)
{
    const LogLines log;
    const RulesFile rules("");
    RunningServer server("thread-per-connection", rules.options());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3000; ++i)
        ASSERT_EQ(outcome([&] { target->ping(); }), denied);
    const auto seconds =
        std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    // As many as log.h says for one peer, and then one a second.
    EXPECT_LE(LogLines::count("access denied"),
              log::limited_at_once_for_peer + static_cast<std::size_t>(seconds.count()) + 1);
    EXPECT_GE(LogLines::count("access denied"), 1u);
}

TEST(Access, FilesThatCannotBeUsedMakeNoOrb)
{
    const RulesFile rules("default = \"deny\"\n[[rule]]\nwho = \"nobody\"\nalow = \"*\"\n");
    try {
        const CORBA::ORB_var orb = make_orb(rules.options());
        ADD_FAILURE() << "an ORB was made";
    } catch (const CORBA::BAD_PARAM& exception) {
        const std::string said = exception.what();
        EXPECT_NE(said.find("-ORBAccess " + rules.path() +
                            ": line 2: a rule has either allow or "
                            "deny"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find("2 more"), std::string::npos) << said;
    }
    EXPECT_THROW((void)make_orb({"-ORBAccess", "/nowhere/rules.toml"}), CORBA::BAD_PARAM);
}

} // namespace
} // namespace kairos::orb_testing
