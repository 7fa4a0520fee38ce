// SPDX-License-Identifier: Apache-2.0
//
// POAManagers and their factory (CORBA 3.3 part 1, 15.3.3 and 15.3.4): what each state does with
// requests, for several POAs at once.
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;

class States : public Everywhere {
  protected:
    void SetUp() override
    {
        manager_ = make("manager");
        for (const char* name : {"one", "two"}) {
            const POA_var poa =
                world_.root()->create_POA(name, manager_, Policies(world_.root()).list());
            const ObjectId_var id = poa->activate_object(servants_.emplace_back(new Servant));
            objects_.emplace_back(poa->id_to_reference(id));
            poas_.push_back(poa);
        }
    }
    POAManagerFactory_var factory() { return world_.root()->the_POAManagerFactory(); }
    CORBA::ULong managers_known()
    {
        const POAManagerFactory::POAManagerSeq_var managers = factory()->list();
        return managers->length();
    }
    POAManager_var make(const char* id) { return factory()->create_POAManager(id, {}); }

    World world_{GetParam()};
    POAManager_var manager_;
    std::vector<POA_var> poas_;
    std::vector<Servant_var<Servant>> servants_;
    std::vector<CORBA::Object_var> objects_;
};

TEST_P(States, HaveIdsAndCanBeFound)
{
    const CORBA::String_var id = manager_->get_id();
    EXPECT_STREQ(id, "manager");
    const POAManager_var found = factory()->find("manager");
    EXPECT_EQ(found.in(), manager_.in());
    const POAManager_var none = factory()->find("other");
    EXPECT_TRUE(CORBA::is_nil(none));
    EXPECT_EQ(outcome([&] { const POAManager_var x = make("manager"); }), "ManagerAlreadyExists");
    Policies policies(world_.root());
    policies << PERSISTENT;
    EXPECT_EQ(
        outcome([&] { const POAManager_var x = factory()->create_POAManager("other", policies); }),
        "PolicyError");
    const POA_var own = world_.root()->create_POA("own", nullptr, {});
    const POAManager_var its = own->the_POAManager();
    const CORBA::String_var its_id = its->get_id();
    const POAManager_var its_found = factory()->find(its_id);
    EXPECT_EQ(its_found.in(), its.in());
    EXPECT_EQ(managers_known(), 3u) << "of the root, of two, of one";
    own->destroy(true, true);
    EXPECT_EQ(managers_known(), 2u) << "gone with its only POA";
    poas_[0]->destroy(true, true);
    EXPECT_EQ(managers_known(), 2u);
    poas_[1]->destroy(true, true);
    EXPECT_EQ(managers_known(), 1u);
    // It is still a manager.
    const POA_var next = world_.root()->create_POA("next", manager_, {});
    EXPECT_EQ(managers_known(), 2u);
}

TEST_P(States, HoldAllRequestsUntilTheyAreActive)
{
    EXPECT_EQ(manager_->get_state(), POAManager::HOLDING);
    std::atomic<int> served{0};
    std::vector<std::thread> callers;
    for (const CORBA::Object_var& object : objects_)
        callers.emplace_back([&, object] { served += world_.ping(object) == "ok" ? 1 : 0; });
    // Other managers' POAs are not concerned.
    Servant_var<Servant> other = new Servant;
    const CORBA::Object_var free = world_.root()->servant_to_reference(other);
    EXPECT_EQ(world_.ping(free), "ok");
    EXPECT_EQ(servants_[0]->calls + servants_[1]->calls, 0u);
    manager_->activate();
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(served, 2);
    EXPECT_EQ(servants_[0]->calls + servants_[1]->calls, 2u);
}

TEST_P(States, DiscardRequests)
{
    manager_->discard_requests(false);
    for (const CORBA::Object_var& object : objects_)
        EXPECT_EQ(world_.ping(object), discarded);
    manager_->activate();
    for (const CORBA::Object_var& object : objects_)
        EXPECT_EQ(world_.ping(object), "ok");
}

