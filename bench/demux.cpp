// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench demux`: the experiments of paper 000 §3.7 and §5.3 on the step from key and name to
// an operation's function, alone: each way of finding objects with each way of finding operations.
// Then twoway calls of many objects (demux_calls.h).
#include "bench/counting.h"
#include "bench/demux_calls.h"
#include "bench/demux_peer.h"
#include "bench/experiment.h"
#include "bench/process.h"
#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>

namespace kairos::bench {
namespace {

using Figures = RunningSystem::Figures;

/// Beyond, not everything that random requests touch is in a core's own caches.
constexpr std::uint32_t cached_servants_max = 500;
/// Activating more would take minutes: each activation is a search as well.
constexpr std::uint32_t linear_servants_max = 10'000;

struct Contender {
    System system;
    RunningProgram running;
    std::map<std::uint32_t, std::vector<Figures>> rounds; ///< by servants
};

bool takes_part(const System& system, std::uint32_t servants)
{
    return system.option != "linear" || servants <= linear_servants_max;
}

/// The strategies of operations that a way of finding objects goes with.
std::span<const OperationStrategy> strategies_of(const System& system)
{
    if (system.option == "active") return all_operation_strategies;
    return layered_operation_strategies;
}

/// Fewer requests where each is a long search: a round stays a matter of seconds.
std::uint32_t requests_for(const System& system, std::uint32_t servants,
                           const DemuxOptions& options)
{
    if (system.option != "linear") return options.requests;
    return std::clamp(20'000'000 / servants, 200u, std::max(options.requests, 200u));
}

Result<std::vector<Contender>> start_all(const DemuxOptions& options, Report& report)
{
    const auto installed = installed_systems(options, report);
    if (!installed) return installed.error();
    std::vector<Contender> contenders;
    for (const System& system : *installed) {
        auto running = RunningProgram::start(system, options.program_directory);
        if (!running) return running.error();
        contenders.push_back({system, std::move(*running), {}});
    }
    return contenders;
}

Result<void> measure(std::vector<Contender>& contenders, const DemuxOptions& options)
{
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t at = 0; at < options.servants.size(); ++at) {
            const std::uint32_t servants = options.servants[at];
            const double part =
                static_cast<double>(at) / static_cast<double>(options.servants.size());
            options.progress(
                (round + part) / options.rounds,
                fmt::format("round {} of {}, {} servants", round + 1, options.rounds, servants));
            for (Contender& contender : contenders) {
                if (!takes_part(contender.system, servants)) continue;
                const Exercise exercise{.units = servants,
                                        .calls = requests_for(contender.system, servants, options)};
                auto figures = contender.running.order(Verb::demux, exercise);
                if (!figures) return figures.error();
                contender.rounds[servants].push_back(std::move(*figures));
            }
        }
    return {};
}

double median_of(const std::vector<Figures>& rounds, const std::string& figure)
{
    std::vector<double> values;
    for (const Figures& round : rounds)
        values.push_back(round.at(figure));
    return median(std::move(values));
}

/// How active demultiplexing compares with the fastest of the other strategies, round by round.
std::optional<double> to_next(const std::vector<Contender>& contenders, const Contender& active,
                              std::uint32_t servants, const std::string& figure)
{
    std::vector<double> ratios;
    const std::vector<Figures>& own = active.rounds.at(servants);
    for (std::size_t round = 0; round < own.size(); ++round) {
        std::optional<double> least;
        for (const Contender& other : contenders) {
            const auto there = other.rounds.find(servants);
            if (&other == &active || there == other.rounds.end()) continue;
            const double ns = there->second[round].at(figure);
            least = std::min(least.value_or(ns), ns);
        }
        if (least) ratios.push_back(own[round].at(figure) / *least);
    }
    if (ratios.empty()) return std::nullopt;
    return median(std::move(ratios));
}

/// How de-layered demultiplexing compares with a perfect hash behind a layer.
double to_layered(const std::vector<Figures>& rounds, Pattern pattern, std::uint32_t operations)
{
    std::vector<double> ratios;
    for (const Figures& round : rounds)
        ratios.push_back(round.at(figure_name(pattern, OperationStrategy::delayered, operations)) /
                         round.at(figure_name(pattern, OperationStrategy::perfect, operations)));
    return median(std::move(ratios));
}

Row row_of(const System& system, OperationStrategy operations, std::string_view direction)
{
    Row row;
    row.system = system.name;
    row.variant = fmt::format("{}, operations {}", system.architecture, name_of(operations));
    row.direction = direction;
    return row;
}

void add_points(Report& report, const std::vector<Contender>& contenders,
                const Contender& contender, OperationStrategy strategy, Pattern pattern)
{
    for (const std::uint32_t operations : operation_counts)
        for (const auto& [servants, rounds] : contender.rounds) {
            const std::string figure = figure_name(pattern, strategy, operations);
            Row row = row_of(contender.system, strategy, name_of(pattern));
            row.set("operations", operations);
            row.set("servants", servants);
            row.set("step_ns", median_of(rounds, figure));
            if (strategy == OperationStrategy::delayered)
                row.set("to_layered", to_layered(rounds, pattern, operations));
            else if (contender.system.option == "active")
                if (const auto ratio = to_next(contenders, contender, servants, figure)) {
                    row.set("to_next", *ratio);
                    if (strategy == OperationStrategy::perfect)
                        row.bars = {{"to_next", Bar::Relation::below, 1}};
                }
            report.rows.push_back(std::move(row));
        }
}

/// Largest median over smallest, of the numbers of servants that stay in the caches: all of them
/// where requests keep to one servant for long.
void add_spread(Report& report, const Contender& active, OperationStrategy strategy,
                Pattern pattern, std::uint32_t operations)
{
    const bool one_at_a_time = pattern == Pattern::train || pattern == Pattern::worst;
    const std::string figure = figure_name(pattern, strategy, operations);
    double least = 0;
    double most = 0;
    for (const auto& [servants, rounds] : active.rounds) {
        if (!one_at_a_time && servants > cached_servants_max) continue;
        const double ns = median_of(rounds, figure);
        least = least == 0 ? ns : std::min(least, ns);
        most = std::max(most, ns);
    }
    if (least == 0) return;
    Row row = row_of(active.system, strategy, name_of(pattern));
    row.side = "all sizes";
    row.set("operations", operations);
    row.set("spread", most / least);
    row.bars = {{"spread", Bar::Relation::at_most, 1.2}};
    report.rows.push_back(std::move(row));
}

/// Operations alone: they do not depend on how objects are found, so any program's will do.
void add_lookups(Report& report, const Contender& contender)
{
    std::vector<Figures> rounds;
    for (const auto& [servants, each] : contender.rounds)
        rounds.insert(rounds.end(), each.begin(), each.end());
    for (const OperationStrategy strategy : layered_operation_strategies)
        for (const std::uint32_t operations : operation_counts) {
            Row row;
            row.system = contender.system.name;
            row.variant = fmt::format("operations {}", name_of(strategy));
            row.direction = "operation alone";
            row.set("operations", operations);
            row.set("step_ns", median_of(rounds, lookup_name(strategy, operations)));
            if (operations == operation_counts.back()) {
                std::vector<double> ratios;
                for (const Figures& round : rounds)
                    ratios.push_back(round.at(lookup_name(strategy, operations)) /
                                     round.at(lookup_name(strategy, operation_counts.front())));
                row.set("spread", median(std::move(ratios)));
                if (strategy == OperationStrategy::perfect)
                    row.bars = {{"spread", Bar::Relation::at_most, 1.1}};
            }
            report.rows.push_back(std::move(row));
        }
}

/// The pairs of the paper.
std::vector<OperationStrategy> partners_of(const System& system)
{
    if (system.option == "linear") return {OperationStrategy::linear};
    if (system.option == "hash") return {OperationStrategy::hash};
    if (system.option == "perfect") return {OperationStrategy::perfect};
    return {OperationStrategy::perfect, OperationStrategy::delayered};
}

Result<std::int64_t> instructions_of_run(const System& system, const DemuxOptions& options,
                                         const std::string& valgrind, const Exercise& exercise)
{
    auto running = RunningProgram::start(
        system, options.program_directory,
        {.wrapper = {valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"}});
    if (!running) return running.error();
    if (auto done = running->order(Verb::demux, exercise); !done) return done.error();
    const auto said = running->finish();
    if (!said) return said.error();
    return collected_instructions(*said);
}

/// The difference between N and 2 N requests, so that what comes before them is not in it.
Result<double> instructions_per_request(const System& system, const DemuxOptions& options,
                                        const std::string& valgrind, Exercise exercise)
{
    exercise.calls = 10'000;
    const auto once = instructions_of_run(system, options, valgrind, exercise);
    if (!once) return once.error();
    exercise.calls *= 2;
    const auto twice = instructions_of_run(system, options, valgrind, exercise);
    if (!twice) return twice.error();
    return static_cast<double>(*twice - *once) * 2 / exercise.calls;
}

/// Worst-case requests of one pair.
Result<void> add_instructions(Report& report, const System& system, OperationStrategy strategy,
                              const DemuxOptions& options, const std::string& valgrind)
{
    options.progress(1, "counting instructions, objects " + system.option);
    for (const std::uint32_t operations : operation_counts)
        for (const std::uint32_t servants : options.servants) {
            if (servants > cached_servants_max) continue; // activation would take minutes
            const Exercise exercise{.units = servants,
                                    .request_bytes =
                                        point_number(Pattern::worst, strategy, operations)};
            const auto count = instructions_per_request(system, options, valgrind, exercise);
            if (!count) return count.error();
            Row row = row_of(system, strategy, name_of(Pattern::worst));
            row.side = "counted";
            row.set("operations", operations);
            row.set("servants", servants);
            row.set("instructions", *count);
            report.rows.push_back(std::move(row));
        }
    return {};
}

/// Of the paper's pairs: what the time is made of.
Result<void> add_instructions(Report& report, const std::vector<Contender>& contenders,
                              const DemuxOptions& options)
{
    const std::string valgrind = options.instructions ? find_program("valgrind") : std::string{};
    if (options.instructions && valgrind.empty())
        report.notes.push_back("No instruction counts: valgrind is not installed.");
    if (valgrind.empty()) return {};
    for (const Contender& contender : contenders)
        for (const OperationStrategy strategy : partners_of(contender.system))
            if (auto added =
                    add_instructions(report, contender.system, strategy, options, valgrind);
                !added)
                return added;
    return {};
}

void add_notes(Report& report, const std::vector<Contender>& contenders,
               const DemuxOptions& options)
{
    report.notes.push_back(fmt::format(
        "From the octets of a key and the name of an operation to its function, without messages "
        "and without the call; medians of {} interleaved rounds of {} requests a point (linear "
        "search: fewer).",
        options.rounds, options.requests));
    report.notes.push_back(
        "× next: active demultiplexing over the fastest other way of finding objects, within a "
        "round. Spread: largest median over smallest, over all numbers of servants (request train, "
        "worst case), up to 500 (round robin, random), or over 1 and 100 operations. × layered: "
        "de-layered over active demultiplexing with perfectly hashed operations. One operation "
        "is hashed here like many; kairos-idl compares the only operation of an interface "
        "without.");
    for (const Contender& contender : contenders) {
        const auto& rounds = contender.rounds;
        const auto cached = rounds.find(cached_servants_max);
        if (cached == rounds.end() || rounds.rbegin()->first <= cached_servants_max) continue;
        const std::string figure = figure_name(Pattern::random, OperationStrategy::perfect, 1);
        report.notes.push_back(fmt::format(
            "Objects {}: a random one of {} costs {:.1f} ns more than one of {}{}.",
            contender.system.option, rounds.rbegin()->first,
            median_of(rounds.rbegin()->second, figure) - median_of(cached->second, figure),
            cached->first, contender.system.option == "linear" ? "" : ", for cache misses"));
    }
}

} // namespace

Result<Report> run_demux(const DemuxOptions& options)
{
    Report report{.experiment = "demux",
                  .rows = {},
                  .notes = {},
                  .needs = {{"to_next"}, {"spread"}, {"to_fewest"}}};
    auto contenders = start_all(options, report);
    if (!contenders) return contenders.error();
    if (auto measured = measure(*contenders, options); !measured) return measured.error();
    for (const Contender& contender : *contenders)
        for (const OperationStrategy strategy : strategies_of(contender.system))
            for (const Pattern pattern : all_patterns)
                add_points(report, *contenders, contender, strategy, pattern);
    for (const Contender& contender : *contenders)
        if (contender.system.option == "active")
            for (const OperationStrategy strategy : partners_of(contender.system))
                for (const Pattern pattern : all_patterns)
                    for (const std::uint32_t operations : operation_counts)
                        add_spread(report, contender, strategy, pattern, operations);
    add_lookups(report, contenders->back());
    if (auto counted = add_instructions(report, *contenders, options); !counted)
        return counted.error();
    add_notes(report, *contenders, options);
    if (auto called = add_calls_of_many(report, options); !called) return called.error();
    for (Contender& contender : *contenders)
        if (auto ended = contender.running.finish(); !ended) return ended.error();
    return report;
}

std::vector<Column> demux_columns()
{
    return {{"operations", "operations", 0},
            {"servants", "servants", 0},
            {"step_ns", "ns", 1},
            {"instructions", "instructions", 0},
            {"to_next", "× next", 2},
            {"to_layered", "× layered", 2},
            {"spread", "spread", 2},
            {"p50_us", "call p50 µs", 2},
            {"to_fewest", "× fewest", 2}};
}

} // namespace kairos::bench
