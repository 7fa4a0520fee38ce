// SPDX-License-Identifier: Apache-2.0
#include "kairos/giop/header.h"

namespace kairos::giop {

namespace {

constexpr unsigned bit(MessageType type) { return 1u << static_cast<unsigned>(type); }

constexpr unsigned fragmentable_1_1 =
    bit(MessageType::request) | bit(MessageType::reply) | bit(MessageType::fragment);
constexpr unsigned fragmentable_1_2 =
    fragmentable_1_1 | bit(MessageType::locate_request) | bit(MessageType::locate_reply);

constexpr unsigned fragmentable(Version version)
{
    if (version.minor == 0) return 0;
    return version.minor == 1 ? fragmentable_1_1 : fragmentable_1_2;
}

} // namespace

std::string_view describe(MessageType type) noexcept
{
    switch (type) {
    case MessageType::request:
        return "Request";
    case MessageType::reply:
        return "Reply";
    case MessageType::cancel_request:
        return "CancelRequest";
    case MessageType::locate_request:
        return "LocateRequest";
    case MessageType::locate_reply:
        return "LocateReply";
    case MessageType::close_connection:
        return "CloseConnection";
    case MessageType::message_error:
        return "MessageError";
    case MessageType::fragment:
        return "Fragment";
    }
    return "unknown message";
}

std::string_view describe(Fault fault) noexcept
{
    switch (fault) {
    case Fault::none:
        return "no fault";
    case Fault::bad_magic:
        return "message does not begin with GIOP";
    case Fault::unsupported_version:
        return "GIOP version is not supported";
    case Fault::unknown_type:
        return "message type is unknown in its GIOP version";
    case Fault::invalid_flags:
        return "message flags are invalid";
    case Fault::too_large:
        return "message is larger than allowed";
    case Fault::not_for_this_role:
        return "message type may not be sent in this direction";
    case Fault::unexpected_fragment:
        return "fragment of no message begun";
    case Fault::repeated_first_part:
        return "fragmented message begun twice";
    case Fault::malformed_fragment:
        return "fragment does not fit the message begun";
    case Fault::wrong_size:
        return "message size differs from its header's";
    case Fault::too_many_fragmented:
        return "too many fragmented messages at a time";
    }
    return "unknown fault";
}

Fault parse_header(const std::byte* bytes, MessageHeader& header) noexcept
{
    std::uint64_t word;
    std::uint32_t size;
    std::memcpy(&word, bytes, sizeof word);
    std::memcpy(&size, bytes + sizeof word, sizeof size);
    if constexpr (!native_little_endian) word = byteswap(word);

    if (static_cast<std::uint32_t>(word) != 0x504F4947u) [[unlikely]]
        return Fault::bad_magic;
    const auto flags = static_cast<std::uint8_t>(word >> 48);
    const auto type = static_cast<std::uint8_t>(word >> 56);
    header.version = {static_cast<std::uint8_t>(word >> 32), static_cast<std::uint8_t>(word >> 40)};
    header.type = static_cast<MessageType>(type);
    header.little_endian = (flags & 1) != 0;
    header.more_fragments = (flags & 2) != 0;
    header.size = header.little_endian == native_little_endian ? size : byteswap(size);

    if (header.type == MessageType::close_connection || header.type == MessageType::message_error)
        return Fault::none;
    if (!supported(header.version)) [[unlikely]]
        return Fault::unsupported_version;
    if (type >= message_type_count) [[unlikely]]
        return Fault::unknown_type;
    if (header.version.minor == 0) [[unlikely]] {
        if (header.type == MessageType::fragment) return Fault::unknown_type;
        if (flags > 1) return Fault::invalid_flags; // a boolean, byte_order
    }
    if (header.more_fragments && (fragmentable(header.version) >> type & 1) == 0) [[unlikely]]
        return Fault::invalid_flags;
    return Fault::none;
}

} // namespace kairos::giop
