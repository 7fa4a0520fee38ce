// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench priority`: the experiment of paper 003, §4. A client of high priority calls at its
// rate, among clients of low priority that call at theirs or flood; what the high one's calls take,
// how much that varies, and how often the server let a low request go first.
#include "bench/architectures.h"
#include "bench/load_experiment.h"
#include "bench/wakeful.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace kairos::bench {
namespace {

/// A load, and what each contestant did under it.
struct LoadPoint {
    LowLoad low;
    std::vector<Rounds> of; ///< in the contestants' order
};

std::string name_of(const LowLoad& low, const PriorityOptions& options)
{
    if (low.clients == 0) return "alone";
    if (!low.flood) return fmt::format("{} low, {} Hz", low.clients, options.low_hz);
    if (low.compute_us == 0) return fmt::format("{} low, flooding", low.clients);
    return fmt::format("{} low, flooding, {} µs each", low.clients, low.compute_us);
}

std::uint32_t calls_per_round(const PriorityOptions& options)
{
    return std::max(1u, options.calls / options.rounds);
}

Load load_of(const LowLoad& low, const PriorityOptions& options)
{
    return {.high_calls = calls_per_round(options),
            .high_hz = options.high_hz,
            .low_clients = low.clients,
            .low_hz = low.flood ? 0 : options.low_hz,
            .compute_us = low.compute_us};
}

/// The point's rounds of the system of that option, if it takes part.
const Rounds* rounds_of(const LoadPoint& point, const std::vector<Contestant>& contestants,
                        std::string_view option)
{
    for (std::size_t i = 0; i < contestants.size(); ++i)
        if (contestants[i].system.option == option) return &point.of[i];
    return nullptr;
}

Result<std::vector<LoadPoint>> measure(std::vector<Contestant>& contestants,
                                       const PriorityOptions& options)
{
    std::vector<LoadPoint> points;
    for (const LowLoad& low : options.loads)
        points.push_back({low, std::vector<Rounds>(contestants.size())});
    const auto bytes = with_message_bytes(Load{}, contestants);
    if (!bytes) return bytes.error();
    std::size_t done = 0;
    for (unsigned round = 0; round < options.rounds; ++round)
        for (LoadPoint& point : points)
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                options.progress(
                    static_cast<double>(done++) /
                        static_cast<double>(options.rounds * points.size() * contestants.size()),
                    fmt::format("round {} of {}: {}", round + 1, options.rounds,
                                name_of(point.low, options)));
                Load load = load_of(point.low, options);
                load.request_bytes = bytes->request_bytes;
                load.reply_bytes = bytes->reply_bytes;
                auto figures = contestants[i].running.order(format_load(load));
                if (!figures) return figures.error();
                point.of[i].rounds.push_back(std::move(*figures));
            }
    return points;
}

double sum(const std::vector<double>& values)
{
    double all = 0;
    for (const double value : values)
        all += value;
    return all;
}

/// Only where nearly all requests were recognised, or the figure would flatter.
void set_inversions(Row& row, const Rounds& rounds)
{
    if (sum(rounds.values("stamped")) < 0.9 * sum(rounds.values("high_requests"))) return;
    row.set("inversions", sum(rounds.values("inversions")));
}

Row row_of(const System& system, const Rounds& rounds, const LoadPoint& point,
           const PriorityOptions& options, const std::string& side)
{
    Row row = absent_row(system, options, {});
    row.direction = name_of(point.low, options);
    row.payload_type = "octet";
    row.payload_bytes = 1;
    row.side = side;
    row.set("low_clients", point.low.clients);
    for (const char* figure : {"mean_us", "jitter_us", "max_us", "p50_us", "p99_us"})
        row.set(figure, rounds.middle(side + "_" + figure));
    const auto maxima = rounds.values(side + "_max_us");
    row.set("highest_us", *std::max_element(maxima.begin(), maxima.end()));
    return row;
}

void set_ratios(Row& row, const Rounds& rounds, const LoadPoint& point,
                const std::vector<Contestant>& contestants)
{
    const auto set = [&](const char* name, const char* figure, std::string_view option) {
        const Rounds* other = rounds_of(point, contestants, option);
        if (other != nullptr && other != &rounds) row.set(name, rounds.ratio_to(*other, figure));
    };
    set("mean_to_floor", "high_mean_us", "raw-realtime");
    set("jitter_to_floor", "high_jitter_us", "raw-realtime");
    set("max_to_floor", "high_max_us", "raw-realtime");
    set("jitter_to_omniorb", "high_jitter_us", "omniorb");
    set("jitter_to_pool", "high_jitter_us", "worker-pool");
}

