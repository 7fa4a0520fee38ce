// SPDX-License-Identifier: Apache-2.0
//
// The tree of object adapters (CORBA 3.3 part 1, 15.3.9): making, finding and destroying them, also
// while they are busy, and adapter activators.
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;

std::string name_of(POA_ptr poa)
{
    if (CORBA::is_nil(poa)) return "nil";
    const CORBA::String_var name = poa->the_name();
    return name.in();
}

CORBA::ULong children_of(POA_ptr poa)
{
    const POAList_var children = poa->the_children();
    return children->length();
}

class Tree : public Everywhere {
  protected:
    World world_{GetParam()};
    POA_ptr root_ = world_.root();
    POAManager_var manager_ = world_.manager();

    POA_var child(POA_ptr parent, const char* name, const CORBA::PolicyList& policies = {})
    {
        return parent->create_POA(name, manager_, policies);
    }
};

TEST_P(Tree, NamesParentsAndChildren)
{
    const POA_var a = child(root_, "a");
    const POA_var b = child(root_, "b");
    const POA_var aa = child(a, "a");
    EXPECT_EQ(name_of(aa), "a");
    const POA_var parent = aa->the_parent();
    EXPECT_EQ(parent.in(), a.in());
    const POA_var none = root_->the_parent();
    EXPECT_TRUE(CORBA::is_nil(none));
    const POAList_var children = root_->the_children();
    ASSERT_EQ(children->length(), 2u);
    EXPECT_EQ(name_of(children[0]), "a");
    EXPECT_EQ(name_of(children[1]), "b");
    const POA_var found = a->find_POA("a", false);
    EXPECT_EQ(found.in(), aa.in());
    EXPECT_EQ(outcome([&] { const POA_var x = a->find_POA("b", true); }), "AdapterNonExistent");
    EXPECT_EQ(outcome([&] { const POA_var x = child(root_, "a"); }), "AdapterAlreadyExists");
    const ObjectId_var a_id = a->id();
    const ObjectId_var aa_id = aa->id();
    EXPECT_NE(text_of(a_id), text_of(aa_id));
}

TEST_P(Tree, DestroyingTakesChildrenAlong)
{
    const POA_var a = child(root_, "a");
    const POA_var aa = child(a, "a");
    Servant_var<Servant> servant = new Servant;
    const ObjectId_var id = aa->activate_object(servant);
    const CORBA::Object_var object = aa->id_to_reference(id);
    EXPECT_EQ(world_.ping(object), "ok");
    a->destroy(true, true);
    EXPECT_EQ(world_.ping(object), no_adapter);
    EXPECT_EQ(servant->_refcount_value(), 1u);
    EXPECT_EQ(outcome([&] { const POA_var x = a->find_POA("a", true); }), no_adapter);
    EXPECT_EQ(outcome([&] { const CORBA::String_var x = aa->the_name(); }), no_adapter);
    EXPECT_EQ(outcome([&] { const ObjectId_var x = aa->activate_object(servant); }), no_adapter);
    EXPECT_EQ(outcome([&] { a->destroy(true, true); }), no_adapter);
    EXPECT_EQ(children_of(root_), 0u);
    // The name is free, the shell is used again, and old references do not fit.
    const POA_var again = child(root_, "a");
    const POA_var deeper = child(again, "a");
    const ObjectId_var next = deeper->activate_object(servant);
    EXPECT_EQ(world_.ping(object), no_adapter);
    const CORBA::Object_var other = deeper->id_to_reference(next);
    EXPECT_EQ(world_.ping(other), "ok");
}

/// A10: requests wait for a POAManager only where there is an adapter, or somebody who may make it.
TEST_P(Tree, NobodyWaitsForAnAdapterThatNobodyHas)
{
    Policies policies(root_);
    policies << PERSISTENT;
    const POA_var a = child(root_, "a", policies);
    Servant_var<Servant> servant = new Servant;
    const ObjectId_var id = a->activate_object(servant);
    const CORBA::Object_var object = a->id_to_reference(id);
    EXPECT_EQ(world_.ping(object), "ok");
    a->destroy(true, true);
    manager_->hold_requests(false);
    EXPECT_EQ(world_.ping(object), no_adapter);
    manager_->activate();
    EXPECT_EQ(world_.ping(object), no_adapter);
}

TEST_P(Tree, BusyAdaptersEndWithTheirLastRequest)
{
    const POA_var a = child(root_, "a");
    std::atomic<int> alive{0};
    auto* servant = new Mortal(alive);
    Event entered;
    Event go_on;
    std::string within;
    servant->action = [&] {
        within = outcome([&] { a->destroy(true, true); });
        entered.set();
        EXPECT_TRUE(go_on.wait());
    };
    const ObjectId_var id = a->activate_object(servant);
    const CORBA::Object_var object = a->id_to_reference(id);
    servant->_remove_ref();
    const Probe::Target_var target = world_.seen(object);
    std::string called;
    std::thread caller([&] { called = outcome([&] { target->act(); }); });
    ASSERT_TRUE(entered.wait());
    EXPECT_EQ(within, would_deadlock);
    a->destroy(true, false); // does not wait
    EXPECT_EQ(world_.ping(object), being_destroyed);
    EXPECT_EQ(outcome([&] { const POA_var x = child(a, "x"); }), destroying);
    EXPECT_EQ(alive, 1);
    go_on.set();
    caller.join();
    EXPECT_EQ(called, "ok");
    // Waits for the name, which becomes free when the last request has left.
    const POA_var again = child(root_, "a");
    EXPECT_EQ(world_.ping(object), no_adapter);
    EXPECT_EQ(alive, 0);
}

