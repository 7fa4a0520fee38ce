// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/address.h"

#include "kairos/base/log.h"
#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ifaddrs.h>
#include <iterator>
#include <memory>
#include <net/if.h>
#include <netdb.h>

namespace kairos::net {
namespace {

/// RFC 1035: no name of a host is longer; a longer one came from a broken or hostile peer.
constexpr std::size_t host_name_size_max = 255;
constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);

Error not_numeric(std::string_view host)
{
    return Error{ErrorCode::invalid_argument, "not a numeric address: '" +
                                                  std::string(host.substr(0, host_name_size_max)) +
                                                  "'"};
}

/// An interface by name or number; 0 when there is none.
std::uint32_t scope_of(std::string_view text)
{
    std::uint32_t number = 0;
    const char* end = text.data() + text.size();
    if (auto [stop, error] = std::from_chars(text.data(), end, number);
        error == std::errc{} && stop == end)
        return number;
    if (text.empty() || text.size() >= IF_NAMESIZE) return 0;
    return ::if_nametoindex(std::string(text).c_str());
}

bool is_virtual_bridge(std::string_view interface)
{
    constexpr std::string_view prefixes[] = {"docker", "br-",    "virbr", "veth",
                                             "cni",    "podman", "lxcbr", "lxdbr"};
    return std::any_of(std::begin(prefixes), std::end(prefixes),
                       [&](std::string_view prefix) { return interface.starts_with(prefix); });
}

Error resolve_error(std::string_view host, int status, int error)
{
    const std::string what = "cannot resolve host '" + std::string(host) + "'";
    if (status == EAI_SYSTEM) return system_error(what, error);
    // A name server that does not answer may do so later; a name that is not there will not be.
    const auto code = status == EAI_AGAIN ? ErrorCode::unreachable : ErrorCode::not_found;
    return Error{code, what + ": " + ::gai_strerror(status)};
}

} // namespace

Address::Address() noexcept
{
    std::memset(&storage_, 0, sizeof storage_);
    storage_.common.sa_family = AF_UNSPEC;
}

Result<Address> Address::parse(std::string_view host, std::uint16_t port)
{
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        return parse_ipv6(host, host.substr(1, host.size() - 2), port);
    if (host.find(':') != host.npos) return parse_ipv6(host, host, port);

    char text[INET_ADDRSTRLEN] = {};
    Address address = any_ipv4(port);
    if (host.size() >= sizeof text || host.find('\0') != host.npos) return not_numeric(host);
    std::copy(host.begin(), host.end(), text);
    if (::inet_pton(AF_INET, text, &address.storage_.ipv4.sin_addr) != 1) return not_numeric(host);
    return address;
}

Result<Address> Address::parse_ipv6(std::string_view host, std::string_view bare,
                                    std::uint16_t port)
{
    const std::size_t percent = bare.find('%');
    const std::string_view digits = bare.substr(0, percent);
    char text[INET6_ADDRSTRLEN] = {};
    Address address = any_ipv6(port);
    if (digits.size() >= sizeof text || digits.find('\0') != digits.npos) return not_numeric(host);
    std::copy(digits.begin(), digits.end(), text);
    sockaddr_in6& native = address.storage_.ipv6;
    if (::inet_pton(AF_INET6, text, &native.sin6_addr) != 1) return not_numeric(host);

    if (percent != bare.npos) {
        native.sin6_scope_id = address.is_link_local() ? scope_of(bare.substr(percent + 1)) : 0;
        if (native.sin6_scope_id == 0)
            return Error{ErrorCode::invalid_argument,
                         "no such interface for a link-local address: '" +
                             std::string(host.substr(0, host_name_size_max)) + "'"};
    }
    return address;
}