/// A load of 20 that flood, which that of computing servants is compared with.
const LoadPoint* flooded(const std::vector<LoadPoint>& points)
{
    const auto found = std::ranges::find_if(points, [](const LoadPoint& point) {
        return point.low.flood && point.low.clients == 20 && point.low.compute_us == 0;
    });
    return found == points.end() ? nullptr : &*found;
}

/// What a configuration that is meant to keep priorities has to reach.
void set_priority_bars(Row& row, const LowLoad& low, bool has_lanes_of_pool)
{
    if (low.clients == 20 && low.flood && low.compute_us == 0 && has_lanes_of_pool)
        row.bars = {{"mean_to_floor", Bar::Relation::at_most, 1.15},
                    {"jitter_to_floor", Bar::Relation::at_most, 1.3},
                    {"max_to_floor", Bar::Relation::at_most, 1.5}};
    else if (low.clients == 20 && low.flood && low.compute_us == 0)
        row.bars = {{"mean_to_floor", Bar::Relation::at_most, 1.25},
                    {"jitter_to_floor", Bar::Relation::at_most, 1.6},
                    {"max_to_floor", Bar::Relation::at_most, 1.8}};
    if (low.clients == 50 && low.flood && low.compute_us > 0)
        row.bars = {{"mean_to_flood", Bar::Relation::at_most, 1.25}};
    if (low.clients == 50 && !low.flood)
        row.bars = {{"jitter_to_omniorb", Bar::Relation::at_most, 0.5},
                    {"jitter_to_pool", Bar::Relation::at_most, 0.5}};
    if (low.flood) row.bars.push_back({"inversions", Bar::Relation::at_most, 0});
}

void add_rows(Report& report, const std::vector<LoadPoint>& points, const LoadPoint& point,
              const std::vector<Contestant>& contestants, const PriorityOptions& options)
{
    for (std::size_t i = 0; i < contestants.size(); ++i) {
        const System& system = contestants[i].system;
        const Rounds& rounds = point.of[i];
        Row high = row_of(system, rounds, point, options, "high");
        set_ratios(high, rounds, point, contestants);
        const LoadPoint* flood = flooded(points);
        if (point.low.compute_us > 0 && flood != nullptr)
            high.set("mean_to_flood", rounds.ratio_to(flood->of[i], "high_mean_us"));
        if (point.low.clients > 0) set_inversions(high, rounds);
        const Architecture* architecture = architecture_of(system);
        if (architecture != nullptr && architecture->realtime)
            set_priority_bars(high, point.low, system.option == rt_corba_lanes);
        report.rows.push_back(std::move(high));
        if (point.low.clients == 0) continue;
        Row low = row_of(system, rounds, point, options, "low");
        low.set("calls_per_s", rounds.middle("low_calls_per_s"));
        report.rows.push_back(std::move(low));
    }
}

/// Calls without a pause, of the program of Real-Time CORBA and of its floor, with both sides on
/// one processor, or each on its own.
Result<void> add_null_calls(Report& report, const PriorityOptions& options, Pinning pinning)
{
    PriorityOptions pinned = options;
    pinned.pinning = pinning;
    std::erase_if(pinned.systems, [](const System& system) {
        return system.option != rt_corba_lanes && system.option != "raw-realtime";
    });
    std::erase_if(pinned.systems, [&](const System& system) {
        return !installed(system, options.program_directory);
    });
    if (pinned.systems.size() < 2) return {};
    auto contestants = start_contestants(pinned, 0, report);
    if (!contestants) return contestants.error();
    const auto bytes = with_message_bytes(Load{}, *contestants);
    if (!bytes) return bytes.error();
    LoadPoint point{{}, std::vector<Rounds>(contestants->size())};
    constexpr std::uint32_t without_pause_hz = 1'000'000;
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t i = 0; i < contestants->size(); ++i) {
            auto figures =
                (*contestants)[i].running.order(format_load({.high_calls = calls_per_round(options),
                                                             .high_hz = without_pause_hz,
                                                             .request_bytes = bytes->request_bytes,
                                                             .reply_bytes = bytes->reply_bytes}));
            if (!figures) return figures.error();
            point.of[i].rounds.push_back(std::move(*figures));
        }
    for (std::size_t i = 0; i < contestants->size(); ++i) {
        const System& system = (*contestants)[i].system;
        Row row = row_of(system, point.of[i], point, pinned, "high");
        row.direction = "without a pause";
        set_ratios(row, point.of[i], point, *contestants);
        if (system.option == rt_corba_lanes)
            row.bars = {
                {"mean_to_floor", Bar::Relation::at_most, pinning == Pinning::same ? 1.12 : 1.15}};
        report.rows.push_back(std::move(row));
        if (auto ended = (*contestants)[i].running.finish(); !ended) return ended.error();
    }
    return {};
}