TEST_P(Tree, DestroyingWaitsForRequests)
{
    const POA_var a = child(root_, "a");
    Event entered;
    Event go_on;
    std::atomic<bool> left{false};
    Servant_var<Servant> servant = new Servant;
    servant->action = [&] {
        entered.set();
        EXPECT_TRUE(go_on.wait());
        left = true;
    };
    const ObjectId_var id = a->activate_object(servant);
    const CORBA::Object_var object = a->id_to_reference(id);
    const Probe::Target_var target = world_.seen(object);
    std::thread caller([&] { target->act(); });
    ASSERT_TRUE(entered.wait());
    std::thread destroyer([&] {
        a->destroy(true, true);
        EXPECT_TRUE(left);
    });
    // The destroyer has come as far as turning requests away.
    while (world_.ping(object) == "ok") {
    }
    go_on.set();
    destroyer.join();
    caller.join();
}

TEST_P(Tree, TheRootIsMadeAnew)
{
    root_->destroy(true, true);
    EXPECT_EQ(outcome([&] { const CORBA::String_var x = root_->the_name(); }), no_adapter);
    const POA_var next = world_.root_poa();
    EXPECT_EQ(name_of(next), "RootPOA");
    Servant_var<Servant> servant = new Servant;
    const CORBA::Object_var object = next->servant_to_reference(servant);
    const POAManager_var manager = next->the_POAManager();
    EXPECT_EQ(manager->get_state(), POAManager::HOLDING);
    manager->activate();
    EXPECT_EQ(world_.ping(object), "ok");
}

// --- adapter activators --------------------------------------------------------------------------

class Maker final : public virtual AdapterActivator {
  public:
    CORBA::Boolean unknown_adapter(POA_ptr parent, const char* name) override
    {
        ++calls;
        const CORBA::String_var of = parent->the_name();
        asked = of.in() + std::string("/") + name;
        return make(parent, name);
    }

    std::atomic<int> calls{0};
    std::string asked;
    std::function<bool(POA_ptr, const char*)> make;
};

class Activators : public Tree {
  protected:
    CORBA::PolicyList lasting() { return (Policies(root_) << PERSISTENT << USER_ID).list(); }

    /// A POA with an object, as if of an earlier run, that a call has to make.
    void SetUp() override
    {
        const POA_var a = child(root_, "a", lasting());
        const POA_var b = child(a, "b", lasting());
        object_ = b->create_reference_with_id(id_of("object"), target_id);
        a->destroy(true, true);
        maker_ = new Maker;
        kept_ = maker_;
        maker_->make = [this](POA_ptr parent, const char* name) {
            const POA_var made = child(parent, name, lasting());
            made->the_activator(maker_);
            made->activate_object_with_id(id_of("object"), servant_);
            return true;
        };
    }

    Servant_var<Servant> servant_ = new Servant;
    Maker* maker_ = nullptr;
    CORBA::Object_var kept_;
    CORBA::Object_var object_;
};

TEST_P(Activators, MakeWhatRequestsNeed)
{
    EXPECT_EQ(world_.ping(object_), no_adapter) << "there is no activator";
    maker_->make = [this](POA_ptr parent, const char* name) {
        const POA_var made = child(parent, name, lasting());
        made->the_activator(maker_);
        if (std::string(name) == "b") made->activate_object_with_id(id_of("object"), servant_);
        return true;
    };
    root_->the_activator(maker_);
    const AdapterActivator_var set = root_->the_activator();
    EXPECT_EQ(set.in(), maker_);
    EXPECT_EQ(world_.ping(object_), "ok");
    EXPECT_EQ(maker_->calls, 2);
    EXPECT_EQ(maker_->asked, "a/b");
    EXPECT_EQ(world_.ping(object_), "ok");
    EXPECT_EQ(maker_->calls, 2);
}

TEST_P(Activators, MakeWhatLocateRequestsNeed)
{
    root_->the_activator(maker_);
    maker_->make = [this](POA_ptr parent, const char* name) {
        const POA_var made = child(parent, name, lasting());
        made->the_activator(maker_);
        if (std::string(name) == "b") made->activate_object_with_id(id_of("object"), servant_);
        return true;
    };
    const Probe::Target_var target = world_.seen(object_);
    EXPECT_TRUE(target->_validate_connection());
    EXPECT_EQ(maker_->calls, 2);
}

