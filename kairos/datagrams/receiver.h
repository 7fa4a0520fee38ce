// SPDX-License-Identifier: Apache-2.0
//
// The server's end: one thread beside the ORB's server, which reads the sockets for datagrams in
// turn and serves what comes, one request after the other, by the way that all requests go. What
// comes meanwhile waits in the sockets' queues, and is lost where these are full.
#pragma once

#include "kairos/datagrams/group_receiver.h"
#include "kairos/datagrams/lane_threads.h"
#include "kairos/datagrams/upcalls.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/transport.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kairos::datagrams {

/// What comes in datagrams is served by a thread of its own, past what stands between connections
/// and adapters. Returns why an architecture that promises otherwise cannot have it; empty if it
/// can.
[[nodiscard]] std::string contradiction(const orb::Options& options);

class Receiver final : public orb::DatagramSide {
  public:
    explicit Receiver(orb::Orb& orb) : orb_(orb), groups_(orb) {}
    ~Receiver() override;

    /// Opens a socket at this endpoint; before start().
    [[nodiscard]] Result<void> open(const orb::ListenEndpoint& endpoint);

    /// Returns what receives messages to groups.
    [[nodiscard]] GroupReceiver& groups() noexcept { return groups_; }

    void add_profiles(ior::Ior& reference) const override;
    [[nodiscard]] bool is_at(const orb::Way& way) const noexcept override;
    [[nodiscard]] Result<void> start() override;
    void stop() noexcept override;
    void join() noexcept override;
    void leave_to_parent() noexcept override;

  private:
    struct Place {
        std::string text; ///< the endpoint, for messages
        net::Socket socket;
    };

    void run() noexcept;
    [[nodiscard]] Result<void> start_thread();
    [[nodiscard]] bool is_ending() const noexcept { return ends_.load(std::memory_order_acquire); }
    void receive(Place& place, MutableBytes room, Upcalls& upcalls);

    orb::Orb& orb_;
    GroupReceiver groups_;
    std::vector<Place> places_; // constant while there is a thread, which alone uses the sockets
    std::vector<ior::Address> published_; // constant once there are references
    std::optional<net::Waker> waker_;     // likewise; any thread wakes it
    std::atomic<bool> ends_{false};
    LaneThreads lanes_{orb_, ends_};
    std::mutex join_mutex_;             // guards that one thread ends it
    std::optional<net::Thread> thread_; // while it serves
};

} // namespace kairos::datagrams
