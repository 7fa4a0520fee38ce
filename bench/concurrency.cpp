// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench concurrency`: calls a second of 1 and more client threads, each with a connection
// of its own where the ORB gives it one, by architecture; and of some connections among many that
// are idle, with what an idle one costs the server in memory.
#include "bench/architectures.h"
#include "bench/idle_connections.h"
#include "bench/load_experiment.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// A number of client threads, and what each contestant did with it.
struct Point {
    std::uint32_t threads = 0;
    std::vector<Rounds> of; ///< in the contestants' order
};

Load load_of(std::uint32_t threads, const Load& bytes, const ConcurrencyOptions& options)
{
    return {.high_calls = 0,
            .low_clients = threads,
            .low_hz = 0,
            .duration_ms = options.duration_ms,
            .request_bytes = bytes.request_bytes,
            .reply_bytes = bytes.reply_bytes};
}

Result<std::vector<Point>> measure(std::vector<Contestant>& contestants, const Load& bytes,
                                   const ConcurrencyOptions& options)
{
    std::vector<Point> points;
    for (const std::uint32_t threads : options.threads)
        points.push_back({threads, std::vector<Rounds>(contestants.size())});
    std::size_t done = 0;
    for (unsigned round = 0; round < options.rounds; ++round)
        for (Point& point : points) {
            options.progress(static_cast<double>(done++) /
                                 static_cast<double>(options.rounds * points.size()),
                             fmt::format("round {} of {}: {} threads", round + 1, options.rounds,
                                         point.threads));
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                auto figures = contestants[i].running.order(
                    format_load(load_of(point.threads, bytes, options)));
                if (!figures) return figures.error();
                point.of[i].rounds.push_back(std::move(*figures));
            }
        }
    return points;
}

Row row_of(const System& system, std::uint32_t threads, std::uint32_t idle,
           const ConcurrencyOptions& options)
{
    Row row = absent_row(system, options, {});
    row.direction = idle > 0 ? fmt::format("{} threads, {} idle", threads, idle)
                             : fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
    row.payload_type = "octet";
    row.payload_bytes = 1;
    row.set("threads", threads);
    return row;
}

const Rounds* rounds_of(const Point& point, const std::vector<Contestant>& contestants,
                        std::string_view option)
{
    for (std::size_t i = 0; i < contestants.size(); ++i)
        if (contestants[i].system.option == option) return &point.of[i];
    return nullptr;
}

void add_rows(Report& report, const Point& point, const std::vector<Contestant>& contestants,
              const ConcurrencyOptions& options)
{
    constexpr const char* rate = "low_calls_per_s";
    const Rounds* raw = rounds_of(point, contestants, "raw");
    const Rounds* omniorb = rounds_of(point, contestants, "omniorb");
    Row* best = nullptr;
    report.rows.reserve(report.rows.size() + contestants.size()); // `best` points into it
    for (std::size_t i = 0; i < contestants.size(); ++i) {
        const System& system = contestants[i].system;
        Row row = row_of(system, point.threads, 0, options);
        row.set("calls_per_s", point.of[i].middle(rate));
        row.set("p50_us", point.of[i].middle("low_p50_us"));
        row.set("p99_us", point.of[i].middle("low_p99_us"));
        if (raw != nullptr) row.set("ratio_to_raw", point.of[i].ratio_to(*raw, rate));
        if (omniorb != nullptr && system.orb && omniorb != &point.of[i])
            row.set("ratio_to_omniorb", point.of[i].ratio_to(*omniorb, rate));
        // Many threads on one connection, against an ORB that gives them five.
        if (point.threads == 64 && system.option == "thread-per-connection+leader-followers")
            row.bars = {{"ratio_to_omniorb", Bar::Relation::at_least, 1.0}};
        report.rows.push_back(std::move(row));
        const double reached = report.rows.back().figure("ratio_to_raw").value_or(0);
        if (system.name == "kairos" &&
            (best == nullptr || reached > best->figure("ratio_to_raw").value_or(0)))
            best = &report.rows.back();
    }
    if (point.threads == 16 && best != nullptr)
        best->bars = {{"ratio_to_raw", Bar::Relation::at_least, 0.85}};
}

