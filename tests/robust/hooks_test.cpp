// SPDX-License-Identifier: Apache-2.0
//
// What a program can hook into an ORB: its own event loop, its own threads, its own socket options
// (docs/event-loops.md).
#include "kairos/net/thread.h"
#include "kairos/orb/hooks.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/request_dispatcher.h"
#include "tests/malformed/fixture.h"

#include <deque>
#include <fstream>
#include <linux/capability.h>
#include <map>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kairos::orb_testing {
namespace {

using Start = RunningServer::Start;

// --- Threads and sockets -------------------------------------------------------------------------

/// What hooks have seen. Any thread.
struct Seen {
    std::mutex mutex; // guards what follows
    std::map<std::string, int> alive;
    int threads = 0;
    std::map<net::SocketObserver::Kind, int> sockets;
    // Of the last connection, at this end.
    int dscp = -1;
    int queue = -1; // SO_PRIORITY
    int busy_poll = -1;
};

int option_of(const net::Socket& socket, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket.descriptor(), level, name, &value, &size) == 0 ? value : -1;
}

class SeeingHooks final : public orb::Hooks {
  public:
    explicit SeeingHooks(Seen& seen) : seen_(seen) {}

    void on_thread_start(const std::string& name) noexcept override
    {
        const std::lock_guard lock(seen_.mutex);
        ++seen_.alive[name];
        ++seen_.threads;
    }
    void on_thread_end(const std::string& name) noexcept override
    {
        const std::lock_guard lock(seen_.mutex);
        --seen_.alive[name];
    }
    void on_socket(net::Socket& socket, Kind kind) noexcept override
    {
        const std::lock_guard lock(seen_.mutex);
        ++seen_.sockets[kind];
        if (kind == Kind::listener) return;
        seen_.dscp = option_of(socket, IPPROTO_IP, IP_TOS) >> 2;
        seen_.queue = option_of(socket, SOL_SOCKET, SO_PRIORITY);
        seen_.busy_poll = option_of(socket, SOL_SOCKET, SO_BUSY_POLL);
    }

  private:
    Seen& seen_;
};

class Hooked : public EveryArchitecture {};

TEST_P(Hooked, ThreadsAndSocketsAreTold)
{
    Seen seen;
    {
        RunningServer server(GetParam(), {}, Start::active, [&seen](CORBA::ORB_ptr orb) {
            orb->_kairos_set_hooks(std::make_unique<SeeingHooks>(seen));
        });
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        target->ping();
        EXPECT_EQ(
            outcome([&] { server.orb()->_kairos_set_hooks(std::make_unique<SeeingHooks>(seen)); }),
            "BAD_INV_ORDER 0x0 NO");
    }
    using Kind = net::SocketObserver::Kind;
    EXPECT_GE(seen.sockets[Kind::listener], 1);
    EXPECT_EQ(seen.sockets[Kind::accepted], 1);
    EXPECT_EQ(seen.sockets[Kind::connecting], 0);
    EXPECT_EQ(seen.threads != 0, std::string(GetParam()) != "reactor");
    for (const auto& [name, alive] : seen.alive)
        EXPECT_EQ(alive, 0) << name;
}
KAIROS_EVERY_ARCHITECTURE(Hooked);

TEST(Hooks, SeeTheSocketsOfClients)
{
    Seen seen;
    RunningServer server("thread-per-connection");
    Client client;
    client.orb()->_kairos_set_hooks(std::make_unique<SeeingHooks>(seen));
    const Probe::Target_var target = client.target(server.reference());
    target->ping();
    EXPECT_EQ(seen.sockets[net::SocketObserver::Kind::connecting], 1);
}

/// Code point and queue of the last connection.
std::pair<int, int> marks(Seen& seen)
{
    const std::lock_guard lock(seen.mutex);
    return {seen.dscp, seen.queue};
}

TEST(NetworkPriority, FollowsThatOfTheLane)
{
    LogLines log; // real-time priorities may be refused
    Seen seen;
    Seen by_client;
    RunningServer server("reactor-per-priority",
                         {"-ORBLanes", "0,32767", "-ORBNetworkPriority", "1"}, Start::active,
                         [&seen](CORBA::ORB_ptr orb) {
                             orb->_kairos_set_hooks(std::make_unique<SeeingHooks>(seen));
                         });
    Client client({"-ORBNetworkPriority", "1"});
    client.orb()->_kairos_set_hooks(std::make_unique<SeeingHooks>(by_client));
    const Probe::Target_var target = client.target(server.reference());
    orb::ThreadStorage::current().priority = 0;
    target->ping();
    EXPECT_EQ(marks(seen), std::pair(0, 0));
    EXPECT_EQ(marks(by_client), std::pair(0, 0));
    orb::ThreadStorage::current().priority = 32767;
    target->ping();
    EXPECT_EQ(marks(seen), std::pair(46, 6));
    EXPECT_EQ(marks(by_client), std::pair(46, 6));
    orb::ThreadStorage::current().priority.reset();
}

