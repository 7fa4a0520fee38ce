// SPDX-License-Identifier: Apache-2.0
//
// Object keys that people write: names in the IORTable, and keys by -ORBPlainKeys. Everything is
// asked by corbaloc URLs, from the server's own ORB and from another.
#include "tests/poa/fixture.h"

#include "kairos/client/locate.h"
#include "kairos/corba/ior_table.h"
#include "kairos/giop/locate.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/object_url.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;
using orb_testing::Servant;

constexpr const char* bad_name = "BAD_PARAM 0x0 NO";

/// A server with an object, and what people write to reach others of its objects.
class PlainWorld : public World {
  public:
    explicit PlainWorld(From from, std::vector<std::string> options = {})
        : World(from, std::move(options)), object(root()->servant_to_reference(servant))
    {
    }

    [[nodiscard]] std::uint16_t port() const
    {
        return object->_kairos_reference()->targets().front().endpoint->port();
    }
    [[nodiscard]] std::string url(std::string_view key) const
    {
        return "corbaloc::127.0.0.1:" + std::to_string(port()) + "/" +
               ior::escape_key(as_bytes(key));
    }
    /// What a ping of the object with this key ends with.
    [[nodiscard]] std::string ping(std::string_view key)
    {
        const CORBA::Object_var named = orb()->string_to_object(url(key).c_str());
        return World::ping(named);
    }
    /// What LocateRequests say of it, wherever they are forwarded to.
    [[nodiscard]] giop::LocateStatus locate(std::string_view key)
    {
        const CORBA::Object_var named = orb()->string_to_object(url(key).c_str());
        const Probe::Target_var target = seen(named);
        return orb::locate(*target->_kairos_reference());
    }
    [[nodiscard]] std::string text(CORBA::Object_ptr of)
    {
        return CORBA::String_var(orb()->object_to_string(of)).in();
    }

    Servant_var<Servant> servant = new Servant;
    CORBA::Object_var object;
};

// --- IORTable ------------------------------------------------------------------------------------

class Table : public Everywhere {
  protected:
    PlainWorld world_{GetParam()};
    IORTable::Table_var table_ = resolve();
    const std::string object_ = world_.text(world_.object);

    IORTable::Table_ptr resolve()
    {
        const CORBA::Object_var object = world_.orb()->resolve_initial_references("IORTable");
        return IORTable::Table::_narrow(object);
    }
};
KAIROS_EVERYWHERE(Table);

TEST_P(Table, NamesLeadToTheirObjects)
{
    for (const char* name : {"Name", "a/b", "a name that is longer than the keys of Kairos are"}) {
        EXPECT_EQ(world_.ping(name), no_object);
        EXPECT_EQ(world_.locate(name), giop::LocateStatus::unknown_object);
        table_->bind(name, object_.c_str());
        EXPECT_EQ(world_.ping(name), "ok");
        EXPECT_EQ(world_.locate(name), giop::LocateStatus::object_here) << "where it leads";
        table_->unbind(name);
        EXPECT_EQ(world_.ping(name), no_object);
    }
    EXPECT_EQ(world_.servant->calls, 3u);
}

// As in TAO's IDL, which has no prefix.
TEST_P(Table, ItsTypesHaveTheirNames)
{
    EXPECT_TRUE(table_->_is_a("IDL:IORTable/Table:1.0"));
    EXPECT_TRUE(table_->_is_a("IDL:omg.org/CORBA/Object:1.0"));
    EXPECT_FALSE(table_->_is_a("IDL:IORTable/Locator:1.0"));
    EXPECT_TRUE(CORBA::is_nil(IORTable::Locator::_narrow(table_)));
    EXPECT_STREQ(IORTable::Locator::_kairos_id, "IDL:IORTable/Locator:1.0");
    EXPECT_STREQ(IORTable::AlreadyBound()._rep_id(), "IDL:IORTable/AlreadyBound:1.0");
    EXPECT_STREQ(IORTable::NotFound()._rep_id(), "IDL:IORTable/NotFound:1.0");
    EXPECT_STREQ(IORTable::NotFound()._name(), "NotFound");
}