/// A server of its own, so that no memory of earlier connections is used again.
Result<Row> row_among_idle(const System& system, std::uint32_t idle_count, const Load& bytes,
                           const ConcurrencyOptions& options)
{
    auto running = RunningSystem::start(system, {.program_directory = options.program_directory,
                                                 .pinning = options.pinning,
                                                 .queue_bytes = 0,
                                                 .server = {},
                                                 .client = {}});
    if (!running) return running.error();
    auto few = IdleConnections::open(system, *running, 10, bytes); // what only the first ones cost
    if (!few) return few.error();
    const auto before = resident_bytes(running->server_pid());
    if (!before) return before.error();
    auto idle = IdleConnections::open(system, *running, idle_count, bytes);
    if (!idle) return idle.error();
    const auto after = resident_bytes(running->server_pid());
    if (!after) return after.error();

    auto active = running->order(format_load(load_of(options.active_connections, bytes, options)));
    if (!active) return active.error();
    if (auto served = idle->call_each(); !served) return served.error();

    Row row = row_of(system, options.active_connections, idle_count, options);
    row.set("calls_per_s", active->at("low_calls_per_s"));
    row.set("p50_us", active->at("low_p50_us"));
    row.set("p99_us", active->at("low_p99_us"));
    row.set("idle_connections", idle_count);
    row.set("kib_per_idle",
            (static_cast<double>(*after) - static_cast<double>(*before)) / 1024 / idle_count);
    if (system.name == "kairos") row.bars = {{"kib_per_idle", Bar::Relation::at_most, 16}};
    return row;
}

/// That a server does not bear it is a finding like another.
void add_rows_among_idle(Report& report, const std::vector<System>& systems, std::uint32_t idle,
                         const Load& bytes, const ConcurrencyOptions& options)
{
    for (const System& system : systems) {
        options.progress(1, fmt::format("{} idle connections: {}", idle, system.option));
        auto row = row_among_idle(system, idle, bytes, options);
        if (!row) {
            Row failed = row_of(system, options.active_connections, idle, options);
            failed.status = "failed: " + row.error().reason;
            row = std::move(failed);
        }
        report.rows.push_back(std::move(*row));
    }
}

/// As many idle connections as the system's limit of descriptors leaves room for.
std::uint32_t possible_idle(const ConcurrencyOptions& options, Report& report)
{
    constexpr std::size_t others = 100; // of a program itself, generously
    const std::size_t limit =
        raise_descriptor_limit(options.idle_connections + options.active_connections + others);
    const std::size_t taken = options.active_connections + others;
    const auto room = static_cast<std::uint32_t>(limit > taken ? limit - taken : 0);
    if (room < options.idle_connections)
        report.notes.push_back(fmt::format("{} descriptors are permitted here (ulimit -n): {} idle "
                                           "connections instead of {}.",
                                           limit, room, options.idle_connections));
    return std::min(room, options.idle_connections);
}

} // namespace

Result<Report> run_concurrency(const ConcurrencyOptions& options)
{
    Report report{.experiment = "concurrency",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_omniorb"}, {"ratio_to_raw"}, {"kib_per_idle"}}};
    const std::uint32_t idle = possible_idle(options, report);
    std::vector<Row> absent;
    auto contestants = start_contestants(options, 0, report);
    if (!contestants) return contestants.error();
    absent.swap(report.rows);
    const auto bytes = with_message_bytes(Load{}, *contestants);
    if (!bytes) return bytes.error();
    const auto points = measure(*contestants, *bytes, options);
    if (!points) return points.error();
    for (const Point& point : *points)
        add_rows(report, point, *contestants, options);
    std::vector<System> systems;
    for (Contestant& contestant : *contestants) {
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
        systems.push_back(contestant.system);
    }
    if (idle > 0) add_rows_among_idle(report, systems, idle, *bytes, options);
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} ms; × raw: within a round, against sockets with a "
        "connection and a server thread for each client thread. Idle connections have each called "
        "once and, after the active ones were measured, once more.",
        options.rounds, options.duration_ms));
    return report;
}

std::vector<Column> concurrency_columns()
{
    return {{"calls_per_s", "calls/s", 0},
            {"p50_us", "p50 µs", 1},
            {"p99_us", "p99 µs", 1},
            {"ratio_to_raw", "× raw", 2},
            {"ratio_to_omniorb", "× omniORB", 2},
            {"kib_per_idle", "KiB per idle connection", 1}};
}

} // namespace kairos::bench