TEST_P(Activators, MayRefuse)
{
    root_->the_activator(maker_);
    maker_->make = [](POA_ptr, const char*) { return false; };
    EXPECT_EQ(world_.ping(object_), no_adapter);
    EXPECT_EQ(outcome([&] { const POA_var x = root_->find_POA("a", true); }), "AdapterNonExistent");
    EXPECT_EQ(maker_->calls, 2);
    EXPECT_EQ(outcome([&] { const POA_var x = root_->find_POA("a", false); }),
              "AdapterNonExistent");
    EXPECT_EQ(maker_->calls, 2);
    const Probe::Target_var target = world_.seen(object_);
    EXPECT_FALSE(target->_validate_connection());
}

TEST_P(Activators, MayThrow)
{
    root_->the_activator(maker_);
    maker_->make = [](POA_ptr, const char*) -> bool { throw CORBA::NO_RESOURCES(); };
    constexpr const char* threw = "OBJ_ADAPTER 0x4f4d0001 NO";
    EXPECT_EQ(world_.ping(object_), threw);
    EXPECT_EQ(outcome([&] { const POA_var x = root_->find_POA("a", true); }), threw);
}

TEST_P(Activators, MayLookForWhatTheyMake)
{
    root_->the_activator(maker_);
    std::string found;
    maker_->make = [&](POA_ptr parent, const char* name) {
        found = outcome([&] { const POA_var x = parent->find_POA(name, true); });
        const POA_var made = child(parent, name, lasting());
        return true;
    };
    const POA_var made = root_->find_POA("a", true);
    EXPECT_EQ(name_of(made), "a");
    EXPECT_EQ(found, "AdapterNonExistent");
    EXPECT_EQ(maker_->calls, 1);
}

TEST_P(Activators, AreAskedOnceByManyRequests)
{
    root_->the_activator(maker_);
    Event asked;
    Event go_on;
    maker_->make = [&](POA_ptr parent, const char* name) {
        const POA_var made = child(parent, name, lasting());
        made->the_activator(maker_);
        if (std::string(name) == "b") {
            asked.set();
            EXPECT_TRUE(go_on.wait());
            // Until it returns nobody finds the POA, although it is there.
            made->activate_object_with_id(id_of("object"), servant_);
        }
        return true;
    };
    constexpr int clients = 8;
    std::atomic<int> served{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < clients; ++i)
        threads.emplace_back([&] { served += world_.ping(object_) == "ok" ? 1 : 0; });
    ASSERT_TRUE(asked.wait());
    go_on.set();
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(served, clients);
    EXPECT_EQ(maker_->calls, 2);
}

KAIROS_EVERYWHERE(Tree);
KAIROS_EVERYWHERE(Activators);

// --- under load ----------------------------------------------------------------------------------

TEST(TreeUnderLoad, AdaptersComeAndGo)
{
    World world(From::same_orb);
    const POAManager_var manager = world.manager();
    std::mutex mutex;
    CORBA::Object_var current; // of one of the adapters, perhaps a destroyed one
    std::atomic<bool> over{false};
    std::atomic<int> served{0};
    std::atomic<int> alive{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
        callers.emplace_back([&] {
            while (!over) {
                CORBA::Object_var object;
                {
                    const std::lock_guard lock(mutex);
                    object = current;
                }
                if (CORBA::is_nil(object)) continue;
                const std::string ended = world.ping(object);
                if (ended == "ok")
                    ++served;
                else
                    EXPECT_TRUE(ended == no_adapter || ended == no_object ||
                                ended == being_destroyed)
                        << ended;
            }
        });
    }
    std::thread looker([&] {
        while (!over) {
            const std::string found = outcome([&] {
                const POA_var poa = world.root()->find_POA("poa", false);
                const POA_var parent = poa->the_parent();
                EXPECT_EQ(parent.in(), world.root());
                EXPECT_LE(children_of(world.root()), 1u);
            });
            EXPECT_TRUE(found == "ok" || found == "AdapterNonExistent" || found == no_adapter)
                << found;
        }
    });
    for (int round = 0; round < 200 || served < 100; ++round) {
        Policies policies(world.root());
        if (round % 2 == 0) policies << USER_ID << PERSISTENT;
        const POA_var poa = world.root()->create_POA("poa", manager, policies);
        Servant_var<Mortal> servant = new Mortal(alive);
        CORBA::Object_var object;
        if (round % 2 == 0) {
            poa->activate_object_with_id(id_of("object"), servant);
            object = poa->id_to_reference(id_of("object"));
        } else {
            const ObjectId_var id = poa->activate_object(servant);
            object = poa->id_to_reference(id);
        }
        {
            const std::lock_guard lock(mutex);
            current = object;
        }
        poa->destroy(true, round % 3 == 0);
    }
    over = true;
    looker.join();
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(children_of(world.root()), 0u);
    EXPECT_EQ(alive, 0);
}

} // namespace
} // namespace kairos::poa_testing
