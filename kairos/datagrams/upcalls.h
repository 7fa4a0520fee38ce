// SPDX-License-Identifier: Apache-2.0
//
// From a request that has come in a datagram to the servant, by the way that all requests go. Of
// one thread.
#pragma once

#include "kairos/giop/request.h"
#include "kairos/net/waker.h"

#include <array>
#include <atomic>
#include <memory>
#include <string_view>

namespace kairos::cdr {
struct TextForm;
} // namespace kairos::cdr

namespace kairos::net {
class Address;
} // namespace kairos::net

namespace kairos::orb {
class Orb;
struct UpcallMemory;
} // namespace kairos::orb

namespace kairos::datagrams {

class Upcalls {
  public:
    /// `waker` is woken by whoever sets `ends`, and when adapters do not hold requests any more.
    Upcalls(orb::Orb& orb, net::Waker& waker, const std::atomic<bool>& ends);
    ~Upcalls();

    /// Serves a request that expects no answer. While the adapter holds it this waits, and then
    /// what comes after it waits in its socket.
    void serve(const giop::Request& request);

  private:
    [[nodiscard]] bool is_ending() const noexcept { return ends_.load(std::memory_order_acquire); }

    orb::Orb& orb_;
    net::Waker& waker_;
    const std::atomic<bool>& ends_;
    std::unique_ptr<orb::UpcallMemory> memory_;
    /// Of requests that say nothing of text, by the minor version.
    std::array<const cdr::TextForm*, 3> usual_texts_{};
};

/// Counts a datagram that was dropped, and says in the log, so often at most, where it came to and
/// why. `from` is null where that is not known.
void drop(std::string_view place, const net::Address* from, std::string_view why) noexcept;
/// Counts a packet that has come again.
void count_repeated() noexcept;

} // namespace kairos::datagrams
