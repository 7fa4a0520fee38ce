// SPDX-License-Identifier: Apache-2.0
//
// The open connections of an ORB that belong to one thread or call each, so that others can end the
// calls on them and close those that nobody uses. Owned by the Client. Any thread.
#pragma once

#include "kairos/client/client_connection.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>

namespace kairos::orb {

class ClientConnections {
  public:
    /// Makes a new connection known; interrupts it at once after interrupt_all().
    void add(ClientConnection& connection);
    void remove(ClientConnection& connection) noexcept;
    /// Ends every wait for a reply on these connections, and on those still to be added.
    void interrupt_all() noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    /// Closes the connections that nobody has used since `before`.
    void close_idle(std::chrono::nanoseconds before) noexcept;
    /// Closes the connection that was not used for the longest time; returns false if all are in
    /// use.
    bool close_least_recently_used() noexcept;
    /// Leaves all connections to the parent, in a child of the process that has called.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks
    /// Closes the connections to endpoints that are left and were not used since `before`; returns
    /// whether there are others that no reference leads to.
    bool close_left(std::chrono::nanoseconds before) noexcept;

  private:
    mutable std::mutex mutex_; // guards what follows; connections come and go under it
    std::set<ClientConnection*> connections_;
    bool interrupted_ = false;
};

} // namespace kairos::orb
