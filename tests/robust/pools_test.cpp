// SPDX-License-Identifier: Apache-2.0
//
// What the architectures with queues and threads of their own promise: bounds, and what happens at
// them; which requests run side by side and which do not; filters.
#include "kairos/server/filter.h"
#include "tests/malformed/fixture.h"

namespace kairos::orb_testing {
namespace {

constexpr const char* discarded = "TRANSIENT 0x4f4d0001 NO";

/// A servant whose callers wait until they are let go, and how many are inside.
class Gate {
  public:
    explicit Gate(Servant& servant)
    {
        servant.action = [this] {
            ++inside_;
            changed();
            EXPECT_TRUE(open_.wait());
            --inside_;
        };
    }
    ~Gate() { open(); }
    void open() { open_.set(); }
    [[nodiscard]] bool wait_for(int inside)
    {
        std::unique_lock lock(mutex_);
        return change_.wait_for(lock, patience, [&] { return inside_ == inside; });
    }
    [[nodiscard]] int inside() const { return inside_; }

  private:
    void changed()
    {
        const std::lock_guard lock(mutex_);
        change_.notify_all();
    }
    std::atomic<int> inside_{0};
    Event open_;
    std::mutex mutex_;
    std::condition_variable change_;
};

std::vector<RawPeer> callers(const RunningServer& server, int count)
{
    std::vector<RawPeer> peers;
    for (int i = 0; i < count; ++i) {
        peers.push_back(server.connect());
        peers.back().send(request(server.key(), "act").finish());
    }
    return peers;
}

/// Architectures in which requests of different clients run side by side, up to -ORBThreads.
class Pools : public testing::TestWithParam<const char*> {
  protected:
    LogLines log_;
};

TEST_P(Pools, ServeAsManyAtOnceAsTheyHaveThreads)
{
    RunningServer server(GetParam(), {"-ORBThreads", "3"});
    Gate gate(server.servant());
    auto peers = callers(server, 6);
    EXPECT_TRUE(gate.wait_for(3));
    gate.open();
    for (RawPeer& peer : peers)
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(server.servant().calls, 6u);
}

TEST_P(Pools, EndTheirThreads)
{
    const std::size_t before = threads();
    {
        RunningServer server(GetParam(), {"-ORBThreads", "3"});
        server.servant().action = [] {};
        auto peers = callers(server, 6);
        for (RawPeer& peer : peers)
            EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    }
    // One that was joined may still be listed for a moment.
    while (threads() > before)
        std::this_thread::yield();
    EXPECT_EQ(threads(), before);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Pools,
                         testing::Values("leader-followers", "worker-pool", "thread-per-request",
                                         "filter-chain"),
                         architecture_name);

/// Architectures that have a bound at which a request must wait or be refused.
class Bounds : public testing::TestWithParam<const char*> {
  protected:
    static std::vector<std::string> of_one(const char* when_full)
    {
        std::vector<std::string> options{"-ORBThreads", "1", "-ORBQueueFull", when_full};
        if (GetParam() != std::string_view("thread-per-request"))
            options.insert(options.end(), {"-ORBQueue", "1"});
        return options;
    }
    /// How many requests there is a place for: one is served, one waits in the queue.
    static int places() { return GetParam() == std::string_view("thread-per-request") ? 1 : 2; }
    LogLines log_;
};

TEST_P(Bounds, RefuseWhatThereIsNoPlaceFor)
{
    RunningServer server(GetParam(), of_one("refuse"));
    Gate gate(server.servant());
    auto first = callers(server, 1);
    ASSERT_TRUE(gate.wait_for(1));
    RawPeer peer = server.connect(); // one connection: its requests are taken in order
    for (std::uint32_t id = 1; id <= 4; ++id)
        peer.send(server.ping(id));
    std::map<std::uint32_t, std::string> answers;
    const auto read = [&] {
        const ParsedReply reply(peer.read_message());
        answers[reply.reply.request_id] = reply.text();
    };
    for (int refused = places() - 1; refused < 4; ++refused)
        read();
    gate.open();
    for (int served = 1; served < places(); ++served)
        read();
    for (std::uint32_t id = 1; id <= 4; ++id)
        EXPECT_EQ(answers[id],
                  id < static_cast<std::uint32_t>(places()) ? "NO_EXCEPTION" : discarded);
    EXPECT_EQ(ParsedReply(first[0].read_message()).text(), "NO_EXCEPTION");
}

TEST_P(Bounds, OrLetItWait)
{
    RunningServer server(GetParam(), of_one("block"));
    Gate gate(server.servant());
    auto peers = callers(server, 8);
    ASSERT_TRUE(gate.wait_for(1));
    gate.open();
    for (RawPeer& peer : peers)
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(server.servant().calls, 8u);
}

/// Requests that wait are dropped when the server ends, and their clients know that they were.
TEST_P(Bounds, ShuttingDownDropsWhatWaits)
{
    RunningServer server(GetParam(), of_one("block"));
    Gate gate(server.servant());
    auto first = callers(server, 1);
    ASSERT_TRUE(gate.wait_for(1));
    auto others = callers(server, 3);
    server.orb()->shutdown(false);
    gate.open();
    EXPECT_EQ(ParsedReply(first[0].read_message()).text(), "NO_EXCEPTION");
    for (RawPeer& peer : others) {
        // A reply to the one that was still begun, or nothing: then the close.
        Octets message = peer.read_message();
        giop::Message whole;
        ASSERT_EQ(giop::message_of(message, whole), giop::Fault::none);
        EXPECT_TRUE(whole.type == giop::MessageType::close_connection ||
                    whole.type == giop::MessageType::reply);
    }
    server.end();
}

INSTANTIATE_TEST_SUITE_P(Architectures, Bounds,
                         testing::Values("worker-pool", "thread-per-request", "thread-per-object",
                                         "filter-chain"),
                         architecture_name);

TEST(ThreadPerObject, ServesOneRequestOfAnObjectAtATimeAndObjectsSideBySide)
{
    LogLines log;
    Servant second; // for longer than the server, which may not be through with it
    Event second_inside;
    RunningServer server("thread-per-object", {"-ORBThreads", "2"});
    Gate gate(server.servant());
    second.action = [&] { second_inside.set(); };
    const PortableServer::ObjectId_var id = server.poa()->activate_object(&second);
    const CORBA::Object_var object = server.poa()->id_to_reference(id);
    const auto& core = *object->_kairos_reference();
    auto peers = callers(server, 3);
    ASSERT_TRUE(gate.wait_for(1));
    RawPeer other = server.connect();
    other.send(request(Octets(core.object_key().begin(), core.object_key().end()), "act").finish());
    EXPECT_EQ(ParsedReply(other.read_message()).text(), "NO_EXCEPTION");
    EXPECT_TRUE(second_inside.is_set());
    EXPECT_EQ(gate.inside(), 1);
    gate.open();
    for (RawPeer& peer : peers)
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    server.poa()->deactivate_object(id);
}

/// More objects than threads: those that are idle give theirs up.
TEST(ThreadPerObject, ManyObjectsShareFewThreads)
{
    LogLines log;
    std::vector<std::unique_ptr<Servant>> servants; // for longer than the server, as above
    RunningServer server("thread-per-object", {"-ORBThreads", "2"});
    std::vector<Octets> keys;
    for (int i = 0; i < 10; ++i) {
        servants.push_back(std::make_unique<Servant>());
        const PortableServer::ObjectId_var id =
            server.poa()->activate_object(servants.back().get());
        const CORBA::Object_var object = server.poa()->id_to_reference(id);
        const auto& core = *object->_kairos_reference();
        keys.emplace_back(core.object_key().begin(), core.object_key().end());
    }
    const std::size_t before = threads();
    RawPeer peer = server.connect();
    for (int round = 0; round < 3; ++round) {
        for (const Octets& key : keys) {
            peer.send(request(key, "ping").finish());
            EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
        }
    }
    for (const auto& servant : servants)
        EXPECT_EQ(servant->calls, 3u);
    while (threads() > before + 2) // those that gave theirs up are about to end
        std::this_thread::yield();
    server.end();
}

// --- Filters -------------------------------------------------------------------------------------

/// Lets so many requests be under way at the same time.
class Admission final : public orb::RequestFilter {
  public:
    explicit Admission(int most) : most_(most) {}
    Verdict filter(orb::FilteredRequest&) noexcept override
    {
        if (inside_ == most_) return Verdict::later;
        ++inside_;
        return Verdict::pass;
    }
    void on_done() noexcept override { --inside_; }

