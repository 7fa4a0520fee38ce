// SPDX-License-Identifier: Apache-2.0
//
// Changes of a store that come while others are made durable: they are made together, by the next.
#pragma once

#include "kairos/logs/store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <span>

namespace kairos::logs {

/// A change that somebody waits for.
struct WaitingChange {
    Change* change;
    bool safe;
    StoreStatus status = StoreStatus::broken;
    bool is_over = false;
};
using WaitingChanges = std::span<WaitingChange* const>;

/// How long an operation waits for those before it.
inline constexpr std::chrono::seconds turn_max{10};

/// Any thread.
class ChangeQueue {
  public:
    /// Returns what became of the change. Whoever finds nobody at work makes all changes that wait,
    /// by `work`, which is given some of them and sets the status of each, until its own is made.
    template <typename Work>
    [[nodiscard]] StoreStatus change(Change& change, bool safe, Work&& work);

  private:
    /// Changes in one transaction.
    static constexpr std::size_t together_max = 200;

    std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::condition_variable changed_;
    std::deque<WaitingChange*> waiting_;
    bool is_at_work_ = false; // somebody, for all that wait
};

template <typename Work>
StoreStatus ChangeQueue::change(Change& change, bool safe, Work&& work)
{
    WaitingChange mine{.change = &change, .safe = safe};
    const auto late = std::chrono::steady_clock::now() + turn_max;
    std::unique_lock lock(mutex_);
    waiting_.push_back(&mine);
    const auto may_go_on = [&] { return mine.is_over || !is_at_work_; };
    if (!changed_.wait_until(lock, late, may_go_on)) {
        const auto place = std::ranges::find(waiting_, &mine);
        if (place != waiting_.end()) {
            waiting_.erase(place);
            return StoreStatus::busy;
        }
        changed_.wait(lock, may_go_on); // somebody is at work on it
    }
    while (!mine.is_over) {
        is_at_work_ = true;
        std::array<WaitingChange*, together_max> all{}; // what throws here would stop the store
        const std::size_t count = std::min(waiting_.size(), together_max);
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(waiting_.begin(), end, all.begin());
        waiting_.erase(waiting_.begin(), end);
        const WaitingChanges together(all.data(), count);
        lock.unlock();
        try {
            work(together);
        } catch (const std::exception&) { // no memory: those without an answer are `broken`
        }
        lock.lock();
        for (WaitingChange* const one : together)
            one->is_over = true;
        is_at_work_ = false;
        changed_.notify_all();
    }
    return mine.status;
}

} // namespace kairos::logs
