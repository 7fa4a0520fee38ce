// SPDX-License-Identifier: Apache-2.0
//
// Where a socket is: an IPv4 or IPv6 address with a port, or the path of a unix-domain socket. A
// value without ownership; free to copy and to share. Nothing here asks a name server, forwards or
// backwards, except resolve(), which says so.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <vector>

namespace kairos::log {
class Line;
} // namespace kairos::log

namespace kairos::net {

class Address {
  public:
    enum class Family : std::uint8_t { none, ipv4, ipv6, unix_domain };

    /// No address at all (Family::none), as of an unnamed unix-domain socket.
    Address() noexcept;

    /// A numeric host: "127.0.0.1", "::1", "[::1]", "fe80::1%eth0". Never asks anybody.
    [[nodiscard]] static Result<Address> parse(std::string_view host, std::uint16_t port);
    /// A unix-domain socket. A path that starts with '@' is a name in Linux's abstract namespace.
    [[nodiscard]] KAIROS_API static Result<Address> unix_path(std::string_view path);
    /// Who is at the other end of a unix-domain socket, whose own address is most often none: its
    /// process and user when it connected. Nobody can connect to it; for messages.
    [[nodiscard]] static Address unix_peer(const ucred& peer) noexcept;
    /// Returns whom unix_peer() was told; nothing for every other address.
    [[nodiscard]] std::optional<ucred> credentials() const noexcept
    {
        // The system gives no path that has an end so far in front of that of its room.
        const sockaddr_un& native = storage_.path;
        if (native_family() != AF_UNIX || size_ != sizeof native || native.sun_path[0] == '\0' ||
            native.sun_path[credentials_at - 1] != '\0')
            return std::nullopt;
        ucred peer{};
        std::memcpy(&peer, native.sun_path + credentials_at, sizeof peer);
        return peer;
    }
    /// What the system reported. Unknown families and impossible lengths become Family::none.
    [[nodiscard]] KAIROS_API static Address from_native(const sockaddr* native,
                                                        socklen_t size) noexcept;

    /// Every interface of this machine, for listening.
    [[nodiscard]] static Address any_ipv4(std::uint16_t port = 0) noexcept;
    [[nodiscard]] static Address any_ipv6(std::uint16_t port = 0) noexcept;
    [[nodiscard]] static Address loopback_ipv4(std::uint16_t port = 0) noexcept;
    [[nodiscard]] static Address loopback_ipv6(std::uint16_t port = 0) noexcept;

    [[nodiscard]] Family family() const noexcept;
    [[nodiscard]] bool is_ip() const noexcept;
    /// Whether the address is one of 127.0.0.0/8 or ::1.
    [[nodiscard]] bool is_loopback() const noexcept;
    /// Whether the address is 0.0.0.0 or ::, which one can listen on but not publish.
    [[nodiscard]] bool is_any() const noexcept;
    /// Whether the address is one of 169.254.0.0/16 or fe80::/10.
    [[nodiscard]] bool is_link_local() const noexcept;

    /// The port; 0 where there is none.
    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] Address with_port(std::uint16_t port) const noexcept;
    /// ::ffff:192.0.2.1 as 192.0.2.1; every other address as it is. A listener for both families
    /// sees its IPv4 clients in the first form.
    [[nodiscard]] Address unmapped() const noexcept;

    /// The host in numbers, "::1" without brackets; the path of a unix-domain socket.
    [[nodiscard]] KAIROS_API std::string host_text() const;
    /// "127.0.0.1:2809", "[::1]:2809", "unix:/path", "unix:@name", "none"; "unix:process 17, user
    /// 1000" of a peer.
    [[nodiscard]] KAIROS_API std::string to_text() const;

    [[nodiscard]] const sockaddr* native() const noexcept { return &storage_.common; }
    [[nodiscard]] socklen_t native_size() const noexcept { return size_; }
    /// AF_INET, AF_INET6, AF_UNIX or AF_UNSPEC.
    [[nodiscard]] int native_family() const noexcept { return storage_.common.sa_family; }

    /// Compares by family, host, scope and port; the flow label of IPv6 does not count.
    friend std::strong_ordering operator<=>(const Address& left, const Address& right) noexcept;
    friend bool operator==(const Address& left, const Address& right) noexcept
    {
        return (left <=> right) == std::strong_ordering::equal;
    }
    [[nodiscard]] std::size_t hash() const noexcept;
    /// A number to count peers by, equal for addresses that are likely to be of one host: a host's
    /// IPv4 address, the network of 64 bits in which it chooses its IPv6 addresses; for peers of
    /// unix-domain sockets, that of their user.
    [[nodiscard]] KAIROS_API std::uint64_t host_number() const noexcept;
    /// Writes what to_text() returns, without allocating.
    friend log::Line& operator<<(log::Line& line, const Address& address) noexcept;

  private:
    /// `bare` is `host` without brackets.
    [[nodiscard]] static Result<Address> parse_ipv6(std::string_view host, std::string_view bare,
                                                    std::uint16_t port);
    /// The bytes of the host or path alone.
    [[nodiscard]] std::string_view host_bytes() const noexcept;
    [[nodiscard]] std::uint32_t scope() const noexcept;

    /// Where unix_peer() puts what it was told, behind its text.
    static constexpr std::size_t credentials_at = sizeof(sockaddr_un::sun_path) - sizeof(ucred);

    // All members start with the family, and the system's headers expect to be read through any.
    union Storage {
        sockaddr_storage all;
        sockaddr common;
        sockaddr_in ipv4;
        sockaddr_in6 ipv6;
        sockaddr_un path;
    };
    Storage storage_;
    socklen_t size_ = 0;
};

log::Line& operator<<(log::Line& line, const Address& address) noexcept;

/// Every address of `host`, in the order in which they should be tried; at least one. A numeric
/// host is returned as it is. Any other name goes through getaddrinfo, which may read files and ask
/// name servers, allocate and block for seconds: the only place in Kairos that may. Never called
/// with a connection's lock held nor on the path of a call.
[[nodiscard]] KAIROS_API Result<std::vector<Address>> resolve(std::string_view host,
                                                              std::uint16_t port);

/// An address of this machine.
struct KAIROS_API InterfaceAddress {
    std::string interface; ///< "eth0"
    Address address;       ///< IPv4 or IPv6; port 0
};
/// The addresses of all interfaces that are up, in the system's order.
[[nodiscard]] KAIROS_API Result<std::vector<InterfaceAddress>> interface_addresses();

/// The addresses by which other machines may reach this one, IPv4 first, to be published where a
/// server listens on every interface: not loopback, and not of the bridges of containers and
/// virtual machines (docker…, br-…, virbr…, veth… and the like), whose addresses lead nowhere from
/// outside. Link-local IPv6 is left out: its scope means nothing to a peer. May be empty on a
/// machine without a network.
[[nodiscard]] KAIROS_API std::vector<Address>
reachable_addresses(const std::vector<InterfaceAddress>& addresses);

} // namespace kairos::net

template <>
struct KAIROS_API std::hash<kairos::net::Address> {
    std::size_t operator()(const kairos::net::Address& address) const noexcept
    {
        return address.hash();
    }
};