TEST(NetworkPriority, RisesWithPriority)
{
    int last_dscp = 0;
    int last_queue = 0;
    for (int priority = 0; priority <= orb::priority_max; ++priority) {
        const auto network = orb::network_priority_of(static_cast<orb::Priority>(priority));
        ASSERT_GE(network.dscp, last_dscp);
        ASSERT_GE(network.queue, last_queue);
        ASSERT_EQ(network.dscp == 0, priority == 0);
        last_dscp = network.dscp;
        last_queue = network.queue;
    }
    EXPECT_EQ(last_dscp, 46);
    EXPECT_EQ(last_queue, 6);
}

/// Whether the process may have reads look at the network interface for so long.
bool may_poll(int microseconds)
{
    const net::Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_BUSY_POLL, &microseconds,
                        sizeof microseconds) == 0;
}

TEST(BusyPoll, IsAskedForAtBothEnds)
{
    if (!may_poll(50)) GTEST_SKIP() << "the process may not poll network interfaces";
    Seen by_server;
    Seen by_client;
    RunningServer server("thread-per-connection", {"-ORBBusyPoll", "50"}, Start::active,
                         [&by_server](CORBA::ORB_ptr orb) {
                             orb->_kairos_set_hooks(std::make_unique<SeeingHooks>(by_server));
                         });
    Client client({"-ORBBusyPoll", "50"});
    client.orb()->_kairos_set_hooks(std::make_unique<SeeingHooks>(by_client));
    const Probe::Target_var target = client.target(server.reference());
    target->ping();
    for (Seen* const seen : {&by_server, &by_client}) {
        const std::lock_guard lock(seen->mutex);
        EXPECT_EQ(seen->busy_poll, 50);
    }
}

// --- Foreign loops -------------------------------------------------------------------------------

/// Serves whenever the descriptor says so, until `done`.
void loop(CORBA::ORB_ptr orb, const std::atomic<bool>& done)
{
    pollfd watched{.fd = orb->_kairos_descriptor(), .events = POLLIN, .revents = 0};
    while (!done)
        if (::poll(&watched, 1, -1) == 1) orb->perform_work();
}

/// Nobody waits anywhere but in the program's poll.
TEST(ForeignLoop, ServesWhenTheDescriptorSaysSo)
{
    RunningServer server("reactor", {}, Start::held_by_test);
    server.manager()->activate();
    std::atomic<bool> done{false};
    std::thread caller([&] {
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(target->add(i, 1), i + 1);
        server.servant().action = [&done] { done = true; };
        target->act();
    });
    loop(server.orb(), done);
    caller.join();
}

TEST(ForeignLoop, IsToldOfTheEnd)
{
    RunningServer server("reactor", {}, Start::held_by_test);
    pollfd watched{.fd = server.orb()->_kairos_descriptor(), .events = POLLIN, .revents = 0};
    std::thread other([&server] { server.orb()->shutdown(false); });
    // What its listeners had to say first is worked off.
    while (outcome([&] {
               ASSERT_EQ(::poll(&watched, 1, -1), 1);
               server.orb()->perform_work();
           }) == "ok") {
    }
    other.join();
}

/// Where the ORB has threads of its own, the loop serves the objects that want the main one.
TEST(ForeignLoop, ServesWhatIsForTheMainThread)
{
    RunningServer server("thread-per-connection", {}, Start::held_by_test);
    server.manager()->activate();
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = server.poa()->create_thread_policy(PortableServer::MAIN_THREAD_MODEL);
    const PortableServer::POA_var poa =
        server.poa()->create_POA("main", server.manager(), policies);
    Servant servant;
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server.orb()->object_to_string(object);
    std::atomic<bool> done{false};
    std::thread::id served_by;
    servant.action = [&] {
        served_by = std::this_thread::get_id();
        done = true;
    };
    std::thread caller([&] {
        Client client;
        const Probe::Target_var target = client.target(reference.in());
        target->act();
    });
    loop(server.orb(), done);
    caller.join();
    EXPECT_EQ(served_by, std::this_thread::get_id());
    poa->destroy(true, true);
}

