// SPDX-License-Identifier: Apache-2.0
//
// The states of a POAManager (CORBA 3.3 part 1, 15.3.3): whether requests are served, held,
// discarded or refused. Reading the state takes no lock. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace kairos::poa {

/// Values as in PortableServer::POAManager::State.
enum class ManagerState { holding, active, discarding, inactive };

class Manager {
  public:
    [[nodiscard]] ManagerState state() const noexcept
    {
        return state_.load(std::memory_order_acquire);
    }

    /// False if it is inactive: that state is final.
    bool set_state(ManagerState state)
    {
        const std::lock_guard lock(mutex_);
        if (state_ == ManagerState::inactive) return false;
        state_.store(state, std::memory_order_release);
        changed_.notify_all();
        return true;
    }

    void wait_while_holding()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return state() != ManagerState::holding; });
    }

  private:
    std::atomic<ManagerState> state_{ManagerState::holding};
    std::mutex mutex_; // guards changes of the state, for those who wait for one
    std::condition_variable changed_;
};

} // namespace kairos::poa
