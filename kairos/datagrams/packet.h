// SPDX-License-Identifier: Apache-2.0
//
// The packets in which messages go to groups (MIOP::PacketHeader_1_0: CORBA 3.3 part 2, 11; the IDL
// is in idl/MIOP.idl): a header, and some octets of a GIOP message. Views.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kairos::datagrams {

/// The most octets of the name that all packets of a message have (MIOP::UniqueId).
inline constexpr std::size_t packet_id_max = 252;
/// How many packets a message may have here. The specification has no limit.
inline constexpr std::uint32_t packets_max = 65'536;

struct Packet {
    bool is_last = false;     ///< of its message
    std::uint32_t number = 0; ///< the first one has 0
    std::uint32_t count = 0;  ///< of the message's packets; 0: not said
    Bytes id;                 ///< of the message, among those of its sender
    MutableBytes data;        ///< begins at a multiple of 8 octets; never empty
};

/// Reads what came in a datagram, of which nothing is trusted. Returns why it is no packet, which
/// lives as long as the process; empty if it is one. `packet` borrows the octets.
[[nodiscard]] std::string_view read_packet(MutableBytes octets, Packet& packet) noexcept;

/// The name of a message that is sent from here.
using OwnPacketId = std::array<std::byte, 12>;
/// The octets of a header that we write.
inline constexpr std::size_t own_header_size = 32;
/// Returns the header of a packet with `data` octets of a message.
[[nodiscard]] std::array<std::byte, own_header_size>
make_packet_header(const OwnPacketId& id, std::uint32_t number, std::uint32_t count,
                   std::uint16_t data) noexcept;

} // namespace kairos::datagrams
