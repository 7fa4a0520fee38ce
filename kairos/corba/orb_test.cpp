// SPDX-License-Identifier: Apache-2.0
//
// ORB_init, initial references, object URLs and the life of an ORB, without any generated code.
#include "kairos/base/log.h"
#include "kairos/corba/CORBA.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// argc and argv as main gets them.
class Arguments {
  public:
    Arguments(std::initializer_list<const char*> arguments) : texts_{"program"}
    {
        texts_.insert(texts_.end(), arguments.begin(), arguments.end());
        for (std::string& text : texts_)
            pointers_.push_back(text.data());
        pointers_.push_back(nullptr);
        count = static_cast<int>(texts_.size());
    }
    [[nodiscard]] char** values() { return pointers_.data(); }
    [[nodiscard]] std::string left() const
    {
        std::string text;
        for (int i = 1; i < count; ++i)
            text += std::string(pointers_[static_cast<std::size_t>(i)]) + " ";
        return text;
    }
    int count = 0;

  private:
    std::vector<std::string> texts_;
    std::vector<char*> pointers_;
};

CORBA::ORB_ptr init(std::initializer_list<const char*> options, const char* id = "")
{
    Arguments arguments(options);
    return CORBA::ORB_init(arguments.count, arguments.values(), id);
}

/// An ORB that is destroyed at the end of the test.
class TestOrb {
  public:
    explicit TestOrb(std::initializer_list<const char*> options = {}, const char* id = "test")
        : orb_(init(options, id))
    {
    }
    ~TestOrb() { orb_->destroy(); }
    TestOrb(const TestOrb&) = delete;
    TestOrb& operator=(const TestOrb&) = delete;
    CORBA::ORB* operator->() { return orb_.in(); }
    [[nodiscard]] CORBA::ORB_ptr in() const { return orb_.in(); }
    [[nodiscard]] PortableServer::POA_ptr root_poa()
    {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        return PortableServer::POA::_narrow(object.in());
    }

  private:
    CORBA::ORB_var orb_;
};

/// An object with only what every object has.
class PlainServant : public PortableServer::ServantBase {
  public:
    void _kairos_dispatch(kairos::orb::Upcall& upcall) override
    {
        _kairos_dispatch_standard(upcall);
    }
    [[nodiscard]] bool _kairos_supports(std::string_view id) const override
    {
        return id == _kairos_id();
    }
    [[nodiscard]] const char* _kairos_id() const override { return "IDL:Plain:1.0"; }
};

/// The exception's minor code; 0 if nothing was thrown.
template <typename Exception, typename Action>
CORBA::ULong minor_of(Action&& action)
{
    try {
        action();
    } catch (const Exception& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        return exception.minor();
    }
    return 0;
}

using kairos::mapping::omg_minor;

TEST(OrbInit, SaysWhichOptionsAreInForce)
{
    static std::vector<std::string> lines;
    lines.clear();
    kairos::log::set_sink(
        [](kairos::log::Level, std::string_view line) { lines.emplace_back(line); });
    const auto said = [](std::initializer_list<const char*> options) {
        lines.clear();
        const TestOrb orb(options);
        return std::ranges::count_if(
            lines, [](const std::string& line) { return line.find("in force") != line.npos; });
    };
    EXPECT_EQ(said({"-ORBDebug", "1", "-ORBClientIdle", "1500"}), 0);
    EXPECT_EQ(said({"-ORBDebug", "2", "-ORBClientIdle", "1500", "-ORBNoDelay", "1"}), 1);
    EXPECT_EQ(lines.front(), "ORB 'test': options in force: -ORBClientIdle 1500 -ORBDebug 2");
    kairos::log::set_level(kairos::log::Level::warning);
    kairos::log::set_sink(nullptr);
}

TEST(OrbInit, TakesItsOptionsAndLeavesTheOthers)
{
    Arguments arguments{"-x", "-ORBDebug", "0", "file", "-ORBGIOPVersion=1.1"};
    const CORBA::ORB_var orb = CORBA::ORB_init(arguments.count, arguments.values(), "options");
    EXPECT_EQ(arguments.left(), "-x file ");
    orb->destroy();
}

TEST(OrbInit, RefusesUnknownOptionsAndNamesThem)
{
    try {
        init({"-ORBNoSuchOption", "1"}, "refused");
        FAIL() << "accepted";
    } catch (const CORBA::BAD_PARAM& exception) {
        EXPECT_NE(std::string(exception.what()).find("-ORBNoSuchOption"), std::string::npos);
    }
}

