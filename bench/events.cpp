// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench events`: what an event channel passes on in a second, and what it adds to the time
// that an event takes, beside bare oneway calls and omniEvents; and what one that is kept in a
// store passes on, beside the store alone.
#include "bench/load_experiment.h"
#include "bench/process.h"
#include "bench/statistics.h"
#include "bench/wakeful.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace kairos::bench {
namespace {

constexpr double one_to_two_oneways = 0.8; ///< at least, events a second
constexpr double one_to_omnievents = 5;    ///< likewise
constexpr double many_to_oneways = 0.9;    ///< at least, deliveries a second
constexpr double added_to_hop = 1.2;       ///< at most, of one hop more, p50
constexpr double flooded_to_floor = 1.5;   ///< at most, mean and deviation
constexpr double kept_to_store = 0.8;      ///< at least, of the store's own rate
constexpr std::uint32_t flooding = 20;     ///< suppliers of low priority
constexpr std::uint32_t high_hz = 200;
constexpr std::uint32_t message_bytes = 212; ///< of a request with such an event, about

/// One system's figures of all rounds.
struct Passed {
    std::vector<double> events_per_s;
    std::vector<double> p50_us; ///< empty where there are many consumers
};
using PassedBy = std::map<std::string, Passed>; // by option

/// As the systems' arguments say; bare oneways are one.
double consumers_of(const System& system)
{
    return std::max(1.0, std::stod(system.client_arguments.front()));
}

std::optional<Error> measure(std::vector<Contestant>& contestants, const EventsOptions& options,
                             PassedBy& passed)
{
    for (unsigned round = 0; round < options.rounds; ++round) {
        options.progress(static_cast<double>(round) / options.rounds,
                         fmt::format("round {} of {}", round + 1, options.rounds));
        for (Contestant& contestant : contestants) {
            Passed& figures = passed[contestant.system.option];
            const double consumers = consumers_of(contestant.system);
            const auto events =
                std::max(1u, static_cast<std::uint32_t>(options.events / consumers));
            const auto all = contestant.running.order(
                Verb::ttcp, {.direction = Direction::oneway, .calls = events});
            if (!all) return all.error();
            figures.events_per_s.push_back(events / all->at("seconds"));
            if (consumers > 1) continue;
            const auto each = contestant.running.order(
                Verb::latency, {.direction = Direction::oneway, .calls = options.events / 100 + 1});
            if (!each) return each.error();
            figures.p50_us.push_back(each->at("p50_us"));
        }
    }
    return std::nullopt;
}

/// Round by round: `of` their values.
template <typename Of>
void set_median(Row& row, const std::string& figure, const std::vector<double>& mine,
                const std::vector<double>& other, Of&& of)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i)
        values.push_back(of(mine[i], other[i]));
    if (!values.empty()) row.set(figure, median(std::move(values)));
}

void compare(Row& row, const System& system, const PassedBy& passed)
{
    const Passed& mine = passed.at(system.option);
    const double consumers = consumers_of(system);
    if (const auto bare = passed.find("oneways"); bare != passed.end() && consumers == 1) {
        if (system.option == "oneways") return;
        set_median(row, "ratio_to_two_oneways", mine.events_per_s, bare->second.events_per_s,
                   [](double own, double one) { return own / (one / 2); });
        // The bare one has two hops.
        set_median(row, "added_to_hop", mine.p50_us, bare->second.p50_us,
                   [](double own, double two) { return (own - two / 2) / (two / 2); });
    } else if (bare != passed.end()) {
        set_median(row, "ratio_to_oneways", mine.events_per_s, bare->second.events_per_s,
                   [&](double own, double one) { return own * consumers / one; });
    }
    const bool is_many = consumers > 1;
    const auto theirs = passed.find(is_many ? "omnievents-100" : "omnievents");
    if (theirs != passed.end() && system.name == "kairos")
        set_median(row, "ratio_to_omnievents", mine.events_per_s, theirs->second.events_per_s,
                   [](double own, double other) { return own / other; });
}

