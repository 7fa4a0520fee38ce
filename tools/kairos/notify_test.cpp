// SPDX-License-Identifier: Apache-2.0
//
// `kairos notify` as processes: channels that run, what is pushed into them and seen by who
// watches, and what is listed. kairos/notification has what channels do.
#include "tools/kairos/daemon_testing.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kairos::tools {
namespace {

using nlohmann::json;

/// Runs until its end, well, and returns what it wrote to standard output.
std::string output_of(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start(std::move(arguments));
    const auto remains = process.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    return remains.output;
}

/// Whether so many proxies of consumers are there: pushing asks of a proxy what listing counts.
bool has_consumers(const std::string& channel, std::size_t count)
{
    for (int i = 0; i < 1000; ++i) {
        const json all = json::parse(output_of({"notify", "ls", channel, "--json"}));
        if (all[0]["figures"]["consumers"] == count) return true;
    }
    return false;
}

TEST(NotifyCommand, WatchesWhatIsPushed)
{
    Daemon daemon({"notify", "serve", "--channel", "Lab"});
    const std::string at = "corbaloc::localhost:" + port_in(daemon.reference);
    bench::ChildProcess watcher =
        start({"notify", "watch", at + "/Lab", "--json", "--type", "Sensors::*", "--filter",
               "$degrees > 30", "--count", "2"});
    ASSERT_TRUE(has_consumers(daemon.reference, 1));
    for (const char* const degrees : {"29", "31.5", "40"})
        (void)output_of({"notify", "push", at + "/Lab", "--type", "Sensors::Temperature", "--name",
                         "roof", "-f", std::string("degrees=") + degrees, "-f", "place=north",
                         "--body", "hello"});
    const auto remains = watcher.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    const std::size_t line_end = remains.output.find('\n');
    const json first = json::parse(remains.output.substr(0, line_end));
    EXPECT_EQ("Sensors", first["domain"]);
    EXPECT_EQ("Temperature", first["type"]);
    EXPECT_EQ("roof", first["name"]);
    EXPECT_EQ(31.5, first["data"]["degrees"]);
    EXPECT_EQ("north", first["data"]["place"]);
    EXPECT_EQ("hello", first["body"]);
    const json second = json::parse(remains.output.substr(line_end));
    EXPECT_EQ(40, second["data"]["degrees"]);
    // It has left nothing behind.
    const json all =
        json::parse(output_of({"notify", "ls", at + "/NotificationService", "--json"}));
    ASSERT_EQ(1U, all.size());
    EXPECT_EQ("Lab", all[0]["name"]);
    EXPECT_EQ(0, all[0]["figures"]["consumers"]);
    EXPECT_EQ(3, all[0]["figures"]["received"]);
    EXPECT_EQ(2, all[0]["figures"]["delivered"]);
    EXPECT_EQ(json::array(), all[0]["consumer_admins"][0]["proxies"]);
    EXPECT_EQ("0", daemon.end());
}

TEST(NotifyCommand, WatchingEndsWhenItIsTold)
{
    Daemon daemon({"notify", "serve"});
    bench::ChildProcess waits = start({"notify", "watch", daemon.reference});
    ASSERT_TRUE(has_consumers(daemon.reference, 1));
    (void)output_of({"notify", "push", daemon.reference, "--type", "Alarm", "--priority", "7"});
    EXPECT_EQ("::Alarm  Priority=7", waits.read_line(start_patience).value());
    const std::string listed = output_of({"notify", "ls", daemon.reference});
    EXPECT_NE(std::string::npos, listed.find("pull sequence, 0 filters")) << listed;
    EXPECT_NE(std::string::npos, listed.find("channel 0 NotifyChannel: received 1")) << listed;
    ::kill(waits.pid(), SIGTERM);
    const auto remains = waits.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    EXPECT_EQ("0", daemon.end());
}

TEST(NotifyCommand, KeepsWhatIsPushedInAFile)
{
    char folder[] = "/tmp/kairos-notify-XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder));
    const std::string file = std::string(folder) + "/events";
    for (const char* const run : {"first", "second"}) {
        Daemon daemon({"notify", "serve", "--channel", "Lab", "--store", file});
        (void)output_of({"notify", "push", daemon.reference, "--type", run});
        const std::string listed = output_of({"notify", "ls", daemon.reference});
        EXPECT_NE(std::string::npos, listed.find("channel 0 Lab (persistent, with its events)"))
            << listed;
        const std::string complaint = complaint_of({"notify", "serve", "--store", file});
        EXPECT_NE(std::string::npos, complaint.find("another notification service")) << complaint;
        const std::string ended = daemon.end(); // which has said that its address changes
        EXPECT_EQ(0U, ended.find("0kairos notify: ")) << ended;
        EXPECT_NE(std::string::npos, ended.find("--listen")) << ended;
    }
    std::filesystem::remove_all(folder);
}

TEST(NotifyCommand, SaysWhatIsWrong)
{
    Daemon daemon({"notify", "serve"});
    std::string complaint = complaint_of({"notify", "watch", daemon.reference, "--filter", "1 <"});
    EXPECT_NE(std::string::npos, complaint.find("no constraint")) << complaint;
    complaint = complaint_of({"notify", "push", daemon.reference, "--type", "A", "-f", "b"});
    EXPECT_NE(std::string::npos, complaint.find("NAME=VALUE")) << complaint;
    complaint = complaint_of({"notify", "serve", "--channel", "A", "--channel", "A"});
    EXPECT_NE(std::string::npos, complaint.find("NameInUse")) << complaint;
    Daemon other({"events"});
    complaint = complaint_of({"notify", "ls", other.reference});
    EXPECT_NE(std::string::npos, complaint.find("no notification channel")) << complaint;
    EXPECT_EQ("0", other.end());
    EXPECT_EQ("0", daemon.end());
}

} // namespace
} // namespace kairos::tools
