// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/real_time.h"

#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace kairos::orb {

namespace {

void say_once(const std::string& why)
{
    static std::atomic<bool> said{false};
    if (said.exchange(true)) return;
    log::warning("priorities are kept but not scheduled in real time: " + why);
}

/// What this ORB has threads of this native priority scheduled as.
net::Scheduling scheduling_of(const Orb& orb, int native) noexcept
{
    if (native == 0) return {};
    return {.policy = orb.options().scheduling_policy, .priority = native};
}

net::Scheduling scheduling_of_this_thread() noexcept
{
    int policy = SCHED_OTHER;
    sched_param parameters{};
    if (::pthread_getschedparam(::pthread_self(), &policy, &parameters) != 0) return {};
    if (policy != SCHED_FIFO && policy != SCHED_RR) return {};
    return {.policy = policy == SCHED_RR ? net::SchedulingPolicy::round_robin
                                         : net::SchedulingPolicy::fifo,
            .priority = parameters.sched_priority};
}

int native_of(const Orb& orb, Priority priority)
{
    int native = 0;
    if (priority < 0)
        raise<CORBA::BAD_PARAM>(0, CORBA::COMPLETED_NO,
                                "no priority of CORBA's: " + std::to_string(priority));
    if (!orb.priority_mapping().to_native(priority, native))
        raise<CORBA::DATA_CONVERSION>(mapping::omg_minor(2), CORBA::COMPLETED_NO,
                                      "the mapping has no native priority for " +
                                          std::to_string(priority));
    return native;
}

bool same(net::Scheduling one, net::Scheduling other) noexcept
{
    return one.policy == other.policy && one.priority == other.priority;
}

} // namespace

void schedule_if_allowed(const Orb& orb, net::Scheduling scheduling)
{
    const auto set = net::schedule_this_thread(scheduling);
    if (set) return;
    if (orb.options().real_time_required)
        raise<CORBA::NO_PERMISSION>(0, CORBA::COMPLETED_NO,
                                    "-ORBRealTime required: " + set.error().reason);
    say_once(set.error().reason);
}

Result<std::optional<net::Scheduling>> scheduling_if_allowed(const Orb& orb, int native)
{
    const net::Scheduling scheduling = scheduling_of(orb, native);
    const auto tried =
        net::Thread::start({.name = "kairos-try", .cpu = {}, .scheduling = scheduling}, [] {});
    if (tried) return std::optional(scheduling);
    if (orb.options().real_time_required)
        return Error{tried.error().code, "-ORBRealTime required: " + tried.error().reason,
                     tried.error().system_errno};
    say_once(tried.error().reason);
    return std::optional<net::Scheduling>();
}

Result<std::optional<net::Scheduling>> lane_scheduling(const Orb& orb, Priority priority)
{
    int native = 0;
    if (!orb.priority_mapping().to_native(priority, native))
        return Error{ErrorCode::invalid_argument, "-ORBLanes: no native priority for " +
                                                      std::to_string(priority) +
                                                      " in the mapping (-ORBPriorityMapping)"};
    return scheduling_if_allowed(orb, native);
}

void set_priority(const Orb& orb, Priority priority)
{
    ThreadStorage& storage = ThreadStorage::current();
    const net::Scheduling wanted = scheduling_of(orb, native_of(orb, priority));
    if (!same(wanted, scheduling_of_this_thread())) schedule_if_allowed(orb, wanted);
    storage.priority = priority;
}

PriorityScope::PriorityScope(const Orb& orb, Priority priority)
    : orb_(orb), storage_(ThreadStorage::current()), before_(storage_.priority)
{
    if (before_ == priority) return;
    const net::Scheduling wanted = scheduling_of(orb, native_of(orb, priority));
    scheduled_before_ = scheduling_of_thread();
    if (!same(wanted, scheduled_before_)) schedule_if_allowed(orb, wanted);
    storage_.priority = priority;
}

PriorityScope::~PriorityScope()
{
    if (storage_.priority == before_) return;
    const net::Scheduling present = scheduling_of_thread();
    int native = 0;
    const bool known = before_ && orb_.priority_mapping().to_native(*before_, native);
    const net::Scheduling former = known ? scheduling_of(orb_, native) : scheduled_before_;
    storage_.priority = before_;
    // As before: it is allowed, or was refused and has not changed.
    if (!same(former, present)) (void)net::schedule_this_thread(former);
}

/// What the thread is said to have it has, or the system has refused it.
net::Scheduling PriorityScope::scheduling_of_thread() const noexcept
{
    int native = 0;
    if (storage_.priority && orb_.priority_mapping().to_native(*storage_.priority, native))
        return scheduling_of(orb_, native);
    return scheduling_of_this_thread();
}

} // namespace kairos::orb