TEST(ForeignLoop, NeedsSomethingToServe)
{
    Client client;
    EXPECT_EQ(outcome([&] { (void)client.orb()->_kairos_descriptor(); }), "BAD_INV_ORDER 0x0 NO");
}

// --- The program's own dispatcher ----------------------------------------------------------------

/// Keeps requests until somebody wants them. Any thread.
class Shelf {
  public:
    void put(orb::WaitingRequest request)
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(request));
        changed_.notify_all();
    }
    [[nodiscard]] orb::WaitingRequest take()
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, patience, [this] { return !requests_.empty(); }));
        orb::WaitingRequest taken = std::move(requests_.front());
        requests_.pop_front();
        return taken;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<orb::WaitingRequest> requests_;
};

class ToShelf final : public orb::RequestDispatcher {
  public:
    explicit ToShelf(Shelf& shelf) : shelf_(shelf) {}
    void dispatch(orb::WaitingRequest request) noexcept override { shelf_.put(std::move(request)); }

  private:
    Shelf& shelf_;
};

class OwnDispatcher : public ::testing::Test {
  protected:
    [[nodiscard]] std::unique_ptr<RunningServer> serve(std::vector<std::string> options = {})
    {
        return std::make_unique<RunningServer>(
            "custom", std::move(options), Start::active, [this](CORBA::ORB_ptr orb) {
                orb->_kairos_set_request_dispatcher(std::make_unique<ToShelf>(shelf_));
            });
    }
    LogLines log_;
    Shelf shelf_;
};

TEST_F(OwnDispatcher, DecidesWhoServesAndInWhichOrder)
{
    const auto server = serve();
    RawPeer first = server->connect();
    first.send(server->ping());
    orb::WaitingRequest waiting = shelf_.take();
    EXPECT_EQ(waiting.operation(), "ping");
    EXPECT_TRUE(std::ranges::equal(waiting.object_key(), server->key()));
    RawPeer second = server->connect();
    second.send(server->ping());
    shelf_.take().serve();
    EXPECT_EQ(ParsedReply(second.read_message()).text(), "NO_EXCEPTION");
    waiting.serve();
    EXPECT_EQ(ParsedReply(first.read_message()).text(), "NO_EXCEPTION");
    waiting.serve(); // once is enough
    EXPECT_EQ(server->servant().calls, 2u);
}

TEST_F(OwnDispatcher, MayDropRequests)
{
    const auto server = serve();
    RawPeer peer = server->connect();
    peer.send(server->ping());
    (void)shelf_.take();
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "TRANSIENT 0x4f4d0001 NO");
    EXPECT_EQ(server->servant().calls, 0u);
}

TEST_F(OwnDispatcher, IsBounded)
{
    const auto server = serve({"-ORBQueue", "1", "-ORBQueueFull", "refuse"});
    RawPeer first = server->connect();
    first.send(server->ping());
    orb::WaitingRequest waiting = shelf_.take();
    RawPeer second = server->connect();
    second.send(server->ping());
    EXPECT_EQ(ParsedReply(second.read_message()).text(), "TRANSIENT 0x4f4d0001 NO");
    waiting.serve();
    EXPECT_EQ(ParsedReply(first.read_message()).text(), "NO_EXCEPTION");
}

TEST_F(OwnDispatcher, GetsHeldRequestsAgain)
{
    const auto server = serve();
    server->manager()->hold_requests(false);
    RawPeer peer = server->connect();
    peer.send(server->ping());
    shelf_.take().serve();
    EXPECT_EQ(server->servant().calls, 0u);
    server->manager()->activate();
    shelf_.take().serve();
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
}

