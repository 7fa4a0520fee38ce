// SPDX-License-Identifier: Apache-2.0
//
// Thread pools with and without lanes: who serves, at which priority, what waits and what is
// refused (Real-Time CORBA 1.2, 5.12).
#include "tests/rtcorba/fixture.h"

#include <set>

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* bad_param = "BAD_PARAM 0x0 NO";
constexpr const char* bad_order = "BAD_INV_ORDER 0x0 NO";
constexpr const char* refused = "TRANSIENT 0x4f4d0001 NO";

/// How a pool without lanes is made.
struct Pool {
    CORBA::ULong static_threads = 1;
    CORBA::ULong dynamic_threads = 0;
    RTCORBA::Priority priority = 10;
    bool buffers = false;
    CORBA::ULong buffered = 0;
    CORBA::ULong buffered_bytes = 0;
};

RTCORBA::ThreadpoolId make(World& world, const Pool& pool)
{
    return world.rtorb()->create_threadpool(0, pool.static_threads, pool.dynamic_threads,
                                            pool.priority, pool.buffers, pool.buffered,
                                            pool.buffered_bytes);
}

struct ThreadStorage {
    RTCORBA::Priority priority = 0;
    CORBA::ULong static_threads = 1;
    CORBA::ULong dynamic_threads = 0;
};

RTCORBA::ThreadpoolLanes lanes_of(std::initializer_list<ThreadStorage> lanes)
{
    RTCORBA::ThreadpoolLanes list;
    for (const ThreadStorage& lane : lanes) {
        list.length(list.length() + 1);
        list[list.length() - 1] = {lane.priority, lane.static_threads, lane.dynamic_threads};
    }
    return list;
}

RTCORBA::ThreadpoolId make(World& world, std::initializer_list<ThreadStorage> lanes,
                           bool borrows = false)
{
    return world.rtorb()->create_threadpool_with_lanes(0, lanes_of(lanes), borrows, false, 0, 0);
}

/// What threads of the process are called.
std::multiset<std::string> thread_names()
{
    std::multiset<std::string> names;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::FILE* file = std::fopen((task.path() / "comm").c_str(), "r");
        if (file == nullptr) continue; // it has ended
        char name[32] = {};
        if (std::fgets(name, sizeof name, file) != nullptr)
            names.insert(std::string(name, std::strcspn(name, "\n")));
        std::fclose(file);
    }
    return names;
}

/// Names are set by the threads themselves.
void expect_threads(const std::string& name, std::size_t count)
{
    for (const auto end = std::chrono::steady_clock::now() + orb_testing::patience;
         thread_names().count(name) != count && std::chrono::steady_clock::now() < end;)
        std::this_thread::yield();
    EXPECT_EQ(thread_names().count(name), count) << name;
}

/// Calls that stay inside a servant until they are let go.
class Gate {
  public:
    explicit Gate(Servant& servant)
    {
        servant.action = [this] {
            std::unique_lock lock(mutex_);
            ++inside_;
            threads_.insert(std::this_thread::get_id());
            changed_.notify_all();
            changed_.wait_for(lock, orb_testing::patience, [this] { return open_; });
            --inside_;
        };
    }
    [[nodiscard]] bool wait_for(int inside)
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, orb_testing::patience, [&] { return inside_ >= inside; });
    }
    [[nodiscard]] int inside()
    {
        const std::lock_guard lock(mutex_);
        return inside_;
    }
    [[nodiscard]] std::size_t threads()
    {
        const std::lock_guard lock(mutex_);
        return threads_.size();
    }
    void open()
    {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int inside_ = 0;
    bool open_ = false;
    std::set<std::thread::id> threads_;
};

/// Clients that call at the same time, each from a thread of its own.
class Callers {
  public:
    explicit Callers(Probe::Target_ptr target) : target_(target) {}
    ~Callers() { join(); }
    void call(RTCORBA::Priority priority = 0)
    {
        threads_.emplace_back([this, priority] {
            orb::ThreadStorage::current().priority = priority;
            const std::string ended = outcome([&] { target_->act(); });
            const std::lock_guard lock(mutex_);
            outcomes_.insert(ended);
        });
    }
    void join()
    {
        for (std::thread& thread : threads_)
            thread.join();
        threads_.clear();
    }
    [[nodiscard]] std::multiset<std::string> outcomes()
    {
        join();
        return outcomes_;
    }

