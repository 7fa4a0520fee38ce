// SPDX-License-Identifier: Apache-2.0
//
// The twelve bytes every GIOP message begins with (CORBA 3.3 part 2, 9.4.1), and why a stream of
// them may be refused. Stations 3 and 7 of the request walk (docs/TOUR.md). Plain values.
#pragma once

#include "kairos/base/bytes.h"

#include <bit>
#include <compare>
#include <cstdint>

namespace kairos::giop {

struct Version {
    std::uint8_t major = 1;
    std::uint8_t minor = 2;

    friend constexpr bool operator==(const Version&, const Version&) = default;
    // As numbers of two octets: every call compares versions.
    friend constexpr auto operator<=>(const Version& a, const Version& b) noexcept
    {
        return a.major * 256 + a.minor <=> b.major * 256 + b.minor;
    }
};

inline constexpr Version version_1_0{1, 0};
inline constexpr Version version_1_1{1, 1};
inline constexpr Version version_1_2{1, 2};

/// Whether this is the newest version that is understood, which nearly all messages have: one
/// comparison.
[[nodiscard]] constexpr bool is_newest(Version version) noexcept
{
    return std::bit_cast<std::uint16_t>(version) == std::bit_cast<std::uint16_t>(version_1_2);
}

/// Whether messages of this version are understood: 1.0, 1.1 and 1.2.
[[nodiscard]] constexpr bool supported(Version version) noexcept
{
    return version.major == 1 && version.minor <= 2;
}

enum class MessageType : std::uint8_t {
    request,
    reply,
    cancel_request,
    locate_request,
    locate_reply,
    close_connection,
    message_error,
    fragment,
};
inline constexpr std::uint8_t message_type_count = 8;

/// The name as the specification spells it, for a log line.
[[nodiscard]] std::string_view describe(MessageType type) noexcept;

/// Why a connection's bytes are not GIOP, or not GIOP that may arrive here.
enum class Fault : std::uint8_t {
    none,
    bad_magic,           ///< does not begin with "GIOP"
    unsupported_version, ///< newer than 1.2, and not a CloseConnection or MessageError
    unknown_type,        ///< a message type that this version does not have
    invalid_flags,       ///< GIOP 1.0: a byte_order that is no boolean; a part that cannot be one
    too_large,           ///< longer than the limit of this connection, fragments added up
    not_for_this_role,   ///< a Reply sent to a server, a Request sent to a client
    unexpected_fragment, ///< a Fragment of no message begun
    repeated_first_part, ///< a second message begun under the id of one not ended yet
    malformed_fragment,  ///< lengths, order of bytes or version do not fit the first part
    wrong_size,          ///< not as many bytes as its header says
    too_many_fragmented, ///< more messages begun and not ended than limits::fragmented_messages_max
};
[[nodiscard]] std::string_view describe(Fault fault) noexcept;

inline constexpr std::size_t header_size = 12;

struct MessageHeader {
    Version version;
    MessageType type = MessageType::request;
    bool little_endian = native_little_endian;
    bool more_fragments = false;
    std::uint32_t size = 0; ///< of what follows the header
};

/// Reads the `header_size` bytes at `bytes`. CloseConnection and MessageError are accepted in any
/// version: a peer that cannot agree on one must still be able to say so.
[[nodiscard]] Fault parse_header(const std::byte* bytes, MessageHeader& header) noexcept;

namespace detail {
/// "GIOP", major, minor, flags, type as the eight bytes in memory, in this machine's byte order.
[[nodiscard]] constexpr std::uint64_t header_word(Version version, MessageType type,
                                                  bool more_fragments) noexcept
{
    const std::uint64_t flags = (native_little_endian ? 1u : 0u) | (more_fragments ? 2u : 0u);
    const std::uint64_t word = 0x504F4947u | std::uint64_t{version.major} << 32 |
                               std::uint64_t{version.minor} << 40 | flags << 48 |
                               static_cast<std::uint64_t>(type) << 56;
    return native_little_endian ? word : byteswap(word);
}
} // namespace detail

/// Writes a header in this machine's byte order to the `header_size` bytes at `place`.
inline void write_header(std::byte* place, Version version, MessageType type, std::uint32_t size,
                         bool more_fragments = false) noexcept
{
    const std::uint64_t word = detail::header_word(version, type, more_fragments);
    std::memcpy(place, &word, sizeof word);
    std::memcpy(place + sizeof word, &size, sizeof size);
}

} // namespace kairos::giop
