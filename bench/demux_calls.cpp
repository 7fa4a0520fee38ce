// SPDX-License-Identifier: Apache-2.0
#include "bench/demux_calls.h"

#include "bench/demux_peer.h"
#include "bench/statistics.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace kairos::bench {
namespace {

/// References go to the client by its command line: more would not fit.
constexpr std::uint32_t called_servants_max = 1000;

/// One ORB with so many objects of each number of operations, and the median times of its calls by
/// pattern and operations, round by round.
struct Population {
    System system;
    std::uint32_t servants;
    RunningSystem running;
    std::map<std::pair<Pattern, std::uint32_t>, std::vector<double>> p50_us;
};

/// A pair of strategies: `operations` are those of the program.
System pair_of(const std::string& objects, const std::string& operations,
               const std::string& program)
{
    System system = select_systems("kairos").value().front();
    system.option = objects;
    system.architecture = fmt::format("objects {}, operations {}", objects, operations);
    system.program = program;
    if (objects == "perfect")
        system.server_arguments.insert(system.server_arguments.begin(), objects);
    else
        system.server_arguments.insert(system.server_arguments.end(), {"-ORBDemux", objects});
    return system;
}

/// The pairs of the paper whose objects are found in one of the ways asked for, and other ORBs.
std::vector<System> systems_of_many(const DemuxOptions& options)
{
    std::vector<System> systems;
    for (const System& asked : options.systems) {
        const std::string& objects = asked.option;
        const bool hashed = objects == "perfect" || objects == "active";
        systems.push_back(pair_of(objects, hashed ? "perfect" : objects,
                                  hashed ? "kairos-bench-many" : "kairos-bench-many-" + objects));
        if (objects != "active") continue;
        systems.push_back(pair_of("delayered", "perfect", "kairos-bench-many-delayered"));
        systems.back().architecture = "objects active, operations de-layered";
    }
    System other = select_systems("omniorb").value().front();
    other.program = "kairos-bench-many-omniorb";
    systems.push_back(std::move(other));
    return systems;
}

Result<std::vector<Population>> start_populations(const DemuxOptions& options)
{
    std::vector<Population> populations;
    for (const std::uint32_t servants : options.servants) {
        if (servants > called_servants_max) continue;
        for (System system : systems_of_many(options)) {
            if (!installed(system, options.program_directory)) continue;
            system.server_arguments.insert(system.server_arguments.begin(),
                                           std::to_string(servants));
            auto running =
                RunningSystem::start(system, {.program_directory = options.program_directory,
                                              .pinning = options.pinning,
                                              .queue_bytes = 0,
                                              .server = {},
                                              .client = {}});
            if (!running) return running.error();
            populations.push_back({system, servants, std::move(*running), {}});
        }
    }
    return populations;
}

Result<void> call_all(std::vector<Population>& populations, const DemuxOptions& options)
{
    for (unsigned round = 0; round < options.rounds; ++round) {
        options.progress(static_cast<double>(round) / options.rounds,
                         fmt::format("calls, round {} of {}", round + 1, options.rounds));
        for (const Pattern pattern : all_patterns)
            for (const std::uint32_t operations : operation_counts)
                for (Population& population : populations) {
                    const Exercise exercise{.units = operations,
                                            .calls = options.calls,
                                            .request_bytes = static_cast<std::uint32_t>(pattern)};
                    auto figures = population.running.order(Verb::latency, exercise);
                    if (!figures) return figures.error();
                    population.p50_us[{pattern, operations}].push_back(figures->at("p50_us"));
                }
    }
    return {};
}

/// Round by round, against the same ORB with the fewest servants.
double to_fewest(const Population& population, const std::vector<Population>& populations,
                 Pattern pattern, std::uint32_t operations)
{
    const Population* fewest = &population;
    for (const Population& other : populations)
        if (other.system.option == population.system.option && other.servants < fewest->servants)
            fewest = &other;
    const std::vector<double>& own = population.p50_us.at({pattern, operations});
    std::vector<double> ratios;
    for (std::size_t round = 0; round < own.size(); ++round)
        ratios.push_back(own[round] / fewest->p50_us.at({pattern, operations})[round]);
    return median(std::move(ratios));
}

Row row_of(const Population& population, const std::vector<Population>& populations,
           Pattern pattern, std::uint32_t operations, Pinning pinning)
{
    Row row;
    row.system = population.system.name;
    row.variant = fmt::format("calls, {}", variant_of(population.system, pinning));
    row.direction = name_of(pattern);
    row.set("operations", operations);
    row.set("servants", population.servants);
    row.set("p50_us", median(population.p50_us.at({pattern, operations})));
    row.set("to_fewest", to_fewest(population, populations, pattern, operations));
    const bool active =
        population.system.option == "active" || population.system.option == "delayered";
    if (active && population.servants > 1) row.bars = {{"to_fewest", Bar::Relation::at_most, 1.05}};
    return row;
}

} // namespace

Result<void> add_calls_of_many(Report& report, const DemuxOptions& options)
{
    if (options.calls == 0) return {};
    auto populations = start_populations(options);
    if (!populations) return populations.error();
    if (auto called = call_all(*populations, options); !called) return called.error();
    for (const Pattern pattern : all_patterns)
        for (const std::uint32_t operations : operation_counts)
            for (const Population& population : *populations)
                report.rows.push_back(
                    row_of(population, *populations, pattern, operations, options.pinning));
    for (Population& population : *populations)
        if (auto ended = population.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Calls: twoway, no arguments, over loopback; medians of {} interleaved rounds of {} calls; "
        "× fewest: the same with the fewest servants, within a round.",
        options.rounds, options.calls));
    return {};
}

} // namespace kairos::bench
