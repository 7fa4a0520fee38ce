// SPDX-License-Identifier: Apache-2.0
//
// The thread policies (CORBA 3.3 part 1, 15.3.8.1): which upcalls may overlap, and in which thread
// they are made.
#include "tests/poa/fixture.h"

namespace kairos::poa_testing {
namespace {

using namespace PortableServer;
using orb_testing::Servant;

class Threads : public Everywhere {
  protected:
    /// Calls all objects from several threads; the most upcalls that were under way at once.
    int overlap(World& world, POA_ptr poa, int objects)
    {
        std::atomic<int> inside{0};
        std::atomic<int> most{0};
        std::vector<CORBA::Object_var> references;
        for (int i = 0; i < objects; ++i) {
            Servant_var<Servant> servant = new Servant;
            servant->action = [&] {
                const int now = ++inside;
                int seen = most;
                while (now > seen && !most.compare_exchange_weak(seen, now)) {
                }
                std::this_thread::yield();
                --inside;
            };
            const ObjectId_var id = poa->activate_object(servant);
            references.emplace_back(poa->id_to_reference(id));
        }
        std::vector<std::thread> callers;
        for (int i = 0; i < 4; ++i) {
            callers.emplace_back([&, i] {
                const Probe::Target_var target =
                    world.seen(references[static_cast<std::size_t>(i % objects)]);
                for (int n = 0; n < 50; ++n)
                    target->act();
            });
        }
        for (std::thread& caller : callers)
            caller.join();
        return most;
    }
};

TEST_P(Threads, SingleThreadedPoasServeOneRequestAtATime)
{
    World world(GetParam());
    const POA_var poa = world.poa("single", Policies(world.root()) << SINGLE_THREAD_MODEL);
    EXPECT_EQ(overlap(world, poa, 2), 1);
}

TEST_P(Threads, OtherwiseRequestsOverlap)
{
    World world(GetParam());
    Event first;
    Event second;
    Servant_var<Servant> servant = new Servant;
    std::atomic<int> calls{0};
    servant->action = [&] { // each waits for the other
        Event& mine = calls++ == 0 ? first : second;
        mine.set();
        EXPECT_TRUE(first.wait());
        EXPECT_TRUE(second.wait());
    };
    const CORBA::Object_var object = world.root()->servant_to_reference(servant);
    std::thread other([&] { world.seen(object)->act(); });
    world.seen(object)->act();
    other.join();
}

TEST_P(Threads, SingleThreadedPoasMayCallThemselves)
{
    World world(From::same_orb);
    const POA_var poa = world.poa("single", Policies(world.root()) << SINGLE_THREAD_MODEL);
    Servant_var<Servant> servant = new Servant;
    const ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    servant->action = [&] { EXPECT_EQ(world.ping(object), "ok"); };
    world.seen(object)->act();
    EXPECT_EQ(servant->calls, 2u);
}

/// An ORB whose main thread is the test's.
class MainThread : public testing::TestWithParam<std::tuple<From, const char*>> {
  protected:
    MainThread() { manager_->activate(); }
    ~MainThread() override
    {
        client_->destroy();
        orb_->destroy();
    }

    [[nodiscard]] static From from() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const char* concurrency() { return std::get<1>(GetParam()); }
    [[nodiscard]] static POA_ptr root_of(CORBA::ORB_ptr orb)
    {
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        return POA::_narrow(object);
    }
    [[nodiscard]] POA_ptr make_poa(const char* name)
    {
        Policies policies(root_);
        policies << MAIN_THREAD_MODEL;
        return root_->create_POA(name, manager_, policies);
    }
    /// The object as the caller has it.
    [[nodiscard]] Probe::Target_ptr seen(CORBA::Object_ptr object)
    {
        if (from() != From::other_orb) return Probe::Target::_unchecked_narrow(object);
        const CORBA::String_var text = orb_->object_to_string(object);
        const CORBA::Object_var there = client_->string_to_object(text);
        return Probe::Target::_unchecked_narrow(there);
    }

