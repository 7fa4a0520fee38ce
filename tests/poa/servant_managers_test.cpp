// SPDX-License-Identifier: Apache-2.0
//
// Servant activators, servant locators and default servants (CORBA 3.3 part 1, 15.3.5 to 15.3.9).
#include "tests/poa/fixture.h"

#include <set>

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;
using orb_testing::Servant;

using Ids = std::vector<std::string>;

class ServantManagers : public Everywhere {
  protected:
    World world_{GetParam()};
    POA_ptr root_ = world_.root();
    std::atomic<int> alive_{0};

    CORBA::Object_var reference(POA_ptr poa, const char* id)
    {
        return poa->create_reference_with_id(id_of(id), target_id);
    }
};

// --- activators ----------------------------------------------------------------------------------

/// Makes a servant for every id, and writes down what it is told.
class Activator final : public virtual ServantActivator {
  public:
    explicit Activator(std::atomic<int>& alive) : alive_(alive) {}

    PortableServer::Servant incarnate(const ObjectId& oid, POA_ptr adapter) override
    {
        const Inside inside(calls_inside_);
        {
            const std::lock_guard lock(mutex_);
            incarnated_.push_back(text_of(oid));
        }
        return make ? make(oid, adapter) : new Mortal(alive_);
    }
    void etherealize(const ObjectId& oid, POA_ptr adapter, PortableServer::Servant servant,
                     CORBA::Boolean cleanup_in_progress,
                     CORBA::Boolean remaining_activations) override
    {
        const Inside inside(calls_inside_);
        {
            const std::lock_guard lock(mutex_);
            etherealized_.push_back(text_of(oid) + (cleanup_in_progress ? " cleanup" : "") +
                                    (remaining_activations ? " remaining" : ""));
        }
        if (on_etherealize) on_etherealize(adapter);
        if (!remaining_activations) servant->_remove_ref();
    }
    [[nodiscard]] Ids incarnated()
    {
        const std::lock_guard lock(mutex_);
        return incarnated_;
    }
    [[nodiscard]] Ids etherealized()
    {
        const std::lock_guard lock(mutex_);
        return etherealized_;
    }

    std::function<PortableServer::Servant(const ObjectId&, POA_ptr)> make;
    std::function<void(POA_ptr)> on_etherealize;

  private:
    struct Inside {
        explicit Inside(std::atomic<int>& count) : calls(count)
        {
            EXPECT_EQ(calls++, 0) << "calls of an activator overlap";
        }
        ~Inside() { --calls; }
        std::atomic<int>& calls;
    };

    std::atomic<int>& alive_;
    std::atomic<int> calls_inside_{0};
    std::mutex mutex_;
    Ids incarnated_;
    Ids etherealized_;
};

class Activating : public ServantManagers {
  protected:
    POA_var poa(const char* name, IdUniquenessPolicyValue uniqueness = UNIQUE_ID)
    {
        POA_var made =
            world_.poa(name, Policies(root_) << USER_ID << USE_SERVANT_MANAGER << uniqueness);
        made->set_servant_manager(activator_);
        return made;
    }
    Activator* activator_ = new Activator(alive_);
    ServantActivator_var kept_{activator_};
};