/// One request waits for a call whose servant waits for another one's answer: that gets none from
/// a program that keeps it, nor do those that still come, once the server ends.
TEST_F(OwnDispatcher, EndsThoughOneRequestWaitsForAnother)
{
    const auto server = serve();
    RunningServer partner("thread-per-connection", {}, Start::holding);
    const CORBA::Object_var object = server->orb()->string_to_object(partner.reference().c_str());
    const Probe::Target_var to_partner = Probe::Target::_unchecked_narrow(object);
    server->servant().action = [&] { to_partner->act(); };
    RawPeer peer = server->connect();
    Event inside;
    partner.servant().action = [&] {
        peer.send(server->ping(2));
        const orb::WaitingRequest kept = shelf_.take();
        inside.set();
        const ParsedReply discarded(peer.read_message());
        EXPECT_EQ(discarded.reply.request_id, 2u);
        EXPECT_EQ(discarded.text(), "TRANSIENT 0x4f4d0001 NO");
        peer.send(server->ping(3));
        const ParsedReply refused(peer.read_message());
        EXPECT_EQ(refused.reply.request_id, 3u);
        EXPECT_EQ(refused.text(), "TRANSIENT 0x4f4d0001 NO");
    };
    partner.manager()->activate();
    peer.send(request(server->key(), "act", 1).finish());
    std::thread serving([&] { shelf_.take().serve(); });
    EXPECT_TRUE(inside.wait());
    server->end();
    serving.join();
    const ParsedReply last(peer.read_message());
    EXPECT_EQ(last.reply.request_id, 1u);
    EXPECT_EQ(last.text(), "NO_EXCEPTION");
    EXPECT_EQ(control_text(peer.read_message()), "CloseConnection 1.2");
    EXPECT_TRUE(peer.at_end());
}

TEST_F(OwnDispatcher, MayKeepRequestsLongerThanTheOrbLives)
{
    auto server = serve();
    RawPeer peer = server->connect();
    peer.send(server->ping());
    orb::WaitingRequest waiting = shelf_.take();
    server.reset();
    waiting.serve();
    EXPECT_EQ(waiting.operation(), "ping");
}

TEST(Dispatchers, AreForTheCustomArchitecture)
{
    Shelf shelf;
    RunningServer server("worker-pool", {}, Start::holding);
    EXPECT_EQ(outcome([&] {
                  server.orb()->_kairos_set_request_dispatcher(std::make_unique<ToShelf>(shelf));
              }),
              "BAD_INV_ORDER 0x0 NO");
}

// --- Memory --------------------------------------------------------------------------------------

// Under sanitizers the system is not asked: their shadows fit no RAM.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// The exit status of a process of its own: memory is locked for life.
template <typename Body>
int in_child(Body body)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Takes the right to lock memory away from the process.
bool give_up_locking()
{
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2]{};
    if (::syscall(SYS_capget, &header, data) != 0) return false;
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    if (::syscall(SYS_capset, &header, data) != 0) return false;
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    return ::setrlimit(RLIMIT_MEMLOCK, &none) == 0;
}

TEST(LockedMemory, RefusedIsSaidAndServedAnyway)
{
    EXPECT_EQ(in_child([] {
                  if (!give_up_locking()) return 1;
                  LogLines log;
                  const CORBA::ORB_var orb = make_orb({"-ORBLockMemory", "1"});
                  return log.count("-ORBLockMemory: cannot lock memory") == 1 ? 0 : 2;
              }),
              0);
}

TEST(LockedMemory, RequiredAndRefusedIsAnError)
{
    EXPECT_EQ(in_child([] {
                  if (!give_up_locking()) return 1;
                  const std::string ended = outcome([] {
                      (void)make_orb({"-ORBLockMemory", "1", "-ORBRealTime", "required"});
                  });
                  return ended == "NO_RESOURCES 0x0 NO" ? 0 : 2;
              }),
              0);
}

/// KiB of the process that are locked.
long locked_memory()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmLck:")) return std::stol(line.substr(6));
    return -1;
}

TEST(LockedMemory, StaysInRam)
{
    EXPECT_EQ(in_child([] {
                  if (locked_memory() != 0) return 1;
                  LogLines log;
                  const CORBA::ORB_var orb = make_orb({"-ORBLockMemory", "1"});
                  const bool refused = log.count("cannot lock memory") != 0; // and so said
                  return refused || locked_memory() > 0 ? 0 : 2;
              }),
              0);
}

/// Whether there is a page of RAM so far below the caller's frame.
bool has_stack(std::size_t below)
{
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - below;
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(at / page * page), page, &resident) == 0 &&
           (resident & 1) != 0;
}

/// Locked or not: the stack of the thread that asked, this process's first, was touched before.
TEST(LockedMemory, HasTheStackOfItsCaller)
{
    EXPECT_EQ(in_child([] {
                  const LogLines log;
                  const CORBA::ORB_var orb = make_orb({"-ORBLockMemory", "1"});
                  for (std::size_t below = 0; below < net::stack_touched_bytes; below += 4096)
                      if (!has_stack(below)) return 2;
                  return 0;
              }),
              0);
}
#endif

} // namespace
} // namespace kairos::orb_testing
