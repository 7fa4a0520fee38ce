// SPDX-License-Identifier: Apache-2.0
//
// The priority and concurrency experiments end to end, short and between real processes. What comes
// out is checked for being there and being possible; how fast it was is never.
#include "bench/architectures.h"
#include "bench/experiment.h"
#include "bench/plot.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kairos::bench {
namespace {

template <typename Options>
Options options_for(std::span<const System> systems)
{
    Options options;
    for (const System& system : systems)
        if (installed(system, KAIROS_PROGRAM_DIRECTORY)) options.systems.push_back(system);
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.rounds = 2;
    return options;
}

const Row* find_row(const Report& report, const std::string& system, const std::string& load,
                    const std::string& side)
{
    for (const Row& row : report.rows)
        if (row.system == system && row.direction == load && row.side == side) return &row;
    return nullptr;
}

TEST(Architectures, AreThoseThatTheOrbKnows)
{
    std::vector<std::string> options;
    for (const Architecture& architecture : architectures()) {
        EXPECT_TRUE(known(architecture)) << architecture.option;
        options.push_back(architecture.option);
    }
    for (const char* first : {"thread-per-connection", "raised", "reactor"})
        EXPECT_NE(std::ranges::find(options, first), options.end()) << first;
    EXPECT_FALSE(known({.option = "x",
                        .name = "x",
                        .server_arguments = {"-ORBConcurrency", "no-such-architecture"},
                        .client_arguments = {}}));
    EXPECT_FALSE(known({.option = "x",
                        .name = "x",
                        .server_arguments = {},
                        .client_arguments = {"-ORBNoSuchOption", "1"}}));
}

TEST(Architectures, AreSystemsOfBothExperiments)
{
    const auto all = priority_systems();
    EXPECT_EQ(all.size(), architectures().size() + 4); // raw, real-time raw, lanes, omniORB
    for (const System& system : all) {
        const Architecture* architecture = architecture_of(system);
        EXPECT_EQ(architecture != nullptr, system.name == "kairos");
        EXPECT_TRUE(architecture == nullptr || architecture->option == system.option);
    }
    EXPECT_TRUE(std::ranges::none_of(concurrency_systems(), [](const System& system) {
        return system.option == "raised" || system.option == "raw-realtime";
    }));
}

/// Those of the table that a client can be chosen for.
std::vector<Architecture> servers_of_pairs()
{
    std::vector<Architecture> servers;
    for (const Architecture& architecture : architectures())
        if (!architecture.servant_raises && architecture.client_arguments.empty())
            servers.push_back(architecture);
    return servers;
}

TEST(Pairs, OfEveryServerAndClientHaveTheArgumentsOfBoth)
{
    for (const Architecture& server : servers_of_pairs())
        for (const std::string client : {"non-multiplexed", "leader-followers", "active"}) {
            const std::string name = server.option + "+" + client;
            const auto chosen = select_systems(name, concurrency_systems(), load_pairs());
            ASSERT_TRUE(chosen.ok()) << chosen.error().reason;
            ASSERT_EQ(chosen->size(), 1u);
            const System& system = chosen->front();
            EXPECT_EQ(system.option, name);
            EXPECT_EQ(system.architecture, server.option + " + " + client);
            EXPECT_EQ(system.program, "kairos-bench-load");
            const std::vector<std::string> connects{"-ORBConnection", client};
            EXPECT_EQ(system.client_arguments, connects) << name;
            const auto& arguments = server.server_arguments;
            ASSERT_GT(system.server_arguments.size(), arguments.size());
            EXPECT_TRUE(std::ranges::equal(
                arguments, std::span(system.server_arguments).first(arguments.size())))
                << name;
            const Architecture* pair = architecture_of(system);
            ASSERT_NE(pair, nullptr) << name;
            EXPECT_EQ(pair->realtime, server.realtime && client == "non-multiplexed") << name;
            EXPECT_EQ(select_systems(name, whitebox_systems(), whitebox_pairs())->front().program,
                      "kairos-bench-orb");
        }
}

TEST(Pairs, AreSelectedAllTogetherButNotOfThemselves)
{
    EXPECT_EQ(architecture_pairs().size(), servers_of_pairs().size() * 3);
    const auto all = select_systems("raw,all-pairs", priority_systems(), load_pairs());
    ASSERT_TRUE(all.ok()) << all.error().reason;
    EXPECT_EQ(all->size(), 1 + load_pairs().size());
    EXPECT_EQ(select_systems("", priority_systems(), load_pairs())->size(),
              priority_systems().size());
    EXPECT_FALSE(select_systems("all-pairs", all_systems()).ok());
    const auto wrong = select_systems("worker-pool+passive", priority_systems(), load_pairs());
    ASSERT_FALSE(wrong.ok());
    EXPECT_NE(wrong.error().reason.find("worker-pool+active"), std::string::npos);
    EXPECT_NE(wrong.error().reason.find("all-pairs"), std::string::npos);
}

PriorityOptions short_priority()
{
    auto options = options_for<PriorityOptions>(priority_systems());
    options.calls = 20;
    options.high_hz = 2000;
    options.low_hz = 1000;
    options.loads = {{.clients = 0, .flood = false, .compute_us = 0},
                     {.clients = 3, .flood = false, .compute_us = 0},
                     {.clients = 20, .flood = true, .compute_us = 0},
                     {.clients = 2, .flood = true, .compute_us = 50}};
    return options;
}

TEST(Priority, HasARowForEverySystemLoadAndClass)
{
    const PriorityOptions options = short_priority();
    const auto report = run_priority(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const std::size_t processors = std::min<std::size_t>(usable_cpus().size(), 2);
    EXPECT_EQ(report->rows.size(), options.systems.size() * (1 + 3 * 2) + 2 * processors);
    for (const Row& row : report->rows) {
        EXPECT_GT(row.figure("mean_us").value(), 0) << row.variant << row.direction << row.side;
        EXPECT_GE(row.figure("max_us").value(), row.figure("p50_us").value());
        EXPECT_GE(row.figure("highest_us").value(), row.figure("max_us").value());
        EXPECT_GE(row.figure("jitter_us").value(), 0);
        EXPECT_EQ(row.figure("calls_per_s").value_or(0) > 0, row.side == "low");
    }
    for (const char* load :
         {"alone", "3 low, 1000 Hz", "20 low, flooding", "2 low, flooding, 50 µs each"}) {
        const Row* floor = find_row(*report, "raw-tcp real-time", load, "high");
        ASSERT_NE(floor, nullptr) << load;
        EXPECT_FALSE(floor->figure("mean_to_floor"));
        const Row* ours = find_row(*report, "kairos", load, "high");
        ASSERT_NE(ours, nullptr) << load;
        EXPECT_GT(ours->figure("mean_to_floor").value(), 0);
        EXPECT_GT(ours->figure("jitter_to_floor").value(), 0);
        EXPECT_GT(ours->figure("max_to_floor").value(), 0);
    }
    EXPECT_GT(find_row(*report, "kairos", "2 low, flooding, 50 µs each", "high")
                  ->figure("mean_to_flood")
                  .value(),
              0);
}

TEST(Priority, SeesTheArrivalsOfEverySystem)
{
    PriorityOptions options = short_priority();
    options.loads = {{.clients = 3, .flood = true, .compute_us = 0}};
    const auto report = run_priority(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    for (const Row& row : report->rows) {
        // Clients that share connections send requests that may be read in parts.
        const bool shares = row.system == "omniorb" || row.variant.find(" + ") != std::string::npos;
        if (row.side != "high" || shares || row.direction == "without a pause") continue;
        EXPECT_TRUE(row.figure("inversions")) << row.system << ' ' << row.variant;
    }
}

TEST(Priority, JudgesWhatIsMeantToKeepPriorities)
{
    const auto report = run_priority(short_priority());
    ASSERT_TRUE(report.ok()) << report.error().reason;
    std::size_t judged = 0;
    for (const Row& row : report->rows) {
        if (row.direction != "20 low, flooding" || row.bars.empty()) continue;
        ++judged;
        EXPECT_EQ(row.side, "high");
        EXPECT_EQ(row.bars.size(), 4u); // mean, jitter, maximum, inversions
    }
    const auto realtime = std::ranges::count_if(architectures(), &Architecture::realtime);
    EXPECT_EQ(judged, static_cast<std::size_t>(realtime) + 1); // the lanes of a pool
}

TEST(Priority, IsDrawnByArchitecture)
{
    const auto report = run_priority(short_priority());
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const std::string script = pictures_of(*report, "priority.svg").at(0).script;
    EXPECT_NE(script.find("title 'reactor'"), std::string::npos);
    EXPECT_NE(script.find("title 'raw-tcp real-time'"), std::string::npos);
    EXPECT_NE(script.find("\"20 low, flooding\" "), std::string::npos);
}

TEST(Priority, LoadsAreThePapersAndTheFloods)
{
    const std::vector<LowLoad> loads = priority_loads();
    EXPECT_EQ(std::ranges::count_if(loads, [](const LowLoad& load) { return load.flood; }), 4);
    EXPECT_EQ(loads.front().clients, 0u);
    EXPECT_EQ(loads.back().compute_us, 1000u);
}

ConcurrencyOptions short_concurrency()
{
    auto options = options_for<ConcurrencyOptions>(concurrency_systems());
    options.threads = {1, 16};
    options.duration_ms = 20;
    options.idle_connections = 20;
    options.active_connections = 5;
    return options;
}

TEST(Concurrency, HasARowForEverySystemAndNumberOfThreads)
{
    const ConcurrencyOptions options = short_concurrency();
    const auto report = run_concurrency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    EXPECT_EQ(report->rows.size(), options.systems.size() * 3);
    std::size_t judged = 0;
    for (const Row& row : report->rows) {
        EXPECT_EQ(row.status, "") << row.variant;
        EXPECT_GT(row.figure("calls_per_s").value_or(0), 0) << row.variant << row.direction;
        const bool idle = row.direction == "5 threads, 20 idle";
        EXPECT_EQ(row.figure("kib_per_idle").has_value(), idle) << row.direction;
        EXPECT_EQ(row.figure("ratio_to_raw").has_value(), !idle) << row.direction;
        if (row.direction == "16 threads") judged += row.bars.size();
    }
    EXPECT_EQ(judged, 1u); // the best architecture
    const std::string script = pictures_of(*report, "concurrency.svg").at(0).script;
    EXPECT_NE(script.find("title 'thread-per-connection'"), std::string::npos);
}

TEST(Concurrency, OfAPairThatIsAskedFor)
{
    auto options = short_concurrency();
    options.systems =
        select_systems("worker-pool+active", concurrency_systems(), load_pairs()).value();
    const auto report = run_concurrency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 3u);
    for (const Row& row : report->rows) {
        EXPECT_EQ(row.status, "") << row.direction;
        EXPECT_TRUE(row.variant.starts_with("worker-pool + active, ")) << row.variant;
        EXPECT_GT(row.figure("calls_per_s").value_or(0), 0) << row.direction;
    }
}

TEST(Concurrency, AServerThatDoesNotBearItIsAFinding)
{
    auto options = short_concurrency();
    std::erase_if(options.systems,
                  [](const System& system) { return system.option != "thread-per-connection"; });
    auto& arguments = options.systems.at(0).server_arguments;
    arguments.insert(arguments.end(), {"-ORBMaxConnections", "19"});
    options.threads = {1};
    const auto report = run_concurrency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 2u);
    EXPECT_EQ(report->rows[0].status, "");
    EXPECT_TRUE(report->rows[1].status.starts_with("failed: ")) << report->rows[1].status;
}

/// Per call, by whatever means. Who sends by others than write() writes to wake threads, more often
/// in one run than in the other.
double messages_sent(const Row& row)
{
    const auto calls_of = [&](const char* name) {
        const auto calls = row.system_calls.find(name);
        return calls == row.system_calls.end() ? 0 : calls->second;
    };
    const double sent = calls_of("sendto") + calls_of("sendmsg") + calls_of("writev");
    return sent > 0.5 ? sent : calls_of("write");
}

TEST(Whitebox, HasBothSidesOfEveryArchitecture)
{
    auto options = options_for<WhiteboxOptions>(whitebox_systems());
    options.calls = 200;
    const auto report = run_whitebox(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    EXPECT_EQ(report->rows.size(), options.systems.size() * 2);
    for (const Row& row : report->rows) {
        EXPECT_TRUE(row.figure("syscalls_per_call")) << row.variant << row.side;
        // On a busy machine idle connections are looked at, and reads are interrupted, at times in
        // one run more than in the other; what is sent is sent once.
        EXPECT_GE(messages_sent(row), 0.99) << row.variant << row.side;
        EXPECT_TRUE(row.figure("voluntary_switches_per_call")) << row.variant << row.side;
        if (row.system != "raw-tcp") continue;
        EXPECT_EQ(row.figure("locks_per_call"), 0);
        EXPECT_EQ(row.figure("allocations_per_call"), 0);
        EXPECT_EQ(row.figure("futexes_per_call"), 0);
    }
    const std::string script = pictures_of(*report, "whitebox.svg").at(0).script;
    EXPECT_NE(script.find("\"client\" "), std::string::npos);
    EXPECT_NE(script.find("title 'thread-per-connection'"), std::string::npos);
}

TEST(Whitebox, OfAPairSeesTheLocksOfBothItsSides)
{
    const auto pair = select_systems("worker-pool+active", whitebox_systems(), whitebox_pairs());
    ASSERT_TRUE(pair.ok()) << pair.error().reason;
    auto options = options_for<WhiteboxOptions>(*pair);
    options.calls = 200;
    const auto report = run_whitebox(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 2u);
    for (const Row& row : report->rows) {
        EXPECT_TRUE(row.variant.starts_with("worker-pool + active, ")) << row.variant;
        EXPECT_GE(row.figure("locks_per_call").value(), 1) << row.side;
    }
}

} // namespace
} // namespace kairos::bench
