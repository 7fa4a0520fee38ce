// SPDX-License-Identifier: Apache-2.0
//
// Which addresses references say of this server: what -ORBPublish asks for, made of where the
// server listens and of what the machine has. Used once, before there are references; nothing here
// asks a name server.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/ior/component.h"
#include "kairos/net/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb {

/// One item of the list that -ORBPublish gives.
struct PublishItem {
    enum class Source : std::uint8_t {
        addresses, ///< where the server listens; for every interface those that others can reach
        ipv4,      ///< those of them
        ipv6,
        interface, ///< those of the interface `name`, whichever it is
        hostname,  ///< what the machine calls itself
        host,      ///< `name`, a name or an address, perhaps of a router in front of the server
    };
    Source source = Source::addresses;
    std::string name;
    std::uint16_t port = 0; ///< 0: the one that the server listens at
};

/// Where in a reference the addresses are.
enum class PublishAs : std::uint8_t {
    alternates, ///< one profile with alternate addresses; with GIOP before 1.2 as below
    profiles,   ///< a profile each
};

/// What the machine can be reached by.
struct KAIROS_API Machine {
    std::string host_name;
    std::vector<net::InterfaceAddress> addresses;
    [[nodiscard]] static Machine current();
};

/// Parses the value of -ORBPublish, "item[,item…]", where an item is "addresses", "ipv4", "ipv6",
/// "hostname", "interface=NAME" or "host=NAME", and may end in ":port". Errors name the item.
[[nodiscard]] Result<std::vector<PublishItem>> parse_publish(std::string_view text);

/// Returns the addresses that references say of a server that listens at `listening`: no address
/// twice, never one that nobody can connect to. Empty if the items do not fit. An interface that
/// the machine does not have is an error.
[[nodiscard]] KAIROS_API Result<std::vector<ior::Address>>
published_addresses(const std::vector<PublishItem>& items, const net::Address& listening,
                    const Machine& machine);

/// A host and perhaps a port, as options have them: "host", "host:port", "[IPv6]" or "[IPv6]:port".
/// The host may be empty.
struct HostAndPort {
    std::string host;
    std::optional<std::uint16_t> port;
};
[[nodiscard]] Result<HostAndPort> parse_host_and_port(std::string_view text);
/// Returns whether clients could try to connect to a host of this name; the error says why not.
[[nodiscard]] Result<void> check_published_host(std::string_view host);

} // namespace kairos::orb