TEST(OrbInit, TheSameIdIsTheSameOrbUntilItIsDestroyed)
{
    const CORBA::ORB_var first = init({}, "same");
    const CORBA::ORB_var again = init({}, "same");
    EXPECT_EQ(first.in(), again.in());
    const CORBA::ORB_var by_option = init({"-ORBid", "same"}, "");
    EXPECT_EQ(first.in(), by_option.in());
    const CORBA::String_var id = first->id();
    EXPECT_STREQ(id.in(), "same");
    first->destroy();
    const CORBA::ORB_var next = init({}, "same");
    EXPECT_NE(first.in(), next.in());
    next->destroy();
}

std::uint64_t incarnation_of(const CORBA::ORB_var& orb)
{
    return orb->_kairos_core().incarnation();
}

TEST(OrbLife, WhoeverLetsAnUnusedOrbGoEndsIt)
{
    std::uint64_t first = 0;
    {
        const CORBA::ORB_var orb = init({}, "unused");
        const CORBA::Object_var object = orb->string_to_object("corbaloc::host.example:7/key");
        first = incarnation_of(orb);
    }
    const CORBA::ORB_var next = init({}, "unused");
    EXPECT_NE(incarnation_of(next), first);
    next->destroy();
}

TEST(OrbLife, ReferencesKeepIt)
{
    std::uint64_t first = 0;
    CORBA::Object_var object;
    {
        const CORBA::ORB_var orb = init({}, "referred to");
        object = orb->string_to_object("corbaloc::host.example:7/key");
        first = incarnation_of(orb);
    }
    {
        const CORBA::ORB_var again = init({}, "referred to");
        EXPECT_EQ(incarnation_of(again), first);
    }
    EXPECT_NE(object->_hash(1000), 1000u); // its ORB is there
    object = CORBA::Object::_nil();
    const CORBA::ORB_var next = init({}, "referred to"); // which ends the other
    EXPECT_NE(incarnation_of(next), first);
    next->destroy();
}

TEST(OrbLife, ServingKeepsIt)
{
    const PortableServer::Servant_var<PlainServant> servant = new PlainServant;
    CORBA::String_var text;
    std::uint64_t first = 0;
    {
        const CORBA::ORB_var orb = init({"-ORBListenEndpoints", "iiop://127.0.0.1"}, "serving");
        const PortableServer::POA_var poa = orb->_kairos_root_poa();
        const CORBA::Object_var object = poa->servant_to_reference(servant.in());
        text = orb->object_to_string(object.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        first = incarnation_of(orb);
    }
    const TestOrb client({}, "client");
    const CORBA::Object_var object = client.in()->string_to_object(text.in());
    EXPECT_FALSE(object->_non_existent()); // by TCP
    const CORBA::ORB_var again = init({}, "serving");
    EXPECT_EQ(incarnation_of(again), first);
    again->destroy();
    EXPECT_EQ(servant->_refcount_value(), 1u);
}

TEST(OrbLife, DestroyByWhoeverHasAPointerOnlyIsTheEnd)
{
    CORBA::ORB_ptr orb = init({}, "pointer");
    const CORBA::Object_var object = orb->string_to_object("corbaloc::host.example:7/key");
    CORBA::release(orb); // the reference keeps it
    orb->destroy();
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { object->_non_existent(); }), omg_minor(4));
}

