// SPDX-License-Identifier: Apache-2.0
//
// Oneways with SYNC_NONE to a server that does not read: they do not wait, arrive in order before
// what follows, and are bounded; over connections of the threads' own and over one that a thread of
// the ORB writes. The servers are scripts.
#include "tests/client/policies.h"

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;
using Peer = FakeServer::Peer;

constexpr const char* no_room = "TRANSIENT 0x4b520014 NO";
constexpr const char* not_sent = "TIMEOUT 0x4b52000f NO";
/// More requests than the kernel keeps for a client whose queue is as small as this, and we for it.
constexpr int many = 40'000;
constexpr const char* queue_bytes = "16384";
/// More octets than the kernel may find room for yet when it has said that it has none.
constexpr const char* kept_bytes = "1000000";

/// Reads notes, whose numbers count from 0, until the next twoway, which it answers, or until the
/// end, also within a message. How many.
int read_notes(Peer& peer)
{
    for (int count = 0;; ++count) {
        Octets bytes = peer.read_message();
        giop::Message message;
        giop::Request request;
        if (bytes.empty() || giop::message_of(bytes, message) != giop::Fault::none) return count;
        EXPECT_EQ(giop::parse(message, request), cdr::Fault::none);
        if (request.response_flags != 0) {
            peer.send(reply(request.request_id, 0).finish());
            return count;
        }
        cdr::Reader body = request.body;
        EXPECT_EQ(body.read<std::int32_t>(), count) << "out of order";
    }
}

class StalledServer : public testing::TestWithParam<const char*> {
  protected:
    static bool is_shared() { return GetParam() == std::string_view("active"); }
    /// A client with a small queue in the kernel, and one of its own of so many octets.
    struct SmallClient : Client {
        explicit SmallClient(const char* kept)
            : Client({"-ORBSendQueue", queue_bytes, "-ORBOnewayQueue", kept, "-ORBConnection",
                      GetParam()})
        {
        }
    };
    [[nodiscard]] Probe::Target_var scoped(Client& client, const FakeServer& server,
                                           Messaging::SyncScope scope = Messaging::SYNC_NONE)
    {
        const Probe::Target_var any = client.target(server.reference());
        return with(any, make_policy(client.orb(), Messaging::SYNC_SCOPE_POLICY_TYPE, scope));
    }
    /// Sends notes until one is not taken: how many were, and what that one ended with.
    static std::pair<int, std::string> note_until_refused(Probe::Target_ptr target)
    {
        for (int count = 0; count < many; ++count) {
            const std::string result = outcome([&] { target->note(count); });
            if (result != "ok") return {count, result};
        }
        return {many, "ok"};
    }
    static std::string ping(Probe::Target_ptr target)
    {
        return outcome([&] { target->ping(); });
    }

    LogLines log_;
    Event go_;
    int read_ = -1;
    bool reads_again_ = false; // set before `go_`
    int read_again_ = -1;
    // Reads nothing until it may, then notes up to a twoway, perhaps twice.
    FakeServer server_{[this](FakeServer& fake) {
        Peer peer = fake.accept();
        EXPECT_TRUE(go_.wait());
        read_ = read_notes(peer);
        if (reads_again_) read_again_ = read_notes(peer);
    }};
};

TEST_P(StalledServer, IsNotWaitedFor)
{
    SmallClient client("100000000");
    const Probe::Target_var target = scoped(client, server_);
    const auto [sent, end] = note_until_refused(target);
    EXPECT_EQ(end, "ok");
    EXPECT_EQ(sent, many);
    go_.set();
    EXPECT_EQ(ping(target), "ok"); // behind all of them, on the same connection
    server_.end();
    EXPECT_EQ(read_, many);
    EXPECT_EQ(server_.connections(), 1);
}

/// What these tests rely on: so many would not be taken.
TEST_P(StalledServer, IsWaitedForWithTheTransport)
{
    Client client(
        {"-ORBSendQueue", queue_bytes, "-ORBClientTimeout", "50", "-ORBConnection", GetParam()});
    const Probe::Target_var target = scoped(client, server_, Messaging::SYNC_WITH_TRANSPORT);
    const auto [sent, end] = note_until_refused(target);
    EXPECT_TRUE(end.starts_with("TIMEOUT")) << end;
    EXPECT_LT(sent, many);
    go_.set();
}

TEST_P(StalledServer, IsSentNoMoreThanTheQueueHolds)
{
    SmallClient client(kept_bytes);
    const Probe::Target_var target = scoped(client, server_);
    const auto [sent, end] = note_until_refused(target);
    EXPECT_EQ(end, no_room);
    go_.set();
    EXPECT_EQ(ping(target), "ok");
    server_.end();
    EXPECT_EQ(read_, sent);
    EXPECT_EQ(server_.connections(), 1);
}

