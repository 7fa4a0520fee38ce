// SPDX-License-Identifier: Apache-2.0
//
// Who of those that wait is served first (-ORBDispatching): seen by a servant whose only thread is
// kept busy until all of them wait.
#include "tests/malformed/fixture.h"

#include "kairos/orb/late_calls.h"
#include "kairos/rtcorba/RTPortableServer.h"
#include "plant_skel.h"

#include <algorithm>
#include <array>
#include <functional>

namespace kairos::orb_testing {
namespace {

using Order = std::vector<std::string>;

class SiteServant final : public POA_Timed::Site {
  public:
    Event blocked;
    Event released;
    Event asked;
    std::function<void()> in_a; ///< called by each a(), if it was set before them

    void block() override
    {
        blocked.set();
        EXPECT_TRUE(released.wait());
    }
    void ask() override { asked.set(); }
    void untimed(CORBA::Long number) override { note("untimed", number); }
    void a(CORBA::Long number) override
    {
        if (in_a) in_a();
        note("a", number);
    }
    void b(CORBA::Long number) override { note("b", number); }
    void c(CORBA::Long number) override { note("c", number); }
    void d(CORBA::Long number) override { note("d", number); }
    void e(CORBA::Long number) override { note("e", number); }
    void never() override { note("never", 0); }
    void soon() override
    {
        blocked.set();
        EXPECT_TRUE(released.wait());
    }

    [[nodiscard]] Order wait_for(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(served_.wait_for(lock, patience, [&] { return order_.size() >= count; }));
        return order_;
    }

  private:
    void note(const char* operation, CORBA::Long number)
    {
        const std::lock_guard lock(mutex_);
        order_.push_back(operation + std::to_string(number));
        served_.notify_all();
    }

    std::mutex mutex_; // guards order_
    std::condition_variable served_;
    Order order_;
};

/// How the servant is the object, and who serves it: a thread pool of Real-Time CORBA, or others in
/// an ORB that has one.
enum class Kind { transient, persistent, named, by_default, pooled, beside_pool };

/// An ORB with a site, whose requests one thread serves.
class SiteServer {
  public:
    explicit SiteServer(std::vector<std::string> options, Kind kind = Kind::transient)
    {
        if (std::ranges::count(options, "reactor-per-priority") == 0)
            options.insert(options.end(), {"-ORBThreads", "1"});
        else
            buffered_max_ = 8;
        options.insert(options.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        orb_ = make_orb(std::move(options));
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        const CORBA::Object_var reference = activate(root, manager, kind);
        const CORBA::String_var text = orb_->object_to_string(reference);
        reference_ = text.in();
        manager->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
            }
        });
    }
    ~SiteServer()
    {
        servant.released.set();
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    SiteServer(const SiteServer&) = delete;
    SiteServer& operator=(const SiteServer&) = delete;

    [[nodiscard]] CORBA::ORB_ptr orb() { return orb_; }
    [[nodiscard]] Timed::Site_ptr site(Client& client)
    {
        const CORBA::Object_var object = client.orb()->string_to_object(reference_.c_str());
        return Timed::Site::_unchecked_narrow(object);
    }

    SiteServant servant;

  private:
    [[nodiscard]] CORBA::Object_ptr activate(PortableServer::POA_ptr root,
                                             PortableServer::POAManager_ptr manager, Kind kind)
    {
        std::optional<RTCORBA::ThreadpoolId> pool;
        const CORBA::Object_var object = orb_->resolve_initial_references("RTORB");
        const RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(object);
        if (kind == Kind::pooled || kind == Kind::beside_pool)
            pool = rtorb->create_threadpool(0, 1, 0, 0, true, buffered_max_, 0);
        if (kind == Kind::transient || kind == Kind::beside_pool) {
            const PortableServer::ObjectId_var id = root->activate_object(&servant);
            return root->id_to_reference(id);
        }
        CORBA::PolicyList policies;
        policies.length(kind == Kind::named ? 1 : kind == Kind::by_default ? 3 : 2);
        if (kind == Kind::pooled) policies[1] = rtorb->create_threadpool_policy(*pool);
        policies[0] = root->create_id_assignment_policy(PortableServer::USER_ID);
        if (kind == Kind::persistent)
            policies[1] = root->create_lifespan_policy(PortableServer::PERSISTENT);
        if (kind == Kind::by_default) {
            policies[1] =
                root->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
            policies[2] = root->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
        }
        const PortableServer::POA_var poa = root->create_POA("sites", manager, policies);
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("site");
        if (kind == Kind::by_default)
            poa->set_servant(&servant);
        else
            poa->activate_object_with_id(id, &servant);
        return poa->create_reference_with_id(id, Timed::Site::_kairos_id);
    }

    CORBA::ORB_var orb_;
    CORBA::ULong buffered_max_ = 0; // of a thread pool; 0: -ORBQueue
    std::string reference_;
    std::thread thread_;
};

/// A client that has one connection, whose requests arrive in order.
class Sender {
  public:
    explicit Sender(SiteServer& server, std::vector<std::string> options = {})
        : server_(server), client_(std::move(options)), site_(server.site(client_))
    {
    }

