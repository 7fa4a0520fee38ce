// SPDX-License-Identifier: Apache-2.0
//
// Accepting connections, also on a bad day: a process that has run out of descriptors goes on
// serving what it has and turns newcomers away, instead of spinning on a listener that stays ready.
// Owned by one thread; shut_down() may be called by any while that thread is inside accept().
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/net/socket_file.h"

#include <cstdint>

namespace kairos::net {

struct AcceptorOptions {
    SocketOptions socket{}; ///< of the listener and of every accepted connection
    int backlog = SOMAXCONN;
    /// The listener and its connections: true for use with a reactor, false for a thread in
    /// accept().
    bool non_blocking = false;
};

class Acceptor {
  public:
    enum class Status : std::uint8_t {
        accepted,
        would_block, ///< nobody waits (non-blocking listeners only)
        turned_away, ///< out of descriptors: a connection was closed; go on accepting
        exhausted,   ///< out of descriptors or memory, nobody could be turned away: pause accepting
        closed,      ///< shut_down() was called
        failed,      ///< the listener is unusable; `error` says why
    };
    struct [[nodiscard]] Accepted {
        Status status = Status::failed;
        /// True once for each episode of exhaustion, at its beginning: worth a line in the log. An
        /// episode ends with the next accepted connection.
        bool first_of_episode = false;
        int error = 0;   ///< errno of turned_away, exhausted and failed
        Socket socket{}; ///< of accepted
        /// Of accepted, in numbers as the kernel gave it; of a unix-domain socket who it is
        /// (Address::unix_peer).
        Address peer{};
    };

    /// Listens: net::listen, or net::listen_at_path. The file of a socket is the acceptor's.
    [[nodiscard]] static Result<Acceptor> open(const Address& address,
                                               const AcceptorOptions& options = {});
    /// Takes over a socket that already listens, as from a service manager.
    [[nodiscard]] static Result<Acceptor> adopt(Socket listener, const AcceptorOptions& options);

    /// Accepts one connection. Connections that were aborted while they waited are passed over.
    /// Does not allocate.
    Accepted accept() noexcept;

    /// Sets the options of connections that are accepted from now on.
    void set_options(const SocketOptions& options) noexcept { options_ = options; }
    [[nodiscard]] const Socket& socket() const noexcept { return listener_; }
    /// Makes the listener, and connections that are accepted later, non-blocking: for use with a
    /// reactor.
    [[nodiscard]] Result<void> become_non_blocking() noexcept;

    /// Ends accept() in this and every other thread, for ever, and removes the file of a
    /// unix-domain socket.
    void shut_down() noexcept
    {
        file_.remove(); // first: whoever finds it gone takes another way at once
        listener_.shutdown_both();
    }

    /// Gives the listener up in a child of the process that listens, which goes on listening.
    void leave_to_parent() noexcept
    {
        listener_.leave_to_parent();
        spare_.leave_to_parent();
    }

    [[nodiscard]] int descriptor() const noexcept { return listener_.descriptor(); }
    /// Where the acceptor listens, with the port that the system chose.
    [[nodiscard]] const Address& address() const noexcept { return address_; }

  private:
    Acceptor(Socket listener, const Address& address, const AcceptorOptions& options);

    Accepted accept_once() noexcept;
    Accepted accept_with_spare(int reason) noexcept;
    bool hold_spare() noexcept;

    Socket listener_;
    /// A descriptor kept for the day when there are no others: given up, it is just enough to
    /// accept a connection with and close it. Not a socket, but owned and closed alike.
    Socket spare_;
    Address address_;
    SocketFile file_;
    SocketOptions options_;
    int accept_flags_;
    bool exhausted_ = false;
};

} // namespace kairos::net