TEST_P(Activating, IncarnatesAtTheFirstRequestAndEtherealizesOnce)
{
    const POA_var poa = this->poa("poa");
    const CORBA::Object_var object = reference(poa, "a");
    EXPECT_EQ(alive_, 0);
    EXPECT_EQ(world_.ping(object), "ok");
    EXPECT_EQ(world_.ping(object), "ok");
    EXPECT_EQ(activator_->incarnated(), Ids{"a"});
    EXPECT_EQ(alive_, 1);
    poa->deactivate_object(id_of("a"));
    poa->activate_object_with_id(id_of("b"), Servant_var<Servant>(new Mortal(alive_)));
    EXPECT_EQ(world_.ping(object), "ok") << "it is made again";
    EXPECT_EQ(activator_->incarnated(), (Ids{"a", "a"}));
    EXPECT_EQ(activator_->etherealized(), Ids{"a"});
    const POAManager_var manager = world_.manager();
    manager->hold_requests(true); // the reply may be sent before the request has left
    poa->deactivate_object(id_of("a"));
    EXPECT_EQ(activator_->etherealized(), (Ids{"a", "a"}));
    EXPECT_EQ(alive_, 1);
    poa->destroy(true, true);
    EXPECT_EQ(activator_->etherealized(), (Ids{"a", "a", "b cleanup"}));
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, LocatingIncarnatesToo)
{
    const POA_var poa = this->poa("poa");
    const Probe::Target_var target = world_.seen(reference(poa, "a"));
    EXPECT_TRUE(target->_validate_connection());
    EXPECT_EQ(activator_->incarnated(), Ids{"a"});
}

TEST_P(Activating, OnceForManyRequests)
{
    const POA_var poa = this->poa("poa");
    const CORBA::Object_var object = reference(poa, "a");
    Event entered;
    Event go_on;
    activator_->make = [&](const ObjectId&, POA_ptr) {
        entered.set();
        EXPECT_TRUE(go_on.wait());
        return new Mortal(alive_);
    };
    std::atomic<int> served{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 8; ++i)
        callers.emplace_back([&] { served += world_.ping(object) == "ok" ? 1 : 0; });
    ASSERT_TRUE(entered.wait());
    go_on.set();
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(served, 8);
    EXPECT_EQ(activator_->incarnated(), Ids{"a"});
    poa->destroy(true, true);
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, TheEndComesAfterTheLastRequest)
{
    const POA_var poa = this->poa("poa");
    Event entered;
    Event go_on;
    Mortal* servant = nullptr;
    activator_->make = [&](const ObjectId&, POA_ptr) {
        servant = new Mortal(alive_);
        servant->action = [&] {
            entered.set();
            EXPECT_TRUE(go_on.wait());
            EXPECT_EQ(activator_->etherealized(), Ids{});
        };
        return servant;
    };
    const CORBA::Object_var object = reference(poa, "a");
    const Probe::Target_var target = world_.seen(object);
    std::thread caller([&] { target->act(); });
    ASSERT_TRUE(entered.wait());
    poa->deactivate_object(id_of("a"));
    // Another request for the id waits, and then gets a new servant.
    activator_->make = nullptr;
    std::string ended;
    std::thread next([&] { ended = world_.ping(object); });
    EXPECT_EQ(activator_->etherealized(), Ids{});
    go_on.set();
    caller.join();
    next.join();
    EXPECT_EQ(ended, "ok");
    EXPECT_EQ(activator_->incarnated(), (Ids{"a", "a"}));
    EXPECT_EQ(activator_->etherealized(), Ids{"a"});
    EXPECT_EQ(alive_, 1);
}

