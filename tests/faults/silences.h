// SPDX-License-Identifier: Apache-2.0
//
// Connections that a plan of faults.h has go silent. The octets of each, and descriptors that
// travel with them, are carried by a thread from one pair of sockets to another until one of the
// two streams has come to its place; from there on it holds both and touches neither. So each side
// sees what it sees of a peer behind a black hole, whatever it waits by: nothing comes, nothing is
// taken once the system's queues are full, and nobody hears that the other has ended.
//
//   connect() ──► near socket ═══ the thread ═══ far socket ──► the server
#pragma once

#include "kairos/net/socket.h"
#include "kairos/net/waker.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace kairos::net::testing {

/// Any thread.
class Silences {
  public:
    /// Where in its two streams a connection goes silent, in octets. Never, for the larger one.
    struct Place {
        std::uint64_t to_server;
        std::uint64_t to_client;
    };

    /// Once `stopped` none goes silent any more; `count` is of those that have.
    Silences(const std::atomic<bool>& stopped, std::atomic<std::uint64_t>& count) noexcept;
    ~Silences();
    Silences(const Silences&) = delete;
    Silences& operator=(const Silences&) = delete;

    /// Comes between: `socket`, connected with these options, is then another of the same kind. As
    /// it was if the system has no more descriptors or threads.
    void come_between(Socket& socket, const SocketOptions& options, Place place);
    /// Ends all connections, silent or not.
    void end() noexcept;

  private:
    class Carrier;

    void add(std::unique_ptr<Carrier> carrier);
    void carry();
    void wait(std::vector<std::unique_ptr<Carrier>>& carriers);

    const std::atomic<bool>& stopped_;
    std::atomic<std::uint64_t>& count_;
    std::mutex mutex_; // guards what follows
    std::vector<std::unique_ptr<Carrier>> added_;
    std::optional<Waker> waker_; // woken when there is something for the thread
    bool ended_ = false;
    std::thread thread_;
};

} // namespace kairos::net::testing
