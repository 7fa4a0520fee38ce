// SPDX-License-Identifier: Apache-2.0
//
// What waits for a processor, most urgent first. Room for a fixed number is made at the beginning;
// after that nothing allocates, and every operation takes O(log n). Not thread-safe: a queue
// belongs to one lane, or to whoever holds its lock.
//
// Who goes first:
//   RMS, DMS  the lower level; of one level what has begun, then the lower sub-priority
//   EDF       the earlier deadline
//   LLF       the smaller laxity: time to the deadline less the time it still has to run
//   MUF       the higher criticality, then the smaller laxity
// then, for all, the more important one, and of equals who came first. Laxity needs no clock: all
// that waits loses it at the same pace, so the order of those that wait never changes. What runs
// keeps its laxity; compare it again (`preempts`) with what is left of it. Who is late has a
// negative laxity, and goes first: nothing is thrown away here.
#pragma once

#include "kairos/base/export.h"
#include "kairos/sched/priorities.h"
#include "kairos/sched/rt_info.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace kairos::sched {

/// One execution of an operation that is due. Times are on any clock, the same for a queue.
struct KAIROS_API Dispatch {
    std::uint64_t id = 0; ///< the owner's; means nothing here
    std::uint32_t level = 0;
    std::uint32_t sub = 0;
    Criticality criticality = Criticality::medium;
    Importance importance = Importance::medium;
    bool begun = false; ///< it ran and was preempted
    Time deadline{0};
    Time remaining{0}; ///< the time it still has to run, at worst
};

/// The laxity at `now`.
[[nodiscard]] constexpr Time laxity(const Dispatch& dispatch, Time now) noexcept
{
    return dispatch.deadline - now - dispatch.remaining;
}

class KAIROS_API DispatchQueue {
  public:
    DispatchQueue(const DispatchQueue&) = delete;
    DispatchQueue& operator=(const DispatchQueue&) = delete;
    virtual ~DispatchQueue() = default;

    /// Adds an execution. False where the queue is full: what happens then is its owner's policy.
    [[nodiscard]] virtual bool push(const Dispatch& dispatch) noexcept = 0;
    /// Takes the most urgent execution out of the queue; none where it is empty.
    [[nodiscard]] virtual std::optional<Dispatch> pop() noexcept = 0;
    /// The most urgent execution, which stays in the queue; null where that is empty. Valid until
    /// the next change.
    [[nodiscard]] virtual const Dispatch* front() const noexcept = 0;
    /// Whether the front must run instead of what runs now. Never for equals.
    [[nodiscard]] virtual bool preempts(const Dispatch& running) const noexcept = 0;

    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;

  protected:
    DispatchQueue() = default;
};

[[nodiscard]] KAIROS_API std::unique_ptr<DispatchQueue> make_dispatch_queue(Policy policy,
                                                                            std::size_t capacity);

} // namespace kairos::sched