void add_notes(Report& report, const std::vector<LoadPoint>& points, const PriorityOptions& options)
{
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} calls of the high client at {} Hz, also of their "
        "maxima. Jitter: the standard deviation. × floor: against raw sockets whose server thread "
        "for the high client has real-time priority, within a round; × 20 flooding: against the "
        "same system under that load.",
        options.rounds, calls_per_round(options), options.high_hz));
    report.notes.push_back("Inversions: requests of the high client dispatched after a low one "
                           "that the server had read later, in all rounds.");
    const bool permitted = std::ranges::all_of(points, [](const LoadPoint& point) {
        return std::ranges::all_of(point.of, [](const Rounds& rounds) {
            return sum(rounds.values("client_realtime")) > 0;
        });
    });
    if (!permitted)
        report.notes.push_back("SCHED_FIFO is not permitted here (ulimit -r, CAP_SYS_NICE): the "
                               "high client and real-time servers ran like all others, so the "
                               "figures say little.");
}

} // namespace

std::vector<LowLoad> priority_loads()
{
    std::vector<LowLoad> loads;
    for (const std::uint32_t clients : {0u, 1u, 5u, 10u, 20u, 30u, 40u, 50u})
        loads.push_back({.clients = clients, .flood = false, .compute_us = 0});
    for (const std::uint32_t clients : {5u, 20u, 50u})
        loads.push_back({.clients = clients, .flood = true, .compute_us = 0});
    loads.push_back({.clients = 50, .flood = true, .compute_us = 1000});
    return loads;
}

Result<Report> run_priority(const PriorityOptions& options)
{
    Report report{.experiment = "priority",
                  .rows = {},
                  .notes = {},
                  .needs = {{"mean_to_floor"},
                            {"jitter_to_floor"},
                            {"max_to_floor"},
                            {"mean_to_flood"},
                            {"jitter_to_omniorb"},
                            {"jitter_to_pool"},
                            {"inversions"}}};
    std::optional<Wakeful> wakeful;
    if (!options.idle_sleeps) wakeful.emplace();
    std::vector<Row> absent;
    auto contestants = start_contestants(options, 0, report);
    if (!contestants) return contestants.error();
    absent.swap(report.rows);
    const auto points = measure(*contestants, options);
    if (!points) return points.error();
    for (const LoadPoint& point : *points)
        add_rows(report, *points, point, *contestants, options);
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Contestant& contestant : *contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    if (auto added = add_null_calls(report, options, Pinning::same); !added) return added.error();
    if (usable_cpus().size() > 1)
        if (auto added = add_null_calls(report, options, Pinning::split); !added)
            return added.error();
    add_notes(report, *points, options);
    report.notes.push_back(
        wakeful && wakeful->permitted()
            ? "Idle processors were kept awake (/dev/cpu_dma_latency)."
            : "Idle processors may have slept: where clients call at a rate, most of the time and "
              "its jitter is that of waking them.");
    return report;
}

std::vector<Column> priority_columns()
{
    return {{"mean_us", "mean µs", 1},
            {"jitter_us", "jitter µs", 1},
            {"max_us", "max µs", 0},
            {"p50_us", "p50 µs", 1},
            {"p99_us", "p99 µs", 1},
            {"mean_to_floor", "mean × floor", 2},
            {"jitter_to_floor", "jitter × floor", 2},
            {"max_to_floor", "max × floor", 2},
            {"mean_to_flood", "mean × 20 flooding", 2},
            {"jitter_to_omniorb", "jitter × omniORB", 2},
            {"jitter_to_pool", "jitter × pool", 2},
            {"inversions", "inversions", 0},
            {"calls_per_s", "calls/s", 0}};
}

} // namespace kairos::bench
