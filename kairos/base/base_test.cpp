// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/assert_held.h"
#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/log.h"
#include "kairos/base/log_limit.h"
#include "kairos/base/operation_hash.h"
#include "kairos/base/result.h"
#include "kairos/base/shown.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos {
namespace {

#ifdef __GLIBC__ // elsewhere nobody knows who owns a mutex

TEST(AssertHeld, KnowsWhichThreadOwnsAMutex)
{
    std::mutex mutex;
    const pthread_mutex_t& native = *mutex.native_handle();
    EXPECT_FALSE(is_held_here(native));
    mutex.lock();
    EXPECT_TRUE(is_held_here(native));
    bool held_there = true;
    std::thread([&] { held_there = is_held_here(native); }).join();
    EXPECT_FALSE(held_there);
    mutex.unlock();
    EXPECT_FALSE(is_held_here(native));
}

TEST(AssertHeld, AThreadOwnsARecursiveMutexUntilTheLastUnlock)
{
    std::recursive_mutex mutex;
    const pthread_mutex_t& native = *mutex.native_handle();
    mutex.lock();
    mutex.lock();
    mutex.unlock();
    EXPECT_TRUE(is_held_here(native));
    mutex.unlock();
    EXPECT_FALSE(is_held_here(native));
}

TEST(AssertHeld, AChildOfForkOwnsWhatItsThreadHadLocked)
{
    std::mutex mutex;
    std::mutex of_child;
    const std::lock_guard lock(mutex);
    ASSERT_TRUE(is_held_here(*mutex.native_handle()));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::lock_guard another(of_child);
        const bool both =
            is_held_here(*mutex.native_handle()) && is_held_here(*of_child.native_handle());
        ::_exit(both ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif

TEST(AssertHeldDeathTest, EndsTheProgramWhereABuildHasAssertions)
{
    std::mutex mutex;
    std::unique_lock lock(mutex);
    assert_held(mutex);
    lock.unlock();
    assert_not_held(mutex);
#if defined _GLIBCXX_ASSERTIONS && defined __GLIBC__
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(assert_held(mutex), "base_test.*must be held");
    lock.lock();
    EXPECT_DEATH(assert_not_held(mutex), "base_test.*must not be held");
#else
    assert_held(mutex); // is nothing
    lock.lock();
    assert_not_held(mutex);
#endif
}

TEST(Bytes, SwapReversesEverySize)
{
    EXPECT_EQ(byteswap(std::uint8_t{0x12}), 0x12);
    EXPECT_EQ(byteswap(std::uint16_t{0x1234}), 0x3412);
    EXPECT_EQ(byteswap(std::uint32_t{0x12345678}), 0x78563412u);
    EXPECT_EQ(byteswap(std::uint64_t{0x0102030405060708}), 0x0807060504030201u);
    EXPECT_EQ(byteswap(byteswap(3.25)), 3.25);
}

TEST(Bytes, PaddingReachesTheNextMultiple)
{
    EXPECT_EQ(padding(0, 8), 0u);
    EXPECT_EQ(padding(1, 8), 7u);
    EXPECT_EQ(padding(8, 4), 0u);
    EXPECT_EQ(align_up(13, 4), 16u);
}

TEST(Shown, TextStaysAndWhatIsObeyedDoesNot)
{
    for (const char* text : {"", "plain text, \\ and 'quotes'", "Gr\xc3\xb6\xc3\x9f", // Latin
                             "\xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x9a\x80"}) {
        EXPECT_EQ(shown(text), text);
        EXPECT_TRUE(is_shown_as_it_is(text)) << text;
    }
    const std::pair<std::string_view, std::string_view> obeyed[] = {
        {"a\x1b[31mb", "a\\x1b[31mb"},
        {"two\r\nlines\t", "two\\x0d\\x0alines\\x09"},
        {std::string_view("\0", 1), "\\x00"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b", "\\xc2\\x9b"},          // U+009B, as ESC [
        {"\x9b", "\\x9b"},                   // the same in eight bits
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"}, // U+202E: right to left
        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"}, // U+2066
        {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"}, // U+2028: the end of a line
        {"\xc0\x9b", "\\xc0\\x9b"},          // longer than it need be
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          // half of a pair
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, // beyond U+10FFFF
        {"\xe2\x82", "\\xe2\\x82"},                   // cut
        {"\xe2x", "\\xe2x"},
    };
    for (const auto& [text, expected] : obeyed) {
        EXPECT_EQ(shown(text), expected);
        EXPECT_FALSE(is_shown_as_it_is(text)) << expected;
        EXPECT_EQ(shown(shown(text)), expected); // twice is not too much
    }
    EXPECT_EQ(shown_lines("one\n\x1btwo\n\nthree"), "one\n\\x1btwo\n\nthree");
    EXPECT_EQ(shown_lines("one\n"), "one\n");
    EXPECT_EQ(shown_lines("\n"), "\n");
    EXPECT_EQ(shown_lines(""), "");
}

std::string last_line;

TEST(Log, ALineIsALineWhoeverWroteIt)
{
    log::set_sink([](log::Level, std::string_view line) { last_line = line; });
    log::warning("from a peer: \x1b[2J\nkairos error: forged");
    EXPECT_EQ(last_line, "from a peer: \\x1b[2J\\x0akairos error: forged");
    log::announce("\x9b");
    EXPECT_EQ(last_line, "\\x9b");
    log::warning("Gr\xc3\xb6\xc3\x9f");
    EXPECT_EQ(last_line, "Gr\xc3\xb6\xc3\x9f");
    log::set_sink(nullptr);
}

TEST(Log, ALineHasItsOwnMemoryAndSaysWhereItIsCutOff)
{
    log::Line line;
    line << "port " << std::uint16_t{65535} << ", " << std::uint64_t(-1);
    EXPECT_EQ(line.text(), "port 65535, 18446744073709551615");
    line << std::string(5000, 'x') << "behind";
    EXPECT_EQ(line.text().size(), 1024u);
    EXPECT_TRUE(line.text().ends_with("xxx..."));
}

TEST(Log, WhatPeersCauseIsLimitedByKindAndPeerAndCounted)
{
    using Clock = log::Limiter::Clock;
    log::Limiter limiter;
    const auto ask = [&](std::uint64_t kind, std::uint64_t peer, Clock::time_point at) {
        return limiter.ask(kind, peer, at);
    };
    const Clock::time_point begin{std::chrono::hours(1)};
    unsigned written = 0;
    for (int i = 0; i < 1000; ++i)
        written += ask(1, 1, begin).may_be_written ? 1 : 0;
    EXPECT_EQ(written, log::limited_at_once_for_peer);
    // Another peer is heard; what the first one could not say is counted with it, once.
    EXPECT_EQ(ask(1, 2, begin).left_out, 1000 - log::limited_at_once_for_peer);
    EXPECT_EQ(ask(1, 3, begin).left_out, 0u);
    // Another kind of line of the first peer, too.
    EXPECT_TRUE(ask(2, 1, begin).may_be_written);
    // All of its peers together have a limit, however many they are.
    written = 0;
    for (std::uint64_t peer = 10; peer < 100'000; ++peer)
        written += ask(1, peer, begin).may_be_written ? 1 : 0;
    EXPECT_LE(written, log::limited_at_once);
    // Then one a second.
    EXPECT_FALSE(ask(1, 1, begin).may_be_written);
    EXPECT_TRUE(ask(1, 1, begin + std::chrono::seconds(1)).may_be_written);
    EXPECT_FALSE(ask(1, 1, begin + std::chrono::seconds(1)).may_be_written);
}

TEST(Log, WhoWritesToAPipeThatNobodyReadsDoesNotWait)
{
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const int before = ::dup(STDERR_FILENO);
    ASSERT_EQ(::dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
    const std::uint64_t lost = log::lost_lines();
    const std::string line(900, 'x');
    for (int i = 0; i < 500; ++i) // 450 KB into 64 KiB
        log::error(line);
    const std::uint64_t lost_now = log::lost_lines();
    // Who reads again hears how many are missing.
    std::vector<char> read(1 << 20);
    EXPECT_GT(::read(pipe[0], read.data(), read.size()), 0);
    log::error("heard");
    const ssize_t size = ::read(pipe[0], read.data(), read.size());
    ::dup2(before, STDERR_FILENO);
    for (const int each : {before, pipe[0], pipe[1]})
        ::close(each);
    EXPECT_GT(lost_now, lost + 300);
    EXPECT_LT(lost_now, lost + 500);
    EXPECT_NE(
        std::string(read.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)))
            .find("(" + std::to_string(lost_now - lost) + " lines that nobody read are lost)"),
        std::string::npos);
}

struct Counted : RefCounted {
    explicit Counted(int& deaths) : deaths_(deaths) {}
    ~Counted() override { ++deaths_; }
    int& deaths_;
};

TEST(IntrusivePtr, LastOwnerDeletes)
{
    int deaths = 0;
    {
        auto first = make_intrusive<Counted>(deaths);
        IntrusivePtr<Counted> second = first;
        first = {};
        EXPECT_EQ(deaths, 0);
    }
    EXPECT_EQ(deaths, 1);
}

TEST(OperationHash, NamesThatDifferAnywhereHaveDifferentDigests)
{
    EXPECT_NE(operation_digest("abcdefgh1abcdefgh"), operation_digest("abcdefgh2abcdefgh"));
    EXPECT_NE(operation_digest("a"), operation_digest("b"));
    EXPECT_NE(operation_digest(""), operation_digest("a"));
    EXPECT_LT(operation_slot(operation_digest("ping"), 0x9E3779B97F4A7C15u, 3), 8u);
}

TEST(Result, HoldsValueOrError)
{
    Result<int> value = 3;
    EXPECT_TRUE(value.ok());
    EXPECT_EQ(*value, 3);
    Result<int> error = Error{ErrorCode::not_found, "no such thing"};
    EXPECT_FALSE(error.ok());
    EXPECT_EQ(error.error().reason, "no such thing");
}

} // namespace
} // namespace kairos