    void block()
    {
        site_->block();
        EXPECT_TRUE(server_.servant.blocked.wait());
    }
    /// In the order that no policy asks for.
    static constexpr std::size_t count = 8;
    void send_all()
    {
        site_->untimed(1);
        site_->e(2);
        site_->d(3);
        site_->c(4);
        site_->b(5);
        site_->a(6);
        site_->untimed(7);
        site_->a(8);
    }
    /// Behind as many requests as may wait: all of them do when this one is refused.
    void find_full()
    {
        EXPECT_EQ(outcome([this] { site_->ask(); }), "TRANSIENT 0x4f4d0001 NO");
    }
    [[nodiscard]] Timed::Site_ptr site() const { return site_; }

  private:
    SiteServer& server_;
    Client client_;
    Timed::Site_var site_;
};

struct Policy {
    const char* name;
    Order order;
    /// Of two requests for one operation, the one that its client held up for longer before it sent
    /// it has less time left.
    bool heeds_deadlines = false;
};

void expect_order(Order served, const Policy& policy)
{
    if (policy.heeds_deadlines) {
        const auto first_of_a =
            std::ranges::find_if(served, [](const auto& each) { return each.starts_with('a'); });
        if (served.end() - first_of_a >= 2) std::sort(first_of_a, first_of_a + 2);
    }
    EXPECT_EQ(served, policy.order);
}

class Dispatching : public ::testing::TestWithParam<Policy> {
  protected:
    void serve_and_look(const std::string& architecture)
    {
        look(SiteServer({"-ORBConcurrency", architecture, "-ORBDispatching", GetParam().name,
                         "-ORBQueue", "8", "-ORBQueueFull", "refuse"}));
    }
    static void look(SiteServer&& server)
    {
        Sender sender(server);
        sender.block();
        sender.send_all();
        sender.find_full();
        server.servant.released.set();
        expect_order(server.servant.wait_for(Sender::count), GetParam());
    }
    static void look_at_held(SiteServer&& server)
    {
        Sender sender(server);
        const CORBA::Object_var object = server.orb()->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        manager->hold_requests(false);
        sender.send_all();
        sender.find_full(); // nobody asks for it before the others were held
        manager->activate();
        expect_order(server.servant.wait_for(Sender::count), GetParam());
    }