TEST_P(Activating, AnIdThatIsLeavingMakesActivationWait)
{
    const POA_var poa = this->poa("poa");
    const CORBA::Object_var object = reference(poa, "a");
    EXPECT_EQ(world_.ping(object), "ok");
    Event entered;
    Event go_on;
    activator_->on_etherealize = [&](POA_ptr) {
        entered.set();
        EXPECT_TRUE(go_on.wait());
    };
    std::thread deactivator([&] { poa->deactivate_object(id_of("a")); });
    ASSERT_TRUE(entered.wait());
    std::atomic<bool> gone{false};
    std::thread activator([&] {
        Servant_var<Servant> servant = new Servant;
        poa->activate_object_with_id(id_of("a"), servant);
        EXPECT_TRUE(gone);
    });
    gone = true;
    go_on.set();
    activator.join();
    deactivator.join();
    activator_->on_etherealize = nullptr;
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, OneServantForSeveralIds)
{
    const POA_var poa = this->poa("poa", MULTIPLE_ID);
    auto* servant = new Mortal(alive_);
    activator_->make = [&](const ObjectId&, POA_ptr) {
        servant->_add_ref();
        return servant;
    };
    for (const char* id : {"a", "b"})
        EXPECT_EQ(world_.ping(reference(poa, id)), "ok");
    servant->_remove_ref();
    const POAManager_var manager = world_.manager();
    manager->deactivate(true, true);
    const Ids gone = activator_->etherealized();
    ASSERT_EQ(gone.size(), 2u);
    EXPECT_EQ(gone[0].substr(1), " cleanup remaining");
    EXPECT_EQ(gone[1].substr(1), " cleanup");
    // `etherealize` was told of two counts, and gave up the one when none remained.
    EXPECT_EQ(servant->_refcount_value(), 1u);
    servant->_remove_ref();
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, WhatActivatorsMayNotDo)
{
    const POA_var poa = this->poa("poa");
    activator_->make = [](const ObjectId&, POA_ptr) -> PortableServer::Servant { return nullptr; };
    EXPECT_EQ(world_.ping(reference(poa, "a")), null_servant);
    Servant_var<Servant> one = new Servant;
    activator_->make = [&](const ObjectId&, POA_ptr) -> PortableServer::Servant { return one; };
    poa->activate_object_with_id(id_of("other"), one);
    EXPECT_EQ(world_.ping(reference(poa, "a")), wrong_servant) << "ids are unique";
    activator_->make = [&](const ObjectId&, POA_ptr) -> PortableServer::Servant {
        throw CORBA::NO_RESOURCES(7, CORBA::COMPLETED_NO);
    };
    EXPECT_EQ(world_.ping(reference(poa, "a")), "NO_RESOURCES 0x7 NO");
    activator_->make = nullptr;
}

TEST_P(Activating, MayActivateThemselves)
{
    const POA_var poa = this->poa("poa");
    activator_->make = [&](const ObjectId& oid, POA_ptr adapter) -> PortableServer::Servant {
        auto* servant = new Mortal(alive_);
        adapter->activate_object_with_id(oid, servant);
        servant->_remove_ref();
        return servant;
    };
    EXPECT_EQ(world_.ping(reference(poa, "a")), "ok");
    poa->destroy(true, true);
    EXPECT_EQ(activator_->etherealized(), Ids{"a cleanup"});
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, MayForward)
{
    const POA_var poa = this->poa("poa");
    Servant_var<Servant> elsewhere = new Servant;
    const CORBA::Object_var target = root_->servant_to_reference(elsewhere);
    activator_->make = [&](const ObjectId&, POA_ptr) -> PortableServer::Servant {
        throw ForwardRequest(target);
    };
    const CORBA::Object_var object = reference(poa, "a");
    const Probe::Target_var seen = world_.seen(object);
    EXPECT_EQ(seen->add(1, 2), 3);
    EXPECT_EQ(seen->add(3, 4), 7);
    EXPECT_EQ(elsewhere->calls, 2u);
    EXPECT_EQ(activator_->incarnated(), Ids{"a"}) << "the client remembers";
    const Probe::Target_var again = world_.seen(object);
    EXPECT_TRUE(again->_validate_connection());
    // To nobody: the client is told.
    activator_->make = [&](const ObjectId&, POA_ptr) -> PortableServer::Servant {
        throw ForwardRequest(CORBA::Object::_nil());
    };
    EXPECT_EQ(world_.ping(reference(poa, "b")).substr(0, 10), "INV_OBJREF");
}

TEST_P(Activating, ThePoaIsGoneBeforeItsObjectsAreEtherealized)
{
    const POA_var poa = this->poa("poa");
    const CORBA::Object_var object = reference(poa, "a");
    EXPECT_EQ(world_.ping(object), "ok");
    std::string found;
    std::string its_name;
    activator_->on_etherealize = [&](POA_ptr adapter) {
        found = outcome([&] { const POA_var x = root_->find_POA("poa", false); });
        its_name = outcome([&] { const CORBA::String_var x = adapter->the_name(); });
    };
    poa->destroy(true, true);
    EXPECT_EQ(found, "AdapterNonExistent");
    EXPECT_EQ(its_name, no_adapter);
    EXPECT_EQ(activator_->etherealized(), Ids{"a cleanup"});
}

