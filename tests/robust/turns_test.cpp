// SPDX-License-Identifier: Apache-2.0
//
// Connections take turns: whatever others send, a caller waits for at most one request of each of
// them, and a newcomer for one more. Counted, in every architecture that serves several connections
// by one thread: nothing here depends on how long anything takes.
#include "tests/robust/was_read.h"

namespace kairos::orb_testing {
namespace {

constexpr int greedy_count = 8;
constexpr int requests_each = 200;

class Turns : public EveryArchitecture {
  protected:
    static bool has_threads_for_connections()
    {
        const std::string_view name = GetParam();
        return name == "thread-per-connection" || name == "reactor-per-priority-each";
    }
    static bool hands_over()
    {
        const std::string_view name = GetParam();
        return name == "worker-pool" || name == "filter-chain" || name == "thread-per-object" ||
               name == "thread-per-request";
    }
    /// Where nothing is queued a connection that was read empty may once find a thread before those
    /// that wait for one.
    static std::uint64_t turns_of_each()
    {
        return GetParam() == std::string_view("thread-per-request") ? 2 : 1;
    }
    /// With as few threads as it can have.
    static std::vector<std::string> options()
    {
        const std::string_view name = GetParam();
        if (name.starts_with("reactor") || has_threads_for_connections()) return {};
        return {"-ORBThreads", "1"};
    }

    Turns() : server_(GetParam(), options())
    {
        server_.servant().action = [this] {
            if (served_.fetch_add(1) == 0)
                EXPECT_TRUE(go_on_.wait());
            else
                before_ = server_.servant().calls.load();
        };
        first_.send(request(server_.key(), "act").finish());
        while (served_ == 0)
            std::this_thread::yield();
        Octets many;
        for (int i = 0; i < requests_each; ++i) {
            const Octets one =
                request(server_.key(), "note", 2, giop::version_1_2, false).u32(1).finish();
            many.insert(many.end(), one.begin(), one.end());
        }
        for (int i = 0; i < greedy_count; ++i) {
            greedy_.push_back(server_.connect());
            greedy_.back().send(server_.ping());
        }
        for (RawPeer& each : greedy_)
            each.send(many);
    }
    /// How many requests were served before that one.
    std::uint64_t count_before(RawPeer& peer)
    {
        peer.send(request(server_.key(), "act").finish());
        if (hands_over()) {
            // Who reads has handed it over when it has read what came after it.
            while (!was_read(server_, peer))
                std::this_thread::yield();
            RawPeer later = server_.connect();
            later.send(server_.ping());
            while (!was_read(server_, later))
                std::this_thread::yield();
        }
        go_on_.set();
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
        return before_ - 1; // without itself
    }

    RunningServer server_;
    std::atomic<int> served_{0};
    std::atomic<std::uint64_t> before_{0};
    Event go_on_;
    RawPeer first_ = server_.connect();
    RawPeer quiet_ = server_.connect();
    std::vector<RawPeer> greedy_;
};

TEST_P(Turns, ACallerWaitsForOneRequestOfEachOther)
{
    const std::uint64_t before = count_before(quiet_);
    if (has_threads_for_connections()) return; // it waits for nobody
    EXPECT_LE(before, 1u + turns_of_each() * greedy_count);
}

TEST_P(Turns, ANewcomerWaitsForTwo)
{
    RawPeer newcomer = server_.connect();
    const std::uint64_t before = count_before(newcomer);
    if (has_threads_for_connections()) return;
    EXPECT_LE(before, 1u + (turns_of_each() + 1) * greedy_count + 2);
}

TEST_P(Turns, AndEverybodyIsServedInTheEnd)
{
    (void)count_before(quiet_);
    for (RawPeer& each : greedy_) {
        EXPECT_EQ(ParsedReply(each.read_message()).text(), "NO_EXCEPTION");
        each.send(server_.ping());
        EXPECT_EQ(ParsedReply(each.read_message()).text(), "NO_EXCEPTION");
    }
    // What was sent before on the same connections was served before.
    EXPECT_GE(server_.servant().calls, 2u + greedy_count * (requests_each + 2u));
}

KAIROS_EVERY_ARCHITECTURE(Turns);

} // namespace
} // namespace kairos::orb_testing
