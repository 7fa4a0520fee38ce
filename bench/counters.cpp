// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench counters`: what one call costs each side in the steady state, counted, not timed.
// Every figure is a difference: N calls, then 2 N calls, and the second count less the first over
// N, so that neither start-up nor the order itself is in it.
#include "bench/counting.h"
#include "bench/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <sys/syscall.h>

namespace kairos::bench {
namespace {

constexpr std::chrono::seconds rest_patience{30};
constexpr std::uint32_t warm_up = 200;

/// 1,024 bytes of each, as the table of the peers has it; null first.
constexpr std::array<std::pair<Payload, std::uint32_t>, 4> calls_counted{{
    {Payload::none, 0},
    {Payload::octet, 1024},
    {Payload::bin_struct, 42},
    {Payload::strings, 32},
}};

/// Something for the client and for the server of a pair.
template <typename Value>
struct Sides {
    Value client;
    Value server;
};

Exercise with_calls(Exercise exercise, std::uint32_t calls)
{
    exercise.calls = calls;
    return exercise;
}

StartOptions start_options(const CountersOptions& options)
{
    return {.program_directory = options.program_directory,
            .pinning = options.pinning,
            .queue_bytes = 0,
            .server = {},
            .client = {}};
}

/// Makes the calls and returns what was counted meanwhile on both sides, both at rest.
Result<Sides<Counts>> count_calls(RunningSystem& running, const Sides<CountedPage>& pages,
                                  const Exercise& exercise)
{
    const auto rest = [&] {
        return wait_until_at_rest(running.client_pid(), rest_patience) &&
               wait_until_at_rest(running.server_pid(), rest_patience);
    };
    const Error restless{ErrorCode::system, "a measured program does not come to rest"};
    if (!rest()) return restless;
    const Sides<Counts> before{pages.client.read(), pages.server.read()};
    if (auto done = running.order(Verb::call, exercise); !done) return done.error();
    if (!rest()) return restless;
    Sides<Counts> counted{pages.client.read(), pages.server.read()};
    counted.client -= before.client;
    counted.server -= before.server;
    return counted;
}

/// How the counting is done: by a library loaded before libc, or by tracing system calls.
enum class Method { preload, trace };

SideOptions counted_side(const CountedPage& page, Method method,
                         const std::filesystem::path& directory)
{
    SideOptions side;
    side.environment = {page.environment()};
    side.inherited_descriptor = page.descriptor();
    if (method == Method::preload)
        side.environment.push_back("LD_PRELOAD=" + (directory / "libkairos_count.so").string());
    else
        side.wrapper = {(directory / "kairos-bench-syscalls").string()};
    return side;
}

/// The counts of N calls (the difference between 2 N and N), for each of the calls counted.
Result<std::vector<Sides<Counts>>> count_all(const System& system, const CountersOptions& options,
                                             std::span<const Exercise> exercises, Method method)
{
    auto client_page = CountedPage::create();
    auto server_page = CountedPage::create();
    if (!client_page) return client_page.error();
    if (!server_page) return server_page.error();
    const Sides<CountedPage> pages{std::move(*client_page), std::move(*server_page)};
    StartOptions start = start_options(options);
    start.client = counted_side(pages.client, method, options.program_directory);
    start.server = counted_side(pages.server, method, options.program_directory);
    auto running = RunningSystem::start(system, start);
    if (!running) return running.error();

    std::vector<Sides<Counts>> all;
    for (const Exercise& exercise : exercises) {
        auto warmed = running->order(Verb::call, with_calls(exercise, warm_up));
        if (!warmed) return warmed.error();
        auto once = count_calls(*running, pages, with_calls(exercise, options.calls));
        if (!once) return once.error();
        auto twice = count_calls(*running, pages, with_calls(exercise, 2 * options.calls));
        if (!twice) return twice.error();
        twice->client -= once->client;
        twice->server -= once->server;
        all.push_back(*twice);
    }
    if (auto ended = running->finish(); !ended) return ended.error();
    return all;
}

/// All instructions of one side's process in a run of so many calls, the other side running free.
Result<std::int64_t> instructions_of_run(const System& system, const CountersOptions& options,
                                         const std::string& valgrind, const Exercise& exercise,
                                         bool client)
{
    StartOptions start = start_options(options);
    (client ? start.client : start.server).wrapper = {valgrind, "--tool=callgrind",
                                                      "--callgrind-out-file=/dev/null"};
    auto running = RunningSystem::start(system, start);
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

void set_system_calls(Row& row, const Counts& counts, double calls)
{
    double all = 0;
    for (std::size_t number = 0; number < counts.syscalls.size(); ++number) {
        const double per_call = static_cast<double>(counts.syscalls[number]) / calls;
        // A timer of a background thread may tick once in the whole run; that is no call's doing.
        if (std::abs(per_call) < 0.005) continue;
        row.system_calls[syscall_name(number)] = per_call;
        all += per_call;
    }
    row.set("futexes_per_call", static_cast<double>(counts.syscalls[SYS_futex]) / calls);
    row.set("syscalls_per_call", all);
}

void set_heap_and_locks(Row& row, const Counts& counts, double calls)
{
    row.set("allocations_per_call", static_cast<double>(counts.allocations) / calls);
    row.set("locks_per_call", static_cast<double>(counts.locks) / calls);
    row.set("condition_actions_per_call", static_cast<double>(counts.condition_actions) / calls);
}

void set_bars(Row& row, const System& system)
{
    if (system.name != "kairos") return;
    if (row.side == "both") {
        if (row.payload_type == "null" && system.option == "kairos")
            row.bars = {{"instructions_per_call", Bar::Relation::at_most, 2800}};
        return;
    }
    if (row.payload_type != "string32")
        row.bars = {{"allocations_per_call", Bar::Relation::at_most, 0},
                    {"locks_per_call", Bar::Relation::at_most, 0}};
    const bool reactor_server = system.option == "kairos-reactor" && row.side == "server";
    row.bars.push_back({"syscalls_per_call", Bar::Relation::at_most, reactor_server ? 3.0 : 2.0});
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
    const auto heap = count_all(system, options, exercises, Method::preload);
    if (!heap) return heap.error();
    const auto kernel = count_all(system, options, exercises, Method::trace);
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
        if (!valgrind.empty()) {
            auto spent = instructions_per_call(system, options, valgrind, exercises[i]);
            if (!spent) return spent.error();
            rows.client.set("instructions_per_call", spent->client);
            rows.server.set("instructions_per_call", spent->server);
            both.set("instructions_per_call", spent->client + spent->server);
        }
        for (Row* row : {&rows.client, &rows.server}) {
            set_bars(*row, system);
            report.rows.push_back(std::move(*row));
        }
        set_bars(both, system);
        if (!valgrind.empty()) report.rows.push_back(std::move(both));
    }
    return {};
}

/// The exercises with the bytes that raw sockets are to move: an installed ORB's own, if any.
Result<std::vector<Exercise>> exercises_of(const CountersOptions& options)
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

} // namespace

Result<Report> run_counters(const CountersOptions& options)
{
    Report report{.experiment = "counters", .rows = {}, .notes = {}};
    const std::string valgrind = options.instructions ? find_program("valgrind") : std::string{};
    const auto exercises = exercises_of(options);
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
            {"instructions_per_call", "instructions", 0}};
}

} // namespace kairos::bench
