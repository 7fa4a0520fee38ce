// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/sched_input.h"

#include "idlc/frontend.h"

#include <charconv>
#include <map>

namespace kairos::tools {
namespace {

/// Of an operation as the compiler names it; the compiler has checked the numbers.
sched::RtInfo info_of(const idlc::Timing& timing)
{
    const auto time = [](const std::optional<std::int64_t>& ns) {
        return sched::Time(ns.value_or(0));
    };
    sched::RtInfo info{.name = timing.operation->scoped_name,
                       .worst_case_time = time(timing.worst_case_ns),
                       .typical_time = time(timing.typical_ns),
                       .cached_time = time(timing.cached_ns),
                       .period = time(timing.period_ns),
                       .deadline = time(timing.deadline_ns),
                       .blocking = time(timing.blocking_ns),
                       .quantum = time(timing.quantum_ns),
                       .threads = timing.threads.value_or(0)};
    if (timing.criticality) info.criticality = static_cast<sched::Criticality>(*timing.criticality);
    if (timing.importance) info.importance = static_cast<sched::Importance>(*timing.importance);
    return info;
}

using Indices = std::map<const idlc::Operation*, sched::OperationIndex>;

/// Those of which the IDL says something, and whom they call.
Result<SchedInput> input_of(const std::vector<idlc::Timing>& timings,
                            const idlc::Diagnostics& diagnostics)
{
    SchedInput input;
    Indices indices;
    const auto add = [&](const idlc::Timing& timing) -> Result<void> {
        const auto index = input.set.add(info_of(timing));
        if (!index) return index.error();
        indices.emplace(timing.operation, *index);
        input.places.push_back(diagnostics.place(timing.operation->location));
        return {};
    };
    for (const idlc::Timing& timing : timings)
        if (const auto added = add(timing); !added) return added.error();
    for (const idlc::Timing& timing : timings)
        for (const idlc::TimedCall& call : timing.calls)
            if (!indices.contains(call.callee))
                if (const auto added = add({.operation = call.callee}); !added)
                    return added.error();
    for (const idlc::Timing& timing : timings)
        for (const idlc::TimedCall& call : timing.calls) {
            const auto kind = call.waits ? sched::CallKind::two_way : sched::CallKind::one_way;
            const auto added = input.set.add_dependency(
                indices.at(timing.operation), {indices.at(call.callee), kind, call.count});
            if (!added) return added.error();
        }
    return input;
}

std::optional<SchedInput> read_idl(const std::string& path,
                                   const std::vector<std::string>& include_directories,
                                   std::string& errors)
{
    idlc::Options options;
    options.include_directories = include_directories;
    idlc::Compilation compilation(options);
    const bool good = compilation.compile_file(path);
    errors = compilation.diagnostics().render(false);
    if (!good) return std::nullopt;
    auto input = input_of(compilation.timings(), compilation.diagnostics());
    if (!input) {
        errors += path + ": error: " + input.error().reason + '\n';
        return std::nullopt;
    }
    return std::move(input).value();
}

} // namespace

std::optional<sched::PriorityRange> parse_priorities(const std::string& text)
{
    sched::PriorityRange range;
    const char* const end = text.data() + text.size();
    const auto lowest = std::from_chars(text.data(), end, range.lowest);
    if (lowest.ec != std::errc() || lowest.ptr == end || *lowest.ptr != '-') return std::nullopt;
    const auto highest = std::from_chars(lowest.ptr + 1, end, range.highest);
    if (highest.ec != std::errc() || highest.ptr != end) return std::nullopt;
    return range;
}

std::optional<SchedInput> read_sched_input(const std::string& path,
                                           const std::vector<std::string>& include_directories,
                                           std::string& errors)
{
    if (path.ends_with(".idl")) return read_idl(path, include_directories, errors);
    return read_tasks(path, errors);
}

} // namespace kairos::tools
