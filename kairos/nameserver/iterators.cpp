// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/iterators.h"

#include <iterator>

namespace kairos::nameserver {

std::uint64_t Iterators::begin(std::shared_ptr<Listing> listing, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    while (!by_use_.empty() &&
           (by_use_.size() >= count_max_ || now - by_use_.front().used > idle_max_)) {
        by_number_.erase(by_use_.front().number);
        by_use_.pop_front();
    }
    by_use_.push_back({++last_number_, std::move(listing), now});
    by_number_.emplace(last_number_, std::prev(by_use_.end()));
    return last_number_;
}

std::shared_ptr<Listing> Iterators::find(std::uint64_t number, Clock::time_point now)
{
    const std::lock_guard lock(mutex_);
    const auto known = by_number_.find(number);
    if (known == by_number_.end()) return nullptr;
    known->second->used = now;
    by_use_.splice(by_use_.end(), by_use_, known->second);
    return known->second->listing;
}

bool Iterators::end(std::uint64_t number)
{
    const std::lock_guard lock(mutex_);
    const auto known = by_number_.find(number);
    if (known == by_number_.end()) return false;
    by_use_.erase(known->second);
    by_number_.erase(known);
    return true;
}

std::size_t Iterators::size() const
{
    const std::lock_guard lock(mutex_);
    return by_use_.size();
}

} // namespace kairos::nameserver
