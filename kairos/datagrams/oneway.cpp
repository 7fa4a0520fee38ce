// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/oneway.h"

#include <cstring>

namespace kairos::datagrams {

namespace {

constexpr std::size_t flags_at = 6;
constexpr std::size_t type_at = 7;
constexpr std::size_t size_at = 8;
constexpr std::size_t response_flags_at = giop::header_size + 4; // GIOP 1.2: behind the id
constexpr unsigned more_fragments = 2;

unsigned octet_at(Bytes octets, std::size_t at) { return std::to_integer<unsigned>(octets[at]); }

} // namespace

std::string_view read_oneway(MutableBytes octets, giop::Request& request) noexcept
{
    if (octets.size() < giop::header_size) return "too short";
    if (std::memcmp(octets.data(), "GIOP", 4) != 0) return "it does not begin with GIOP";
    const giop::Version version{static_cast<std::uint8_t>(octet_at(octets, 4)),
                                static_cast<std::uint8_t>(octet_at(octets, 5))};
    if (!giop::supported(version)) return "another version of GIOP";
    const unsigned flags = octet_at(octets, flags_at);
    if (octet_at(octets, type_at) != static_cast<unsigned>(giop::MessageType::request))
        return "not a Request";
    if (version.minor == 0 ? flags > 1 : (flags & more_fragments) != 0)
        return "a part of a message";
    const bool little_endian = (flags & 1) != 0;
    cdr::Reader size(octets.first(giop::header_size), little_endian, 8);
    if (size.read<std::uint32_t>() != octets.size() - giop::header_size)
        return "not as long as its header says";
    const giop::Message message{.version = version,
                                .type = giop::MessageType::request,
                                .little_endian = little_endian,
                                .bytes = octets};
    if (giop::parse(message, request) != cdr::Fault::none) return "malformed";
    if (request.response_expected()) return "it expects an answer";
    return {};
}

std::uint32_t number_in(Bytes beginning, std::size_t at) noexcept
{
    std::uint32_t number = 0;
    if (beginning.size() < at + sizeof number) return 0;
    std::memcpy(&number, beginning.data() + at, sizeof number);
    const bool little_endian = (octet_at(beginning, flags_at) & 1) != 0;
    return little_endian == native_little_endian ? number : byteswap(number);
}

std::size_t message_size(Bytes beginning) noexcept
{
    return giop::header_size + number_in(beginning, size_at);
}

giop::MessageType type_of(Bytes beginning) noexcept
{
    return static_cast<giop::MessageType>(octet_at(beginning, type_at));
}

Sendable look_at(Bytes beginning) noexcept
{
    if (beginning.size() < giop::header_size) return Sendable::passed_over;
    const giop::MessageType type = type_of(beginning);
    const bool is_request = type == giop::MessageType::request;
    if (!is_request && type != giop::MessageType::locate_request) return Sendable::passed_over;
    if (octet_at(beginning, 5) < 2 || beginning.size() <= response_flags_at)
        return Sendable::other_version;
    if (!is_request || (octet_at(beginning, response_flags_at) & 1) != 0)
        return Sendable::expects_answer;
    if ((octet_at(beginning, flags_at) & more_fragments) != 0) return Sendable::is_cut;
    return Sendable::yes;
}

} // namespace kairos::datagrams
