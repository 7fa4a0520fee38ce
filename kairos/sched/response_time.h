// SPDX-License-Identifier: Apache-2.0
//
// Response-time analysis of fixed priorities on one processor: how long the worst job of each task
// takes from its release to its end. Joseph and Pandya (1986) and Audsley et al. (1993) within a
// period; Lehoczky (1990) where deadlines or responses are longer than that: every job of the busy
// period is looked at. Tasks that share a level do not preempt each other, which is the analysis of
// preemption thresholds (Wang and Saksena 1999).
#pragma once

#include "kairos/base/export.h"
#include "kairos/sched/tasks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kairos::sched {

enum class Verdict : std::uint8_t {
    meets,     ///< its deadline, always
    misses,    ///< its deadline, in the worst case
    unbounded, ///< what is more urgent leaves it too little: it falls behind further and further
    undecided, ///< the analysis cannot tell, or gave up
};

/// "meets", "misses", "unbounded", "undecided".
[[nodiscard]] KAIROS_API std::string_view name_of(Verdict verdict) noexcept;

struct KAIROS_API Response {
    Verdict verdict = Verdict::undecided;
    /// The worst response; of an unbounded task that of its first job, where it ever ends.
    std::optional<Time> worst{};
};

/// How much an analysis may compute. It is counted in looks at a task, of a few nanoseconds each:
/// sets near a utilisation of 1 with periods of extremely different sizes would need years of them.
/// Questions that are left without stay undecided.
class KAIROS_API Effort {
  public:
    static constexpr std::uint64_t looks_max = 1'000'000'000;

    explicit Effort(std::uint64_t looks = looks_max) noexcept : left_(looks) {}

    /// How often one question may look at all of so many tasks.
    [[nodiscard]] std::uint64_t rounds(std::size_t tasks) const noexcept
    {
        constexpr std::uint64_t looks_of_one_question = 50'000'000;
        return std::min(left_, looks_of_one_question) / (tasks + 1);
    }
    void spend(std::uint64_t rounds, std::size_t tasks) noexcept
    {
        left_ -= std::min(left_, rounds * (tasks + 1));
    }

  private:
    std::uint64_t left_;
};

/// The worst response of each task; the tasks' priorities are assigned.
[[nodiscard]] KAIROS_API std::vector<Response> response_times(std::span<const Task> tasks,
                                                              Effort& effort);

/// A time after which all that was released together, and since, has been done, if `blocking` comes
/// on top; in any order. None where that is never, or cannot be told.
[[nodiscard]] KAIROS_API std::optional<Time> busy_period(std::span<const Task* const> tasks,
                                                         Time blocking, Effort& effort);

} // namespace kairos::sched