Result<Address> Address::unix_path(std::string_view path)
{
    Address address;
    sockaddr_un& native = address.storage_.path;
    const bool is_abstract = path.starts_with('@');
    // A path needs room for its terminator; an abstract name has none, and its '@' becomes NUL.
    const std::size_t room = sizeof native.sun_path - (is_abstract ? 0 : 1);
    if (path.empty() || path.size() > room || path.find('\0') != path.npos)
        return Error{ErrorCode::invalid_argument,
                     "not a path of a unix-domain socket (1 to " + std::to_string(room) +
                         " bytes): '" + std::string(path.substr(0, host_name_size_max)) + "'"};
    native.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), native.sun_path);
    if (is_abstract) native.sun_path[0] = '\0';
    address.size_ = static_cast<socklen_t>(path_offset + path.size() + (is_abstract ? 0 : 1));
    return address;
}

Address Address::unix_peer(const ucred& peer) noexcept
{
    Address address;
    sockaddr_un& native = address.storage_.path;
    native.sun_family = AF_UNIX;
    std::snprintf(native.sun_path, credentials_at, "process %ld, user %lu",
                  static_cast<long>(peer.pid), static_cast<unsigned long>(peer.uid));
    std::memcpy(native.sun_path + credentials_at, &peer, sizeof peer);
    address.size_ = sizeof native;
    return address;
}

Address Address::from_native(const sockaddr* native, socklen_t size) noexcept
{
    Address address;
    if (native == nullptr || size < sizeof(sa_family_t) || size > sizeof(Storage)) return address;
    const bool whole = (native->sa_family == AF_INET && size >= sizeof(sockaddr_in)) ||
                       (native->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) ||
                       (native->sa_family == AF_UNIX && size > path_offset);
    if (!whole) return address;
    std::memcpy(&address.storage_, native, size);
    address.size_ = size;
    return address;
}

Address Address::any_ipv4(std::uint16_t port) noexcept
{
    Address address;
    address.storage_.ipv4.sin_family = AF_INET;
    address.storage_.ipv4.sin_port = htons(port);
    address.size_ = sizeof(sockaddr_in);
    return address;
}

Address Address::any_ipv6(std::uint16_t port) noexcept
{
    Address address;
    address.storage_.ipv6.sin6_family = AF_INET6;
    address.storage_.ipv6.sin6_port = htons(port);
    address.size_ = sizeof(sockaddr_in6);
    return address;
}

Address Address::loopback_ipv4(std::uint16_t port) noexcept
{
    Address address = any_ipv4(port);
    address.storage_.ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

Address Address::loopback_ipv6(std::uint16_t port) noexcept
{
    Address address = any_ipv6(port);
    address.storage_.ipv6.sin6_addr = in6addr_loopback;
    return address;
}

Address::Family Address::family() const noexcept
{
    switch (native_family()) {
    case AF_INET:
        return Family::ipv4;
    case AF_INET6:
        return Family::ipv6;
    case AF_UNIX:
        return Family::unix_domain;
    default:
        return Family::none;
    }
}

bool Address::is_ip() const noexcept
{
    return native_family() == AF_INET || native_family() == AF_INET6;
}

bool Address::is_loopback() const noexcept
{
    if (native_family() == AF_INET) return ntohl(storage_.ipv4.sin_addr.s_addr) >> 24 == 127;
    return native_family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&storage_.ipv6.sin6_addr);
}

bool Address::is_any() const noexcept
{
    if (native_family() == AF_INET) return storage_.ipv4.sin_addr.s_addr == htonl(INADDR_ANY);
    return native_family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&storage_.ipv6.sin6_addr);
}

bool Address::is_link_local() const noexcept
{
    if (native_family() == AF_INET) return ntohl(storage_.ipv4.sin_addr.s_addr) >> 16 == 0xA9FE;
    return native_family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&storage_.ipv6.sin6_addr);
}

std::uint16_t Address::port() const noexcept
{
    if (native_family() == AF_INET) return ntohs(storage_.ipv4.sin_port);
    return native_family() == AF_INET6 ? ntohs(storage_.ipv6.sin6_port) : std::uint16_t{0};
}

