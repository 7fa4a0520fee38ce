// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/time_line.h"

#include "kairos/sched/time_text.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

namespace kairos::sched {
namespace {

__extension__ using Wide = __int128;

struct Job {
    std::size_t task = 0;
    std::uint64_t number = 0;
    Time release{0};
    Time deadline{0};
};

Time common_divisor(std::span<const Task> tasks)
{
    std::int64_t divisor = 0;
    for (const Task& task : tasks)
        for (const Time time : {task.period, task.execution, task.deadline})
            divisor = std::gcd(divisor, time.count());
    return Time(std::max<std::int64_t>(divisor, 1));
}

/// Whether who waits may come to precede who runs though nothing comes or ends.
bool can_overtake(Policy policy, const Dispatch& waiting, const Dispatch& running)
{
    if (policy == Policy::llf) return true;
    return policy == Policy::muf && waiting.criticality == running.criticality;
}

Wide jobs_until(std::span<const Task> tasks, Time end)
{
    Wide jobs = 0;
    for (const Task& task : tasks)
        jobs += (Wide{end.count()} + task.period.count() - 1) / task.period.count();
    return jobs;
}

class Processor {
  public:
    Processor(std::span<const Task> tasks, Policy policy, Time end, Time quantum,
              std::size_t jobs_max, std::size_t slices_max)
        : tasks_(tasks), policy_(policy), quantum_(quantum), slices_max_(slices_max),
          queue_(make_dispatch_queue(policy, jobs_max))
    {
        line_.end = end;
        line_.tasks.resize(tasks.size());
        jobs_.reserve(jobs_max);
        for (std::size_t i = 0; i < tasks.size(); ++i)
            releases_.push({Time(0), i});
    }

    /// False where there were too many slices.
    [[nodiscard]] bool run()
    {
        while (now_ < line_.end && line_.slices.size() <= slices_max_) {
            release_due();
            choose();
            run_until(next_event());
        }
        count_unfinished();
        return line_.slices.size() <= slices_max_;
    }

    [[nodiscard]] TimeLine take() { return std::move(line_); }

  private:
    struct Release {
        Time time;
        std::size_t task;
        bool operator>(const Release& other) const
        {
            return std::pair(time, task) > std::pair(other.time, other.task);
        }
    };

    void release_due()
    {
        while (releases_.top().time <= now_) {
            const auto [time, index] = releases_.top();
            releases_.pop();
            const Task& task = tasks_[index];
            const Job job{index, line_.tasks[index].jobs++, time, time + task.deadline};
            const bool has_room = queue_->push({.id = jobs_.size(),
                                                .level = task.priority.level,
                                                .sub = task.priority.sub,
                                                .criticality = task.criticality,
                                                .importance = task.importance,
                                                .deadline = job.deadline,
                                                .remaining = task.execution});
            KAIROS_CHECK(has_room); // for all jobs of the line
            jobs_.push_back(job);
            releases_.push({time + task.period, index});
        }
    }

    void choose()
    {
        if (running_ && queue_->preempts(*running_)) {
            ++line_.tasks[jobs_[running_->id].task].preemptions;
            running_->begun = true;
            const bool has_room = queue_->push(*running_);
            KAIROS_CHECK(has_room);
            running_.reset();
        }
        if (!running_) running_ = queue_->pop();
    }

    [[nodiscard]] Time next_event() const
    {
        Time next = std::min(line_.end, releases_.top().time);
        if (!running_) return next;
        next = std::min(next, now_ + running_->remaining);
        const Dispatch* waiting = queue_->front();
        if (waiting == nullptr || !can_overtake(policy_, *waiting, *running_)) return next;
        // The first multiple of the quantum after which who waits has less laxity than who runs.
        const Time lead = laxity(*waiting, now_) - laxity(*running_, now_);
        return std::min(next, now_ + (lead / quantum_ + 1) * quantum_);
    }

    void run_until(Time time)
    {
        if (!running_) {
            line_.idle += time - now_;
            now_ = time;
            return;
        }
        const Job& job = jobs_[running_->id];
        running_->remaining -= time - now_;
        const bool completes = running_->remaining == Time(0);
        auto& slices = line_.slices;
        if (!slices.empty() && slices.back().end == now_ && slices.back().task == job.task &&
            slices.back().job == job.number)
            slices.back().end = time;
        else
            slices.push_back({job.task, job.number, now_, time});
        slices.back().completes = completes;
        now_ = time;
        if (!completes) return;
        complete(job);
        running_.reset();
    }

    void complete(const Job& job)
    {
        TaskRecord& record = line_.tasks[job.task];
        ++record.completed;
        record.worst_response = std::max(record.worst_response, now_ - job.release);
        if (now_ > job.deadline) {
            ++record.misses;
            record.worst_lateness = std::max(record.worst_lateness, now_ - job.deadline);
        }
    }

    void count_unfinished()
    {
        const auto count = [&](const Dispatch& dispatch) {
            const Job& job = jobs_[dispatch.id];
            if (job.deadline > line_.end) return;
            TaskRecord& record = line_.tasks[job.task];
            ++record.misses;
            record.worst_lateness =
                std::max(record.worst_lateness, line_.end - job.deadline + dispatch.remaining);
        };
        if (running_) count(*running_);
        while (const auto waiting = queue_->pop())
            count(*waiting);
    }

    const std::span<const Task> tasks_;
    const Policy policy_;
    const Time quantum_;
    const std::size_t slices_max_;
    const std::unique_ptr<DispatchQueue> queue_;
    std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
    std::vector<Job> jobs_;
    std::optional<Dispatch> running_;
    Time now_{0};
    TimeLine line_;
};

} // namespace

Result<TimeLine> play(std::span<const Task> tasks, Policy policy, Time end, Time quantum,
                      const TimeLineLimits& limits)
{
    const auto refused = [](std::string reason) {
        return Error{.code = ErrorCode::limit_exceeded, .reason = std::move(reason)};
    };
    if (end < Time(0) || end > 2 * time_max || quantum < Time(0) || quantum > time_max)
        return refused("the end of the time line is out of bounds");
    if (tasks.empty()) return TimeLine{.slices = {}, .tasks = {}, .end = end, .idle = end};
    const Wide jobs = jobs_until(tasks, end);
    if (jobs > limits.jobs_max)
        return refused("there are more than " + std::to_string(limits.jobs_max) + " jobs in " +
                       to_text(end));
    if (quantum == Time(0)) quantum = common_divisor(tasks);
    Processor processor(tasks, policy, end, quantum, static_cast<std::size_t>(jobs),
                        limits.slices_max);
    if (!processor.run())
        return refused("there are more than " + std::to_string(limits.slices_max) +
                       " changes of what runs in " + to_text(end));
    return processor.take();
}

} // namespace kairos::sched