  private:
    Probe::Target_ptr target_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::multiset<std::string> outcomes_;
};

class Threadpools : public testing::Test {
  protected:
    World world_;
    Servant& servant_ = world_.make_servant();
    RTPortableServer::POA_var poa_;

    /// A POA with the pool and these policies, and its only object as a client sees it.
    Probe::Target_ptr serve(RTCORBA::ThreadpoolId pool, CORBA::Policy_ptr model = nullptr)
    {
        auto* policy = world_.rtorb()->create_threadpool_policy(pool);
        if (model == nullptr)
            poa_ = world_.make_poa("pool", {policy});
        else
            poa_ = world_.make_poa("pool", {policy, model});
        const PortableServer::ObjectId_var id = poa_->activate_object(&servant_);
        world_.activate();
        return world_.to_client(poa_, id);
    }
    void destroy_poa() { poa_->destroy(true, true); }
};

TEST_F(Threadpools, AreMadeOfWhatCanBe)
{
    const auto ended = [&](const Pool& pool) { return outcome([&] { (void)make(world_, pool); }); };
    EXPECT_EQ(ended({.priority = -1}), bad_param);
    EXPECT_EQ(ended({.static_threads = 0}), bad_param);
    EXPECT_EQ(ended({.static_threads = 0, .dynamic_threads = 1}), "ok");
    EXPECT_EQ(ended({.static_threads = 1, .dynamic_threads = 1'000'000}), "IMP_LIMIT 0x0 NO");
    const auto with_lanes = [&](std::initializer_list<ThreadStorage> lanes) {
        return outcome([&] { (void)make(world_, lanes); });
    };
    EXPECT_EQ(with_lanes({}), bad_param);
    EXPECT_EQ(with_lanes({{.priority = 1}, {.priority = 1}}), bad_param);
    EXPECT_EQ(with_lanes({{.priority = -1}}), bad_param);
    EXPECT_EQ(with_lanes({{.priority = 2}, {.priority = 1}}), "ok");
}

TEST_F(Threadpools, HaveTheirStaticThreadsFromTheStart)
{
    const auto pool = make(world_, {{.priority = 11, .static_threads = 3}, {.priority = 12}});
    expect_threads("kairos-rt-11", 3);
    expect_threads("kairos-rt-12", 1);
    world_.rtorb()->destroy_threadpool(pool);
    expect_threads("kairos-rt-11", 0);
    EXPECT_EQ(outcome([&] { world_.rtorb()->destroy_threadpool(pool); }), "InvalidThreadpool");
    EXPECT_EQ(outcome([&] { world_.rtorb()->destroy_threadpool(4711); }), "InvalidThreadpool");
}

TEST_F(Threadpools, ServeThePoasThatHaveThem)
{
    const auto pool = make(world_, Pool{.priority = 10});
    RTCORBA::Priority priority = -1;
    int native = -1;
    std::string name(16, '\0');
    servant_.action = [&] {
        priority = world_.current()->the_priority();
        native = native_priority();
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    };
    const Probe::Target_var target = serve(pool);
    target->act();
    EXPECT_EQ(priority, 10);
    EXPECT_EQ(native, native_of(10));
    EXPECT_STREQ(name.c_str(), "kairos-rt-10");
    // Callers of the same process, too.
    priority = -1;
    const CORBA::Object_var object = poa_->servant_to_reference(&servant_);
    const Probe::Target_var local = Probe::Target::_narrow(object);
    local->act();
    EXPECT_EQ(priority, 10);
    EXPECT_STREQ(name.c_str(), "kairos-rt-10");
    EXPECT_EQ(outcome([&] { world_.rtorb()->destroy_threadpool(pool); }), bad_order);
    destroy_poa();
    EXPECT_EQ(outcome([&] { world_.rtorb()->destroy_threadpool(pool); }), "ok");
}

