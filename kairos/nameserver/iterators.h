// SPDX-License-Identifier: Apache-2.0
//
// The listings that clients have begun: how many there may be, and which go when there are more. A
// listing is a place in a context, not a copy of it, so it is small, and goes on beside changes: a
// name that is bound all the time is listed once. Any thread.
#pragma once

#include "kairos/nameserver/store.h"

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace kairos::nameserver {

/// Where a listing is. Two calls of one client may meet: `mutex` guards what follows it.
struct Listing {
    explicit Listing(ContextId of) : context(of) {}
    const ContextId context;
    std::mutex mutex; // guards what follows; held while the store is read; outside the store's
    std::optional<ior::NameComponent> after; ///< none: at the beginning
};

class Iterators {
  public:
    using Clock = std::chrono::steady_clock;

    Iterators(std::size_t count_max, Clock::duration idle_max)
        : count_max_(count_max), idle_max_(idle_max)
    {
    }

    /// The number by which it is found. Listings that were idle for too long go, and if there are
    /// too many, those that were not used for the longest time.
    [[nodiscard]] std::uint64_t begin(std::shared_ptr<Listing> listing, Clock::time_point now);
    /// The listing of this number; null if it ended.
    [[nodiscard]] std::shared_ptr<Listing> find(std::uint64_t number, Clock::time_point now);
    /// Ends the listing of this number. False if it had ended.
    bool end(std::uint64_t number);

    [[nodiscard]] std::size_t size() const;

  private:
    struct Known {
        std::uint64_t number;
        std::shared_ptr<Listing> listing;
        Clock::time_point used;
    };
    using ByUse = std::list<Known>;

    const std::size_t count_max_;
    const Clock::duration idle_max_;
    mutable std::mutex mutex_; // guards what follows
    ByUse by_use_;             // the one that was not used for the longest time first
    std::map<std::uint64_t, ByUse::iterator> by_number_;
    std::uint64_t last_number_ = 0;
};

} // namespace kairos::nameserver
