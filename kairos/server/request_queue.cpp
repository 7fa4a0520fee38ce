// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/request_queue.h"

#include <utility>

namespace kairos::orb {

/// Both are heaps; null is an empty one. As deep as the shortest ways to a leaf of the two are
/// long, which is the logarithm of their sizes.
QueuedRequest* RequestQueue::merged(QueuedRequest* one, QueuedRequest* other) noexcept
{
    if (one == nullptr) return other;
    if (other == nullptr) return one;
    if (other->urgency < one->urgency) std::swap(one, other);
    one->behind_right_ = merged(one->behind_right_, other);
    const auto rank = [](const QueuedRequest* heap) { return heap == nullptr ? 0 : heap->rank_; };
    if (rank(one->behind_left_) < rank(one->behind_right_))
        std::swap(one->behind_left_, one->behind_right_);
    one->rank_ = rank(one->behind_right_) + 1;
    return one;
}

void RequestQueue::push(QueuedRequestPtr request) noexcept
{
    if (!ordered_) return list_.push_back(std::move(request));
    QueuedRequest* const added = request.release();
    if (added->urgency.number == 0) added->urgency.number = ++pushed_;
    added->behind_left_ = nullptr;
    added->behind_right_ = nullptr;
    added->rank_ = 1;
    root_ = merged(root_, added);
    ++size_;
}

QueuedRequestPtr RequestQueue::pop() noexcept
{
    if (!ordered_) return list_.pop_front();
    if (root_ == nullptr) return {};
    QueuedRequest* const taken = root_;
    root_ = merged(taken->behind_left_, taken->behind_right_);
    --size_;
    return {taken, RecycleRequest{taken->store_}};
}

void RequestQueue::put_back(RequestList& held) noexcept
{
    if (!ordered_) return list_.put_in_front(held);
    while (!held.empty())
        push(held.pop_front());
}

void RequestQueue::move_to(RequestList& list) noexcept
{
    if (!ordered_) return list_.move_to(list);
    while (QueuedRequestPtr request = pop())
        list.push_back(std::move(request));
}

void RequestQueue::clear() noexcept
{
    while (!empty())
        (void)pop();
}

} // namespace kairos::orb