TEST_P(Activating, DestroyingNeedNotEtherealize)
{
    const POA_var poa = this->poa("poa");
    EXPECT_EQ(world_.ping(reference(poa, "a")), "ok");
    poa->destroy(false, true);
    EXPECT_EQ(activator_->etherealized(), Ids{});
    EXPECT_EQ(alive_, 0) << "the POA's count is given up";
}

TEST_P(Activating, ShuttingDownEtherealizes)
{
    const POA_var poa = this->poa("poa");
    EXPECT_EQ(world_.ping(reference(poa, "a")), "ok");
    world_.orb()->shutdown(true);
    EXPECT_EQ(activator_->etherealized(), Ids{"a cleanup"});
    EXPECT_EQ(alive_, 0);
}

TEST_P(Activating, SetOnceAndOfTheRightKind)
{
    const POA_var poa = world_.poa("poa", Policies(root_) << USE_SERVANT_MANAGER);
    const ServantManager_var none = poa->get_servant_manager();
    EXPECT_TRUE(CORBA::is_nil(none));
    EXPECT_EQ(outcome([&] { poa->set_servant_manager(nullptr); }), no_servant_manager);
    EXPECT_EQ(outcome([&] { poa->set_servant_manager(activator_); }), "ok");
    const ServantManager_var set = poa->get_servant_manager();
    EXPECT_EQ(set.in(), static_cast<ServantManager_ptr>(activator_));
    EXPECT_EQ(outcome([&] { poa->set_servant_manager(activator_); }), set_already);
    const POA_var located =
        world_.poa("located", Policies(root_) << USE_SERVANT_MANAGER << NON_RETAIN);
    EXPECT_EQ(outcome([&] { located->set_servant_manager(activator_); }), no_servant_manager);
    EXPECT_EQ(outcome([&] { root_->set_servant_manager(activator_); }), "WrongPolicy");
}

TEST_P(Activating, ManyIdsComeAndGoUnderLoad)
{
    if (GetParam() == From::same_orb_direct) return; // servants must outlive direct calls
    const POA_var poa = this->poa("poa");
    constexpr int ids = 5;
    std::vector<CORBA::Object_var> objects;
    for (int i = 0; i < ids; ++i)
        objects.push_back(reference(poa, std::to_string(i).c_str()));
    std::atomic<bool> over{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
        callers.emplace_back([&, i] {
            for (int n = i; n < 150 + i; ++n)
                EXPECT_EQ(world_.ping(objects[static_cast<std::size_t>(n % ids)]), "ok");
        });
    }
    std::thread deactivator([&] {
        for (int n = 0; !over; ++n)
            (void)outcome([&] { poa->deactivate_object(id_of(std::to_string(n % ids))); });
    });
    for (std::thread& caller : callers)
        caller.join();
    over = true;
    deactivator.join();
    poa->destroy(true, true);
    EXPECT_EQ(activator_->incarnated().size(), activator_->etherealized().size());
    EXPECT_EQ(alive_, 0);
}

KAIROS_EVERYWHERE(Activating);

// --- locators ------------------------------------------------------------------------------------

class Locator final : public virtual ServantLocator {
  public:
    PortableServer::Servant preinvoke(const ObjectId& oid, POA_ptr, const char* operation,
                                      Cookie& the_cookie) override
    {
        asked = text_of(oid) + " " + operation;
        thread_ = std::this_thread::get_id();
        if (before) before();
        ++preinvoked;
        the_cookie = &cookie_;
        return servant;
    }
    void postinvoke(const ObjectId& oid, POA_ptr, const char* operation, Cookie the_cookie,
                    PortableServer::Servant the_servant) override
    {
        EXPECT_EQ(asked, text_of(oid) + " " + operation);
        EXPECT_EQ(thread_, std::this_thread::get_id());
        EXPECT_EQ(the_cookie, &cookie_);
        EXPECT_EQ(the_servant, servant);
        ++postinvoked;
        if (after) after();
    }

