// SPDX-License-Identifier: Apache-2.0
#include "bench/demux_calls.h"

#include "bench/demux_peer.h"
#include "bench/statistics.h"

#include <fmt/format.h>
#include <map>

namespace kairos::bench {
namespace {

/// References go to the client by its command line: more would not fit.
constexpr std::uint32_t called_servants_max = 1000;

/// One ORB with so many objects, and the median times of its calls by pattern, round by round.
struct Population {
    System system;
    std::uint32_t servants;
    RunningSystem running;
    std::map<Pattern, std::vector<double>> p50_us;
};

/// The ORBs' programs for many objects.
std::vector<System> systems_of_many(std::uint32_t servants)
{
    std::vector<System> systems;
    for (System system : all_systems()) {
        if (system.option == "kairos")
            system.program = "kairos-bench-many";
        else if (system.option == "omniorb")
            system.program = "kairos-bench-many-omniorb";
        else
            continue;
        system.server_arguments.insert(system.server_arguments.begin(), std::to_string(servants));
        systems.push_back(std::move(system));
    }
    return systems;
}

Result<std::vector<Population>> start_populations(const DemuxOptions& options)
{
    std::vector<Population> populations;
    for (const std::uint32_t servants : options.servants) {
        if (servants > called_servants_max) continue;
        for (const System& system : systems_of_many(servants)) {
            if (!installed(system, options.program_directory)) continue;
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
            for (Population& population : populations) {
                const Exercise exercise{.calls = options.calls,
                                        .request_bytes = static_cast<std::uint32_t>(pattern)};
                auto figures = population.running.order(Verb::latency, exercise);
                if (!figures) return figures.error();
                population.p50_us[pattern].push_back(figures->at("p50_us"));
            }
    }
    return {};
}

/// Round by round, against the same ORB with the fewest servants.
double to_fewest(const Population& population, const std::vector<Population>& populations,
                 Pattern pattern)
{
    const Population* fewest = &population;
    for (const Population& other : populations)
        if (other.system.option == population.system.option && other.servants < fewest->servants)
            fewest = &other;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < population.p50_us.at(pattern).size(); ++round)
        ratios.push_back(population.p50_us.at(pattern)[round] / fewest->p50_us.at(pattern)[round]);
    return median(std::move(ratios));
}

} // namespace

Result<void> add_calls_of_many(Report& report, const DemuxOptions& options)
{
    if (options.calls == 0) return {};
    auto populations = start_populations(options);
    if (!populations) return populations.error();
    if (auto called = call_all(*populations, options); !called) return called.error();
    for (const Pattern pattern : all_patterns)
        for (const Population& population : *populations) {
            Row row;
            row.system = population.system.name;
            row.variant = fmt::format("calls, {}", variant_of(population.system, options.pinning));
            row.direction = name_of(pattern);
            row.set("servants", population.servants);
            row.set("p50_us", median(population.p50_us.at(pattern)));
            row.set("to_fewest", to_fewest(population, *populations, pattern));
            if (population.system.option == "kairos" && population.servants > 1)
                row.bars = {{"to_fewest", Bar::Relation::at_most, 1.05}};
            report.rows.push_back(std::move(row));
        }
    for (Population& population : *populations)
        if (auto ended = population.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Calls: twoway, no arguments, over loopback; medians of {} interleaved rounds of {} calls; "
        "× fewest: the ORB against itself with the fewest servants, within a round.",
        options.rounds, options.calls));
    return {};
}

} // namespace kairos::bench
