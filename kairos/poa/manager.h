// SPDX-License-Identifier: Apache-2.0
//
// The states of a POAManager (CORBA 3.3 part 1, 15.3.3): whether requests are served, held,
// discarded or refused by the adapters that it manages. Adapters are told of changes, so that a
// request need not ask. Any thread.
#pragma once

#include "kairos/orb/hold.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::poa {

class Adapter;

/// Values as in PortableServer::POAManager::State.
enum class ManagerState { holding, active, discarding, inactive };

/// Hears of managers' states. Any thread.
class StateListener {
  public:
    using State = ManagerState;
    StateListener() = default;
    StateListener(const StateListener&) = delete;
    StateListener& operator=(const StateListener&) = delete;
    virtual ~StateListener() = default;
    /// Called once for each change of a manager's state, in the order of the changes.
    virtual void manager_changed(const std::string& id, State state) noexcept = 0;
};

class Manager final : public orb::Gate {
  public:
    /// Makes a manager, whose changes `listener` hears of; null: nobody.
    explicit Manager(std::string id, std::shared_ptr<StateListener> listener = {})
        : id_(std::move(id)), listener_(std::move(listener))
    {
    }

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] ManagerState state() const noexcept { return state_.load(); }

    /// Sets the state and tells the adapters; returns false, and changes nothing, if the manager is
    /// inactive: that state is final. Tells the listener, unless another thread is telling it of
    /// an earlier change: then that thread does.
    bool set_state(ManagerState state);
    /// Returns the adapters that it manages now.
    [[nodiscard]] std::vector<Adapter*> adapters() const;
    /// Adds an adapter to those that it manages.
    void add(Adapter& adapter);
    /// Takes an adapter out; returns true if the manager has none any more.
    bool remove(Adapter& adapter);

    // As a gate: held requests wait for the state, or an adapter, to change.
    [[nodiscard]] std::uint64_t changes() const noexcept override { return changes_.load(); }
    void wait(std::uint64_t seen) override;
    void tell(net::Waker& waker) override;
    void forget(net::Waker& waker) noexcept override;

  private:
    ~Manager() override = default;
    /// Counts a change and wakes who waits. Must hold mutex_.
    void changed() noexcept;
    void tell_listener();

    const std::string id_;
    const std::shared_ptr<StateListener> listener_; // called without mutex_
    std::atomic<ManagerState> state_{ManagerState::holding};
    std::atomic<std::uint64_t> changes_{0};
    mutable std::mutex mutex_; // guards changes of all this; inside Adapters'
    std::condition_variable has_changed_;
    std::vector<Adapter*> adapters_;
    std::vector<net::Waker*> wakers_;
    std::deque<ManagerState> untold_; // changes that the listener has not heard of
    bool is_telling_ = false;         // a thread is about to tell it of all of them
};

} // namespace kairos::poa
