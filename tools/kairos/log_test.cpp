// SPDX-License-Identifier: Apache-2.0
//
// `kairos log` as processes: a log service that is served, shown, written to, and killed.
// kairos/logs has what logs do.
#include "kairos/corba/CORBA.h"
#include "kairos/logs/DsLogAdmin.h"
#include "tools/kairos/daemon_testing.h"
#include "tools/kairos/log_testing.h"
#include "tools/kairos/outcome_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <regex>
#include <set>
#include <thread>

namespace kairos::tools {
namespace {

using namespace DsLogAdmin;

/// With what differs from run to run left out.
std::string without_times(const std::string& text)
{
    return std::regex_replace(text, std::regex(R"(\d{4}-\d\d-\d\dT[0-9:.]*Z)"), "TIME");
}

TEST(LogCommand, MakesWritesShowsAndRemovesLogs)
{
    ServingTool server({"log", "serve"});
    const std::string& logs = server.reference;
    const std::string made =
        outcome_of({"log", "create", logs, "--max-size", "900", "--full", "wrap", "--life", "600"});
    EXPECT_EQ("0 1\tIOR:", made.substr(0, 8));
    EXPECT_EQ("0 ", outcome_of({"log", "write", logs, "-i", "1", "lamp", "7", "-a", "floor=2"}));
    EXPECT_EQ("0 1\tTIME\t\"lamp\"\t{\"floor\":2}\n2\tTIME\t7\t{\"floor\":2}\n",
              without_times(outcome_of({"log", "tail", logs, "-i", "1"})));
    EXPECT_EQ("0 {\"id\":2,\"time\":\"TIME\",\"info\":7,\"attributes\":{\"floor\":2}}\n",
              without_times(outcome_of(
                  {"log", "query", logs, "-i", "1", "$.id > 1 and $.info < 9", "--json"})));
    EXPECT_EQ("0 log 1: 2 records, 160 octets\n",
              std::regex_replace(outcome_of({"log", "ls", logs}), std::regex(", \\d+ octets.*"),
                                 ", 160 octets"));
    EXPECT_EQ("0 ", outcome_of({"log", "set", logs, "-i", "1", "--max-size", "0", "--threshold",
                                "50,90", "--state", "locked"}));
    const std::string stats = outcome_of({"log", "stats", logs, "-i", "1", "--json"});
    EXPECT_NE(std::string::npos, stats.find("\"thresholds\":[50,90]")) << stats;
    EXPECT_NE(std::string::npos, stats.find("\"record_life_s\":600")) << stats;
    EXPECT_EQ("1 kairos log: the log is locked\n",
              outcome_of({"log", "write", logs, "-i", "1", "more"}));
    EXPECT_EQ("0 1\n", outcome_of({"log", "rm", logs, "-i", "1", "--where", "$.id == 1"}));
    EXPECT_EQ("1 kairos log: this is no constraint of the extended trader constraint language\n",
              outcome_of({"log", "query", logs, "-i", "1", "$.id >"}));
    EXPECT_EQ("1 kairos log: the log service has no store for that\n",
              outcome_of({"log", "set", logs, "-i", "1", "--qos", "reliable"}));
    EXPECT_EQ("1 kairos log: there is no log 2\n", outcome_of({"log", "stats", logs, "-i", "2"}));
    (void)outcome_of({"log", "set", logs, "-i", "1", "--state", "unlocked"});
    EXPECT_EQ("0 ", outcome_of({"log", "write", logs, "-i", "1", "last"}));
    EXPECT_NE("0 0\n", outcome_of({"log", "rm", logs, "-i", "1", "--where", ""})); // all records
    EXPECT_EQ("0 ", outcome_of({"log", "query", logs, "-i", "1"})); // but not the log
    EXPECT_EQ("0 ", outcome_of({"log", "rm", logs, "-i", "1"}));
    EXPECT_EQ("0 []\n", outcome_of({"log", "ls", logs, "--json"}));
    const std::string events = "corbaloc::localhost:" + port_in(logs) + "/EventLogFactory";
    EXPECT_EQ("0 4\tIOR:", outcome_of({"log", "create", events, "-i", "4"}).substr(0, 8));
    EXPECT_EQ("0 ", outcome_of({"log", "write", events, "-i", "4", "event"}));
    EXPECT_EQ("0 ", outcome_of({"log", "rm", events, "-i", "4"}));
    const std::string notify = "corbaloc::localhost:" + port_in(logs) + "/NotifyLogFactory";
    EXPECT_EQ("0 5\tIOR:", outcome_of({"log", "create", notify, "-i", "5"}).substr(0, 8));
    EXPECT_EQ("0 ", outcome_of({"log", "write", notify, "-i", "5", "event"}));
    EXPECT_EQ("0 ", outcome_of({"log", "rm", notify, "-i", "5"}));
    EXPECT_EQ(0, server.end());
}

/// What was acknowledged is there after the service was killed, at whatever moment, several times
/// over one store, and ids go on.
TEST(LogCommand, KeepsWhatItHasAcknowledgedWhenItIsKilled)
{
    char name[] = "/tmp/kairos-log-XXXXXX";
    const std::string folder = mkdtemp(name);
    const std::vector<std::string> serve{"log", "serve", "--store", folder + "/logs"};
    const CORBA::ORB_var orb = make_client();
    std::mt19937 random(30);
    std::set<CORBA::Long> acknowledged;
    RecordId last_id = 0;
    for (int round = 0; round < 8; ++round) {
        Daemon daemon(serve);
        const Log_var log = fifth_log(orb.in(), daemon.reference);
        acknowledged.merge(
            write_and_kill(log.in(), daemon.process.pid(), random() % 40, 1'000'000 * round));
        (void)daemon.process.finish(start_patience);

        Daemon again(serve);
        const Log_var found = fifth_log(orb.in(), again.reference);
        RecordId last = 0;
        const std::set<CORBA::Long> there = numbers_in(found.in(), last);
        EXPECT_TRUE(std::ranges::includes(there, acknowledged)) << "round " << round;
        EXPECT_EQ(there.size(), found->get_n_records());
        EXPECT_GE(last, last_id);
        last_id = last;
        EXPECT_EQ("0", again.end());
    }
    EXPECT_FALSE(acknowledged.empty());
    orb->destroy();
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace kairos::tools
