// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench asynchronous`: null calls that nobody waits for, and coroutines, beside calls of
// stubs: how many in a second, how long one takes, what it allocates.
#include "bench/call_counts.h"
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace kairos::bench {
namespace {

constexpr double awaited_to_stub = 1.25;         ///< at most, p50 on one CPU
constexpr double outstanding_to_threads = 1.5;   ///< at least, calls a second
constexpr double allocations_of_outstanding = 1; ///< at most, a call

/// One system's figures of all rounds.
struct Timed {
    std::vector<double> calls_per_s;
    std::vector<double> p50_us; ///< empty where calls are not made one after the other
};
using TimedSystems = std::map<std::string, Timed>; // by option

/// Round by round, so that both sides of a ratio saw the machine in the same state.
std::optional<double> ratio(const std::vector<double>& mine, const std::vector<double>& other)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i)
        ratios.push_back(mine[i] / other[i]);
    if (ratios.empty()) return std::nullopt;
    return median(std::move(ratios));
}

bool one_by_one(const System& system)
{
    return system.option.ends_with("-1") || system.option.starts_with("stub");
}

std::optional<Error> time_all(std::vector<Contestant>& contestants,
                              const AsynchronousOptions& options, TimedSystems& timed)
{
    const Exercise rate{.direction = Direction::twoway, .calls = options.calls};
    const Exercise each{.direction = Direction::twoway, .calls = options.calls / 4 + 1};
    for (unsigned round = 0; round < options.rounds; ++round) {
        options.progress(static_cast<double>(round) / options.rounds,
                         fmt::format("round {} of {}", round + 1, options.rounds));
        for (Contestant& contestant : contestants) {
            Timed& times = timed[contestant.system.option];
            const auto all = contestant.running.order(Verb::ttcp, rate);
            if (!all) return all.error();
            times.calls_per_s.push_back(options.calls / all->at("seconds"));
            if (!one_by_one(contestant.system)) continue;
            const auto one = contestant.running.order(Verb::latency, each);
            if (!one) return one.error();
            times.p50_us.push_back(one->at("p50_us"));
        }
    }
    return std::nullopt;
}

/// Only these have a bar; of what waits for others in threads or in perform_work the counts would
/// depend on who was faster.
bool is_counted(const System& system)
{
    return system.option == "stub" || system.option.starts_with("callbacks") ||
           system.option.starts_with("coroutines");
}

std::optional<Error> count_allocations(Row& row, const System& system,
                                       const AsynchronousOptions& options)
{
    const Exercise null_call{.direction = Direction::twoway};
    auto counts = count_calls(system, options, options.counted_calls, std::array{null_call},
                              CountingMethod::preload);
    if (!counts) return counts.error();
    row.set("allocations_per_call",
            static_cast<double>(counts->front().client.allocations) / options.counted_calls);
    return std::nullopt;
}

void set_bars(Row& row, const System& system, Pinning pinning)
{
    using enum Bar::Relation;
    if (system.option == "coroutines-1" && pinning == Pinning::same)
        row.bars.push_back({"ratio_to_stub", at_most, awaited_to_stub});
    if (system.option == "callbacks-1000") {
        row.bars.push_back({"ratio_to_threads", at_least, outstanding_to_threads});
        row.bars.push_back({"allocations_per_call", at_most, allocations_of_outstanding});
    }
}

Row make_row(const System& system, const TimedSystems& timed, const AsynchronousOptions& options)
{
    Row row;
    row.system = system.name;
    row.variant = variant_of(system, options.pinning);
    row.direction = name_of(Direction::twoway);
    row.payload_type = name_of(Payload::none);
    const Timed& mine = timed.at(system.option);
    row.set("calls_per_s", median(mine.calls_per_s));
    if (!mine.p50_us.empty()) row.set("p50_us", median(mine.p50_us));
    if (const auto stub = timed.find("stub"); stub != timed.end())
        if (const auto of_stub = ratio(mine.p50_us, stub->second.p50_us))
            row.set("ratio_to_stub", *of_stub);
    if (const auto threads = timed.find("threads-16"); threads != timed.end())
        row.set("ratio_to_threads", *ratio(mine.calls_per_s, threads->second.calls_per_s));
    set_bars(row, system, options.pinning);
    return row;
}

std::vector<Need> needs_of(const AsynchronousOptions& options)
{
    std::vector<Need> needs{{"ratio_to_threads", "null"}};
    if (options.pinning == Pinning::same) needs.push_back({"ratio_to_stub", "null"});
    return needs;
}

} // namespace

Result<Report> run_asynchronous(const AsynchronousOptions& options)
{
    Report report{
        .experiment = "asynchronous", .rows = {}, .notes = {}, .needs = needs_of(options)};
    auto started = start_contestants(options, 0, report);
    if (!started) return started.error();
    std::vector<Contestant>& contestants = *started;
    std::vector<Row> absent;
    absent.swap(report.rows);
    TimedSystems timed;
    if (auto failure = time_all(contestants, options, timed)) return *failure;
    for (Contestant& contestant : contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    for (const Contestant& contestant : contestants) {
        Row row = make_row(contestant.system, timed, options);
        if (options.counted_calls > 0 && is_counted(contestant.system))
            if (auto failure = count_allocations(row, contestant.system, options)) return *failure;
        report.rows.push_back(std::move(row));
    }
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} null calls. × stub: p50 against calls of a stub "
        "that the thread waits for; × threads: calls a second against 16 threads that call by "
        "stubs, on a connection each; allocations: the client's.",
        options.rounds, options.calls));
    return report;
}

std::vector<Column> asynchronous_columns()
{
    return {{"calls_per_s", "calls/s", 0},
            {"ratio_to_threads", "× threads", 2},
            {"p50_us", "p50 µs", 2},
            {"ratio_to_stub", "× stub", 2},
            {"allocations_per_call", "allocations", 2}};
}

} // namespace kairos::bench
