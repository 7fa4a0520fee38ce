// SPDX-License-Identifier: Apache-2.0
#include "bench/process.h"

#include "bench/counting.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace kairos::bench {
namespace {

constexpr std::chrono::seconds patience{20};

ProcessOptions shell(const std::string& script)
{
    return {.command = {"/bin/sh", "-c", script},
            .environment = {"KAIROS_TEST=set"},
            .cpu = {},
            .inherited_descriptor = -1};
}

TEST(ChildProcess, SaysHowOftenItGaveTheProcessorUp)
{
    auto child = ChildProcess::start(
        {.command = {"/bin/cat"}, .environment = {}, .cpu = {}, .inherited_descriptor = -1});
    ASSERT_TRUE(child.ok()) << child.error().reason;
    ASSERT_TRUE(wait_until_at_rest(child->pid(), patience)); // it waits for its input
    const auto remains = child->finish(patience);
    EXPECT_EQ(remains.exit_status, 0);
    EXPECT_GT(remains.voluntary_switches, 0);
}

TEST(ChildProcess, AnswersLineByLine)
{
    auto child = ChildProcess::start(
        {.command = {"/bin/cat"}, .environment = {}, .cpu = {}, .inherited_descriptor = -1});
    ASSERT_TRUE(child.ok());
    ASSERT_TRUE(child->write_line("first").ok());
    ASSERT_TRUE(child->write_line("second").ok());
    EXPECT_EQ(child->read_line(patience).value(), "first");
    EXPECT_EQ(child->read_line(patience).value(), "second");
    EXPECT_EQ(child->finish(patience).exit_status, 0);
}

TEST(ChildProcess, ItsRemainsAreOutputErrorsAndStatus)
{
    const auto remains =
        run_to_end(shell("echo out $KAIROS_TEST; echo wrong >&2; exit 3"), patience);
    ASSERT_TRUE(remains.ok());
    EXPECT_EQ(remains.value().output, "out set\n");
    EXPECT_EQ(remains.value().errors, "wrong\n");
    EXPECT_EQ(remains.value().exit_status, 3);
}

TEST(ChildProcess, OutputBeyondAPipeIsCollectedWhileWaiting)
{
    const auto remains = run_to_end(shell("head -c 300000 /dev/zero"), patience);
    ASSERT_TRUE(remains.ok());
    EXPECT_EQ(remains.value().output.size(), 300'000u);
}

TEST(ChildProcess, OneThatDiesIsAnErrorWithItsLastWords)
{
    auto child = ChildProcess::start(shell("echo the reason >&2; exit 1"));
    ASSERT_TRUE(child.ok());
    const auto line = child->read_line(patience);
    ASSERT_FALSE(line.ok());
    EXPECT_NE(line.error().reason.find("the reason"), std::string::npos);
}

TEST(ChildProcess, WritingToADeadOneIsAnErrorNotASignal)
{
    auto child = ChildProcess::start(shell("exit 0"));
    ASSERT_TRUE(child.ok());
    ASSERT_FALSE(child->read_line(patience).ok()); // it is gone now
    EXPECT_FALSE(child->write_line("hello").ok());
}

TEST(ChildProcess, SilenceEndsWithThePatience)
{
    auto child = ChildProcess::start(shell("cat"));
    ASSERT_TRUE(child.ok());
    const auto line = child->read_line(std::chrono::seconds(0));
    ASSERT_FALSE(line.ok());
    EXPECT_NE(line.error().reason.find("no answer"), std::string::npos);
}

TEST(ChildProcess, OneThatDoesNotEndIsKilled)
{
    // Ignores the end of its standard input and SIGTERM.
    auto child = ChildProcess::start(shell("trap '' TERM; echo up; exec tail -f /dev/null"));
    ASSERT_TRUE(child.ok());
    ASSERT_TRUE(child->read_line(patience).ok());
    EXPECT_EQ(child->finish(std::chrono::seconds(0)).exit_status, 128 + SIGKILL);
}

TEST(ChildProcess, DestructionLeavesNoProcess)
{
    pid_t pid = -1;
    {
        auto child = ChildProcess::start(shell("echo up; exec tail -f /dev/null"));
        ASSERT_TRUE(child.ok());
        ASSERT_TRUE(child->read_line(patience).ok());
        pid = child->pid();
        EXPECT_EQ(kill(pid, 0), 0);
    }
    EXPECT_EQ(kill(pid, 0), -1); // killed and reaped
}

TEST(ChildProcess, AMissingProgramIsNamed)
{
    const auto child = ChildProcess::start({.command = {"/no/such/program"},
                                            .environment = {},
                                            .cpu = {},
                                            .inherited_descriptor = -1});
    ASSERT_FALSE(child.ok());
    EXPECT_NE(child.error().reason.find("/no/such/program"), std::string::npos);
}

TEST(ChildProcess, RunsOnTheCpuItWasGiven)
{
    const int cpu = usable_cpus().back();
    ProcessOptions options = shell("grep Cpus_allowed_list /proc/self/status");
    options.cpu = cpu;
    const auto remains = run_to_end(options, patience);
    ASSERT_TRUE(remains.ok());
    EXPECT_EQ(remains.value().output, "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n");
}

TEST(Counting, ReadsWhatCallgrindSays)
{
    const auto counted = collected_instructions("==1== Events    : Ir\n==1== Collected : 128783\n");
    ASSERT_TRUE(counted.ok());
    EXPECT_EQ(counted.value(), 128'783);
    EXPECT_FALSE(collected_instructions("==1== Killed").ok());
    EXPECT_FALSE(collected_instructions("Collected : many").ok());
}

TEST(Counting, NamesSystemCalls)
{
    EXPECT_EQ(syscall_name(SYS_futex), "futex");
    EXPECT_EQ(syscall_name(511), "syscall 511");
}

} // namespace
} // namespace kairos::bench
