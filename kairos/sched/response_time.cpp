// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/response_time.h"

#include "kairos/sched/bounds.h"

#include <algorithm>
#include <array>
#include <limits>

namespace kairos::sched {
namespace {

__extension__ using Wide = __int128;

/// Sums of up to operations_max products stay within Wide, results within Time.
constexpr Wide horizon = std::numeric_limits<std::int64_t>::max() / 4;
Wide period_of(const Task& task) { return task.period.count(); }
Wide execution_of(const Task& task) { return task.execution.count(); }

/// Releases in [0, time) and in [0, time].
Wide releases_before(const Task& task, Wide time)
{
    return (time + period_of(task) - 1) / period_of(task);
}
Wide releases_until(const Task& task, Wide time) { return time / period_of(task) + 1; }

/// The least time that `demand` maps to itself, from `start` on; none beyond the horizon or when
/// the rounds are used up.
template <typename Demand>
std::optional<Wide> fixed_point(Wide start, std::uint64_t& rounds, Demand demand)
{
    for (Wide time = start; rounds > 0;) {
        --rounds; // also of the last one: a busy period may have any number of jobs
        const Wide next = demand(time);
        if (next > horizon) return std::nullopt;
        if (next == time) return time;
        time = next;
    }
    return std::nullopt;
}

/// What one task competes with.
class Competition {
  public:
    Competition(const Task& task, std::span<const Task> all, Effort& effort)
        : task_(task), tasks_(all.size()), effort_(effort), rounds_given_(effort.rounds(tasks_)),
          rounds_(rounds_given_)
    {
        Wide longest_started = 0;
        for (const Task& other : all) {
            if (&other == &task) continue;
            if (other.priority.level < task.priority.level) {
                preempting_.push_back(&other);
                before_.push_back(&other);
            } else if (other.priority.level == task.priority.level) {
                if (other.priority.sub < task.priority.sub)
                    before_.push_back(&other);
                else
                    longest_started = std::max(longest_started, execution_of(other));
            }
        }
        // One less urgent job of the level may have begun, and one task below may hold a lock.
        blocking_ = task.blocking.count() + longest_started;
    }

    ~Competition() { effort_.spend(rounds_given_ - rounds_, tasks_); }
    Competition(const Competition&) = delete;
    Competition& operator=(const Competition&) = delete;

    [[nodiscard]] Response analyse()
    {
        const Load load = load_with_task();
        // Of a processor without a moment to spare, what blocks it once is never made up for.
        const bool ends = load == Load::below || (load == Load::equal && blocking_ == 0);
        const std::optional<Wide> busy = ends ? busy_period() : std::nullopt;
        if (!busy) return without_end(load);
        const Wide jobs = releases_before(task_, *busy);
        Wide worst = 0;
        for (Wide job = 0; job < jobs; ++job) {
            const auto end = end_of(job);
            if (!end) return {};
            worst = std::max(worst, *end - job * period_of(task_));
        }
        const Time time(static_cast<std::int64_t>(worst));
        return {time <= task_.deadline ? Verdict::meets : Verdict::misses, time};
    }

  private:
    [[nodiscard]] Load load_with_task() const
    {
        std::vector<const Task*> all = before_;
        all.push_back(&task_);
        return compare_with_processor(all);
    }

    /// There are always jobs to run: the first may end, but later ones do no better.
    [[nodiscard]] Response without_end(Load load)
    {
        Response response{load == Load::above ? Verdict::unbounded : Verdict::undecided, {}};
        if (compare_with_processor(before_) != Load::below) return response;
        effort_.spend(rounds_given_ - rounds_, tasks_);
        rounds_ = rounds_given_ = effort_.rounds(tasks_);
        if (const auto end = end_of(0)) response.worst = Time(static_cast<std::int64_t>(*end));
        if (load != Load::above && response.worst && *response.worst > task_.deadline)
            response.verdict = Verdict::misses;
        return response;
    }

    [[nodiscard]] std::optional<Wide> busy_period()
    {
        return fixed_point(blocking_ + execution_of(task_), rounds_, [&](Wide time) {
            Wide sum = blocking_ + releases_before(task_, time) * execution_of(task_);
            for (const Task* other : before_)
                sum += releases_before(*other, time) * execution_of(*other);
            return sum;
        });
    }

    /// When this job of the busy period, which all tasks begin together, has run.
    [[nodiscard]] std::optional<Wide> end_of(Wide job)
    {
        const Wide own = job * execution_of(task_);
        const auto start = fixed_point(blocking_ + own, rounds_, [&](Wide time) {
            Wide sum = blocking_ + own;
            for (const Task* other : before_)
                sum += releases_until(*other, time) * execution_of(*other);
            return sum;
        });
        if (!start) return std::nullopt;
        // Once it runs, only more urgent levels hold it up, by what they release from now on.
        return fixed_point(*start + execution_of(task_), rounds_, [&](Wide time) {
            Wide sum = *start + execution_of(task_);
            for (const Task* other : preempting_)
                sum += (releases_before(*other, time) - releases_until(*other, *start)) *
                       execution_of(*other);
            return sum;
        });
    }

    const Task& task_;
    std::vector<const Task*> preempting_; ///< at any time
    std::vector<const Task*> before_;     ///< those and who goes first in its level
    Wide blocking_ = 0;
    const std::size_t tasks_;
    Effort& effort_;
    std::uint64_t rounds_given_;
    std::uint64_t rounds_; ///< left of those
};

} // namespace

std::string_view name_of(Verdict verdict) noexcept
{
    constexpr std::array<std::string_view, 4> names{"meets", "misses", "unbounded", "undecided"};
    return names[static_cast<std::size_t>(verdict)];
}

std::vector<Response> response_times(std::span<const Task> tasks, Effort& effort)
{
    std::vector<Response> responses;
    responses.reserve(tasks.size());
    for (const Task& task : tasks)
        responses.push_back(Competition(task, tasks, effort).analyse());
    return responses;
}

std::optional<Time> busy_period(std::span<const Task* const> tasks, Time blocking, Effort& effort)
{
    if (compare_with_processor(tasks) == Load::above) return std::nullopt;
    Wide start = blocking.count();
    for (const Task* task : tasks)
        start += execution_of(*task);
    const std::uint64_t given = effort.rounds(tasks.size());
    std::uint64_t rounds = given;
    const auto end = fixed_point(start, rounds, [&](Wide time) {
        Wide sum = blocking.count();
        for (const Task* task : tasks)
            sum += releases_before(*task, time) * execution_of(*task);
        return sum;
    });
    effort.spend(given - rounds, tasks.size());
    if (!end) return std::nullopt;
    return Time(static_cast<std::int64_t>(*end));
}

} // namespace kairos::sched