TEST_F(Threadpools, OtherPoasAreServedByOthers)
{
    (void)make(world_, Pool{});
    Servant& other = world_.make_servant();
    std::string name(16, '\0');
    other.action = [&] { ::pthread_getname_np(::pthread_self(), name.data(), name.size()); };
    const PortableServer::ObjectId_var id = world_.root()->activate_object(&other);
    world_.activate();
    const CORBA::Object_var object = world_.root()->id_to_reference(id);
    const Probe::Target_var target = world_.to_client(object);
    target->act();
    EXPECT_STREQ(name.c_str(), "kairos-work");
}

TEST_F(Threadpools, ServeAtThePriorityOfTheModel)
{
    const auto pool = make(world_, Pool{.priority = 10});
    Listener listener(world_);
    const RTPortableServer::POA_var poa =
        world_.make_poa("propagated", {world_.rtorb()->create_threadpool_policy(pool),
                                       world_.client_propagated(5)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world_.activate();
    const Probe::Target_var target = world_.to_client(poa, id);
    in_thread([&] {
        world_.current()->the_priority(20'000);
        target->act();
        EXPECT_EQ(listener.priority, 20'000);
        EXPECT_EQ(listener.native, native_of(20'000));
        world_.current()->the_priority(0);
        target->act();
        EXPECT_EQ(listener.priority, 0);
        EXPECT_EQ(listener.native, 0);
    });
}

TEST_F(Threadpools, OfOneThreadServeOneAtATime)
{
    Gate gate(servant_);
    const Probe::Target_var target = serve(make(world_, Pool{.static_threads = 1}));
    Callers callers(target);
    for (int i = 0; i < 4; ++i)
        callers.call();
    ASSERT_TRUE(gate.wait_for(1));
    EXPECT_EQ(gate.inside(), 1);
    gate.open();
    EXPECT_EQ(callers.outcomes().count("ok"), 4u); // without buffers they wait unread
    EXPECT_EQ(gate.threads(), 1u);
}

TEST_F(Threadpools, AddDynamicThreadsAtNeedAndKeepThem)
{
    Gate gate(servant_);
    const Probe::Target_var target =
        serve(make(world_, Pool{.static_threads = 1, .dynamic_threads = 2, .priority = 13}));
    expect_threads("kairos-rt-13", 1);
    Callers callers(target);
    for (int i = 0; i < 5; ++i)
        callers.call();
    ASSERT_TRUE(gate.wait_for(3));
    EXPECT_EQ(gate.inside(), 3);
    gate.open();
    EXPECT_EQ(callers.outcomes().count("ok"), 5u);
    expect_threads("kairos-rt-13", 3);
    EXPECT_LE(gate.threads(), 3u);
}

/// Requests of one connection are read in order, so what becomes of each is certain.
class Buffers : public Threadpools {
  protected:
    /// A pool of one thread, which is busy.
    void begin(const Pool& pool)
    {
        target_ = serve(make(world_, pool));
        callers_.emplace(target_.in());
        callers_->call();
        ASSERT_TRUE(gate_.wait_for(1));
        peer_ = orb_testing::RawPeer::connect(
            target_->_kairos_reference()->targets().front().endpoint->port());
    }
    [[nodiscard]] orb_testing::Octets act(std::uint32_t id)
    {
        return orb_testing::request(target_->_kairos_reference()->object_key(), "act", id).finish();
    }
    void send(std::uint32_t id) { peer_->send(act(id)); }
    /// "<request id> <outcome>"
    [[nodiscard]] std::string next_reply()
    {
        const orb_testing::ParsedReply reply(peer_->read_message());
        return std::to_string(reply.reply.request_id) + " " + reply.text();
    }

    Gate gate_{servant_};
    Probe::Target_var target_;
    std::optional<Callers> callers_;
    std::optional<orb_testing::RawPeer> peer_;
};

TEST_F(Buffers, HoldSoManyRequestsAndRefuseTheNext)
{
    begin({.buffers = true, .buffered = 2});
    for (std::uint32_t id = 1; id <= 4; ++id)
        send(id);
    EXPECT_EQ(next_reply(), std::string("3 ") + refused);
    EXPECT_EQ(next_reply(), std::string("4 ") + refused);
    gate_.open();
    EXPECT_EQ(next_reply(), "1 NO_EXCEPTION");
    EXPECT_EQ(next_reply(), "2 NO_EXCEPTION");
    send(5);
    EXPECT_EQ(next_reply(), "5 NO_EXCEPTION");
}

TEST_F(Buffers, HoldSoManyOctetsAndRefuseTheNext)
{
    begin({.buffers = true, .buffered = 100, .buffered_bytes = 1'000});
    const auto fit = static_cast<std::uint32_t>(1'000 / act(1).size());
    for (std::uint32_t sent = 1; sent <= fit + 1; ++sent)
        send(sent);
    EXPECT_EQ(next_reply(), std::to_string(fit + 1) + " " + refused);
    gate_.open();
    for (std::uint32_t served = 1; served <= fit; ++served)
        EXPECT_EQ(next_reply(), std::to_string(served) + " NO_EXCEPTION");
}

TEST_F(Buffers, WithoutThemNothingIsRefused)
{
    begin({.buffers = false});
    for (std::uint32_t id = 1; id <= 4; ++id)
        send(id);
    gate_.open();
    for (std::uint32_t id = 1; id <= 4; ++id)
        EXPECT_EQ(next_reply(), std::to_string(id) + " NO_EXCEPTION");
}

TEST_F(Buffers, RefuseCallersOfThisProcessToo)
{
    begin({.buffers = true, .buffered = 1});
    send(1);
    send(2);
    EXPECT_EQ(next_reply(), std::string("2 ") + refused); // so the first is in its place
    const CORBA::Object_var object = poa_->servant_to_reference(&servant_);
    const Probe::Target_var local = Probe::Target::_narrow(object);
    EXPECT_EQ(outcome([&] { local->act(); }), refused);
    gate_.open();
    EXPECT_EQ(next_reply(), "1 NO_EXCEPTION");
    local->act();
}

// --- lanes ---------------------------------------------------------------------------------------

class Lanes : public Threadpools {
  protected:
    /// With lanes, and the clients' priorities.
    Probe::Target_ptr serve_lanes(std::initializer_list<ThreadStorage> lanes, bool borrows = false)
    {
        return serve(make(world_, lanes, borrows), world_.client_propagated(0));
    }
    [[nodiscard]] static std::string this_thread()
    {
        std::string name(16, '\0');
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        return name.c_str();
    }
};

TEST_F(Lanes, ServeThePrioritiesFromTheirsUpwards)
{
    std::string name;
    RTCORBA::Priority priority = -1;
    servant_.action = [&] {
        name = this_thread();
        priority = world_.current()->the_priority();
    };
    const Probe::Target_var target = serve_lanes({{.priority = 10}, {.priority = 20}});
    const std::pair<RTCORBA::Priority, const char*> expected[] = {
        {0, "kairos-rt-10"},  {10, "kairos-rt-10"},    {19, "kairos-rt-10"},
        {20, "kairos-rt-20"}, {32767, "kairos-rt-20"},
    };
    for (const auto& [of_client, lane] : expected) {
        in_thread([&] {
            world_.current()->the_priority(of_client);
            target->act();
        });
        EXPECT_EQ(name, lane) << of_client;
        EXPECT_EQ(priority, of_client);
    }
}

TEST_F(Lanes, DoNotWaitForEachOther)
{
    Gate gate(servant_);
    const Probe::Target_var target = serve_lanes({{.priority = 10}, {.priority = 20}});
    Callers callers(target);
    callers.call(10);
    callers.call(10); // waits
    ASSERT_TRUE(gate.wait_for(1));
    callers.call(20);
    ASSERT_TRUE(gate.wait_for(2));
    EXPECT_EQ(gate.inside(), 2);
    gate.open();
    EXPECT_EQ(callers.outcomes().count("ok"), 3u);
}

TEST_F(Lanes, BorrowThreadsOfLowerOnes)
{
    Event both_inside;
    std::mutex mutex;
    std::multiset<std::string> names;
    std::multiset<RTCORBA::Priority> priorities;
    servant_.action = [&] {
        {
            const std::lock_guard lock(mutex);
            names.insert(this_thread());
            priorities.insert(world_.current()->the_priority());
            if (names.size() == 2) both_inside.set();
        }
        EXPECT_TRUE(both_inside.wait());
    };
    const Probe::Target_var target = serve_lanes({{.priority = 10}, {.priority = 20}}, true);
    Callers callers(target);
    callers.call(20);
    callers.call(20);
    EXPECT_EQ(callers.outcomes().count("ok"), 2u);
    EXPECT_EQ(names, (std::multiset<std::string>{"kairos-rt-10", "kairos-rt-20"}));
    EXPECT_EQ(priorities, (std::multiset<RTCORBA::Priority>{20, 20}));
    // What was lent is back.
    names.clear();
    in_thread([&] {
        world_.current()->the_priority(10);
        target->act();
    });
    EXPECT_EQ(names.count("kairos-rt-10"), 1u);
    EXPECT_EQ(priorities.count(10), 1u);
}

TEST_F(Lanes, LendNothingUpwardsUnlessTheyMay)
{
    Gate gate(servant_);
    const Probe::Target_var target = serve_lanes({{.priority = 10}, {.priority = 20}}, false);
    Callers callers(target);
    callers.call(20);
    callers.call(20);
    ASSERT_TRUE(gate.wait_for(1));
    callers.call(10); // the other lane is idle and serves this
    ASSERT_TRUE(gate.wait_for(2));
    gate.open();
    EXPECT_EQ(callers.outcomes().count("ok"), 3u);
    EXPECT_EQ(gate.threads(), 2u);
}

TEST_F(Lanes, AreForTheirOwnPrioritiesWhereTheServerDeclares)
{
    const auto pool = make(world_, {{.priority = 10}, {.priority = 20}});
    const auto policy = [&] { return world_.rtorb()->create_threadpool_policy(pool); };
    EXPECT_EQ(outcome([&] {
                  (void)world_.make_poa("no lane", {policy(), world_.server_declared(15)});
              }),
              "InvalidPolicy");
    const RTPortableServer::POA_var poa =
        world_.make_poa("lane", {policy(), world_.server_declared(10)});
    EXPECT_EQ(outcome([&] { (void)poa->activate_object_with_priority(&servant_, 15); }), bad_param);
    EXPECT_EQ(outcome([&] { (void)poa->create_reference_with_priority(target_id, 21); }),
              bad_param);
    const PortableServer::ObjectId_var id = poa->activate_object_with_priority(&servant_, 20);
    world_.activate();
    std::string name;
    servant_.action = [&] { name = this_thread(); };
    const Probe::Target_var target = world_.to_client(poa, id);
    target->act();
    EXPECT_EQ(name, "kairos-rt-20");
}

// --- within requests, and at the end -------------------------------------------------------------

TEST_F(Threadpools, OfOneThreadCanBeCalledBack)
{
    int depth = 0;
    Probe::Target_var target;
    Probe::Target_var local;
    servant_.action = [&] {
        if (++depth == 1) target->act(); // by the client's ORB: over TCP
        if (depth == 2) local->act();
    };
    target = serve(make(world_, Pool{.static_threads = 1}));
    const CORBA::Object_var object = poa_->servant_to_reference(&servant_);
    local = Probe::Target::_narrow(object);
    target->act();
    EXPECT_EQ(depth, 3);
}

/// Two pools of one thread each, whose objects call each other.
TEST_F(Threadpools, CanCallEachOther)
{
    Servant& other = world_.make_servant();
    Probe::Target_var there;
    Probe::Target_var back;
    bool reached = false;
    servant_.action = [&] { there->act(); };
    other.action = [&] {
        back->ping();
        reached = true;
    };
    const Probe::Target_var target = serve(make(world_, Pool{.static_threads = 1}));
    const RTPortableServer::POA_var poa = world_.make_poa(
        "other", {world_.rtorb()->create_threadpool_policy(make(world_, Pool{.priority = 20}))});
    const PortableServer::ObjectId_var id = poa->activate_object(&other);
    const CORBA::Object_var there_object = poa->id_to_reference(id);
    there = Probe::Target::_narrow(there_object);
    const CORBA::Object_var back_object = poa_->servant_to_reference(&servant_);
    back = Probe::Target::_narrow(back_object);
    target->act();
    EXPECT_TRUE(reached);
}

TEST_F(Threadpools, AreNotDestroyedByTheirOwnThreads)
{
    std::string ended;
    const auto pool = make(world_, Pool{});
    servant_.action = [&] { ended = outcome([&] { world_.rtorb()->destroy_threadpool(pool); }); };
    const Probe::Target_var target = serve(pool);
    target->act();
    EXPECT_EQ(ended, bad_order); // a POA has it
}

TEST_F(Threadpools, EndWithTheOrbWhateverGoesOn)
{
    Gate gate(servant_);
    const Probe::Target_var target = serve(make(world_, Pool{.buffers = true}));
    Callers callers(target);
    for (int i = 0; i < 3; ++i)
        callers.call();
    ASSERT_TRUE(gate.wait_for(1));
    world_.orb()->shutdown(false);
    gate.open();
    world_.orb()->destroy();
    EXPECT_GE(callers.outcomes().count("ok"), 1u);
}

TEST_F(Threadpools, KeepRequestsThatAreHeld)
{
    const Probe::Target_var target = serve(make(world_, Pool{}));
    const PortableServer::POAManager_var manager = world_.root()->the_POAManager();
    manager->hold_requests(false);
    std::atomic<bool> served{false};
    servant_.action = [&] { served = true; };
    Callers callers(target);
    callers.call();
    EXPECT_FALSE(served);
    manager->activate();
    EXPECT_EQ(callers.outcomes().count("ok"), 1u);
    EXPECT_TRUE(served);
}

/// What was held and is offered again takes no more room than it did.
TEST_F(Threadpools, HaveAllTheirRoomAgainAfterwards)
{
    Gate gate(servant_);
    const Probe::Target_var target =
        serve(make(world_, Pool{.buffers = true, .buffered_bytes = 1'000}));
    const PortableServer::POAManager_var manager = world_.root()->the_POAManager();
    manager->hold_requests(false);
    Callers callers(target);
    callers.call();
    manager->activate();
    ASSERT_TRUE(gate.wait_for(1));
    callers.call(); // has to wait in the buffer
    callers.call();
    gate.open();
    EXPECT_EQ(callers.outcomes().count("ok"), 3u);
}

// --- which servers can have them -----------------------------------------------------------------

class PoolArchitectures : public testing::TestWithParam<const char*> {};

TEST_P(PoolArchitectures, ServeThem)
{
    World world({"-ORBConcurrency", GetParam()});
    Listener listener(world);
    const RTPortableServer::POA_var poa = world.make_poa(
        "pool", {world.rtorb()->create_threadpool_policy(make(world, Pool{.priority = 10}))});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world.activate();
    const Probe::Target_var target = world.to_client(poa, id);
    target->act();
    EXPECT_EQ(listener.priority, 10);
}
/// Who has begun a request and does not go on is told to go by the thread that reads.
TEST_P(PoolArchitectures, DoNotWaitForHalfARequestForEver)
{
    World world({"-ORBConcurrency", GetParam(), "-ORBReceiveTimeout", "50"});
    Servant& servant = world.make_servant();
    const RTPortableServer::POA_var poa = world.make_poa(
        "pool", {world.rtorb()->create_threadpool_policy(make(world, Pool{.priority = 10})),
                 world.server_declared(10)});
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    world.activate();
    const auto& core = *object->_kairos_reference();
    const orb_testing::Octets key(core.object_key().begin(), core.object_key().end());
    const auto ping = orb_testing::request(key, "ping").finish();
    const std::uint16_t port = core.targets().front().endpoint->port();
    auto bystander = orb_testing::RawPeer::connect(port);
    auto peer = orb_testing::RawPeer::connect(port);
    peer.send(Bytes(ping).first(ping.size() / 2));
    EXPECT_EQ(orb_testing::control_text(peer.read_message()), "CloseConnection 1.2");
    EXPECT_TRUE(peer.at_end());
    bystander.send(ping);
    EXPECT_EQ(orb_testing::ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(servant.calls, 1u);
}

INSTANTIATE_TEST_SUITE_P(ThatHandOver, PoolArchitectures,
                         testing::Values("worker-pool", "thread-per-request", "thread-per-object",
                                         "filter-chain", "reactor-per-priority"),
                         orb_testing::architecture_name);

TEST(PoolArchitecture, ThatWasChosenMustHandOver)
{
    for (const char* architecture : {"thread-per-connection", "reactor", "leader-followers"}) {
        World world({"-ORBConcurrency", architecture});
        EXPECT_EQ(outcome([&] { (void)make(world, Pool{}); }), bad_order) << architecture;
    }
}

/// Of static threads and of those made at need.
TEST(PoolArchitecture, ThatHasLanesSaysWhereThoseOfPoolsRun)
{
    const std::vector<int> all = orb_testing::allowed_cpus();
    ASSERT_FALSE(all.empty());
    const std::string last = std::to_string(all.back());
    World world({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0,100@" + last});
    const RTCORBA::ThreadpoolId pool = make(world, {{0, 1, 0}, {100, 0, 1}, {200, 1, 0}});
    const RTPortableServer::POA_var poa = world.make_poa(
        "pool", {world.rtorb()->create_threadpool_policy(pool), world.client_propagated(0)});
    Servant& servant = world.make_servant();
    std::mutex mutex;
    std::vector<int> served_on; // guarded by it
    servant.action = [&] {
        const std::lock_guard lock(mutex);
        served_on = orb_testing::allowed_cpus();
    };
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    world.activate();
    const Probe::Target_var target = world.to_client(poa, id);
    for (const auto& [priority, cpus] :
         std::initializer_list<std::pair<RTCORBA::Priority, std::vector<int>>>{
             {0, all}, {100, {all.back()}}, {200, all}}) {
        in_thread([&] {
            world.current()->the_priority(priority);
            target->act();
        });
        const std::lock_guard lock(mutex);
        EXPECT_EQ(served_on, cpus) << priority;
    }
}

TEST(PoolArchitecture, IsChosenBeforeTheOrbServes)
{
    World world;
    world.activate();
    EXPECT_EQ(outcome([&] { (void)make(world, Pool{}); }), bad_order);
}

/// Each priority is read by a thread of its own, whoever serves.
TEST(PoolArchitecture, MayReadEachPriorityByAThreadOfItsOwn)
{
    World world({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0,100:2"});
    Servant& plain = world.make_servant();
    const PortableServer::ObjectId_var plain_id = world.root()->activate_object(&plain);
    Listener listener(world);
    const RTPortableServer::POA_var poa = world.make_poa(
        "pool", {world.rtorb()->create_threadpool_policy(make(world, Pool{.priority = 10})),
                 world.client_propagated(0)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world.activate();
    expect_threads("kairos-0-read", 1);
    expect_threads("kairos-100-read", 1);
    expect_threads("kairos-100", 2);
    const Probe::Target_var target = world.to_client(poa, id);
    const CORBA::Object_var object = world.root()->id_to_reference(plain_id);
    const Probe::Target_var plain_target = world.to_client(object);
    std::optional<RTCORBA::Priority> plain_priority;
    plain.action = [&] { plain_priority = orb::ThreadStorage::current().priority; };
    for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{0, 99, 100}) {
        in_thread([&] {
            world.current()->the_priority(priority);
            target->act();
            EXPECT_EQ(listener.priority, priority);
            plain_target->act(); // by the lane's pool
            EXPECT_EQ(plain_priority, priority < 100 ? 0 : 100);
        });
    }
}

/// References that were made before mean the server that came instead.
TEST(PoolArchitecture, KeepsTheAddresses)
{
    World world;
    Servant& servant = world.make_servant();
    const PortableServer::ObjectId_var id = world.root()->activate_object(&servant);
    const CORBA::Object_var object = world.root()->id_to_reference(id);
    const Probe::Target_var target = world.to_client(object);
    (void)make(world, Pool{});
    world.activate();
    target->ping();
    EXPECT_EQ(servant.calls, 1u);
}

} // namespace
} // namespace kairos::rtcorba_testing
