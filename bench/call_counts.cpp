// SPDX-License-Identifier: Apache-2.0
//
// A pair of programs under the counting library or the tracer of system calls.
#include "bench/call_counts.h"

#include <algorithm>
#include <cmath>
#include <sys/syscall.h>

namespace kairos::bench {
namespace {

constexpr std::chrono::seconds rest_patience{30};
constexpr std::uint32_t warm_up_min = 200;

/// Makes the calls and returns what was counted meanwhile on both sides, both at rest.
Result<Sides<Counts>> count_once(RunningSystem& running, const Sides<CountedPage>& pages,
                                 const Exercise& exercise)
{
    const auto rest = [&] {
        return wait_until_at_rest(running.client_pid(), rest_patience) &&
               wait_until_at_rest(running.middle_pid(), rest_patience);
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

SideOptions counted_side(const CountedPage& page, CountingMethod method,
                         const std::filesystem::path& directory)
{
    SideOptions side;
    side.environment = {page.environment()};
    side.inherited_descriptor = page.descriptor();
    if (method == CountingMethod::preload)
        side.environment.push_back("LD_PRELOAD=" + (directory / "libkairos_count.so").string());
    else
        side.wrapper = {(directory / "kairos-bench-syscalls").string()};
    return side;
}

} // namespace

System without_spinning(System system)
{
    if (system.name != "kairos") return system;
    for (auto* arguments : {&system.server_arguments, &system.client_arguments})
        if (std::ranges::find(*arguments, "-ORBSpin") == arguments->end())
            arguments->insert(arguments->end(), {"-ORBSpin", "0"});
    return system;
}

Exercise with_calls(Exercise exercise, std::uint32_t calls)
{
    exercise.calls = calls;
    return exercise;
}

Result<std::vector<Sides<Counts>>> count_calls(const System& system, const CommonOptions& options,
                                               std::uint32_t calls,
                                               std::span<const Exercise> exercises,
                                               CountingMethod method)
{
    auto client_page = CountedPage::create();
    auto server_page = CountedPage::create();
    if (!client_page) return client_page.error();
    if (!server_page) return server_page.error();
    const Sides<CountedPage> pages{std::move(*client_page), std::move(*server_page)};
    StartOptions start{.program_directory = options.program_directory,
                       .pinning = options.pinning,
                       .queue_bytes = 0,
                       .server = {},
                       .client = {}};
    start.client = counted_side(pages.client, method, options.program_directory);
    SideOptions& called = system.middle.empty() ? start.server : start.middle;
    called = counted_side(pages.server, method, options.program_directory);
    auto running = RunningSystem::start(without_spinning(system), start);
    if (!running) return running.error();

    std::vector<Sides<Counts>> all;
    for (const Exercise& exercise : exercises) {
        auto warmed =
            running->order(Verb::call, with_calls(exercise, std::max(warm_up_min, calls)));
        if (!warmed) return warmed.error();
        auto once = count_once(*running, pages, with_calls(exercise, calls));
        if (!once) return once.error();
        auto twice = count_once(*running, pages, with_calls(exercise, 2 * calls));
        if (!twice) return twice.error();
        twice->client -= once->client;
        twice->server -= once->server;
        all.push_back(*twice);
    }
    if (auto ended = running->finish(); !ended) return ended.error();
    return all;
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
    row.set("looks_per_call", static_cast<double>(counts.looks) / calls);
}

void set_heap_and_locks(Row& row, const Counts& counts, double calls)
{
    row.set("allocations_per_call", static_cast<double>(counts.allocations) / calls);
    row.set("locks_per_call", static_cast<double>(counts.locks) / calls);
    row.set("condition_actions_per_call", static_cast<double>(counts.condition_actions) / calls);
}

} // namespace kairos::bench