TEST(OrbLife, NothingCanBeAskedOfADestroyedOrb)
{
    const CORBA::ORB_var orb = init({}, "destroyed");
    const CORBA::Object_var object = orb->string_to_object("corbaloc::host.example:7/key");
    orb->shutdown(true);
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { orb->run(); }), omg_minor(4));
    orb->destroy();
    EXPECT_THROW(orb->run(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(orb->resolve_initial_references("RootPOA"), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(orb->shutdown(false), CORBA::OBJECT_NOT_EXIST);
    orb->destroy(); // once more does nothing
}

TEST(OrbLife, AServantOnTheStackThatDiesIsNotActiveAnyMore)
{
    TestOrb orb({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    const PortableServer::POA_var poa = orb.root_poa();
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var object;
    {
        PlainServant servant;
        object = poa->servant_to_reference(&servant);
        EXPECT_FALSE(object->_non_existent());
    }
    EXPECT_TRUE(object->_non_existent());
}

/// Destroys a POA when it is asked whether it exists.
class Destroyer : public PlainServant {
  public:
    explicit Destroyer(PortableServer::POA_ptr victim) : victim_(victim) {}
    CORBA::Boolean _non_existent() override
    {
        victim_->destroy(true, true);
        return false;
    }

  private:
    const PortableServer::POA_ptr victim_; // borrowed
};

TEST(PoaDestroy, WaitsWithinARequestOfAnotherOrbOnly)
{
    TestOrb orb({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    TestOrb other({"-ORBListenEndpoints", "iiop://127.0.0.1"}, "other");
    const PortableServer::POA_var own = orb.root_poa();
    const PortableServer::POA_var others = other.root_poa();
    const PortableServer::POAManager_var manager = own->the_POAManager();
    manager->activate();
    const PortableServer::Servant_var<Destroyer> of_own = new Destroyer(own.in());
    const PortableServer::Servant_var<Destroyer> of_other = new Destroyer(others.in());
    const CORBA::Object_var refused = own->servant_to_reference(of_own.in());
    const CORBA::Object_var done = own->servant_to_reference(of_other.in());
    EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { refused->_non_existent(); }), omg_minor(3));
    EXPECT_FALSE(done->_non_existent());
    EXPECT_THROW(others->the_name(), CORBA::OBJECT_NOT_EXIST);
}

TEST(InitialReferences, AreConfiguredRegisteredOrUnknown)
{
    TestOrb orb({"-ORBInitRef", "Configured=corbaloc::host.example:7/key"});
    const CORBA::Object_var configured = orb->resolve_initial_references("Configured");
    ASSERT_FALSE(CORBA::is_nil(configured.in()));
    orb->register_initial_reference("Registered", configured.in());
    const CORBA::Object_var registered = orb->resolve_initial_references("Registered");
    EXPECT_TRUE(configured->_is_equivalent(registered.in()));
    EXPECT_THROW(orb->register_initial_reference("Registered", configured.in()),
                 CORBA::ORB::InvalidName);
    EXPECT_THROW(orb->resolve_initial_references("Unknown"), CORBA::ORB::InvalidName);
    // Of libraries that this program is not linked with.
    EXPECT_THROW(orb->resolve_initial_references("DynAnyFactory"), CORBA::ORB::InvalidName);
    EXPECT_THROW(orb->resolve_initial_references("CodecFactory"), CORBA::ORB::InvalidName);
    EXPECT_THROW(orb->resolve_initial_references(nullptr), CORBA::ORB::InvalidName);
    const CORBA::ORB::ObjectIdList_var names = orb->list_initial_services();
    ASSERT_EQ(names->length(), 8u);
    EXPECT_STREQ(names[0u], "Configured");
    EXPECT_STREQ(names[1u], "IORTable");
    EXPECT_STREQ(names[2u], "ORBPolicyManager");
    EXPECT_STREQ(names[3u], "POACurrent");
    EXPECT_STREQ(names[4u], "PolicyCurrent");
    EXPECT_STREQ(names[6u], "RootPOA");
    EXPECT_STREQ(names[7u], "TypeCodeFactory");
    const CORBA::Object_var by_url = orb->string_to_object("corbaloc:rir:/Configured");
    EXPECT_TRUE(by_url->_is_equivalent(configured.in()));
}

TEST(Services, OfTheNumberedKindsAreNotThere)
{
    TestOrb orb;
    for (const CORBA::ServiceType type : {CORBA::Security, CORBA::ServiceType{0},
                                          CORBA::ServiceType{2}, CORBA::ServiceType{0xFFFF}}) {
        CORBA::ServiceInformation_var information;
        EXPECT_FALSE(orb->get_service_information(type, information.out()));
        EXPECT_EQ(information->service_options.length(), 0U);
        EXPECT_EQ(information->service_details.length(), 0U);
    }
    EXPECT_EQ(CORBA::Security, 1);
}

TEST(ObjectUrls, GoThereAndBack)
{
    TestOrb orb;
    const CORBA::Object_var object = orb->string_to_object("corbaloc::1.2@host.example:7/a%20key");
    const CORBA::String_var text = orb->object_to_string(object.in());
    const CORBA::Object_var same = orb->string_to_object(text.in());
    EXPECT_TRUE(object->_is_equivalent(same.in()));
    EXPECT_EQ(object->_hash(1000), same->_hash(1000));
    const CORBA::String_var nil_text = orb->object_to_string(CORBA::Object::_nil());
    const CORBA::Object_var nil = orb->string_to_object(nil_text.in());
    EXPECT_TRUE(CORBA::is_nil(nil.in()));
}

TEST(ObjectUrls, FilesHoldThem)
{
    TestOrb orb;
    const std::string path = testing::TempDir() + "kairos_orb_test_" + std::to_string(getpid());
    std::ofstream(path) << "  corbaloc::host.example/key\n";
    const CORBA::Object_var object = orb->string_to_object(("file://" + path).c_str());
    EXPECT_FALSE(CORBA::is_nil(object.in()));
    std::ofstream(path) << "file://" << path; // itself
    EXPECT_EQ(
        minor_of<CORBA::BAD_PARAM>([&] { orb->string_to_object(("file://" + path).c_str()); }),
        omg_minor(9));
    std::remove(path.c_str());
    EXPECT_EQ(
        minor_of<CORBA::BAD_PARAM>([&] { orb->string_to_object(("file://" + path).c_str()); }),
        omg_minor(9));
}

TEST(ObjectUrls, BadOnesSayWhatIsWrong)
{
    TestOrb orb;
    for (const char* text :
         {"", "IOR:", "IOR:xyz", "corbaloc:", "corbaloc::host:99999/key", "nonsense"})
        EXPECT_NE(minor_of<CORBA::BAD_PARAM>([&] { orb->string_to_object(text); }), 0u) << text;
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] { orb->string_to_object("gopher://host"); }),
              omg_minor(7));
    EXPECT_EQ(minor_of<CORBA::BAD_PARAM>([&] { orb->string_to_object(nullptr); }), omg_minor(10));
}

TEST(Environments, OwnTheExceptionThatTheyHold)
{
    TestOrb orb;
    CORBA::Environment_var environment;
    orb->create_environment(environment.out());
    EXPECT_EQ(nullptr, environment->exception());
    environment->exception(new CORBA::TRANSIENT(7, CORBA::COMPLETED_NO));
    environment->exception(new CORBA::MARSHAL(8, CORBA::COMPLETED_YES)); // instead of the former
    const auto* held = CORBA::MARSHAL::_downcast(environment->exception());
    ASSERT_NE(nullptr, held);
    EXPECT_EQ(8u, held->minor());
    environment->clear();
    EXPECT_EQ(nullptr, environment->exception());
    environment->exception(nullptr);
    EXPECT_TRUE(CORBA::is_nil(CORBA::Environment::_nil()));
}

TEST(Nil, IsInvObjrefForWhoCallsThroughAVar)
{
    const CORBA::Object_var object;
    EXPECT_THROW((void)object->_is_a("IDL:Other:1.0"), CORBA::INV_OBJREF);
    EXPECT_THROW((void)object->_non_existent(), CORBA::INV_OBJREF);
    const CORBA::ORB_var orb;
    EXPECT_THROW(orb->run(), CORBA::INV_OBJREF);
    const PortableServer::POA_var poa;
    EXPECT_THROW((void)poa->the_POAManager(), CORBA::INV_OBJREF);
    const CORBA::TypeCode_var type;
    EXPECT_THROW((void)type->kind(), CORBA::INV_OBJREF);
}

TEST(LocalObjects, HaveNoText)
{
    TestOrb orb({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    const PortableServer::POA_var poa = orb.root_poa();
    EXPECT_EQ(minor_of<CORBA::MARSHAL>([&] { orb->object_to_string(poa.in()); }), omg_minor(4));
    EXPECT_FALSE(poa->_non_existent());
    EXPECT_TRUE(poa->_is_a("IDL:omg.org/PortableServer/POA:1.0"));
    EXPECT_FALSE(poa->_is_a("IDL:Other:1.0"));
}

TEST(RootPoa, ActivatesFindsAndDeactivates)
{
    using PortableServer::POA;
    TestOrb orb({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    const PortableServer::POA_var poa = orb.root_poa();
    const PortableServer::Servant_var<PlainServant> servant = new PlainServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant.in());
    EXPECT_EQ(servant->_refcount_value(), 2u);
    EXPECT_THROW(poa->activate_object(servant.in()), POA::ServantAlreadyActive);
    const CORBA::Object_var object = poa->id_to_reference(id.in());
    const CORBA::Object_var same = poa->servant_to_reference(servant.in());
    EXPECT_TRUE(object->_is_equivalent(same.in()));
    PortableServer::Servant found = poa->reference_to_servant(object.in());
    EXPECT_EQ(found, servant.in());
    found->_remove_ref();
    const PortableServer::ObjectId_var id_again = poa->reference_to_id(object.in());
    EXPECT_EQ(id_again->length(), id->length());
    poa->deactivate_object(id.in());
    EXPECT_EQ(servant->_refcount_value(), 1u);
    EXPECT_THROW(poa->deactivate_object(id.in()), POA::ObjectNotActive);
    EXPECT_THROW(poa->id_to_servant(id.in()), POA::ObjectNotActive);
    const CORBA::Object_var foreign = orb->string_to_object("corbaloc::host.example/key");
    EXPECT_THROW(poa->reference_to_servant(foreign.in()), POA::WrongAdapter);
}

TEST(PoaManager, ServesAfterActivationOnly)
{
    using PortableServer::POAManager;
    TestOrb orb({"-ORBListenEndpoints", "iiop://127.0.0.1"});
    const PortableServer::POA_var poa = orb.root_poa();
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    EXPECT_EQ(manager->get_state(), POAManager::HOLDING);
    const PortableServer::Servant_var<PlainServant> servant = new PlainServant;
    const CORBA::Object_var object = poa->servant_to_reference(servant.in());
    manager->discard_requests(true);
    EXPECT_EQ(minor_of<CORBA::TRANSIENT>([&] { object->_non_existent(); }), omg_minor(1));
    manager->activate();
    EXPECT_FALSE(object->_non_existent());
    manager->hold_requests(true);
    std::thread later([&] { manager->activate(); });
    EXPECT_FALSE(object->_non_existent()); // waits for the thread
    later.join();
    manager->deactivate(true, true);
    EXPECT_EQ(minor_of<CORBA::OBJ_ADAPTER>([&] { object->_non_existent(); }), omg_minor(1));
    EXPECT_THROW(manager->activate(), POAManager::AdapterInactive);
}

/// One thread is client and server in turn: the server's work is done by perform_work.
TEST(PerformWork, ServesAClientInAnotherThread)
{
    TestOrb server({"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBConcurrency", "reactor"},
                   "server");
    const PortableServer::POA_var poa = server.root_poa();
    const PortableServer::Servant_var<PlainServant> servant = new PlainServant;
    const CORBA::Object_var object = poa->servant_to_reference(servant.in());
    const CORBA::String_var text = server->object_to_string(object.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    std::atomic<bool> answered{false};
    std::thread client([&] {
        TestOrb orb({}, "client");
        const CORBA::Object_var remote = orb->string_to_object(text.in());
        EXPECT_FALSE(remote->_non_existent());
        EXPECT_TRUE(remote->_is_a("IDL:Plain:1.0"));
        const CORBA::String_var id = remote->_repository_id();
        EXPECT_STREQ(id.in(), "IDL:Plain:1.0");
        const CORBA::Object_var component = remote->_get_component();
        EXPECT_TRUE(CORBA::is_nil(component.in()));
        EXPECT_TRUE(remote->_validate_connection());
        answered = true;
    });
    bool worked = false;
    while (!answered) {
        worked = server->work_pending() || worked;
        server->perform_work();
        std::this_thread::yield();
    }
    client.join();
    EXPECT_TRUE(worked);
}

TEST(Shutdown, EndsRunAndRefusesCalls)
{
    for (const char* concurrency : {"thread-per-connection", "reactor"}) {
        const CORBA::ORB_var orb = init(
            {"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBConcurrency", concurrency}, "ending");
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        const PortableServer::Servant_var<PlainServant> servant = new PlainServant;
        const CORBA::Object_var reference = poa->servant_to_reference(servant.in());
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::thread runner([&] {
            try {
                orb->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before it came to that
            }
        });
        orb->shutdown(false);
        runner.join();
        EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { reference->_non_existent(); }),
                  omg_minor(4));
        EXPECT_EQ(minor_of<CORBA::BAD_INV_ORDER>([&] { orb->run(); }), omg_minor(4));
        orb->destroy();
        EXPECT_EQ(servant->_refcount_value(), 1u);
    }
}

TEST(OrbTime, ForEverIsNoShortTime)
{
    constexpr auto microseconds = CORBA::ORB::_kairos_microseconds;
    EXPECT_EQ(microseconds(2, 5), 2'000'005);
    EXPECT_EQ(microseconds(-1, 999'999), 0);
    constexpr auto for_ever = std::numeric_limits<CORBA::LongLong>::max();
    EXPECT_GT(microseconds(for_ever, 999'999), microseconds(30'000'000, 0));
}

} // namespace
