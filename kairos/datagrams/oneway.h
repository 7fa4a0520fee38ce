// SPDX-License-Identifier: Apache-2.0
//
// One message as datagrams carry it: a whole Request that expects no answer. Views.
#pragma once

#include "kairos/giop/request.h"

#include <cstddef>
#include <string_view>

namespace kairos::datagrams {

/// The most that UDP carries over IPv4: 65,535 octets without the headers of UDP and IP.
inline constexpr std::size_t datagram_octets_max = 65'507;

/// Reads a message that came in a datagram, of which nothing is trusted. Returns why it is not to
/// be served, which lives as long as the process; empty if it is. `request` borrows the octets.
[[nodiscard]] std::string_view read_oneway(MutableBytes octets, giop::Request& request) noexcept;

/// Returns how many octets the message has that begins so; header_size if there are too few to say.
[[nodiscard]] std::size_t message_size(Bytes beginning) noexcept;
[[nodiscard]] giop::MessageType type_of(Bytes beginning) noexcept;
/// Returns the number at this place of a message, which is aligned, in the order of its octets.
[[nodiscard]] std::uint32_t number_in(Bytes beginning, std::size_t at) noexcept;

/// What a message that is about to be sent turns out to be.
enum class Sendable : std::uint8_t {
    yes,
    passed_over,    ///< nothing that a peer of datagrams needs, such as CloseConnection
    other_version,  ///< a request of GIOP before 1.2
    expects_answer, ///< a request with an answer, or a LocateRequest
    is_cut,         ///< a part of a message (-ORBFragmentSize)
};
/// Looks at the first octets of a message of our own, 24 at least if there are so many.
[[nodiscard]] Sendable look_at(Bytes beginning) noexcept;

} // namespace kairos::datagrams
