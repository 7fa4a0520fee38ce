// SPDX-License-Identifier: Apache-2.0
//
// From packets to messages: keeps the packets of those that have not come whole, in bounds, and
// remembers those that have, so that what comes twice is delivered once. Who sends a packet can say
// anything, also who he is: whatever comes, this holds no more than its limits say. One thread.
//
//   a packet ──► one of one ─────────────────────────────────► the message
//           └──► one of several ── kept until all are there ──► the message
#pragma once

#include "kairos/datagrams/packet.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::datagrams {

struct AssemblyLimits {
    std::size_t message_octets = std::size_t{4} << 20; ///< of one message
    /// Kept for messages that are not whole, with what keeping them takes.
    std::size_t octets = std::size_t{16} << 20;
    std::size_t octets_of_host = std::size_t{8} << 20;
    std::size_t messages = 256; ///< that are not whole
    std::size_t messages_of_host = 64;
    std::size_t remembered = 4096; ///< messages that have come or were given up
    /// How long a message may take from its first packet to its last.
    std::chrono::milliseconds patience{1000};
    /// For how long one is remembered.
    std::chrono::milliseconds memory{10'000};
};

class Assembly {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit Assembly(const AssemblyLimits& limits) : limits_(limits) {}

    /// What became of a packet.
    struct Taken {
        enum class What : std::uint8_t {
            kept,     ///< for a message that is not whole yet
            message,  ///< one is whole
            repeated, ///< it has come before
            dropped,  ///< `why` says why
        };
        What what = What::kept;
        std::string_view why{}; ///< lives as long as the process
        MutableBytes message{}; ///< the packet's own octets, or valid until the next call
    };
    /// Takes a packet that has come from `sender`, a text that tells senders apart, at the host
    /// with this number.
    [[nodiscard]] Taken take(std::string_view sender, std::uint64_t host, const Packet& packet,
                             Time now);

    /// Gives up the messages whose time is over.
    void expire(Time now);
    /// Returns when to call expire(); nothing while no message waits for packets.
    [[nodiscard]] std::optional<Time> next_expiry() const noexcept;

    /// Returns how many messages were given up since this was asked last.
    [[nodiscard]] std::size_t take_given_up() noexcept { return std::exchange(given_up_, 0); }
    /// Returns what is kept of messages that are not whole, in octets.
    [[nodiscard]] std::size_t octets() const noexcept { return octets_; }
    [[nodiscard]] std::size_t messages() const noexcept { return begun_.size(); }

  private:
    struct Begun {
        std::uint64_t host = 0;
        Time since;
        std::uint32_t count = 0;                               // 0: nobody has said
        std::map<std::uint32_t, std::vector<std::byte>> parts; // by their numbers
        std::size_t size = 0;                                  // of all parts
        std::size_t charge = 0;
    };
    struct Host {
        std::size_t messages = 0;
        std::size_t charge = 0;
    };
    using Messages = std::map<std::string, Begun, std::less<>>;
    struct Remembered {
        Time since;
        std::map<std::string, bool, std::less<>>::iterator place;
    };

    [[nodiscard]] Taken begin_or_add(std::string key, std::uint64_t host, const Packet& packet,
                                     Time now);
    [[nodiscard]] Taken add(Messages::iterator message, const Packet& packet, Time now);
    [[nodiscard]] Taken finish(Messages::iterator message, Time now);
    void make_room_to_begin(std::uint64_t host, Time now);
    [[nodiscard]] bool make_room_for(std::size_t charge, Messages::iterator keeping, Time now);
    [[nodiscard]] std::uint64_t largest_host() const noexcept;
    [[nodiscard]] Messages::iterator oldest_of(std::uint64_t host) noexcept;
    void give_up(Messages::iterator message, Time now);
    void remember(std::string key, bool has_come, Time now);
    void forget(Messages::iterator message);

    const AssemblyLimits limits_;
    Messages begun_;
    std::map<std::uint64_t, Host> hosts_;            // that have begun some
    std::map<std::string, bool, std::less<>> known_; // whether it has come; else it was given up
    std::deque<Remembered> remembered_;              // the oldest first, all of known_
    std::vector<std::byte> whole_;
    std::size_t octets_ = 0;
    std::size_t given_up_ = 0;
};

} // namespace kairos::datagrams
