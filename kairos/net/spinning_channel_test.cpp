// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spinning_channel.h"

#include <gtest/gtest.h>

#include <array>
#include <sched.h>
#include <string>
#include <thread>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;

/// The first of two looks for a while before it waits.
struct Kind {
    std::chrono::microseconds spin{};
    bool learns = false;
};
class Spinning : public testing::TestWithParam<Kind> {
  protected:
    Spinning()
    {
        auto pair = socket_pair();
        EXPECT_TRUE(pair);
        reader_ = std::move(pair->first);
        writer_ = std::move(pair->second);
        reader_.spin({GetParam().spin, GetParam().learns});
    }
    void write(std::string_view text)
    {
        EXPECT_EQ(writer_.write(as_bytes(text)).bytes, text.size());
    }
    [[nodiscard]] std::string read_by(Deadline deadline)
    {
        std::array<std::byte, 64> buffer;
        const IoResult got = reader_.read(buffer, deadline);
        return got.ok() ? std::string(as_text(Bytes(buffer).first(got.bytes))) : "nothing";
    }
    [[nodiscard]] std::string read()
    {
        std::array<std::byte, 64> buffer;
        const IoResult got = reader_.read(buffer);
        if (got.status == IoResult::Status::closed) return "closed";
        return std::string(as_text(Bytes(buffer).first(got.bytes)));
    }

    Socket reader_;
    Socket writer_;
};

TEST_P(Spinning, ReadsWhatIsThereAndWhatComes)
{
    write("there");
    EXPECT_EQ(read(), "there");
    std::thread later([this] { write("comes"); });
    EXPECT_EQ(read(), "comes");
    later.join();
    for (int i = 0; i < 100; ++i) { // to and fro, so that it waits each time
        std::thread other([this] { write("again"); });
        EXPECT_EQ(read(), "again");
        other.join();
    }
}

TEST_P(Spinning, HearsTheEnd)
{
    std::thread later([this] { writer_.close(); });
    EXPECT_EQ(read(), "closed");
    later.join();
}

TEST_P(Spinning, IsReleasedByAnotherThread)
{
    std::thread later([this] { reader_.shutdown_read(); });
    EXPECT_EQ(read(), "closed");
    later.join();
}

TEST_P(Spinning, HeedsDeadlines)
{
    EXPECT_EQ(read_by(Deadline::after(1ms)), "nothing");
    write("there");
    EXPECT_EQ(read_by(Deadline::after(1h)), "there");
    std::thread later([this] { write("comes"); });
    EXPECT_EQ(read_by(Deadline::after(1h)), "comes");
    later.join();
}

TEST_P(Spinning, WritesAndPeeksAndDoesNotWaitAsAny)
{
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(reader_.read(buffer, ReadFlags::do_not_wait).status, IoResult::Status::would_block);
    write("1234");
    EXPECT_EQ(reader_.read(buffer, ReadFlags::peek).bytes, 4u);
    EXPECT_EQ(read(), "1234");
    EXPECT_EQ(reader_.write(as_bytes(std::string_view("back"))).bytes, 4u);
    EXPECT_TRUE(reader_.stuck_at());
    EXPECT_FALSE(writer_.stuck_at()) << "what it wrote was read";
    EXPECT_EQ(writer_.read(buffer).bytes, 4u);
    EXPECT_EQ(reader_.prepare_poll(Interest::readable), Interest::readable);
    EXPECT_TRUE(reader_.duplicate());
}

INSTANTIATE_TEST_SUITE_P(Times, Spinning,
                         testing::Values(Kind{0us}, Kind{50us}, Kind{50us, true}, Kind{1'000us}),
                         [](const testing::TestParamInfo<Kind>& tested) {
                             return (tested.param.learns ? "learned_us_" : "us_") +
                                    std::to_string(tested.param.spin.count());
                         });

TEST(Spin, IsShorterAfterItWasInVainAndLongerAfterItWasNot)
{
    constexpr auto max = 1'600us;
    if (!may_spin()) GTEST_SKIP() << "this process may use one processor only";
    Spin spin(max);
    EXPECT_EQ(spin.next(), max);
    const auto never = [] { return false; };
    for (int i = 1; i <= 4; ++i) {
        EXPECT_FALSE(spin.until(never, 1));
        EXPECT_EQ(spin.next(), std::chrono::nanoseconds(max) / (1 << i));
    }
    EXPECT_FALSE(spin.until(never, 1));
    EXPECT_EQ(spin.next(), 100us) << "never less than that";
    int asked = 0;
    EXPECT_TRUE(spin.until([&] { return ++asked == 2; }, 64));
    EXPECT_EQ(spin.next(), 200us);
    EXPECT_TRUE(spin.until([] { return true; }, 64)) << "at once: that says nothing";
    EXPECT_EQ(spin.next(), 200us);
}

TEST(Spin, IsNotDoneOnOneProcessor)
{
    std::thread([] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_FALSE(may_spin());
        Spin spin(50us);
        EXPECT_EQ(spin.next(), 0us);
        int asked = 0;
        EXPECT_FALSE(spin.until(
            [&] {
                ++asked;
                return false;
            },
            64));
        EXPECT_EQ(asked, 0);
    }).join();
}

} // namespace
} // namespace kairos::net
