// SPDX-License-Identifier: Apache-2.0
//
// The connections that threads share: one for each endpoint and architecture, and so, where a
// server has addresses by priority, one for each priority. Owned by the ORB. Any thread.
#pragma once

#include "kairos/client/connection_thread.h"
#include "kairos/client/shared_connection.h"
#include "kairos/orb/reference.h"

#include <condition_variable>
#include <unordered_map>
#include <vector>

namespace kairos::orb {

class SharedConnections {
  public:
    explicit SharedConnections(Orb& orb) : orb_(orb) {}
    ~SharedConnections() { end_all(); }
    SharedConnections(const SharedConnections&) = delete;
    SharedConnections& operator=(const SharedConnections&) = delete;

    /// Returns the connection of this architecture to this endpoint; makes it, by the deadline, if
    /// there is none that can still be used. While one thread makes it the others wait; they share
    /// its failure, unless they have more time than it had.
    [[nodiscard]] Result<IntrusivePtr<SharedConnection>>
    take(Endpoint& endpoint, ConnectionArchitecture architecture, Deadline deadline);
    /// Returns the connection of this architecture to this endpoint if there is one that can still
    /// be used; else null.
    [[nodiscard]] IntrusivePtr<SharedConnection>
    take_open(Endpoint& endpoint, ConnectionArchitecture architecture) noexcept;
    /// Leaves all connections to the parent, in a child of the process that has called.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks
    /// Ends all connections, now and for ever: calls on them end as if the peer had closed.
    void end_all() noexcept;
    /// Closes the connections that nobody has used since `before`.
    void close_idle(std::chrono::nanoseconds before) noexcept;
    /// Closes the connection that was not used for the longest time; returns false if all are in
    /// use.
    bool close_least_recently_used() noexcept;
    /// Closes the connections to endpoints that are left and were not used since `before`; returns
    /// whether there are others that no reference leads to.
    bool close_left(std::chrono::nanoseconds before) noexcept;
    /// Returns how many connections there are that can still be used.
    [[nodiscard]] std::size_t count() const noexcept;

  private:
    struct Slot {
        IntrusivePtr<SharedConnection> connection;
        bool is_being_made = false;
        std::uint64_t attempts = 0;   // to make one, that are over
        std::optional<Error> failure; // of the last
        Deadline failed_by;
    };
    using Slots = std::unordered_map<std::uint64_t, Slot>; // by the endpoints' ids; they stay there
    using Lock = std::unique_lock<std::mutex>;
    [[nodiscard]] Slots& slots_of(ConnectionArchitecture architecture) noexcept
    {
        return architecture == ConnectionArchitecture::active ? active_ : leader_followers_;
    }
    using Connections = std::vector<IntrusivePtr<SharedConnection>>;

    // All of these must hold mutex_.
    [[nodiscard]] Connections retire(IntrusivePtr<SharedConnection> former);
    void make(Slot& slot, Endpoint& endpoint, ConnectionArchitecture architecture,
              Deadline deadline, Lock& lock);
    [[nodiscard]] bool wait_for_attempt(const Slot& slot, Deadline deadline, Lock& lock);
    [[nodiscard]] Result<ConnectionThread*> thread(ConnectionArchitecture architecture);

    Orb& orb_;
    // guards what follows; not held while connecting; outside those of the connections
    mutable std::mutex mutex_;
    std::condition_variable attempt_over_;
    Slots leader_followers_;
    Slots active_;
    Connections retired_; // by others, with calls that still wait
    bool has_ended_ = false;
    std::unique_ptr<ConnectionThread> thread_; // of the active ones, from the first on
};

} // namespace kairos::orb