    const CORBA::ORB_var orb_ =
        make_orb({"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBConcurrency",
                  concurrency(), "-ORBCollocation", collocation_of(from())});
    const CORBA::ORB_var client_ = make_orb({"-ORBDebug", "0"});
    const POA_var root_ = root_of(orb_);
    const POAManager_var manager_ = root_->the_POAManager();
};

TEST_P(MainThread, ServesInRun)
{
    const POA_var one = make_poa("one");
    const POA_var two = make_poa("two");
    const auto main_thread = std::this_thread::get_id();
    std::atomic<int> inside{0};
    std::vector<CORBA::Object_var> objects;
    std::vector<Servant_var<Servant>> servants;
    for (const POA_var& poa : {one, two}) {
        Servant_var<Servant> servant = new Servant;
        servant->action = [&] {
            EXPECT_EQ(std::this_thread::get_id(), main_thread);
            EXPECT_EQ(++inside, 1);
            --inside;
        };
        servants.push_back(servant);
        const ObjectId_var id = poa->activate_object(servant);
        objects.emplace_back(poa->id_to_reference(id));
    }
    std::atomic<int> callers_left{4};
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < 4; ++i) {
        callers.emplace_back([&, i] {
            const Probe::Target_var target = seen(objects[i % 2]);
            for (int n = 0; n < 20; ++n)
                EXPECT_EQ(outcome([&] { target->act(); }), "ok");
            if (--callers_left == 0) orb_->shutdown(false);
        });
    }
    orb_->run();
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(servants[0]->calls + servants[1]->calls, 80u);
}

TEST_P(MainThread, ServesInPerformWork)
{
    const POA_var poa = make_poa("poa");
    Servant_var<Servant> servant = new Servant;
    const auto main_thread = std::this_thread::get_id();
    servant->action = [&] { EXPECT_EQ(std::this_thread::get_id(), main_thread); };
    const ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    std::atomic<bool> called{false};
    std::thread caller([&] {
        const Probe::Target_var target = seen(object);
        EXPECT_EQ(outcome([&] { target->act(); }), "ok");
        called = true;
    });
    while (!called)
        if (orb_->work_pending()) orb_->perform_work();
    caller.join();
    // The thread that serves calls directly.
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    target->act();
    EXPECT_EQ(servant->calls, 2u);
}

TEST_P(MainThread, WhatWaitsAtTheEndIsRefused)
{
    // Others may not even be read; and work of the reactor's may be other work.
    if (from() == From::other_orb || std::string_view(concurrency()) == "reactor") return;
    const POA_var poa = make_poa("poa");
    Servant_var<Servant> servant = new Servant;
    const ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    std::string ended;
    std::thread caller([&] { ended = outcome([&] { target->ping(); }); });
    while (!orb_->work_pending())
        std::this_thread::yield();
    orb_->shutdown(true);
    caller.join();
    EXPECT_EQ(ended, discarded);
    EXPECT_EQ(servant->calls, 0u);
}

KAIROS_EVERYWHERE(Threads);
/// Makes a servant whenever one is wanted.
class Maker final : public virtual ServantActivator {
  public:
    PortableServer::Servant incarnate(const ObjectId&, POA_ptr) override
    {
        ++made;
        return new Servant;
    }
    void etherealize(const ObjectId&, POA_ptr, PortableServer::Servant servant, CORBA::Boolean,
                     CORBA::Boolean) override
    {
        servant->_remove_ref();
    }
    int made = 0;
};

TEST(MainThreadAlone, IncarnatesWhatWasDeactivatedWhileTheRequestWaited)
{
    const CORBA::ORB_var orb =
        make_orb({"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const CORBA::Object_var root_object = orb->resolve_initial_references("RootPOA");
    const POA_var root = POA::_narrow(root_object);
    const POAManager_var manager = root->the_POAManager();
    manager->activate();
    Policies policies(root);
    policies << MAIN_THREAD_MODEL << USER_ID << USE_SERVANT_MANAGER;
    const POA_var poa = root->create_POA("poa", manager, policies);
    auto* const maker = new Maker;
    const ServantActivator_var owner = maker;
    poa->set_servant_manager(maker);
    const ObjectId id = id_of("object");
    const Servant_var<Servant> first = new Servant;
    poa->activate_object_with_id(id, first);
    const CORBA::Object_var object = poa->id_to_reference(id);
    std::atomic<bool> answered{false};
    std::thread caller([&] {
        const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        answered = true;
    });
    while (!orb->work_pending()) // the request has found its object and waits for this thread
        std::this_thread::yield();
    poa->deactivate_object(id);
    while (!answered)
        orb->work_pending() ? orb->perform_work() : std::this_thread::yield();
    caller.join();
    EXPECT_EQ(maker->made, 1);
    orb->destroy();
}

INSTANTIATE_TEST_SUITE_P(All, MainThread,
                         testing::Combine(testing::ValuesIn(everywhere),
                                          testing::Values("thread-per-connection", "reactor")));

} // namespace
} // namespace kairos::poa_testing