    LogLines log_;
};

TEST_P(Dispatching, OrdersWhatWaitsForAWorkerPool) { serve_and_look("worker-pool"); }
TEST_P(Dispatching, OrdersWhatWaitsForThePoolOfAFilterChain) { serve_and_look("filter-chain"); }

TEST_P(Dispatching, OrdersWhatWaitsForAThreadPoolThatReactorsFill)
{
    look(SiteServer({"-ORBConcurrency", "reactor-per-priority", "-ORBDispatching", GetParam().name},
                    Kind::pooled));
}

/// What waited for a POAManager comes back to the place that it had.
TEST_P(Dispatching, OrdersWhatWasHeld)
{
    look_at_held(SiteServer({"-ORBConcurrency", "worker-pool", "-ORBDispatching", GetParam().name,
                             "-ORBHoldLimit", "8"}));
}

/// A lane's own threads have a queue where others hand over to thread pools.
TEST_P(Dispatching, OrdersWhatWaitsBesideThreadPools)
{
    look_at_held(SiteServer({"-ORBConcurrency", "reactor-per-priority", "-ORBDispatching",
                             GetParam().name, "-ORBHoldLimit", "8"},
                            Kind::beside_pool));
}

INSTANTIATE_TEST_SUITE_P(
    Policies, Dispatching,
    ::testing::Values(
        Policy{"fifo", {"untimed1", "e2", "d3", "c4", "b5", "a6", "untimed7", "a8"}},
        Policy{"rms", {"e2", "a6", "a8", "b5", "c4", "d3", "untimed1", "untimed7"}},
        Policy{"edf", {"b5", "c4", "a6", "a8", "d3", "e2", "untimed1", "untimed7"}, true},
        Policy{"llf", {"c4", "b5", "a6", "a8", "d3", "e2", "untimed1", "untimed7"}, true},
        Policy{"muf", {"d3", "a6", "a8", "c4", "b5", "e2", "untimed1", "untimed7"}, true}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// Threads that read and serve have no queue: nothing would be ordered.
TEST(DispatchingOptions, NeedAQueue)
{
    const LogLines log;
    const CORBA::ORB_var orb =
        make_orb({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0,16000:2",
                  "-ORBDispatching", "edf", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    const PortableServer::POAManager_var manager = root->the_POAManager();
    EXPECT_EQ(outcome([&] { manager->activate(); }), "NO_RESOURCES 0x0 NO");
    EXPECT_TRUE(
        LogLines::wait_for("-ORBDispatching contradicts -ORBConcurrency reactor-per-priority "
                           "without thread pools: its threads have no queue"));
    orb->destroy();
}

// --- How the timing of an operation is found ---------------------------------------------------

class Kinds : public ::testing::TestWithParam<Kind> {};

TEST_P(Kinds, OfObjectsHaveTimingOfTheirOwn)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBQueue", "4",
                       "-ORBQueueFull", "refuse"},
                      GetParam());
    Sender sender(server);
    sender.block();
    sender.site()->untimed(1);
    sender.site()->a(2);
    sender.site()->d(3);
    sender.site()->b(4);
    sender.find_full();
    server.servant.released.set();
    EXPECT_EQ(server.servant.wait_for(4), (Order{"b4", "a2", "d3", "untimed1"}));
}

INSTANTIATE_TEST_SUITE_P(All, Kinds,
                         ::testing::Values(Kind::transient, Kind::persistent, Kind::named,
                                           Kind::by_default, Kind::pooled));

/// A client whose IDL gives an operation less time than the server's.
void call_a(const Sender& sender, CORBA::Long number, std::chrono::nanoseconds deadline)
{
    const orb::Operation operation("a", orb::Response::none);
    corba::Invocation call(*sender.site(), operation);
    mapping::encode(call.out(), number);
    call.invoke_within(deadline.count());
}

/// By the client's connection architecture, of which each sends requests in its own way.
class Connections : public ::testing::TestWithParam<const char*> {};

TEST_P(Connections, TellWhatIsLeftOfADeadline)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBQueue", "5",
                       "-ORBQueueFull", "refuse"});
    Sender sender(server, {"-ORBConnection", GetParam()});
    sender.block();
    sender.site()->a(1);
    sender.site()->b(2);
    call_a(sender, 3, std::chrono::seconds(100));
    call_a(sender, 4, std::chrono::seconds(1));
    call_a(sender, 5, std::chrono::hours(24)); // more than the server's IDL gives
    sender.find_full();
    server.servant.released.set();
    EXPECT_EQ(server.servant.wait_for(5), (Order{"a4", "a3", "b2", "a1", "a5"}));
}

INSTANTIATE_TEST_SUITE_P(All, Connections,
                         ::testing::Values("non-multiplexed", "leader-followers", "active"),
                         architecture_name);

TEST(CallersRelease, MakesCallsLateOfWhichNothingIsLeft)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "leader-followers", "-ORBLateCalls", "timeout"});
    Event reported;
    server.orb()->_kairos_set_late_call_handler([&](const orb::LateCall& call) {
        EXPECT_EQ(call.operation, "Timed::Plant::a");
        EXPECT_FALSE(call.executed);
        reported.set();
    });
    Sender sender(server);
    call_a(sender, 1, std::chrono::nanoseconds(1));
    EXPECT_TRUE(reported.wait());
    sender.site()->a(2);
    EXPECT_EQ(server.servant.wait_for(1), Order{"a2"});
}

// --- What has no timing ------------------------------------------------------------------------

