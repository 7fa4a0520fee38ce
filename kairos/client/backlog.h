// SPDX-License-Identifier: Apache-2.0
//
// What the peer has not taken yet of the oneways with SYNC_NONE that one connection was given. It
// writes by a descriptor of its own, so that it may outlive the connection: a thread that ends does
// not take back what it has sent. Shared by the connection and Backlogs. Any thread.
#pragma once

#include "kairos/net/socket.h"
#include "kairos/orb/output_queue.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace kairos::orb {

class Backlog {
  public:
    /// Makes a backlog that writes by `socket`, a duplicate of the connection's
    /// (Socket::duplicate), with `output`, what is left of a message.
    Backlog(net::Socket socket, OutputQueue output) noexcept
        : socket_(std::move(socket)), output_(std::move(output))
    {
    }
    Backlog(const Backlog&) = delete;
    Backlog& operator=(const Backlog&) = delete;

    /// What became of a message.
    enum class Posted : std::uint8_t {
        taken,  ///< sent, or kept
        full,   ///< there is no room for it beside what is kept
        broken, ///< the connection is
    };
    /// Sends a message or keeps what the peer does not take of it; never waits. There is room for
    /// `bytes_max` octets, and for one message that alone is larger.
    [[nodiscard]] Posted post(Bytes header, const cdr::Writer& body, std::size_t fragment_size,
                              std::size_t bytes_max) noexcept;
    /// Sends what is kept; waits while the peer does not take it, or serves, within an upcall.
    /// Returns false at the deadline, or if the connection is broken.
    [[nodiscard]] bool drain(Deadline deadline) noexcept;
    /// Sends as much as the peer takes now; returns false if there is nothing more to send.
    bool flush() noexcept;
    [[nodiscard]] bool empty() noexcept;
    [[nodiscard]] bool broken() noexcept;
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Notes that Backlogs is to have this backlog, if there is something to send; returns true to
    /// the first who asks, who must give it to Backlogs.
    [[nodiscard]] bool begin_watch() noexcept;
    /// Notes that Backlogs lets this backlog go, if there is nothing more to send or the connection
    /// is broken; returns whether it may.
    [[nodiscard]] bool end_watch() noexcept;

  private:
    net::Socket socket_;
    std::mutex mutex_; // guards what follows
    OutputQueue output_;
    bool is_watched_ = false;
};

} // namespace kairos::orb
