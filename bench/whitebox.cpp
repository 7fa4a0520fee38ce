// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench whitebox`: what a null call costs each side in locks, allocations, system calls and
// context switches, by architecture (paper 003, figures 18 to 23).
#include "bench/architectures.h"
#include "bench/call_counts.h"
#include "bench/experiment.h"

#include <fmt/format.h>

namespace kairos::bench {
namespace {

struct Switches {
    double voluntary = 0;
    double involuntary = 0;
};

/// Those of whole processes: whoever looks at threads misses the ones that have ended.
Result<Sides<Switches>> switches_of_run(const System& system, const WhiteboxOptions& options,
                                        const Exercise& exercise)
{
    auto running = RunningSystem::start(without_spinning(system),
                                        {.program_directory = options.program_directory,
                                         .pinning = options.pinning,
                                         .queue_bytes = 0,
                                         .server = {},
                                         .client = {}});
    if (!running) return running.error();
    if (auto done = running->order(Verb::call, exercise); !done) return done.error();
    const auto remains = running->finish();
    if (!remains) return remains.error();
    const auto switches = [](const ChildProcess::Remains& of) {
        return Switches{static_cast<double>(of.voluntary_switches),
                        static_cast<double>(of.involuntary_switches)};
    };
    return Sides<Switches>{switches(remains->client), switches(remains->server)};
}

/// The difference between N and 2 N calls of processes that start and end alike.
Result<Sides<Switches>> switches_per_call(const System& system, const WhiteboxOptions& options,
                                          const Exercise& exercise)
{
    const auto once = switches_of_run(system, options, with_calls(exercise, options.calls));
    if (!once) return once.error();
    const auto twice = switches_of_run(system, options, with_calls(exercise, 2 * options.calls));
    if (!twice) return twice.error();
    const auto per_call = [&](const Switches& less, const Switches& more) {
        return Switches{(more.voluntary - less.voluntary) / options.calls,
                        (more.involuntary - less.involuntary) / options.calls};
    };
    return Sides<Switches>{per_call(once->client, twice->client),
                           per_call(once->server, twice->server)};
}

Row row_of(const System& system, const WhiteboxOptions& options, const char* side,
           const Counts& heap, const Counts& kernel, const Switches& switches)
{
    Row row = absent_row(system, options, {});
    row.direction = name_of(Direction::twoway);
    row.payload_type = name_of(Payload::none);
    row.side = side;
    set_heap_and_locks(row, heap, options.calls);
    set_system_calls(row, kernel, options.calls);
    row.set("voluntary_switches_per_call", switches.voluntary);
    row.set("involuntary_switches_per_call", switches.involuntary);
    const Architecture* architecture = architecture_of(system);
    const bool judged = architecture != nullptr &&
                        (architecture->realtime || system.option == "thread-per-connection" ||
                         system.option == "thread-per-connection+non-multiplexed");
    if (judged)
        for (const char* figure : {"locks_per_call", "futexes_per_call", "allocations_per_call"})
            row.bars.push_back({figure, Bar::Relation::at_most, 0});
    return row;
}

Result<void> add_rows(Report& report, const System& system, const WhiteboxOptions& options)
{
    const Exercise null_call = with_estimated_bytes({.direction = Direction::twoway});
    const std::span<const Exercise> exercises(&null_call, 1);
    const auto heap =
        count_calls(system, options, options.calls, exercises, CountingMethod::preload);
    if (!heap) return heap.error();
    const auto kernel =
        count_calls(system, options, options.calls, exercises, CountingMethod::trace);
    if (!kernel) return kernel.error();
    const auto switches = switches_per_call(system, options, null_call);
    if (!switches) return switches.error();
    report.rows.push_back(row_of(system, options, "client", heap->front().client,
                                 kernel->front().client, switches->client));
    report.rows.push_back(row_of(system, options, "server", heap->front().server,
                                 kernel->front().server, switches->server));
    return {};
}

} // namespace

Result<Report> run_whitebox(const WhiteboxOptions& options)
{
    Report report{.experiment = "whitebox",
                  .rows = {},
                  .notes = {},
                  .needs = {{"locks_per_call"}, {"futexes_per_call"}, {"allocations_per_call"}}};
    const auto systems = installed_systems(options, report);
    if (!systems) return systems.error();
    for (std::size_t i = 0; i < systems->size(); ++i) {
        options.progress(static_cast<double>(i) / static_cast<double>(systems->size()),
                         "counting " + (*systems)[i].option);
        if (auto added = add_rows(report, (*systems)[i], options); !added) return added.error();
    }
    report.notes.push_back(fmt::format(
        "Per null twoway call in the steady state: ({} calls less {} calls) / {}. Locks: mutex, "
        "read-write and spin lock acquisitions; futexes: those for which the kernel was called. "
        "Locks, system calls and context switches are counted in runs of their own, so that none "
        "disturbs another.",
        2 * options.calls, options.calls, options.calls));
    return report;
}

std::vector<Column> whitebox_columns()
{
    return {{"locks_per_call", "locks", 2},
            {"condition_actions_per_call", "conditions", 2},
            {"futexes_per_call", "futexes", 2},
            {"allocations_per_call", "allocations", 2},
            {"syscalls_per_call", "system calls", 2},
            {"voluntary_switches_per_call", "voluntary switches", 2},
            {"involuntary_switches_per_call", "involuntary switches", 2}};
}

} // namespace kairos::bench