TEST_P(Table, AClientIsSentThereOnceAndStays)
{
    table_->bind("Name", object_.c_str());
    const CORBA::Object_var named = world_.orb()->string_to_object(world_.url("Name").c_str());
    const Probe::Target_var target = world_.seen(named);
    EXPECT_EQ(target->add(1, 2), 3);
    table_->unbind("Name");
    EXPECT_EQ(target->add(3, 4), 7);
}

TEST_P(Table, BindRebindUnbind)
{
    Servant_var<Servant> second = new Servant;
    const CORBA::Object_var other = world_.root()->servant_to_reference(second);
    table_->bind("Name", object_.c_str());
    EXPECT_THROW(table_->bind("Name", world_.text(other).c_str()), IORTable::AlreadyBound);
    EXPECT_EQ(world_.ping("Name"), "ok");
    EXPECT_EQ(world_.servant->calls, 1u);
    table_->rebind("Name", world_.text(other).c_str());
    EXPECT_EQ(world_.ping("Name"), "ok");
    EXPECT_EQ(second->calls, 1u);
    table_->unbind("Name");
    EXPECT_THROW(table_->unbind("Name"), IORTable::NotFound);
    table_->rebind("Name", object_.c_str()); // what is not bound is bound
    EXPECT_EQ(world_.ping("Name"), "ok");
    // The table is the ORB's: another front of it says the same.
    EXPECT_THROW(IORTable::Table_var(resolve())->bind("Name", object_.c_str()),
                 IORTable::AlreadyBound);
}

TEST_P(Table, ChainsOfNamesAndCirclesEnd)
{
    table_->bind("Second", object_.c_str());
    table_->bind("First", world_.url("Second").c_str());
    EXPECT_EQ(world_.ping("First"), "ok");
    table_->rebind("Second", world_.url("First").c_str());
    EXPECT_EQ(world_.ping("First"), "TRANSIENT 0x4b520006 NO");
}

TEST_P(Table, BadNamesAndReferencesAreRefused)
{
    const auto bind = [&](const char* name, const char* ior) {
        return outcome([&] { table_->bind(name, ior); });
    };
    EXPECT_EQ(bind(nullptr, object_.c_str()), bad_name);
    EXPECT_EQ(bind("", object_.c_str()), bad_name);
    EXPECT_EQ(bind(std::string(limits::object_key_max + 1, 'n').c_str(), object_.c_str()),
              bad_name);
    EXPECT_EQ(bind("Name", nullptr), "BAD_PARAM 0x4f4d000a NO");
    EXPECT_EQ(bind("Name", "IOR:zz"), "BAD_PARAM 0x4f4d0009 NO");
    EXPECT_EQ(bind("Name", "nonsense"), "BAD_PARAM 0x4f4d0007 NO");
    const CORBA::Object_ptr nil = CORBA::Object::_nil();
    EXPECT_EQ(bind("Name", world_.text(nil).c_str()), bad_name);
    EXPECT_EQ(bind("Name", "corbaloc:rir:/RootPOA"), bad_name) << "local";
    EXPECT_EQ(bind("Name", world_.url("Name").c_str()), bad_name) << "itself";
    EXPECT_EQ(outcome([&] { table_->rebind("Name", world_.url("Name").c_str()); }), bad_name);
    EXPECT_EQ(outcome([&] { table_->unbind(nullptr); }), bad_name);
    EXPECT_THROW(table_->unbind("Name"), IORTable::NotFound) << "nothing of it was bound";
}

/// Knows the names that begin with "known".
class Locator final : public virtual IORTable::Locator {
  public:
    char* locate(const char* object_key) override
    {
        if (!std::string_view(object_key).starts_with("known")) throw IORTable::NotFound();
        return CORBA::string_dup(reference.c_str());
    }
    std::string reference;
};

