// SPDX-License-Identifier: Apache-2.0
//
// Requests that wait for a thread, in the order of -ORBDispatching. Ordered ones are a leftist
// heap that is linked through the requests themselves: the queue takes no memory and has no bound
// of its own, so what was held always finds its place again, which is the one it had. O(log n) to
// push and to pop, O(1) for fifo, in which connections take turns. Guarded by whoever has it.
#pragma once

#include "kairos/server/dispatcher.h"
#include "kairos/server/fair_queue.h"

namespace kairos::orb {

class RequestQueue {
  public:
    RequestQueue() = default;
    explicit RequestQueue(Dispatching dispatching) noexcept : ordered_(is_ordered(dispatching)) {}
    RequestQueue(const RequestQueue&) = delete;
    RequestQueue& operator=(const RequestQueue&) = delete;
    ~RequestQueue() { clear(); }

    /// Sets the order in which requests are served; to be called while the queue is empty.
    void order_by(Dispatching dispatching) noexcept { ordered_ = is_ordered(dispatching); }

    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return ordered_ ? size_ : list_.size(); }
    /// Returns whether the request's connection has others here; true where requests are ordered by
    /// their urgency.
    [[nodiscard]] bool has_others_of(const QueuedRequest& request) const noexcept
    {
        return ordered_ || list_.has_others_of(request);
    }
    /// Adds a request that comes from its connection, or comes back.
    void push(QueuedRequestPtr request) noexcept;
    /// Takes out the request that is to be served first; null where the queue is empty.
    [[nodiscard]] QueuedRequestPtr pop() noexcept;
    /// Puts requests back that were held: they go before those that came later, unless these are
    /// more urgent.
    void put_back(RequestList& held) noexcept;
    /// Moves all requests that are here to the front of a list, in any order.
    void move_to(RequestList& list) noexcept;

  private:
    [[nodiscard]] static bool is_ordered(Dispatching dispatching) noexcept
    {
        return dispatching != Dispatching::fifo;
    }
    [[nodiscard]] static QueuedRequest* merged(QueuedRequest* one, QueuedRequest* other) noexcept;
    void clear() noexcept;

    bool ordered_ = false;
    FairQueue list_; // unless ordered
    QueuedRequest* root_ = nullptr;
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0; // how many were new here
};

} // namespace kairos::orb