Address Address::with_port(std::uint16_t port) const noexcept
{
    Address address = *this;
    if (native_family() == AF_INET) address.storage_.ipv4.sin_port = htons(port);
    if (native_family() == AF_INET6) address.storage_.ipv6.sin6_port = htons(port);
    return address;
}

Address Address::unmapped() const noexcept
{
    if (native_family() != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&storage_.ipv6.sin6_addr))
        return *this;
    Address address = any_ipv4(port());
    std::memcpy(&address.storage_.ipv4.sin_addr, storage_.ipv6.sin6_addr.s6_addr + 12, 4);
    return address;
}

namespace {

/// Of an IPv4 or IPv6 address, without its scope.
std::string_view numeric(const sockaddr_in* ipv4, const sockaddr_in6* ipv6,
                         std::array<char, INET6_ADDRSTRLEN>& text) noexcept
{
    const char* const written =
        ipv4 != nullptr ? ::inet_ntop(AF_INET, &ipv4->sin_addr, text.data(), INET6_ADDRSTRLEN)
                        : ::inet_ntop(AF_INET6, &ipv6->sin6_addr, text.data(), INET6_ADDRSTRLEN);
    return written; // there is room for the longest
}

} // namespace

std::string Address::host_text() const
{
    std::array<char, INET6_ADDRSTRLEN> text;
    switch (family()) {
    case Family::ipv4:
        return std::string(numeric(&storage_.ipv4, nullptr, text));
    case Family::ipv6: {
        std::string host(numeric(nullptr, &storage_.ipv6, text));
        if (const std::uint32_t number = scope(); number != 0) {
            char interface[IF_NAMESIZE];
            host += '%';
            host += ::if_indextoname(number, interface) != nullptr ? std::string(interface)
                                                                   : std::to_string(number);
        }
        return host;
    }
    case Family::unix_domain: {
        std::string path(host_bytes());
        if (path.starts_with('\0')) path[0] = '@';
        return path;
    }
    case Family::none:
        break;
    }
    return {};
}

std::string Address::to_text() const
{
    switch (family()) {
    case Family::ipv4:
        return host_text() + ":" + std::to_string(port());
    case Family::ipv6:
        return "[" + host_text() + "]:" + std::to_string(port());
    case Family::unix_domain:
        return "unix:" + host_text();
    case Family::none:
        break;
    }
    return "none";
}

log::Line& operator<<(log::Line& line, const Address& address) noexcept
{
    std::array<char, INET6_ADDRSTRLEN> text;
    switch (address.family()) {
    case Address::Family::ipv4:
        return line << numeric(&address.storage_.ipv4, nullptr, text) << ":" << address.port();
    case Address::Family::ipv6: {
        line << "[" << numeric(nullptr, &address.storage_.ipv6, text);
        if (const std::uint32_t number = address.scope(); number != 0) {
            char interface[IF_NAMESIZE];
            line << "%";
            if (::if_indextoname(number, interface) != nullptr)
                line << interface;
            else
                line << number;
        }
        return line << "]:" << address.port();
    }
    case Address::Family::unix_domain: {
        const std::string_view path = address.host_bytes();
        line << "unix:";
        return path.starts_with('\0') ? line << "@" << path.substr(1) : line << path;
    }
    case Address::Family::none:
        break;
    }
    return line << "none";
}

std::uint64_t Address::host_number() const noexcept
{
    const Address address = unmapped();
    std::uint64_t number = 0;
    if (address.family() == Family::ipv4)
        std::memcpy(&number, &address.storage_.ipv4.sin_addr, sizeof(in_addr));
    else if (address.family() == Family::ipv6)
        std::memcpy(&number, &address.storage_.ipv6.sin6_addr, sizeof number);
    else if (const auto user = address.credentials())
        number = ~std::uint64_t{user->uid};
    return number;
}

