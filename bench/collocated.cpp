// SPDX-License-Identifier: Apache-2.0
//
// One program, so that counts and times are those of both sides.
#include "bench/collocated.h"

#include "bench/call_counts.h"

namespace kairos::bench {
namespace {

constexpr std::uint32_t calls_timed = 1'000'000;
constexpr std::uint32_t warm_up_calls = 200;
constexpr std::chrono::seconds settling_patience{30};

Exercise calls_of(std::uint32_t calls)
{
    return {.direction = Direction::twoway, .payload = Payload::none, .calls = calls};
}

Result<Counts> count_once(RunningProgram& running, const CountedPage& page, std::uint32_t calls)
{
    const Error restless{ErrorCode::system, "a measured program does not come to rest"};
    if (!wait_until_at_rest(running.pid(), settling_patience)) return restless;
    const Counts before = page.read();
    if (auto done = running.order(Verb::call, calls_of(calls)); !done) return done.error();
    if (!wait_until_at_rest(running.pid(), settling_patience)) return restless;
    Counts counted = page.read();
    counted -= before;
    return counted;
}

Result<Counts> counts_of(const System& system, const CountersOptions& options)
{
    const auto page = CountedPage::create();
    if (!page) return page.error();
    const auto library = options.program_directory / "libkairos_count.so";
    auto running = RunningProgram::start(
        system, options.program_directory,
        {.environment = {page->environment(), "LD_PRELOAD=" + library.string()},
         .inherited_descriptor = page->descriptor()});
    if (!running) return running.error();
    if (auto warmed = running->order(Verb::call, calls_of(warm_up_calls)); !warmed)
        return warmed.error();
    const auto once = count_once(*running, *page, options.calls);
    if (!once) return once.error();
    auto twice = count_once(*running, *page, 2 * options.calls);
    if (!twice) return twice.error();
    *twice -= *once;
    if (auto ended = running->finish(); !ended) return ended.error();
    return *twice;
}

Result<double> nanoseconds_of(const System& system, const CountersOptions& options)
{
    auto running = RunningProgram::start(system, options.program_directory);
    if (!running) return running.error();
    const auto figures = running->order(Verb::latency, calls_of(calls_timed));
    if (!figures) return figures.error();
    if (auto ended = running->finish(); !ended) return ended.error();
    return figures->at("ns_per_call");
}

Result<std::int64_t> instructions_of_run(const System& system, const CountersOptions& options,
                                         const std::string& valgrind, std::uint32_t calls)
{
    auto running = RunningProgram::start(
        system, options.program_directory,
        {.wrapper = {valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"}});
    if (!running) return running.error();
    if (auto done = running->order(Verb::call, calls_of(calls)); !done) return done.error();
    const auto said = running->finish();
    if (!said) return said.error();
    return collected_instructions(*said);
}

Result<double> instructions_of(const System& system, const CountersOptions& options,
                               const std::string& valgrind)
{
    const auto once = instructions_of_run(system, options, valgrind, options.calls);
    if (!once) return once.error();
    const auto twice = instructions_of_run(system, options, valgrind, 2 * options.calls);
    if (!twice) return twice.error();
    return static_cast<double>(*twice - *once) / options.calls;
}

void set_collocated_bars(Row& row, const System& system)
{
    if (system.option == "no") return; // what the others are compared with
    row.bars = {{"allocations_per_call", Bar::Relation::at_most, 0},
                {"locks_per_call", Bar::Relation::at_most, 0},
                {"ns_per_call", Bar::Relation::at_most, system.option == "direct" ? 5.0 : 25.0}};
}

} // namespace

Result<Row> collocated_row(const System& system, const CountersOptions& options,
                           const std::string& valgrind)
{
    Row row = absent_row(system, options, {});
    row.variant = system.architecture;
    row.direction = name_of(Direction::twoway);
    row.payload_type = name_of(Payload::none);
    row.side = "both";
    const auto counts = counts_of(system, options);
    if (!counts) return counts.error();
    row.set("allocations_per_call", static_cast<double>(counts->allocations) / options.calls);
    row.set("locks_per_call", static_cast<double>(counts->locks) / options.calls);
    if (!valgrind.empty()) {
        const auto instructions = instructions_of(system, options, valgrind);
        if (!instructions) return instructions.error();
        row.set("instructions_per_call", *instructions);
    }
    const auto ns = nanoseconds_of(system, options);
    if (!ns) return ns.error();
    row.set("ns_per_call", *ns);
    set_collocated_bars(row, system);
    return row;
}

} // namespace kairos::bench