void set_bars(Row& row, const System& system)
{
    using enum Bar::Relation;
    if (system.option == "kairos")
        row.bars = {{"ratio_to_two_oneways", at_least, one_to_two_oneways},
                    {"ratio_to_omnievents", at_least, one_to_omnievents},
                    {"added_to_hop", at_most, added_to_hop}};
    if (system.option == "kairos-100" || system.option == "rt-100")
        row.bars = {{"ratio_to_oneways", at_least, many_to_oneways}};
    if (system.option == "rt")
        row.bars = {{"ratio_to_two_oneways", at_least, one_to_two_oneways},
                    {"added_to_hop", at_most, added_to_hop}};
}

Row make_row(const System& system, const PassedBy& passed, Pinning pinning)
{
    Row row;
    row.system = system.name;
    row.variant = variant_of(system, pinning);
    row.direction = name_of(Direction::oneway);
    row.payload_type = "event";
    row.payload_bytes = 64;
    const Passed& mine = passed.at(system.option);
    row.set("events_per_s", median(mine.events_per_s));
    row.set("deliveries_per_s", median(mine.events_per_s) * consumers_of(system));
    if (!mine.p50_us.empty()) row.set("p50_us", median(mine.p50_us));
    compare(row, system, passed);
    set_bars(row, system);
    return row;
}

// --- Low priorities that flood -------------------------------------------------------------------

Row flooded_row(const System& system, const EventsOptions& options, const Rounds& rounds)
{
    Row row = absent_row(system, options, {});
    row.direction = fmt::format("{} low, flooding", flooding);
    row.payload_type = "event";
    row.payload_bytes = 64;
    row.set("mean_us", rounds.middle("high_mean_us"));
    row.set("jitter_us", rounds.middle("high_jitter_us"));
    return row;
}

/// A consumer of high priority, and those of low priority, which get as much as they can.
Result<void> add_flooded(Report& report, const EventsOptions& options)
{
    EventsOptions loaded = options;
    loaded.systems.assign(events_load_systems().begin(), events_load_systems().end());
    const Wakeful wakeful; // idle processors, else most of the time is that of waking them
    auto contestants = start_contestants(loaded, 0, report);
    if (!contestants) return contestants.error();
    const Load load{.high_calls = options.high_events,
                    .high_hz = high_hz,
                    .low_clients = flooding,
                    .low_hz = 0,
                    .request_bytes = message_bytes,
                    .reply_bytes = message_bytes};
    std::vector<Rounds> of(contestants->size());
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t i = 0; i < contestants->size(); ++i) {
            options.progress(static_cast<double>(round) / options.rounds,
                             fmt::format("round {} of {}, flooding", round + 1, options.rounds));
            auto figures = (*contestants)[i].running.order(format_load(load));
            if (!figures) return figures.error();
            of[i].rounds.push_back(std::move(*figures));
        }
    for (std::size_t i = 0; i < contestants->size(); ++i) {
        const System& system = (*contestants)[i].system;
        if (auto ended = (*contestants)[i].running.finish(); !ended) return ended.error();
        if (of[i].middle("client_realtime") == 0) {
            report.rows.push_back(absent_row(system, options, "SCHED_FIFO is not permitted"));
            continue;
        }
        Row row = flooded_row(system, options, of[i]);
        if (i == 0 && of.size() == 2) {
            using enum Bar::Relation;
            row.set("mean_to_floor", of[0].ratio_to(of[1], "high_mean_us"));
            row.set("jitter_to_floor", of[0].ratio_to(of[1], "high_jitter_us"));
            row.bars = {{"mean_to_floor", at_most, flooded_to_floor},
                        {"jitter_to_floor", at_most, flooded_to_floor}};
        }
        report.rows.push_back(std::move(row));
    }
    report.notes.push_back(fmt::format(
        "{} low, flooding: what an event of high priority takes to its consumer, {} a round at {} "
        "Hz, while {} suppliers of low priority send as fast as their consumers get; jitter is the "
        "standard deviation; × floor: against raw sockets with a real-time thread at each place.",
        flooding, options.high_events, high_hz, flooding));
    return {};
}

// --- Kept in a store -----------------------------------------------------------------------------

