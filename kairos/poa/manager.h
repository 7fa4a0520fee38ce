// SPDX-License-Identifier: Apache-2.0
//
// The states of a POAManager (CORBA 3.3 part 1, 15.3.3): whether requests are served, held,
// discarded or refused by the adapters that it manages. Adapters are told of changes, so that a
// request need not ask. Any thread.
#pragma once

#include "kairos/orb/hold.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace kairos::poa {

class Adapter;

/// Values as in PortableServer::POAManager::State.
enum class ManagerState { holding, active, discarding, inactive };

class Manager final : public orb::Gate {
  public:
    explicit Manager(std::string id) : id_(std::move(id)) {}

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] ManagerState state() const noexcept { return state_.load(); }

    /// Sets the state and tells the adapters; returns false, and changes nothing, if the manager is
    /// inactive: that state is final.
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

    const std::string id_;
    std::atomic<ManagerState> state_{ManagerState::holding};
    std::atomic<std::uint64_t> changes_{0};
    mutable std::mutex mutex_; // guards changes of all this; inside Adapters'
    std::condition_variable has_changed_;
    std::vector<Adapter*> adapters_;
    std::vector<net::Waker*> wakers_;
};

} // namespace kairos::poa