    std::function<void()> before;
    std::function<void()> after;
    PortableServer::Servant servant = nullptr;
    std::string asked;
    std::atomic<int> preinvoked{0};
    std::atomic<int> postinvoked{0};

  private:
    int cookie_ = 0;
    std::thread::id thread_;
};

class Locating : public ServantManagers {
  protected:
    void SetUp() override
    {
        poa_ = world_.poa("poa", Policies(root_) << USER_ID << NON_RETAIN << USE_SERVANT_MANAGER);
        poa_->set_servant_manager(locator_);
        locator_->servant = servant_;
        object_ = reference(poa_, "a");
    }
    Locator* locator_ = new Locator;
    ServantLocator_var kept_{locator_};
    Servant_var<Servant> servant_ = new Servant;
    POA_var poa_;
    CORBA::Object_var object_;
};

TEST_P(Locating, EachRequestIsAskedFor)
{
    const Probe::Target_var target = world_.seen(object_);
    EXPECT_EQ(target->add(1, 2), 3);
    EXPECT_EQ(locator_->asked, "a add");
    EXPECT_EQ(locator_->postinvoked, 1) << "the reply goes out afterwards";
    target->ping();
    EXPECT_EQ(locator_->asked, "a ping");
    EXPECT_EQ(locator_->preinvoked, 2);
    EXPECT_EQ(locator_->postinvoked, 2);
    EXPECT_EQ(servant_->_refcount_value(), 1u) << "the servant is the locator's";
    EXPECT_TRUE(target->_validate_connection());
    EXPECT_EQ(locator_->asked, "a _non_existent");
}