/// It waits for as long as something waits that has timing, and is served in the order of its
/// arrival when nothing does. Meanwhile it takes its places in the queue.
TEST(Untimed, WaitsBehindAllThatIsTimed)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBQueue", "3",
                       "-ORBQueueFull", "refuse"});
    constexpr int rounds = 20;
    std::array<Event, rounds + 1> begun;
    std::array<Event, rounds + 1> may_end;
    std::atomic<std::size_t> next{0};
    server.servant.in_a = [&] {
        const std::size_t round = next++;
        begun[round].set();
        EXPECT_TRUE(may_end[round].wait());
    };
    Sender sender(server);
    sender.block();
    sender.site()->untimed(1);
    sender.site()->untimed(2);
    sender.site()->a(0);
    sender.find_full(); // by a request that has no timing either
    server.servant.released.set();
    Order order;
    for (int i = 0; i < rounds; ++i) {
        const auto round = static_cast<std::size_t>(i);
        ASSERT_TRUE(begun[round].wait());
        sender.site()->a(i + 1);
        sender.find_full(); // the next one waits before this one ends
        may_end[round].set();
        order.push_back("a" + std::to_string(i));
    }
    may_end[rounds].set(); // and none follows
    order.insert(order.end(), {"a" + std::to_string(rounds), "untimed1", "untimed2"});
    EXPECT_EQ(server.servant.wait_for(order.size()), order);
}

/// Where the bound makes readers wait nothing is lost, however long it starves.
TEST(Untimed, ThatFillsTheQueueIsServedBeforeMoreIsRead)
{
    const LogLines log;
    SiteServer server(
        {"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBQueue", "2"});
    Sender sender(server);
    sender.block();
    Order order;
    for (int i = 0; i < 8; ++i) {
        sender.site()->untimed(i);
        order.push_back("untimed" + std::to_string(i));
    }
    sender.site()->a(8); // urgent, but not read yet
    server.servant.released.set();
    const Order served = server.servant.wait_for(9);
    // It overtakes those that wait when it is read, and nobody before the queue.
    EXPECT_EQ(std::ranges::count(served, "a8"), 1);
    EXPECT_GE(std::ranges::find(served, "a8") - served.begin(), 7);
    Order untimed = served;
    std::erase(untimed, "a8");
    EXPECT_EQ(untimed, order);
}

/// The server is not told for how long a caller without a deadline waits: it does what was asked.
TEST(Untimed, IsExecutedThoughItsCallerHasGivenUp)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBLateCalls",
                       "timeout", "-ORBQueue", "1", "-ORBQueueFull", "refuse"});
    Sender sender(server);
    sender.block();
    Client client({"-ORBClientTimeout", "1000"});
    const Timed::Site_var site = server.site(client);
    EXPECT_EQ(outcome([&] { site->ask(); }), "TIMEOUT 0x4b520010 MAYBE");
    sender.find_full(); // it has its place still
    server.servant.released.set();
    EXPECT_TRUE(server.servant.asked.wait());
    EXPECT_EQ(server.orb()->_kairos_late_calls(), 0u);
}

// --- Too many, and too late --------------------------------------------------------------------

TEST(Flood, WaitsBeforeAQueueThatIsFull)
{
    const LogLines log;
    SiteServer server(
        {"-ORBConcurrency", "worker-pool", "-ORBDispatching", "muf", "-ORBQueue", "4"});
    Sender sender(server);
    sender.block();
    for (int i = 0; i < 64; ++i)
        sender.site()->a(i);
    server.servant.released.set();
    EXPECT_EQ(server.servant.wait_for(64).size(), 64u);
}

TEST(LateCalls, ThatHaveWaitedAreNotExecuted)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool", "-ORBDispatching", "edf", "-ORBLateCalls",
                       "timeout", "-ORBQueue", "1", "-ORBQueueFull", "refuse"});
    Sender sender(server);
    sender.block();
    std::thread caller([&] {
        Client client;
        const Timed::Site_var site = server.site(client);
        EXPECT_EQ(outcome([&] { site->never(); }), "TIMEOUT 0x4b520011 NO");
    });
    server.servant.released.set();
    caller.join();
    EXPECT_EQ(server.orb()->_kairos_late_calls(), 1u);
    sender.site()->a(1);
    EXPECT_EQ(server.servant.wait_for(1), Order{"a1"});
}

/// Without the option it would wait for the servant, which waits for the end of the test.
TEST(LateCalls, EndAtTheClientIfSoWanted)
{
    const LogLines log;
    SiteServer server({"-ORBConcurrency", "worker-pool"});
    Client client({"-ORBLateCalls", "timeout"});
    const Timed::Site_var site = server.site(client);
    EXPECT_EQ(outcome([&] { site->soon(); }), "TIMEOUT 0x4b520010 MAYBE");
    EXPECT_TRUE(server.servant.blocked.wait());
}

} // namespace
} // namespace kairos::orb_testing
