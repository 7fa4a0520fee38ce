// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/forward_table.h"

#include "kairos/base/assert_held.h"

#include <utility>

namespace kairos::poa {

bool ForwardTable::bind(std::string key, const ior::Ior& target)
{
    const std::lock_guard lock(mutex_);
    return targets_.try_emplace(std::move(key), target).second;
}

void ForwardTable::rebind(std::string key, ior::Ior target)
{
    const std::lock_guard lock(mutex_);
    targets_.insert_or_assign(std::move(key), std::move(target));
}

bool ForwardTable::unbind(std::string_view key)
{
    const std::lock_guard lock(mutex_);
    const auto known = targets_.find(key);
    if (known == targets_.end()) return false;
    targets_.erase(known);
    return true;
}

void ForwardTable::set_locator(IntrusivePtr<ForwardLocator> locator)
{
    const std::lock_guard lock(mutex_);
    std::swap(locator_, locator); // the former one is released without the lock
}

void ForwardTable::clear()
{
    set_locator({});
    const std::lock_guard lock(mutex_);
    targets_.clear();
}

std::optional<ior::Ior> ForwardTable::find(Bytes key) const
{
    IntrusivePtr<ForwardLocator> locator;
    {
        const std::lock_guard lock(mutex_);
        const auto known = targets_.find(as_text(key));
        if (known != targets_.end()) return known->second;
        locator = locator_;
    }
    assert_not_held(mutex_);
    return locator ? locator->locate(as_text(key)) : std::nullopt;
}

} // namespace kairos::poa
