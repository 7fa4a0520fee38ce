// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spin_history.h"

#include "kairos/net/spin.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sched.h>
#include <thread>
#include <vector>

namespace kairos::net {
namespace {

long switches = 0;
long told_switches() noexcept { return switches; }

/// Of so many waits: how many spun.
int spun(SpinHistory& history, int waits, bool comes)
{
    int count = 0;
    for (int i = 0; i < waits; ++i) {
        if (!history.begins()) continue;
        ++count;
        history.ended(comes);
    }
    return count;
}

class Learned : public testing::Test {
  protected:
    void SetUp() override
    {
        if (!may_spin()) GTEST_SKIP() << "the process may use one processor only";
    }
    SpinHistory history_{&told_switches};
};

TEST_F(Learned, SpinsWhileItPays) { EXPECT_EQ(1000, spun(history_, 1000, true)); }

TEST_F(Learned, SleepsAfterDisappointmentsAndTriesEverMoreSeldom)
{
    EXPECT_EQ(2, spun(history_, 2 + 32, false));
    int waits = 32;
    for (int tries = 0; tries < 12; ++tries) { // one wait, and the sleep that it brings
        waits = waits * 4 > SpinHistory::asleep_most ? int{SpinHistory::asleep_most} : waits * 4;
        EXPECT_EQ(1, spun(history_, 1 + waits, false)) << tries;
    }
    EXPECT_EQ(SpinHistory::asleep_most, waits);
}

/// Both ends of a connection that sleep seldom try at the same time: so who tries waits for one
/// that has to be woken, however often that was in vain.
TEST_F(Learned, ATryLastsUntilAPeerHasBeenWoken)
{
    using std::chrono::steady_clock;
    Spin spin(SpinRule(std::chrono::microseconds(50), true));
    int waits = 0;
    for (int tries = 0; tries < 8; ++waits) {
        bool looked = false;
        EXPECT_FALSE(spin.until([&] { return looked = true, false; }, 1));
        if (looked) ++tries;
    }
    bool came = false;
    for (bool looked = false; !looked; ++waits) {
        const auto begin = steady_clock::now();
        came = spin.until(
            [&] {
                looked = true;
                return steady_clock::now() - begin > std::chrono::microseconds(150);
            },
            1);
    }
    EXPECT_TRUE(came);
    EXPECT_GT(waits, 32 + 128 + 512 + 2048 + SpinHistory::asleep_most);
}

TEST_F(Learned, SpinsAgainWhenATryHasPaid)
{
    (void)spun(history_, 2 + 32 + 1 + 128, false);
    EXPECT_EQ(100, spun(history_, 100, true));
    EXPECT_EQ(3, spun(history_, 3 + 32, false)); // and as if nothing had been
}

TEST_F(Learned, AFewWaitsInVainAmongManyDoNotCount)
{
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(1, spun(history_, 1, false));
        EXPECT_EQ(8, spun(history_, 8, true));
    }
}

TEST_F(Learned, SleepsWhereOthersWantTheProcessor)
{
    EXPECT_EQ(2, spun(history_, 2, true));
    ++switches;
    constexpr int least = 1 + SpinHistory::between_looks_least;
    EXPECT_EQ(least - 2, spun(history_, least - 2 + 32, true));
    // Nobody does any more: it looks ever more seldom.
    constexpr int rising = (1 + 4) + (1 + 8) + (1 + 16);
    EXPECT_EQ(rising + 2, spun(history_, rising + 2, true));
    ++switches;
    constexpr int most = 1 + SpinHistory::between_looks;
    EXPECT_EQ(most - 2, spun(history_, most - 2 + 32, true)); // and sleeps as if nothing had been
    EXPECT_EQ(least, spun(history_, least, true));
}

TEST_F(Learned, OneProcessorIsLeftToWhoAnswers)
{
    std::vector<SpinHistory> all(1000);
    int count = 0;
    std::vector<SpinHistory*> begun;
    for (SpinHistory& one : all) {
        if (!one.begins()) continue;
        ++count;
        begun.push_back(&one);
    }
    EXPECT_GE(count, 1);
    EXPECT_LT(count, 1000);
    for (SpinHistory* one : begun)
        one->ended(true);
    EXPECT_TRUE(history_.begins());
    history_.ended(true);
}

std::atomic<int> moves{0};
void note_move() noexcept { ++moves; }

cpu_set_t usable_processors()
{
    cpu_set_t usable;
    EXPECT_EQ(0, sched_getaffinity(0, sizeof usable, &usable));
    return usable;
}

/// One that answers, on the processor of the thread that makes it, which is held to it from then
/// on. Like a peer that spins it has the processor for a while before it lets others on it.
class PeerHere {
  public:
    PeerHere()
    {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &here);
        EXPECT_EQ(0, sched_setaffinity(0, sizeof here, &here));
        answers_ = std::thread([this] {
            for (int asked = 0; asked >= 0; asked = asked_) {
                const auto begin = std::chrono::steady_clock::now();
                while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(20))
                    ;
                answered_ = asked;
                sched_yield();
            }
        });
    }
    PeerHere(const PeerHere&) = delete;
    PeerHere& operator=(const PeerHere&) = delete;
    ~PeerHere()
    {
        asked_ = -1;
        answers_.join();
    }
    bool ask(Spin& spin)
    {
        const int number = ++asked_;
        return spin.until([&] { return answered_ == number; }, 20);
    }

  private:
    std::atomic<int> asked_{0};
    std::atomic<int> answered_{0};
    std::thread answers_;
};

TEST_F(Learned, WhoMovesLeavesAProcessorThatThePeerShares)
{
    SpinRule rule(std::chrono::milliseconds(100));
    rule.moves = true;
    moves = 0;
    std::thread([&] {
        Spin spin(rule, &note_move);
        PeerHere peer;
        for (int i = 0; i < 100'000 && moves == 0; ++i)
            (void)peer.ask(spin);
    }).join();
    EXPECT_EQ(1, moves);
}

TEST_F(Learned, WhoDoesNotMoveStays)
{
    moves = 0;
    std::thread([&] {
        Spin spin(SpinRule(std::chrono::milliseconds(100)), &note_move);
        PeerHere peer;
        for (int i = 0; i < 100; ++i)
            (void)peer.ask(spin);
    }).join();
    EXPECT_EQ(0, moves);
}

TEST_F(Learned, WhoHasMovedMayUseWhatItMightBefore)
{
    const cpu_set_t before = usable_processors();
    move_to_another_processor();
    const cpu_set_t after = usable_processors();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

} // namespace
} // namespace kairos::net
