// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench counters`: what one call costs each side in the steady state, counted, not timed.
// Every figure is a difference: N calls, then 2 N calls, and the second count less the first over
// N, so that neither start-up nor the order itself is in it.
#include "bench/bars.h"
#include "bench/call_counts.h"
#include "bench/collocated.h"
#include "bench/experiment.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// 1,024 bytes of each, as the table of the peers has it; null first.
constexpr std::array<std::pair<Payload, std::uint32_t>, 4> calls_counted{{
    {Payload::none, 0},
    {Payload::octet, 1024},
    {Payload::bin_struct, 42},
    {Payload::strings, 32},
}};

StartOptions start_options(const CountersOptions& options)
{
    return {.program_directory = options.program_directory,
            .pinning = options.pinning,
            .queue_bytes = 0,
            .server = {},
            .client = {}};
}

/// All instructions of one side's process in a run of so many calls, the other side running free.
Result<std::int64_t> instructions_of_run(const System& system, const CountersOptions& options,
                                         const std::string& valgrind, const Exercise& exercise,
                                         bool client)
{
    StartOptions start = start_options(options);
    (client ? start.client : start.server).wrapper = {valgrind, "--tool=callgrind",
                                                      "--callgrind-out-file=/dev/null"};
    auto running = RunningSystem::start(without_spinning(system), start);
    if (!running) return running.error();
    if (auto done = running->order(Verb::call, exercise); !done) return done.error();
    auto remains = running->finish();
    if (!remains) return remains.error();
    return collected_instructions(client ? remains->client.errors : remains->server.errors);
}

Result<Sides<double>> instructions_per_call(const System& system, const CountersOptions& options,
                                            const std::string& valgrind, const Exercise& exercise)
{
    Sides<double> per_call{};
    for (const bool client : {true, false}) {
        const auto once = instructions_of_run(system, options, valgrind,
                                              with_calls(exercise, options.calls), client);
        if (!once) return once.error();
        const auto twice = instructions_of_run(system, options, valgrind,
                                               with_calls(exercise, 2 * options.calls), client);
        if (!twice) return twice.error();
        (client ? per_call.client : per_call.server) =
            static_cast<double>(*twice - *once) / options.calls;
    }
    return per_call;
}

void set_counter_bars(Row& row, const System& system)
{
    if (system.name != "kairos") return;
    if (row.side == "both") {
        if (row.payload_type == "null" && system.option == "kairos")
            row.bars = {{"instructions_per_call", Bar::Relation::at_most, bars::instructions}};
        return;
    }
    if (row.payload_type != "string32")
        row.bars = {{"allocations_per_call", Bar::Relation::at_most, bars::allocations},
                    {"locks_per_call", Bar::Relation::at_most, bars::locks}};
    const bool reactor_server = system.option == "kairos-reactor" && row.side == "server";
    row.bars.push_back({"syscalls_per_call", Bar::Relation::at_most,
                        reactor_server ? bars::system_calls + 1 : bars::system_calls});
}

Row empty_row(const System& system, const CountersOptions& options, const Exercise& exercise,
              const char* side)
{
    Row row = absent_row(system, options, {});
    row.direction = name_of(exercise.direction);
    row.payload_type = name_of(exercise.payload);
    row.payload_bytes = payload_bytes(exercise);
    row.side = side;
    return row;
}

