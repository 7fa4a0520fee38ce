// SPDX-License-Identifier: Apache-2.0
//
// `kairos rtevents` as processes: channels that run, what is pushed into them and seen by who
// watches, and what is listed. kairos/rtevents has what channels do.
#include "tools/kairos/daemon_testing.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace kairos::tools {
namespace {

using nlohmann::json;

std::string said_by(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start(std::move(arguments));
    const auto remains = process.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    return remains.output;
}

/// Waits for so many types that are wanted: each look is a process.
bool is_wanted(const std::string& channel, std::size_t count)
{
    for (int i = 0; i < 1000; ++i) {
        const json all = json::parse(said_by({"rtevents", "ls", channel, "--json"}));
        if (all["wanted"].size() == count) return true;
    }
    return false;
}

TEST(RtEventsCommand, WatchesWhatIsPushed)
{
    Daemon daemon({"rtevents", "serve", "--channel", "Radar"});
    const std::string channel = "corbaloc::localhost:" + port_in(daemon.reference) + "/Radar";
    bench::ChildProcess watcher = start({"rtevents", "watch", channel, "--json", "--type", "16",
                                         "--type", "18", "--source", "7", "--count", "2"});
    ASSERT_TRUE(is_wanted(channel, 2));
    const std::string listed = said_by({"rtevents", "ls", channel});
    EXPECT_EQ("wanted: type 16, source 7\nwanted: type 18, source 7\n", listed);
    const auto push = [&](const char* type) {
        (void)said_by({"rtevents", "push", channel, "--type", type, "--source", "7", "--payload",
                       "plot", "--value", "Z\xC3\xBCrich \xE6\x9D\xB1\xE4\xBA\xAC", "--ttl", "3"});
    };
    push("17");
    push("16");
    // The next one comes over another connection, and is not to pass this one.
    const json first = json::parse(watcher.read_line(start_patience).value());
    push("18");
    const auto remains = watcher.finish(start_patience);
    EXPECT_EQ(0, remains.exit_status) << remains.errors;
    EXPECT_EQ(16, first["type"]);
    EXPECT_EQ(7, first["source"]);
    EXPECT_EQ(3, first["ttl"]);
    EXPECT_EQ("706c6f74", first["payload"]);
    EXPECT_EQ("Z\xC3\xBCrich \xE6\x9D\xB1\xE4\xBA\xAC", first["value"]);
    EXPECT_EQ(18, json::parse(remains.output)["type"]);
    EXPECT_TRUE(is_wanted(channel, 0)) << "it has left nothing behind";
    EXPECT_EQ("0", daemon.end());
}

/// By lanes of priorities, through a gateway.
TEST(RtEventsCommand, LeadsFromOneChannelToAnother)
{
    Daemon near({"rtevents", "serve"});
    Daemon far({"rtevents", "serve", "--dispatching", "priorities", "--priority", "1=0"});
    Daemon gateway({"rtevents", "gateway", near.reference, far.reference});
    EXPECT_EQ("forwarding", gateway.reference);
    bench::ChildProcess watcher = start({"rtevents", "watch", far.reference});
    ASSERT_TRUE(is_wanted(far.reference, 1));
    // The gateway hears of it at its own pace.
    std::string line;
    for (int i = 1; line.empty() && i < 1000; ++i) {
        (void)said_by({"rtevents", "push", near.reference, "--type", "20", "--source",
                       std::to_string(i), "--payload", "plot"});
        if (const auto said = watcher.read_line(std::chrono::seconds(1))) line = *said;
    }
    EXPECT_TRUE(line.starts_with("type 20 source ")) << line;
    EXPECT_TRUE(line.ends_with(" \"plot\"")) << line;
    ::kill(watcher.pid(), SIGTERM);
    EXPECT_EQ(0, watcher.finish(start_patience).exit_status);
    EXPECT_EQ("0", gateway.end());
    EXPECT_EQ("0", far.end());
    EXPECT_EQ("0", near.end());
}

/// Neither waits for a channel that does not answer any more.
TEST(RtEventsCommand, EndsWithoutAnAnswer)
{
    Daemon daemon({"rtevents", "serve"});
    Daemon other({"rtevents", "serve"});
    Daemon gateway({"rtevents", "gateway", daemon.reference, other.reference});
    bench::ChildProcess watcher = start({"rtevents", "watch", other.reference});
    ASSERT_TRUE(is_wanted(other.reference, 1));
    ::kill(other.process.pid(), SIGSTOP);
    int state = 0; // it may still answer until its last thread stands still
    ASSERT_EQ(other.process.pid(), ::waitpid(other.process.pid(), &state, WUNTRACED));
    ASSERT_TRUE(WIFSTOPPED(state));
    ::kill(watcher.pid(), SIGTERM);
    EXPECT_EQ(1, watcher.finish(start_patience).exit_status);
    // It may also have said in time that it leaves, to nobody.
    const std::string said = gateway.end();
    EXPECT_TRUE(said.starts_with("0") || said.find("could not end in order") != std::string::npos)
        << said;
    ::kill(other.process.pid(), SIGCONT);
    EXPECT_EQ("0", daemon.end());
}

/// What `kairos access explain` makes of a call.
std::string verdict(const char* rules, const char* who, const char* what, const char* adapter,
                    std::vector<std::string> more = {})
{
    std::vector<std::string> arguments{"access", "explain", rules,       "--who", who,
                                       "--what", what,      "--adapter", adapter};
    arguments.insert(arguments.end(), more.begin(), more.end());
    bench::ChildProcess process = start(std::move(arguments));
    const auto remains = process.finish(start_patience);
    return remains.output + remains.errors;
}

TEST(RtEventsCommand, HasRulesForWhoMaySupply)
{
    constexpr const char* rules = KAIROS_EXAMPLES "/access/rtevents.toml";
    constexpr const char* channel = "RootPOA/RealTimeEventChannel%2FRadar";
    constexpr const char* proxies = "RootPOA/RealTimeEventChannel%2FRadar/Proxies";
    constexpr const char* listener = "address:127.0.0.1";
    const std::vector<std::string> suppliers{"--id", "suppliers"};
    const auto allows = [](const std::string& said) {
        return said.find("\nallow: ") != std::string::npos;
    };
    for (const char* const who : {"user:root", "certificate:CN=radar"}) {
        EXPECT_TRUE(allows(verdict(rules, who, "push", proxies)));
        EXPECT_TRUE(allows(verdict(rules, who, "obtain_push_consumer", channel, suppliers)));
        EXPECT_TRUE(allows(verdict(rules, who, "remove_observer", channel)));
    }
    EXPECT_TRUE(allows(verdict(rules, "certificate:CN=radar", "connect_push_consumer", proxies)));
    EXPECT_TRUE(allows(verdict(rules, listener, "obtain_push_supplier", channel)));
    EXPECT_TRUE(allows(verdict(rules, listener, "connect_push_consumer", proxies)));
    EXPECT_FALSE(allows(verdict(rules, listener, "push", proxies)));
    EXPECT_FALSE(allows(verdict(rules, listener, "obtain_push_consumer", channel, suppliers)));
    EXPECT_FALSE(allows(verdict(rules, listener, "remove_observer", channel)));
    EXPECT_FALSE(allows(verdict(rules, "user:root", "destroy", channel)));
}

/// With the rules that are ready for it.
TEST(RtEventsCommand, AsksWhoMaySupply)
{
    const std::string rules = KAIROS_EXAMPLES "/access/rtevents.toml";
    const std::string checked = said_by({"access", "check", rules});
    EXPECT_NE(std::string::npos, checked.find("6 rules")) << checked;
    Daemon daemon({"rtevents", "serve", "-ORBAccess", rules});
    const std::string complaint =
        complaint_of({"rtevents", "push", daemon.reference, "--type", "16"});
    EXPECT_NE(std::string::npos, complaint.find("NO_PERMISSION")) << complaint;
    const std::string said = daemon.end();
    EXPECT_NE(std::string::npos, said.find("operation=\"obtain_push_consumer\"")) << said;
}

TEST(RtEventsCommand, SaysWhatIsWrong)
{
    Daemon daemon({"rtevents", "serve"});
    std::string complaint = complaint_of({"rtevents", "serve", "--priority", "one=1"});
    EXPECT_NE(std::string::npos, complaint.find("RT_INFO=PRIORITY")) << complaint;
    complaint = complaint_of({"rtevents", "serve", "--ior", "a", "--ior", "b"});
    EXPECT_NE(std::string::npos, complaint.find("fewer channels")) << complaint;
    complaint = complaint_of({"rtevents", "serve", "--channel", "A", "--channel", "A"});
    EXPECT_NE(std::string::npos, complaint.find("AdapterAlreadyExists")) << complaint;
    Daemon other({"events"});
    complaint = complaint_of({"rtevents", "ls", other.reference});
    EXPECT_NE(std::string::npos, complaint.find("no real-time event channel")) << complaint;
    EXPECT_EQ("0", other.end());
    EXPECT_EQ("0", daemon.end());
}

} // namespace
} // namespace kairos::tools