/// Events a second, of all rounds, and how many are made durable together.
Row kept_row(const System& system, const EventsOptions& options, const Rounds& rounds,
             const std::string& seconds)
{
    Row row = absent_row(system, options, {});
    row.payload_type = "event";
    row.payload_bytes = 64;
    std::vector<double> events_per_s;
    std::vector<double> together;
    for (const RunningSystem::Figures& figures : rounds.rounds) {
        events_per_s.push_back(figures.at("events") / figures.at(seconds));
        together.push_back(figures.at("entered") / std::max(1.0, figures.at("transactions")));
    }
    row.set("events_per_s", median(std::move(events_per_s)));
    row.set("events_per_commit", median(std::move(together)));
    return row;
}

Result<void> add_kept(Report& report, const EventsOptions& options)
{
    EventsOptions kept = options;
    kept.systems.assign(events_kept_systems().begin(), events_kept_systems().end());
    auto contestants = start_contestants(kept, 0, report);
    if (!contestants) return contestants.error();
    for (Contestant& contestant : *contestants) {
        Rounds of;
        for (unsigned round = 0; round < options.rounds; ++round) {
            options.progress(static_cast<double>(round) / options.rounds,
                             fmt::format("round {} of {}, kept", round + 1, options.rounds));
            auto figures = contestant.running.order(std::to_string(options.kept_events));
            if (!figures) return figures.error();
            of.rounds.push_back(std::move(*figures));
        }
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
        Row row = kept_row(contestant.system, options, of, "seconds");
        std::vector<double> ratios;
        for (const RunningSystem::Figures& figures : of.rounds)
            ratios.push_back(figures.at("store_seconds") / figures.at("seconds"));
        row.set("ratio_to_store", median(std::move(ratios)));
        row.bars = {{"ratio_to_store", Bar::Relation::at_least, kept_to_store}};
        report.rows.push_back(std::move(row));
        System alone = contestant.system;
        alone.name = "sqlite";
        alone.architecture = "the same transactions";
        report.rows.push_back(kept_row(alone, options, of, "store_seconds"));
    }
    report.notes.push_back(fmt::format(
        "kept: {} structured events a round, each on the disk when its push returns, for one "
        "consumer that is pushed to; events/commit: how many are made durable together. × store: "
        "against SQLite alone, which makes the transactions of the round once more in a file "
        "beside.",
        options.kept_events));
    return {};
}

} // namespace

Result<Report> run_events(const EventsOptions& options)
{
    Report report{.experiment = "events",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_two_oneways", "event"}, {"ratio_to_oneways", "event"}}};
    EventsOptions present = options;
    std::vector<Row> absent;
    const bool has_omnievents = !find_program("omniEvents").empty();
    std::erase_if(present.systems, [&](const System& system) {
        if (has_omnievents || system.name != "omnievents") return false;
        absent.push_back(absent_row(system, options, "not installed"));
        return true;
    });
    auto started = start_contestants(present, 0, report);
    if (!started) return started.error();
    std::vector<Contestant>& contestants = *started;
    std::ranges::move(report.rows, std::back_inserter(absent));
    report.rows.clear();
    PassedBy passed;
    if (auto failure = measure(contestants, present, passed)) return *failure;
    for (Contestant& contestant : contestants) {
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
        report.rows.push_back(make_row(contestant.system, passed, options.pinning));
    }
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} deliveries of 64 octets in an Any. × two oneways: "
        "events a second against half as many bare oneway calls; × oneways: deliveries against "
        "bare calls; added × hop: p50 beyond one hop, against one hop more.",
        options.rounds, options.events));
    if (options.high_events != 0)
        if (auto added = add_flooded(report, options); !added) return added.error();
    if (options.kept_events != 0)
        if (auto added = add_kept(report, options); !added) return added.error();
    return report;
}

std::vector<Column> events_columns()
{
    return {{"events_per_s", "events/s", 0},
            {"deliveries_per_s", "deliveries/s", 0},
            {"ratio_to_two_oneways", "× two oneways", 2},
            {"ratio_to_oneways", "× oneways", 2},
            {"ratio_to_omnievents", "× omniEvents", 1},
            {"ratio_to_store", "× store", 2},
            {"events_per_commit", "events/commit", 1},
            {"p50_us", "p50 µs", 2},
            {"added_to_hop", "added × hop", 2},
            {"mean_us", "mean µs", 1},
            {"jitter_us", "jitter µs", 1},
            {"mean_to_floor", "mean × floor", 2},
            {"jitter_to_floor", "jitter × floor", 2}};
}

} // namespace kairos::bench
