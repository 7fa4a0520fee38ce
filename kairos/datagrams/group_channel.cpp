// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/group_channel.h"

#include "kairos/datagrams/oneway.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <random>
#include <sys/socket.h>

namespace kairos::datagrams {

namespace {

// In a Request of GIOP 1.2 whose target is an object key (CORBA 3.3 part 2, 9.4.2.3).
constexpr std::size_t disposition_at = giop::header_size + 8;
constexpr std::size_t key_size_at = disposition_at + 4;
constexpr std::size_t profile_size_at = key_size_at + 4;
constexpr std::size_t beginning_size = profile_size_at + 4;

/// Walks over the octets of a message, which are those of segments one after the other.
class Cursor {
  public:
    explicit Cursor(std::span<const iovec> segments) noexcept : segments_(segments) {}

    /// Writes where the next `size` octets are behind the vectors there are. Returns how many there
    /// are now.
    std::size_t take(std::size_t size, std::span<iovec> vectors, std::size_t count) noexcept
    {
        while (size != 0 && !segments_.empty()) {
            const iovec& first = segments_.front();
            const std::size_t part = std::min(first.iov_len - offset_, size);
            if (part != 0)
                vectors[count++] = {static_cast<std::byte*>(first.iov_base) + offset_, part};
            size -= part;
            offset_ += part;
            if (offset_ != first.iov_len) break;
            segments_ = segments_.subspan(1);
            offset_ = 0;
        }
        return count;
    }

  private:
    std::span<const iovec> segments_;
    std::size_t offset_ = 0; // in the first
};

void copy_beginning(std::span<const iovec> segments, std::array<std::byte, beginning_size>& octets)
{
    std::size_t copied = 0;
    for (const iovec& each : segments) {
        const std::size_t part = std::min(octets.size() - copied, each.iov_len);
        if (part != 0) std::memcpy(octets.data() + copied, each.iov_base, part);
        copied += part;
    }
}

/// Has the request name its group. Returns false if it is none of a target of a group.
bool name_group(std::array<std::byte, beginning_size>& octets) noexcept
{
    const std::uint32_t key_size = number_in(octets, key_size_at);
    const std::uint16_t by_profile = 1;
    std::uint16_t disposition = 0;
    std::memcpy(&disposition, octets.data() + disposition_at, sizeof disposition);
    if (disposition != 0 || key_size != number_in(octets, profile_size_at) + sizeof key_size)
        return false;
    std::memcpy(octets.data() + disposition_at, &by_profile, sizeof by_profile);
    std::memcpy(octets.data() + key_size_at, &tag_uipmc, sizeof tag_uipmc);
    return true;
}

template <typename T>
bool set_for_sending(const net::Socket& socket, int level, int name, const T& value) noexcept
{
    return ::setsockopt(socket.descriptor(), level, name, &value, sizeof value) == 0;
}

bool prepare(const net::Socket& socket, bool is_ipv4, unsigned interface,
             const MulticastSettings& settings) noexcept
{
    const int loops = settings.loops ? 1 : 0;
    if (is_ipv4) {
        ip_mreqn from{};
        from.imr_ifindex = static_cast<int>(interface);
        return (interface == 0 || set_for_sending(socket, IPPROTO_IP, IP_MULTICAST_IF, from)) &&
               set_for_sending(socket, IPPROTO_IP, IP_MULTICAST_TTL, settings.ttl) &&
               set_for_sending(socket, IPPROTO_IP, IP_MULTICAST_LOOP, loops);
    }
    return (interface == 0 ||
            set_for_sending(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, interface)) &&
           set_for_sending(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, settings.ttl) &&
           set_for_sending(socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, loops);
}

} // namespace

GroupChannel::GroupChannel(int descriptor, net::Socket answers, net::Socket datagrams,
                           ior::Address where, const net::SocketOptions& options,
                           std::size_t packet)
    : Channel(descriptor, std::move(answers), std::move(datagrams), std::move(where), {}, options),
      data_max_((packet - own_header_size) & ~std::size_t{7}), id_()
{
    std::random_device device;
    for (std::size_t at = 0; at < id_.size(); at += sizeof(std::uint32_t)) {
        const std::uint32_t number = device();
        std::memcpy(id_.data() + at, &number, sizeof number);
    }
}

Result<net::Socket> GroupChannel::connect(const ior::Address& where,
                                          const net::SocketOptions& options,
                                          const MulticastSettings& settings)
{
    const auto address = multicast_address(where);
    if (!address)
        return Error{ErrorCode::unreachable, ior::to_string(where) + " is no multicast address"};
    const auto interface = interface_index(settings);
    if (!interface) return interface.error();
    const bool is_ipv4 = address->native_family() == AF_INET;
    auto datagrams = connect_to(*address, options, [&](const net::Socket& socket) {
        return prepare(socket, is_ipv4, *interface, settings);
    });
    if (!datagrams) return datagrams.error();
    return with_channel([&](int descriptor, net::Socket answers) {
        return std::make_unique<GroupChannel>(descriptor, std::move(answers),
                                              std::move(datagrams).value(), where, options,
                                              settings.packet);
    });
}

/// A packet that is lost makes the others of its message useless: whatever stops one stops those
/// behind it.
net::IoResult GroupChannel::send_message(std::span<const iovec> segments, std::size_t size) noexcept
{
    std::array<std::byte, beginning_size> beginning{};
    copy_beginning(segments, beginning);
    if (size <= beginning.size() || !name_group(beginning)) {
        tell(size, "it is for no group");
        return {.error = EPROTO, .status = net::IoResult::Status::failed};
    }
    std::uint32_t number_of_message = 0;
    std::memcpy(&number_of_message, id_.data() + 8, sizeof number_of_message);
    ++number_of_message;
    std::memcpy(id_.data() + 8, &number_of_message, sizeof number_of_message);

    std::array<iovec, net::Socket::segments_max + 2> vectors;
    Cursor cursor(segments);
    (void)cursor.take(beginning.size(), vectors, 0); // these are in front of it
    const auto count = static_cast<std::uint32_t>((size + data_max_ - 1) / data_max_);
    for (std::uint32_t number = 0; number < count; ++number) {
        const std::size_t data = std::min(data_max_, size - number * data_max_);
        auto header = make_packet_header(id_, number, count, static_cast<std::uint16_t>(data));
        vectors[0] = {header.data(), header.size()};
        std::size_t used = 1;
        std::size_t rest = data;
        if (number == 0) {
            vectors[used++] = {beginning.data(), beginning.size()};
            rest -= beginning.size();
        }
        used = cursor.take(rest, vectors, used);
        if (used > net::Socket::segments_max) { // of which the rest would be left out
            tell(size, "it is in too many pieces");
            return {.error = EMSGSIZE, .status = net::IoResult::Status::failed};
        }
        const net::IoResult sent = datagrams().write(std::span<const iovec>(vectors).first(used));
        if (sent.ok()) continue;
        if (sent.status == net::IoResult::Status::would_block || sent.error == ENOBUFS) {
            tell(size, "the system's queue is full");
            return {.bytes = size};
        }
        tell(size, std::strerror(sent.error));
        return {.error = sent.error, .status = net::IoResult::Status::failed};
    }
    return {.bytes = size};
}

} // namespace kairos::datagrams
