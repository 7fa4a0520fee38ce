// SPDX-License-Identifier: Apache-2.0
//
// The client's end: to the ORB a connection whose peer never says anything, below it a socket to
// which each message is one datagram.
//
// What cannot be sent so fails, as on a connection that has just been closed. Then the call's
// thread asks for another connection, where it is told why: by the exception that Refusal keeps for
// it (transports.cpp).
#pragma once

#include "kairos/net/wrapping_channel.h"

#include <string>

namespace kairos::datagrams {

/// Why the last message of the calling thread could not be sent; of this thread alone.
class Refusal {
  public:
    enum class Why : std::uint8_t { none, expects_answer, too_large, other_version, is_cut };

    static void set(Why why, std::size_t octets) noexcept;
    static void clear() noexcept { set(Why::none, 0); }
    /// Throws what a call to `where` ends with if its message was refused, and forgets that.
    static void raise_if_any(const std::string& where);
};

class Channel final : public net::WrappingChannel {
  public:
    /// `descriptor` is of a connected socket for datagrams.
    explicit Channel(int descriptor) noexcept : WrappingChannel(descriptor, false) {}

  private:
    net::IoResult shake_hands() noexcept override { return {}; }
    net::IoResult take(MutableBytes buffer, bool peek) noexcept override;
    net::IoResult put(std::span<const iovec> segments) noexcept override;
    [[nodiscard]] bool has_at_hand() const noexcept override { return false; }
};

} // namespace kairos::datagrams