  private:
    const int most_;
    std::atomic<int> inside_{0};
};

class Names final : public orb::RequestFilter {
  public:
    explicit Names(std::vector<std::string>& names) : names_(names) {}
    Verdict filter(orb::FilteredRequest& request) noexcept override
    {
        names_.emplace_back(request.operation);
        request.pool = request.operation == "act" ? 0 : 7; // the last, if there are fewer
        return request.operation == "note" ? Verdict::refuse : Verdict::pass;
    }

  private:
    std::vector<std::string>& names_;
};

TEST(Filters, SeeRefuseAndChooseThePool)
{
    LogLines log;
    std::vector<std::string> names;
    RunningServer server("filter-chain", {"-ORBPools", "2", "-ORBThreads", "1"},
                         RunningServer::Start::holding);
    server.orb()->_kairos_add_request_filter(std::make_unique<Names>(names));
    server.manager()->activate();
    EXPECT_EQ(
        outcome([&] { server.orb()->_kairos_add_request_filter(std::make_unique<Names>(names)); }),
        "BAD_INV_ORDER 0x0 NO");
    Gate gate(server.servant());
    auto busy = callers(server, 1); // the first pool's only thread
    ASSERT_TRUE(gate.wait_for(1));
    RawPeer peer = server.connect();
    peer.send(server.ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    peer.send(request(server.key(), "note").finish());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_PERMISSION 0x0 NO");
    gate.open();
    EXPECT_EQ(ParsedReply(busy[0].read_message()).text(), "NO_EXCEPTION");
    server.end();
    EXPECT_EQ(names, (std::vector<std::string>{"act", "ping", "note"}));
}

TEST(Filters, AdmitOnlySoMany)
{
    LogLines log;
    RunningServer server("filter-chain", {}, RunningServer::Start::holding);
    server.orb()->_kairos_add_request_filter(std::make_unique<Admission>(2));
    server.manager()->activate();
    Gate gate(server.servant());
    auto two = callers(server, 2);
    ASSERT_TRUE(gate.wait_for(2));
    RawPeer third = server.connect();
    third.send(server.ping());
    EXPECT_EQ(ParsedReply(third.read_message()).text(), discarded);
    gate.open();
    for (RawPeer& peer : two)
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    // What was answered is out a moment later.
    std::string answer = discarded;
    while (answer == discarded) {
        third.send(server.ping());
        answer = ParsedReply(third.read_message()).text();
    }
    EXPECT_EQ(answer, "NO_EXCEPTION");
}

TEST(Filters, NeedAChain)
{
    RunningServer server("worker-pool");
    EXPECT_EQ(
        outcome([&] { server.orb()->_kairos_add_request_filter(std::make_unique<Admission>(1)); }),
        "BAD_INV_ORDER 0x0 NO");
}

} // namespace
} // namespace kairos::orb_testing