TEST_P(StalledServer, TwowaysWaitForItWithinTheirLimits)
{
    SmallClient client(kept_bytes);
    const Probe::Target_var target = scoped(client, server_);
    const int sent = note_until_refused(target).first;
    const Probe::Target_var hasty = with(target, round_trip(client.orb(), milliseconds(20)));
    EXPECT_EQ(ping(hasty), not_sent);
    go_.set();
    EXPECT_EQ(ping(target), "ok"); // the connection is as it was
    server_.end();
    EXPECT_EQ(read_, sent);
    EXPECT_EQ(server_.connections(), 1);
}

TEST_P(StalledServer, GetsWhatThreadsThatHaveEndedHaveSent)
{
    SmallClient client(kept_bytes);
    const Probe::Target_var target = scoped(client, server_);
    int sent = -1;
    std::thread([&] { sent = note_until_refused(target).first; }).join();
    EXPECT_GT(sent, 0);
    go_.set();
    if (is_shared()) {
        EXPECT_EQ(ping(target), "ok");
    }
    server_.end(); // else it reads until the connection is closed
    EXPECT_EQ(read_, sent);
}

TEST_P(StalledServer, DoesNotHoldUpTheEndOfTheOrb)
{
    {
        SmallClient client(kept_bytes);
        const Probe::Target_var target = scoped(client, server_);
        EXPECT_EQ(note_until_refused(target).second, no_room);
    }
    EXPECT_TRUE(LogLines::wait_for("oneways that their peers did not take are lost"));
    go_.set();
}

/// What the peer takes at once is not lost because the ORB ends at once.
TEST_P(StalledServer, GetsWhatWasSentBeforeTheEndOfTheOrb)
{
    constexpr int some = 100;
    {
        Client client({"-ORBConnection", GetParam()});
        const Probe::Target_var target = scoped(client, server_);
        for (int count = 0; count < some; ++count)
            target->note(count);
    }
    go_.set();
    server_.end();
    EXPECT_EQ(read_, some);
    EXPECT_EQ(LogLines::count("are lost"), 0u);
}

/// Then there is room again, on the same connection.
TEST_P(StalledServer, TakesMoreWhenItHasRead)
{
    constexpr int more = 10;
    reads_again_ = true;
    SmallClient client(kept_bytes);
    const Probe::Target_var target = scoped(client, server_);
    const int sent = note_until_refused(target).first;
    EXPECT_EQ(outcome([&] { target->note(sent); }), no_room);
    go_.set();
    EXPECT_EQ(ping(target), "ok");
    for (int count = 0; count < more; ++count)
        EXPECT_EQ(outcome([&] { target->note(count); }), "ok");
    EXPECT_EQ(ping(target), "ok");
    server_.end();
    EXPECT_EQ(read_, sent);
    EXPECT_EQ(read_again_, more);
}

INSTANTIATE_TEST_SUITE_P(Connections, StalledServer, testing::Values("non-multiplexed", "active"),
                         architecture_name);

/// Each thread's oneways come in its order, and before the calls that it makes afterwards.
TEST(PostedOneways, OfManyThreadsComeInTheOrderOfEach)
{
    constexpr int threads = 4;
    constexpr int rounds = 50;
    constexpr int notes = 20;
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        std::array<int, threads> next{};
        for (int twoways = 0; twoways < threads * rounds;) {
            ReceivedRequest request = peer.read_request();
            const auto thread = request.request.body.read<std::int32_t>() / (rounds * notes);
            auto& expected = next.at(static_cast<std::size_t>(thread));
            if (request.request.response_expected()) { // add(thread, so many before)
                EXPECT_EQ(request.request.body.read<std::int32_t>(), expected);
                peer.send(reply(request.id(), 0).u32(0).finish());
                ++twoways;
            } else {
                ++expected;
            }
        }
    });
    Client client({"-ORBConnection", "active"});
    const Probe::Target_var any = client.target(server.reference());
    const Probe::Target_var target = with(
        any, make_policy(client.orb(), Messaging::SYNC_SCOPE_POLICY_TYPE, Messaging::SYNC_NONE));
    std::vector<std::thread> callers;
    callers.reserve(threads);
    for (int thread = 0; thread < threads; ++thread) {
        callers.emplace_back([&target, thread] {
            const int first = thread * rounds * notes;
            for (int round = 1; round <= rounds; ++round) {
                for (int i = 0; i < notes; ++i)
                    target->note(first);
                EXPECT_EQ(target->add(first, round * notes), 0);
            }
        });
    }
    for (std::thread& caller : callers)
        caller.join();
    server.end();
}

} // namespace
} // namespace kairos::orb_testing
