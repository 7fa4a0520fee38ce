// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/manager.h"

#include "kairos/base/assert_held.h"
#include "kairos/poa/adapter.h"

#include <algorithm>

namespace kairos::poa {

bool Manager::set_state(ManagerState state)
{
    {
        const std::lock_guard lock(mutex_);
        if (state_ == ManagerState::inactive) return false;
        if (listener_ && state_ != state) untold_.push_back(state);
        state_ = state;
        for (Adapter* adapter : adapters_)
            adapter->open_to_requests(state == ManagerState::active);
        changed();
    }
    if (listener_) tell_listener();
    return true;
}

/// One thread at a time tells of all changes there are, so that they are heard of in their order,
/// those included that the listener makes itself.
void Manager::tell_listener()
{
    std::unique_lock lock(mutex_);
    if (is_telling_) return;
    is_telling_ = true;
    while (!untold_.empty()) {
        const ManagerState state = untold_.front();
        untold_.pop_front();
        lock.unlock();
        assert_not_held(mutex_);
        listener_->manager_changed(id_, state);
        lock.lock();
    }
    is_telling_ = false;
}

std::vector<Adapter*> Manager::adapters() const
{
    const std::lock_guard lock(mutex_);
    return adapters_;
}

void Manager::add(Adapter& adapter)
{
    const std::lock_guard lock(mutex_);
    adapters_.push_back(&adapter);
    adapter.open_to_requests(state_ == ManagerState::active);
}

bool Manager::remove(Adapter& adapter)
{
    const std::lock_guard lock(mutex_);
    std::erase(adapters_, &adapter);
    adapter.open_to_requests(false);
    changed();
    return adapters_.empty();
}

void Manager::wait(std::uint64_t seen)
{
    std::unique_lock lock(mutex_);
    has_changed_.wait(lock, [this, seen] { return changes_ != seen; });
}

void Manager::tell(net::Waker& waker)
{
    const std::lock_guard lock(mutex_);
    wakers_.push_back(&waker);
}

void Manager::forget(net::Waker& waker) noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase(wakers_, &waker);
}

void Manager::changed() noexcept
{
    assert_held(mutex_);
    ++changes_;
    has_changed_.notify_all();
    for (net::Waker* waker : wakers_)
        waker->wake();
}

} // namespace kairos::poa