TEST_P(Locating, LargeResultsSurvivePostinvoke)
{
    const Probe::Target_var target = world_.seen(object_);
    for (const CORBA::ULong size : {0u, 100u, 10'000u, 1'000'000u}) {
        const Probe::Octets_var octets = target->produce(size);
        EXPECT_EQ(octets->length(), size);
    }
    EXPECT_EQ(locator_->postinvoked, 4);
}

TEST_P(Locating, PostinvokeIsCalledWhateverHappens)
{
    const Probe::Target_var target = world_.seen(object_);
    const auto act = [&] { return outcome([&] { target->act(); }); };
    servant_->action = [] { throw Probe::Refused("no"); };
    EXPECT_EQ(act(), "Refused");
    servant_->action = [] { throw CORBA::NO_RESOURCES(7, CORBA::COMPLETED_YES); };
    EXPECT_EQ(act(), "NO_RESOURCES 0x7 YES");
    servant_->action = [] { throw 1; };
    EXPECT_EQ(act().substr(0, 7), "UNKNOWN");
    EXPECT_EQ(locator_->postinvoked, 3);
    servant_->action = [] {};
    EXPECT_EQ(act(), "ok");
    // Its exception comes instead of results and of the servant's.
    locator_->after = [] { throw CORBA::NO_RESOURCES(8, CORBA::COMPLETED_YES); };
    EXPECT_EQ(act(), "NO_RESOURCES 0x8 YES");
    servant_->action = [] { throw Probe::Refused("no"); };
    EXPECT_EQ(act(), "NO_RESOURCES 0x8 YES");
}

TEST_P(Locating, WithoutAServantNothingIsCalled)
{
    locator_->servant = nullptr;
    EXPECT_EQ(world_.ping(object_), null_servant);
    locator_->before = [] { throw CORBA::NO_RESOURCES(9, CORBA::COMPLETED_NO); };
    EXPECT_EQ(world_.ping(object_), "NO_RESOURCES 0x9 NO");
    EXPECT_EQ(locator_->postinvoked, 0);
    EXPECT_EQ(servant_->calls, 0u);
}

TEST_P(Locating, MayForward)
{
    Servant_var<Servant> elsewhere = new Servant;
    const CORBA::Object_var target = root_->servant_to_reference(elsewhere);
    locator_->before = [&] { throw ForwardRequest(target); };
    EXPECT_EQ(world_.ping(object_), "ok");
    EXPECT_EQ(elsewhere->calls, 1u);
    EXPECT_EQ(locator_->preinvoked, 0);
    EXPECT_EQ(locator_->postinvoked, 0);
    const Probe::Target_var located = world_.seen(object_);
    EXPECT_TRUE(located->_validate_connection());
}

TEST_P(Locating, OnewaysToo)
{
    const Probe::Target_var target = world_.seen(object_);
    target->note(1);
    target->ping(); // behind it, on the same connection
    EXPECT_EQ(servant_->calls, 2u);
    EXPECT_EQ(locator_->postinvoked, 2);
}

KAIROS_EVERYWHERE(Locating);

// --- default servants ----------------------------------------------------------------------------

class Defaults : public ServantManagers {};

TEST_P(Defaults, ServeEveryObject)
{
    for (const auto retention : {RETAIN, NON_RETAIN}) {
        const POA_var poa = world_.poa("poa", Policies(root_) << USER_ID << MULTIPLE_ID << retention
                                                              << USE_DEFAULT_SERVANT);
        EXPECT_EQ(outcome([&] { const Servant_var<ServantBase> x = poa->get_servant(); }),
                  "NoServant");
        std::set<std::string> ids;
        Servant_var<Servant> servant = new Servant;
        servant->action = [&] {
            const ObjectId_var id = poa->servant_to_id(servant);
            ids.insert(text_of(id));
            const Probe::Target_var self = servant->_this();
            const ObjectId_var same = poa->reference_to_id(self);
            EXPECT_EQ(text_of(same), text_of(id));
        };
        poa->set_servant(servant);
        EXPECT_EQ(servant->_refcount_value(), 2u);
        const Servant_var<ServantBase> got = poa->get_servant();
        EXPECT_EQ(got.in(), servant.in());
        EXPECT_EQ(servant->_refcount_value(), 3u);
        for (const char* id : {"a", "b", "c"})
            world_.seen(reference(poa, id))->act();
        EXPECT_EQ(ids, (std::set<std::string>{"a", "b", "c"}));
        const Servant_var<ServantBase> by_id = poa->id_to_servant(id_of("anything"));
        EXPECT_EQ(by_id.in(), servant.in());
        EXPECT_EQ(outcome([&] { const ObjectId_var x = poa->servant_to_id(servant); }),
                  "ServantNotActive");
        if (retention == RETAIN) { // those that are active come first
            Servant_var<Servant> own = new Servant;
            poa->activate_object_with_id(id_of("a"), own);
            EXPECT_EQ(world_.ping(reference(poa, "a")), "ok");
            EXPECT_EQ(own->calls, 1u);
        }
        poa->destroy(true, true);
        EXPECT_EQ(servant->_refcount_value(), 3u);
    }
}

TEST_P(Defaults, MayBeReplacedWhileTheyServe)
{
    const POA_var poa = world_.poa("poa", Policies(root_) << USER_ID << MULTIPLE_ID << NON_RETAIN
                                                          << USE_DEFAULT_SERVANT);
    auto* first = new Mortal(alive_);
    Servant_var<Mortal> second = new Mortal(alive_);
    first->action = [&] {
        poa->set_servant(second);
        EXPECT_EQ(alive_, 2);
    };
    poa->set_servant(first);
    first->_remove_ref();
    const CORBA::Object_var object = reference(poa, "a");
    world_.seen(object)->act();
    EXPECT_EQ(world_.ping(object), "ok");
    EXPECT_EQ(second->calls, 1u);
    const POAManager_var manager = world_.manager();
    manager->hold_requests(true);
    EXPECT_EQ(alive_, 1) << "given up with its last request";
}

KAIROS_EVERYWHERE(Defaults);

} // namespace
} // namespace kairos::poa_testing