TEST_P(Table, TheLocatorIsAskedForOthers)
{
    auto* known = new Locator;
    const IORTable::Locator_var locator = known;
    known->reference = object_;
    table_->set_locator(locator);
    table_->bind("Name", object_.c_str());
    EXPECT_EQ(world_.ping("Name"), "ok");
    EXPECT_EQ(world_.ping("known one"), "ok");
    EXPECT_EQ(world_.locate("known one"), giop::LocateStatus::object_here);
    EXPECT_EQ(world_.ping("unknown"), no_object);
    EXPECT_EQ(world_.ping(std::string_view("known\0", 6)), no_object) << "it could not be told";
    known->reference = "nonsense";
    EXPECT_EQ(world_.ping("known"), "BAD_PARAM 0x4f4d0007 NO");
    table_->set_locator(nullptr);
    known->reference = object_;
    EXPECT_EQ(world_.ping("known one"), no_object);
}

TEST_P(Table, IsBoundWhileOthersAsk)
{
    std::atomic<bool> ends{false};
    std::thread binder([&] {
        while (!ends) {
            table_->rebind("Name", object_.c_str());
            table_->unbind("Name");
        }
    });
    for (int i = 0; i < 50; ++i) {
        const std::string end = world_.ping("Name");
        EXPECT_TRUE(end == "ok" || end == no_object) << end;
    }
    ends = true;
    binder.join();
}

TEST(IorTable, ExceptionsAreTaos)
{
    EXPECT_STREQ(IORTable::AlreadyBound()._rep_id(), "IDL:IORTable/AlreadyBound:1.0");
    EXPECT_STREQ(IORTable::NotFound()._name(), "NotFound");
    EXPECT_THROW(IORTable::NotFound()._raise(), IORTable::NotFound);
}

// --- -ORBPlainKeys -------------------------------------------------------------------------------

class PlainKeys : public Everywhere {
  protected:
    POA_var persistent(POA_ptr parent, const char* name)
    {
        const POAManager_var manager = parent->the_POAManager();
        return parent->create_POA(name, manager, Policies(parent) << PERSISTENT << USER_ID);
    }

    PlainWorld world_{GetParam(), {"-ORBPlainKeys", "1"}};
    Servant_var<Servant> servant_ = new Servant;
};
KAIROS_EVERYWHERE(PlainKeys);

std::string key_of(CORBA::Object_ptr object)
{
    return std::string(as_text(object->_kairos_reference()->object_key()));
}

TEST_P(PlainKeys, SayPathAndId)
{
    const POA_var factory = persistent(world_.root(), "Factory");
    const POA_var robots = persistent(factory, "Robots");
    robots->activate_object_with_id(id_of("7"), servant_);
    const CORBA::Object_var seven = robots->id_to_reference(id_of("7"));
    EXPECT_EQ(key_of(seven), "Factory/Robots/7");
    EXPECT_EQ(world_.World::ping(seven), "ok");
    EXPECT_EQ(world_.ping("Factory/Robots/7"), "ok");
    EXPECT_EQ(world_.locate("Factory/Robots/7"), giop::LocateStatus::object_here);
    EXPECT_EQ(servant_->calls, 2u);
    EXPECT_EQ(text_of(*ObjectId_var(robots->reference_to_id(seven))), "7");
    const Servant_var<ServantBase> same = robots->reference_to_servant(seven);
    EXPECT_EQ(same.in(), servant_.in());
    EXPECT_THROW((void)factory->reference_to_id(seven), POA::WrongAdapter);
}

TEST_P(PlainKeys, OfAnyNamesAndIds)
{
    const POA_var odd = persistent(world_.root(), "50% a/b");
    const std::string id("x/y \0\xff", 6);
    odd->activate_object_with_id(id_of(id), servant_);
    const CORBA::Object_var object = odd->id_to_reference(id_of(id));
    EXPECT_EQ(key_of(object), "50%25%20a%2fb/x%2fy%20%00%ff");
    EXPECT_EQ(world_.World::ping(object), "ok");
    EXPECT_EQ(world_.ping(key_of(object)), "ok");
    EXPECT_EQ(world_.ping("50%25 a%2Fb/x%2Fy %00\xff"), "ok") << "escaped where it must be";
}

