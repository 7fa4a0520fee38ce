// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/fair_queue.h"

#include "kairos/server/handover.h"

#include <functional>
#include <utility>

namespace kairos::orb {

std::size_t FairQueue::place_of(const QueuedRequest& request) const noexcept
{
    const auto number = reinterpret_cast<std::uintptr_t>(request.connection_.get());
    return number * 0x9e3779b97f4a7c15 >> 58;
}

QueuedRequest* FairQueue::turn_of(const QueuedRequest& request) const noexcept
{
    QueuedRequest* found = by_connection_[place_of(request)];
    while (found != nullptr && found->connection_.get() != request.connection_.get())
        found = found->beside_;
    return found;
}

bool FairQueue::has_others_of(const QueuedRequest& request) const noexcept
{
    return turn_of(request) != nullptr;
}

void FairQueue::give_turn(QueuedRequest& request) noexcept
{
    request.has_turn_ = true;
    request.beside_ = std::exchange(by_connection_[place_of(request)], &request);
    turns_.push_back(QueuedRequestPtr(&request, RecycleRequest{request.store_}));
}

void FairQueue::push_back(QueuedRequestPtr request) noexcept
{
    ++size_;
    QueuedRequest& added = *request.release();
    added.next_of_connection_ = nullptr;
    added.last_of_connection_ = nullptr;
    QueuedRequest* const first = turn_of(added);
    if (first == nullptr) return give_turn(added);
    QueuedRequest* const last = std::exchange(first->last_of_connection_, &added);
    (last == nullptr ? first : last)->next_of_connection_ = &added;
}

void FairQueue::end_turn(QueuedRequest& request) noexcept
{
    if (!std::exchange(request.has_turn_, false)) return; // it was put in front
    QueuedRequest** link = &by_connection_[place_of(request)];
    while (*link != &request)
        link = &(*link)->beside_;
    *link = request.beside_;
    QueuedRequest* const next = std::exchange(request.next_of_connection_, nullptr);
    QueuedRequest* const last = std::exchange(request.last_of_connection_, nullptr);
    if (next == nullptr) return;
    next->last_of_connection_ = last == next ? nullptr : last;
    give_turn(*next);
}

QueuedRequestPtr FairQueue::pop_front() noexcept
{
    QueuedRequestPtr taken = turns_.pop_front();
    if (!taken) return taken;
    --size_;
    end_turn(*taken);
    return taken;
}

/// What was held comes first, whosever it is: it had its turn.
void FairQueue::put_in_front(RequestList& earlier) noexcept
{
    size_ += earlier.size();
    turns_.put_in_front(earlier);
}

void FairQueue::move_to(RequestList& list) noexcept
{
    RequestList all;
    while (QueuedRequestPtr request = pop_front())
        all.push_back(std::move(request));
    list.put_in_front(all);
}

void FairQueue::clear() noexcept
{
    while (pop_front()) {
    }
}

} // namespace kairos::orb
