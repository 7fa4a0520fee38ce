// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/dispatch_queue.h"

#include <algorithm>
#include <compare>
#include <vector>

namespace kairos::sched {
namespace {

/// Greater means less urgent. `order` decides in the queue, `preemption` against what runs.
struct ByLevel {
    static std::strong_ordering order(const Dispatch& a, const Dispatch& b) noexcept
    {
        if (a.level != b.level) return a.level <=> b.level;
        if (a.begun != b.begun) return b.begun <=> a.begun;
        return a.sub <=> b.sub;
    }
    static std::strong_ordering preemption(const Dispatch& a, const Dispatch& b) noexcept
    {
        return a.level <=> b.level;
    }
};

struct ByDeadline {
    static std::strong_ordering order(const Dispatch& a, const Dispatch& b) noexcept
    {
        return a.deadline.count() <=> b.deadline.count();
    }
    static std::strong_ordering preemption(const Dispatch& a, const Dispatch& b) noexcept
    {
        return order(a, b);
    }
};

struct ByLaxity {
    static std::strong_ordering order(const Dispatch& a, const Dispatch& b) noexcept
    {
        return laxity(a, Time(0)).count() <=> laxity(b, Time(0)).count();
    }
    static std::strong_ordering preemption(const Dispatch& a, const Dispatch& b) noexcept
    {
        return order(a, b);
    }
};

struct ByCriticality {
    static std::strong_ordering order(const Dispatch& a, const Dispatch& b) noexcept
    {
        if (a.criticality != b.criticality) return b.criticality <=> a.criticality;
        return ByLaxity::order(a, b);
    }
    static std::strong_ordering preemption(const Dispatch& a, const Dispatch& b) noexcept
    {
        return order(a, b);
    }
};

/// A binary heap in an array that never grows.
template <typename Urgency>
class HeapQueue final : public DispatchQueue {
  public:
    explicit HeapQueue(std::size_t capacity) : capacity_(capacity) { heap_.reserve(capacity); }

    bool push(const Dispatch& dispatch) noexcept override
    {
        if (heap_.size() == capacity_) return false;
        heap_.push_back({dispatch, pushed_++});
        std::ranges::push_heap(heap_, is_less_urgent);
        return true;
    }

    std::optional<Dispatch> pop() noexcept override
    {
        if (heap_.empty()) return std::nullopt;
        std::ranges::pop_heap(heap_, is_less_urgent);
        const Dispatch dispatch = heap_.back().dispatch;
        heap_.pop_back();
        return dispatch;
    }

    const Dispatch* front() const noexcept override
    {
        return heap_.empty() ? nullptr : &heap_.front().dispatch;
    }

    bool preempts(const Dispatch& running) const noexcept override
    {
        return !heap_.empty() && Urgency::preemption(heap_.front().dispatch, running) < 0;
    }

    std::size_t size() const noexcept override { return heap_.size(); }
    std::size_t capacity() const noexcept override { return capacity_; }

  private:
    struct Entry {
        Dispatch dispatch;
        std::uint64_t number; ///< of its push
    };

    static bool is_less_urgent(const Entry& a, const Entry& b) noexcept
    {
        const auto urgency = Urgency::order(a.dispatch, b.dispatch);
        if (urgency != 0) return urgency > 0;
        if (a.dispatch.importance != b.dispatch.importance)
            return a.dispatch.importance < b.dispatch.importance;
        return a.number > b.number;
    }

    const std::size_t capacity_;
    std::vector<Entry> heap_;
    std::uint64_t pushed_ = 0;
};

} // namespace

std::unique_ptr<DispatchQueue> make_dispatch_queue(Policy policy, std::size_t capacity)
{
    switch (policy) {
    case Policy::rms:
    case Policy::dms:
        return std::make_unique<HeapQueue<ByLevel>>(capacity);
    case Policy::edf:
        return std::make_unique<HeapQueue<ByDeadline>>(capacity);
    case Policy::llf:
        return std::make_unique<HeapQueue<ByLaxity>>(capacity);
    case Policy::muf:
        return std::make_unique<HeapQueue<ByCriticality>>(capacity);
    }
    return nullptr;
}

} // namespace kairos::sched