std::string_view Address::host_bytes() const noexcept
{
    switch (family()) {
    case Family::ipv4:
        return {reinterpret_cast<const char*>(&storage_.ipv4.sin_addr), sizeof(in_addr)};
    case Family::ipv6:
        return {reinterpret_cast<const char*>(&storage_.ipv6.sin6_addr), sizeof(in6_addr)};
    case Family::unix_domain: {
        const std::string_view path(storage_.path.sun_path,
                                    std::min(size_ - path_offset, sizeof storage_.path.sun_path));
        // The system may or may not count the terminator of a path.
        return path.starts_with('\0') ? path : path.substr(0, path.find('\0'));
    }
    case Family::none:
        break;
    }
    return {};
}

std::uint32_t Address::scope() const noexcept
{
    return native_family() == AF_INET6 ? storage_.ipv6.sin6_scope_id : 0;
}

KAIROS_API std::strong_ordering operator<=>(const Address& left, const Address& right) noexcept
{
    if (const auto order = left.family() <=> right.family(); order != 0) return order;
    if (const auto order = left.host_bytes() <=> right.host_bytes(); order != 0) return order;
    if (const auto order = left.scope() <=> right.scope(); order != 0) return order;
    return left.port() <=> right.port();
}

std::size_t Address::hash() const noexcept
{
    const std::size_t rest = (std::size_t{port()} << 16) ^ (std::size_t{scope()} << 32) ^
                             static_cast<std::size_t>(family());
    return std::hash<std::string_view>{}(host_bytes()) ^ (rest * 0x9E3779B97F4A7C15u);
}

Result<std::vector<Address>> resolve(std::string_view host, std::uint16_t port)
{
    if (auto numeric = Address::parse(host, port)) return std::vector<Address>{*numeric};
    if (host.empty() || host.size() > host_name_size_max || host.find('\0') != host.npos)
        return Error{
            ErrorCode::invalid_argument,
            "not the name of a host: '" +
                std::string(host.substr(0, std::min(host.find('\0'), host_name_size_max))) + "'"};

    // Nobody need be asked for these (RFC 6761, 6.4).
    if (host.ends_with(".invalid") || host == "invalid") return resolve_error(host, EAI_NONAME, 0);

    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM; // else every address is listed once for each protocol
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    const int status = system().getaddrinfo(std::string(host).c_str(), nullptr, &hints, &found);
    if (status != 0) return resolve_error(host, status, errno);
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);

    std::vector<Address> addresses;
    for (const addrinfo* next = found; next != nullptr; next = next->ai_next) {
        const Address address = Address::from_native(next->ai_addr, next->ai_addrlen);
        if (!address.is_ip()) continue;
        const Address whole = address.with_port(port);
        // A hosts file may name one address twice; trying it twice would double a timeout.
        if (std::find(addresses.begin(), addresses.end(), whole) == addresses.end())
            addresses.push_back(whole);
    }
    if (addresses.empty()) return resolve_error(host, EAI_NONAME, 0);
    return addresses;
}

Result<std::vector<InterfaceAddress>> interface_addresses()
{
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return system_error("cannot list network interfaces", errno);
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(found, &::freeifaddrs);

    std::vector<InterfaceAddress> addresses;
    for (const ifaddrs* next = found; next != nullptr; next = next->ifa_next) {
        if (next->ifa_addr == nullptr || (next->ifa_flags & IFF_UP) == 0) continue;
        // getifaddrs gives no lengths; only these two families are read, with theirs.
        const sa_family_t family = next->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        addresses.push_back(
            {next->ifa_name,
             Address::from_native(next->ifa_addr,
                                  family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6))});
    }
    return addresses;
}

std::vector<Address> reachable_addresses(const std::vector<InterfaceAddress>& addresses)
{
    std::vector<Address> reachable;
    for (const auto& [interface, address] : addresses) {
        const bool is_ipv6 = address.family() == Address::Family::ipv6;
        if (address.is_loopback() || address.is_any() || (is_ipv6 && address.is_link_local()) ||
            is_virtual_bridge(interface))
            continue;
        reachable.push_back(address);
    }
    std::stable_partition(reachable.begin(), reachable.end(), [](const Address& address) {
        return address.family() == Address::Family::ipv4;
    });
    return reachable;
}

} // namespace kairos::net
