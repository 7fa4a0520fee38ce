// SPDX-License-Identifier: Apache-2.0
//
// Any text as a file of operations for `kairos sched`: it is refused at a place that can be shown,
// or else analysed under each policy and played. What the analysis says is never late is not late
// on the time line either, and takes no longer there than the analysis says.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/sched/time_line.h"
#include "kairos/sched/time_text.h"
#include "tools/kairos/sched_input.h"

#include <cstddef>
#include <cstdint>

using namespace kairos;

namespace {

using sched::Time;
using sched::Verdict;

/// A little of what users get: many inputs see more than few long ones.
constexpr std::uint64_t looks_max = 200'000;
constexpr sched::TimeLineLimits line_limits{.jobs_max = 2000, .slices_max = 4000};

void check_analysis(const sched::OperationSet& set, const sched::Analysis& analysis)
{
    KAIROS_CHECK(analysis.operations.size() == set.size());
    KAIROS_CHECK(analysis.responses.size() == analysis.tasks.size());
    KAIROS_CHECK(!analysis.tasks.empty() && analysis.utilisation > 0);
    bool all_meet = true;
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i) {
        const sched::Task& task = analysis.tasks[i];
        const sched::Response& response = analysis.responses[i];
        const bool meets = response.verdict == Verdict::meets;
        all_meet = all_meet && meets;
        KAIROS_CHECK(task.execution > Time(0) && task.period > Time(0) && task.deadline > Time(0));
        KAIROS_CHECK(!response.worst || *response.worst >= task.execution);
        KAIROS_CHECK(!meets || !response.worst || *response.worst <= task.deadline);
        KAIROS_CHECK(response.verdict != Verdict::misses || !response.worst ||
                     *response.worst > task.deadline);
    }
    KAIROS_CHECK(analysis.schedulable == all_meet);
}

void check_time_line(const sched::Analysis& analysis, const sched::TimeLine& line)
{
    KAIROS_CHECK(line.tasks.size() == analysis.tasks.size());
    Time at{0};
    Time idle = line.end;
    for (const sched::Slice& slice : line.slices) {
        KAIROS_CHECK(slice.begin >= at && slice.end > slice.begin && slice.end <= line.end);
        at = slice.end;
        idle -= slice.end - slice.begin;
    }
    KAIROS_CHECK(idle == line.idle);
    for (std::size_t i = 0; i < line.tasks.size(); ++i) {
        const sched::Response& response = analysis.responses[i];
        if (response.verdict != Verdict::meets) continue;
        KAIROS_CHECK(line.tasks[i].misses == 0);
        KAIROS_CHECK(!response.worst || line.tasks[i].worst_response <= *response.worst);
    }
}

void play(const sched::Analysis& analysis)
{
    Time longest{0};
    for (const sched::Task& task : analysis.tasks)
        longest = std::max({longest, task.period, task.deadline});
    for (const Time end : {longest, analysis.hyperperiod.value_or(2 * longest)}) {
        const auto line = sched::play(analysis.tasks, analysis.policy, end, Time(0), line_limits);
        if (line)
            check_time_line(analysis, *line);
        else
            KAIROS_CHECK(!line.error().reason.empty());
    }
}

} // namespace

// Whoever asks has written the file; what is read of it is a tree with positions, twice.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 256,
            .octets_beside = std::size_t{1} << 20,
            .comparisons_each = 1'000,
            .comparisons_beside = 2'000'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::string errors;
    const auto input = tools::parse_tasks(text, "in.toml", errors);
    KAIROS_CHECK(input.has_value() == errors.empty());
    if (!input) {
        KAIROS_CHECK(errors.starts_with("in.toml:"));
        return 0;
    }
    KAIROS_CHECK(input->places.size() == input->set.size());
    using enum sched::Policy;
    for (const sched::Policy policy : {rms, dms, edf, muf, llf}) {
        sched::OperationIndex culprit = input->set.size();
        const auto analysis =
            sched::analyse(input->set,
                           {.policy = policy,
                            .range = input->priorities.value_or(sched::PriorityRange()),
                            .time = sched::ExecutionTime::worst_case,
                            .looks_max = looks_max},
                           &culprit);
        if (!analysis) {
            KAIROS_CHECK(!analysis.error().reason.empty());
            continue;
        }
        if (input->set.size() == 0) continue; // `kairos sched` says so and ends
        check_analysis(input->set, *analysis);
        play(*analysis);
    }
    return 0;
}