Result<void> count_system(Report& report, const System& system, const CountersOptions& options,
                          std::span<const Exercise> exercises, const std::string& valgrind)
{
    const auto heap =
        count_calls(system, options, options.calls, exercises, CountingMethod::preload);
    if (!heap) return heap.error();
    const auto kernel =
        count_calls(system, options, options.calls, exercises, CountingMethod::trace);
    if (!kernel) return kernel.error();
    for (std::size_t i = 0; i < exercises.size(); ++i) {
        Sides<Row> rows{empty_row(system, options, exercises[i], "client"),
                        empty_row(system, options, exercises[i], "server")};
        const double calls = options.calls;
        set_heap_and_locks(rows.client, (*heap)[i].client, calls);
        set_heap_and_locks(rows.server, (*heap)[i].server, calls);
        set_system_calls(rows.client, (*kernel)[i].client, calls);
        set_system_calls(rows.server, (*kernel)[i].server, calls);
        Row both = empty_row(system, options, exercises[i], "both");
        const bool null_call = exercises[i].payload == Payload::none;
        if (!valgrind.empty() && (options.instructions_of_all || null_call)) {
            auto spent = instructions_per_call(system, options, valgrind, exercises[i]);
            if (!spent) return spent.error();
            rows.client.set("instructions_per_call", spent->client);
            rows.server.set("instructions_per_call", spent->server);
            both.set("instructions_per_call", spent->client + spent->server);
        }
        for (Row* row : {&rows.client, &rows.server}) {
            set_counter_bars(*row, system);
            report.rows.push_back(std::move(*row));
        }
        set_counter_bars(both, system);
        if (!both.figures.empty() || !both.bars.empty()) report.rows.push_back(std::move(both));
    }
    return {};
}

/// The exercises with the bytes that raw sockets are to move: an installed ORB's own, if any.
Result<std::vector<Exercise>> counted_exercises(const CountersOptions& options)
{
    std::vector<Contestant> orb;
    for (const System& system : options.systems) {
        if (!system.orb || !installed(system, options.program_directory) || !orb.empty()) continue;
        auto running = RunningSystem::start(system, start_options(options));
        if (!running) return running.error();
        orb.push_back({system, std::move(*running)});
    }
    std::vector<Exercise> exercises;
    for (const auto& [payload, units] : calls_counted) {
        const Exercise call{.direction = Direction::twoway, .payload = payload, .units = units};
        auto complete = with_message_bytes(call, orb);
        if (!complete) return complete.error();
        exercises.push_back(*complete);
    }
    return exercises;
}

/// Where Kairos itself takes part.
Result<void> count_collocated(Report& report, const CountersOptions& options,
                              const std::string& valgrind)
{
    if (std::ranges::find(options.systems, "kairos", &System::option) == options.systems.end())
        return {};
    for (const System& system : collocated_systems()) {
        if (!installed(system, options.program_directory)) continue;
        options.progress(1, "counting " + system.architecture);
        auto row = collocated_row(system, options, valgrind);
        if (!row) return row.error();
        report.rows.push_back(std::move(*row));
    }
    return {};
}

} // namespace

Result<Report> run_counters(const CountersOptions& options)
{
    Report report{.experiment = "counters",
                  .rows = {},
                  .notes = {},
                  .needs = {{"allocations_per_call", "null"},
                            {"locks_per_call", "null"},
                            {"syscalls_per_call", "null"},
                            {"instructions_per_call", "null"},
                            {"ns_per_call"}}};
    const std::string valgrind = options.instructions ? find_program("valgrind") : std::string{};
    const auto exercises = counted_exercises(options);
    if (!exercises) return exercises.error();
    for (std::size_t i = 0; i < options.systems.size(); ++i) {
        const System& system = options.systems[i];
        options.progress(static_cast<double>(i) / static_cast<double>(options.systems.size()),
                         "counting " + system.option);
        if (!installed(system, options.program_directory)) {
            report.rows.push_back(absent_row(system, options, "not installed"));
            continue;
        }
        auto counted = count_system(report, system, options, *exercises, valgrind);
        if (!counted) return counted.error();
    }
    if (auto counted = count_collocated(report, options, valgrind); !counted)
        return counted.error();
    report.notes.push_back(fmt::format(
        "Per call in the steady state: ({} calls less {} calls) / {}. Locks: mutex, read-write and "
        "spin lock acquisitions.",
        2 * options.calls, options.calls, options.calls));
    if (options.instructions && valgrind.empty())
        report.notes.push_back("No instruction counts: valgrind is not installed.");
    return report;
}

std::vector<Column> counters_columns()
{
    return {{"allocations_per_call", "allocations", 2},
            {"locks_per_call", "locks", 2},
            {"condition_actions_per_call", "conditions", 2},
            {"futexes_per_call", "futexes", 2},
            {"syscalls_per_call", "system calls", 2},
            {"instructions_per_call", "instructions", 0},
            {"ns_per_call", "ns", 1}};
}

} // namespace kairos::bench