TEST_P(PlainKeys, OthersAreNoObjects)
{
    const POA_var a = persistent(world_.root(), "a");
    a->activate_object_with_id(id_of("x"), servant_);
    const POA_var transient = world_.poa("t", Policies(world_.root()) << USER_ID);
    transient->activate_object_with_id(id_of("x"), servant_);
    EXPECT_EQ(world_.ping("a/y"), no_object);
    EXPECT_EQ(world_.ping("a/"), no_object);
    EXPECT_EQ(world_.ping("b/x"), no_adapter);
    EXPECT_EQ(world_.ping("a/b/x"), no_adapter);
    EXPECT_EQ(world_.ping("t/x"), no_adapter) << "transient";
    EXPECT_EQ(world_.ping("x"), no_object);
    for (const char* malformed : {"a/%", "a/%7", "a/%7x", "%6/x", "a%00/x"}) {
        EXPECT_EQ(world_.ping(malformed), no_object) << malformed;
        EXPECT_EQ(world_.locate(malformed), giop::LocateStatus::unknown_object) << malformed;
    }
    EXPECT_EQ(servant_->calls, 0u);
    const CORBA::Object_var other = transient->id_to_reference(id_of("x"));
    EXPECT_EQ(world_.World::ping(other), "ok") << "transient keys are as ever";
}

TEST_P(PlainKeys, KeysThatWereGivenWithoutTheOptionAreFound)
{
    const POA_var a = persistent(world_.root(), "a");
    a->activate_object_with_id(id_of("x"), servant_);
    const auto path = ior::PersistentKey::path_of({}, "a");
    const auto key = ior::PersistentKey{path, as_bytes(std::string_view("x"))}.encode();
    EXPECT_EQ(world_.ping(as_text(key)), "ok");
}

TEST_P(PlainKeys, AreNoneWithoutTheOption)
{
    PlainWorld world(GetParam());
    const POA_var a = world.poa("a", Policies(world.root()) << PERSISTENT << USER_ID);
    a->activate_object_with_id(id_of("x"), servant_);
    EXPECT_EQ(world.ping("a/x"), no_object);
}

TEST_P(PlainKeys, NamesInTheTableComeFirst)
{
    const POA_var a = persistent(world_.root(), "a");
    a->activate_object_with_id(id_of("x"), servant_);
    const CORBA::Object_var object = world_.orb()->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(object);
    table->bind("a/x", world_.text(world_.object).c_str());
    EXPECT_EQ(world_.ping("a/x"), "ok");
    EXPECT_EQ(world_.servant->calls, 1u);
    EXPECT_EQ(servant_->calls, 0u);
    const CORBA::Object_var itself = a->id_to_reference(id_of("x"));
    EXPECT_EQ(outcome([&] { table->rebind("a/x", world_.text(itself).c_str()); }), bad_name);
}

/// Makes what it is asked for, persistent.
class Maker final : public virtual AdapterActivator {
  public:
    CORBA::Boolean unknown_adapter(POA_ptr parent, const char* name) override
    {
        names.push_back(name);
        const POAManager_var manager = parent->the_POAManager();
        const POA_var made =
            parent->create_POA(name, manager, Policies(parent) << PERSISTENT << USER_ID);
        made->activate_object_with_id(id_of("x"), servant);
        made->the_activator(this);
        return true;
    }
    Servant_var<Servant> servant = new Servant;
    std::vector<std::string> names;
};

TEST_P(PlainKeys, ReachAdaptersThatAreMadeForThem)
{
    auto* maker = new Maker;
    const AdapterActivator_var kept = maker;
    world_.root()->the_activator(kept);
    EXPECT_EQ(world_.ping("a/b/x"), "ok");
    EXPECT_EQ(world_.ping("a/b/x"), "ok");
    EXPECT_EQ(maker->names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(world_.ping("a/c%00/x"), no_object) << "nobody is asked for what cannot be";
    EXPECT_EQ(world_.ping("no name of a path"), no_object);
    EXPECT_EQ(maker->names.size(), 2u);
}

} // namespace
} // namespace kairos::poa_testing