TEST_P(States, AreInactiveForEver)
{
    manager_->activate();
    manager_->deactivate(true, true);
    EXPECT_EQ(manager_->get_state(), POAManager::INACTIVE);
    for (const CORBA::Object_var& object : objects_)
        EXPECT_EQ(world_.ping(object), inactive);
    EXPECT_EQ(outcome([&] { manager_->activate(); }), "AdapterInactive");
    EXPECT_EQ(outcome([&] { manager_->hold_requests(false); }), "AdapterInactive");
    EXPECT_EQ(outcome([&] { manager_->discard_requests(false); }), "AdapterInactive");
    EXPECT_EQ(outcome([&] { manager_->deactivate(false, false); }), "AdapterInactive");
    // Objects stay what they are: only servant managers are told.
    const Servant_var<ServantBase> servant = poas_[0]->reference_to_servant(objects_[0]);
    EXPECT_EQ(servant.in(), servants_[0].in());
}

TEST_P(States, HeldRequestsAreRefusedWhenTheStateSaysSo)
{
    for (const bool for_ever : {false, true}) {
        manager_->hold_requests(false);
        Event sent;
        std::string ended;
        std::thread caller([&] {
            sent.set();
            ended = world_.ping(objects_[0]);
        });
        EXPECT_TRUE(sent.wait());
        if (for_ever)
            manager_->deactivate(false, false);
        else
            manager_->discard_requests(false);
        caller.join();
        EXPECT_EQ(ended, for_ever ? inactive : discarded);
    }
}

TEST_P(States, HeldRequestsGoOnWhenTheirPoaIsDestroyed)
{
    Event sent;
    std::string ended;
    std::thread caller([&] {
        sent.set();
        ended = world_.ping(objects_[0]);
    });
    EXPECT_TRUE(sent.wait());
    poas_[0]->destroy(true, true);
    caller.join();
    EXPECT_TRUE(ended == no_adapter || ended == being_destroyed) << ended;
}

TEST_P(States, WaitForRequestsInProgress)
{
    manager_->activate();
    Event entered;
    Event go_on;
    std::atomic<bool> left{false};
    std::string within;
    servants_[0]->action = [&] {
        within = outcome([&] { manager_->discard_requests(true); });
        entered.set();
        EXPECT_TRUE(go_on.wait());
        left = true;
    };
    const Probe::Target_var target = world_.seen(objects_[0]);
    std::thread caller([&] { target->act(); });
    ASSERT_TRUE(entered.wait());
    EXPECT_EQ(within, would_deadlock);
    EXPECT_EQ(manager_->get_state(), POAManager::ACTIVE) << "nothing has changed";
    std::thread waiter([&] {
        manager_->hold_requests(true);
        EXPECT_TRUE(left);
    });
    while (manager_->get_state() != POAManager::HOLDING)
        std::this_thread::yield();
    go_on.set();
    waiter.join();
    caller.join();
}

KAIROS_EVERYWHERE(States);

TEST(HoldLimit, MoreRequestsAreRefused)
{
    for (const auto from : everywhere) {
        World world(from, {"-ORBHoldLimit", "2"});
        Servant_var<Servant> servant = new Servant;
        const POAManager_var manager = world.manager();
        for (int round = 0; round < 2; ++round) { // a place becomes free when its request is served
            // One that direct calls have not been made on.
            const CORBA::Object_var object = world.root()->servant_to_reference(servant);
            manager->hold_requests(false);
            std::atomic<int> refused{0};
            std::atomic<int> served{0};
            std::vector<std::thread> callers;
            for (int i = 0; i < 5; ++i) {
                callers.emplace_back([&] {
                    const std::string ended = world.ping(object);
                    if (ended == "ok") ++served;
                    if (ended == discarded) ++refused;
                });
            }
            while (refused < 3)
                std::this_thread::yield();
            manager->activate();
            for (std::thread& caller : callers)
                caller.join();
            EXPECT_EQ(refused, 3);
            EXPECT_EQ(served, 2);
        }
    }
}

TEST(HoldLimit, AllRequestsMayBeRefused)
{
    World world(From::other_orb, {"-ORBHoldLimit", "0", "-ORBConcurrency", "reactor"});
    Servant_var<Servant> servant = new Servant;
    const CORBA::Object_var object = world.root()->servant_to_reference(servant);
    const POAManager_var manager = world.manager();
    EXPECT_EQ(world.ping(object), "ok");
    manager->hold_requests(false);
    EXPECT_EQ(world.ping(object), discarded);
}

} // namespace
} // namespace kairos::poa_testing
