// SPDX-License-Identifier: Apache-2.0
//
// Requests in the order in which they came, but one of each connection at a time: the next one of a
// connection takes its place behind those of all others when the one before it was taken. So
// whoever sends many at once delays nobody by more than one. Takes no memory; linked through the
// requests. O(1) to push and to pop, where few connections have requests here. Guarded by whoever
// has it.
#pragma once

#include "kairos/server/dispatcher.h"

#include <array>

namespace kairos::orb {

class FairQueue {
  public:
    FairQueue() = default;
    FairQueue(const FairQueue&) = delete;
    FairQueue& operator=(const FairQueue&) = delete;
    ~FairQueue() { clear(); }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Returns whether the connection of this request has others here.
    [[nodiscard]] bool has_others_of(const QueuedRequest& request) const noexcept;
    void push_back(QueuedRequestPtr request) noexcept;
    /// Takes out the request whose turn it is; null where the queue is empty.
    [[nodiscard]] QueuedRequestPtr pop_front() noexcept;
    /// Moves all requests of `earlier` in front of those that are here.
    void put_in_front(RequestList& earlier) noexcept;
    /// Moves all requests that are here to the front of a list, in any order.
    void move_to(RequestList& list) noexcept;

  private:
    static constexpr std::size_t places = 64;

    [[nodiscard]] std::size_t place_of(const QueuedRequest& request) const noexcept;
    /// Returns the request of the same connection that has a turn; null for none.
    [[nodiscard]] QueuedRequest* turn_of(const QueuedRequest& request) const noexcept;
    void give_turn(QueuedRequest& request) noexcept;
    void end_turn(QueuedRequest& request) noexcept;
    void clear() noexcept;

    RequestList turns_; // in this order
    std::array<QueuedRequest*, places> by_connection_{};
    std::size_t size_ = 0;
};

} // namespace kairos::orb
