// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/packet.h"

#include <algorithm>
#include <cstring>

namespace kairos::datagrams {

namespace {

// Where the members of the header are (MIOP::PacketHeader_1_0).
constexpr std::size_t version_at = 4;
constexpr std::size_t packet_flags_at = 5;
constexpr std::size_t length_at = 6;
constexpr std::size_t number_at = 8;
constexpr std::size_t count_at = 12;
constexpr std::size_t id_size_at = 16;
constexpr std::size_t id_at = 20;

constexpr std::byte version_1_0{0x10}; // two numbers of four bits
constexpr unsigned little_endian_flag = 1;
constexpr unsigned last_packet_flag = 2;

template <typename T>
T value_at(Bytes octets, std::size_t at, bool little_endian) noexcept
{
    T value{};
    std::memcpy(&value, octets.data() + at, sizeof value);
    return little_endian == native_little_endian ? value : byteswap(value);
}

template <typename T>
void put(std::array<std::byte, own_header_size>& octets, std::size_t at, T value) noexcept
{
    std::memcpy(octets.data() + at, &value, sizeof value);
}

} // namespace

std::string_view read_packet(MutableBytes octets, Packet& packet) noexcept
{
    if (octets.size() < id_at) return "too short for a packet";
    if (std::memcmp(octets.data(), "MIOP", 4) != 0) return "it does not begin with MIOP";
    if (octets[version_at] != version_1_0) return "another version of MIOP";
    const auto flags = std::to_integer<unsigned>(octets[packet_flags_at]);
    const bool little_endian = (flags & little_endian_flag) != 0;
    const auto id_size = value_at<std::uint32_t>(octets, id_size_at, little_endian);
    if (id_size > packet_id_max) return "the name of its message is too long";
    const std::size_t header = align_up(id_at + id_size, 8);
    if (header >= octets.size()) return "it has nothing of a message";
    packet.is_last = (flags & last_packet_flag) != 0;
    packet.number = value_at<std::uint32_t>(octets, number_at, little_endian);
    packet.count = value_at<std::uint32_t>(octets, count_at, little_endian);
    packet.id = octets.subspan(id_at, id_size);
    packet.data = octets.subspan(header);
    if (packet.data.size() != value_at<std::uint16_t>(octets, length_at, little_endian))
        return "not as long as its header says";
    if (std::max(packet.number, packet.count) >= packets_max) return "of too many packets";
    if (packet.count != 0 &&
        (packet.number >= packet.count || packet.is_last != (packet.number + 1 == packet.count)))
        return "it contradicts itself: which packet is the last";
    return {};
}

std::array<std::byte, own_header_size> make_packet_header(const OwnPacketId& id,
                                                          std::uint32_t number, std::uint32_t count,
                                                          std::uint16_t data) noexcept
{
    static_assert(id_at + std::tuple_size_v<OwnPacketId> == own_header_size);
    std::array<std::byte, own_header_size> octets;
    std::memcpy(octets.data(), "MIOP", 4);
    octets[version_at] = version_1_0;
    const unsigned last = number + 1 == count ? last_packet_flag : 0;
    octets[packet_flags_at] =
        static_cast<std::byte>((native_little_endian ? little_endian_flag : 0) | last);
    put(octets, length_at, data);
    put(octets, number_at, number);
    put(octets, count_at, count);
    put(octets, id_size_at, static_cast<std::uint32_t>(id.size()));
    std::ranges::copy(id, octets.begin() + id_at);
    return octets;
}

} // namespace kairos::datagrams
