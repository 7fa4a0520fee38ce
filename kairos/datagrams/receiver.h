// SPDX-License-Identifier: Apache-2.0
//
// The server's end: one thread beside the ORB's server, which reads the sockets for datagrams in
// turn and serves what comes, one request after the other, by the way that all requests go. What
// comes meanwhile waits in the sockets' queues, and is lost where these are full.
#pragma once

#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"
#include "kairos/orb/datagrams.h"
#include "kairos/orb/transport.h"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kairos::cdr {
struct TextForm;
} // namespace kairos::cdr

namespace kairos::giop {
struct Request;
} // namespace kairos::giop

namespace kairos::orb {
struct UpcallMemory;
} // namespace kairos::orb

namespace kairos::datagrams {

class Receiver final : public orb::DatagramSide {
  public:
    explicit Receiver(orb::Orb& orb) : orb_(orb) {}
    ~Receiver() override;

    /// Opens a socket at this endpoint; before start().
    [[nodiscard]] Result<void> open(const orb::ListenEndpoint& endpoint);

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
    [[nodiscard]] bool is_ending() const noexcept { return ends_.load(std::memory_order_acquire); }
    void receive(Place& place, MutableBytes room, orb::UpcallMemory& memory);
    void serve(const giop::Request& request, orb::UpcallMemory& memory);
    /// `from` is null where that is not known.
    void drop(const Place& place, const net::Address* from, std::string_view why) noexcept;

    orb::Orb& orb_;
    std::vector<Place> places_; // constant while there is a thread, which alone uses the sockets
    std::vector<ior::Address> published_; // constant once there are references
    std::optional<net::Waker> waker_;     // likewise; any thread wakes it
    std::atomic<bool> ends_{false};
    /// Of requests that say nothing of text, by the minor version. Of the thread.
    std::array<const cdr::TextForm*, 3> usual_texts_{};
    std::mutex join_mutex_;             // guards that one thread ends it
    std::optional<net::Thread> thread_; // while it serves
};

} // namespace kairos::datagrams
