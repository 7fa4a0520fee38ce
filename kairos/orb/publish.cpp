// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/publish.h"

#include "kairos/ior/text.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <unistd.h>

namespace kairos::orb {

using net::Address;
using Source = PublishItem::Source;

namespace {

constexpr std::size_t host_name_size_max = 255; // RFC 1035

Error invalid(std::string reason) { return {ErrorCode::invalid_argument, std::move(reason)}; }

struct Keyword {
    std::string_view text;
    Source source;
};
constexpr Keyword keywords[] = {
    {"addresses", Source::addresses},
    {"ipv4", Source::ipv4},
    {"ipv6", Source::ipv6},
    {"hostname", Source::hostname},
};
constexpr Keyword named_keywords[] = {{"interface=", Source::interface}, {"host=", Source::host}};

/// The item without its port; nothing for a word that is not known.
std::optional<PublishItem> find_item(std::string_view text)
{
    for (const Keyword& known : keywords)
        if (text == known.text) return PublishItem{.source = known.source, .name = {}};
    for (const Keyword& known : named_keywords)
        if (text.starts_with(known.text))
            return PublishItem{.source = known.source,
                               .name = std::string(text.substr(known.text.size()))};
    return std::nullopt;
}

Result<PublishItem> parse_item(std::string_view text)
{
    const auto bad = [text](std::string_view why) {
        return invalid("'" + ior::printable(text) + "': " + std::string(why));
    };
    // Brackets belong to the host, which is behind the keyword: "host=[::1]:7000".
    const std::size_t value = std::min(text.find('=') + 1, text.size());
    const auto rest = parse_host_and_port(text.substr(value));
    if (!rest) return bad(rest.error().reason);
    auto item = find_item(std::string(text.substr(0, value)) + rest->host);
    const bool brackets = text.substr(value).starts_with('[');
    if (!item || (brackets && item->source != Source::host))
        return bad("expected addresses, ipv4, ipv6, hostname, interface=NAME or host=NAME, each "
                   "perhaps with :port");
    if (rest->port == 0) return bad("nobody can connect to port 0");
    item->port = rest->port.value_or(0);
    if (item->source == Source::interface && item->name.empty()) return bad("no name");
    if (item->source == Source::host)
        if (const auto host = check_published_host(item->name); !host)
            return bad(host.error().reason);
    return std::move(*item);
}

/// Whether somebody who connects to an address of the machine comes to this listener. One for every
/// IPv6 address takes IPv4 as well.
bool accepts(const Address& listening, const Address& address)
{
    if (!listening.is_any()) return listening.with_port(0) == address;
    return listening.family() == Address::Family::ipv6 || address.family() == Address::Family::ipv4;
}

std::vector<Address> reachable(const Address& listening, const Machine& machine)
{
    if (!listening.is_any()) return {listening};
    std::vector<Address> addresses = net::reachable_addresses(machine.addresses);
    std::erase_if(addresses, [&](const Address& one) { return !accepts(listening, one); });
    if (addresses.empty()) // a machine without a network still talks to itself
        addresses.push_back(listening.family() == Address::Family::ipv6 ? Address::loopback_ipv6()
                                                                        : Address::loopback_ipv4());
    return addresses;
}

std::vector<Address> of_family(std::vector<Address> addresses, Address::Family family)
{
    std::erase_if(addresses, [&](const Address& one) { return one.family() != family; });
    return addresses;
}

Result<std::vector<Address>> of_interface(const std::string& name, const Address& listening,
                                          const Machine& machine)
{
    std::vector<Address> addresses;
    bool known = false;
    for (const net::InterfaceAddress& one : machine.addresses) {
        if (one.interface != name) continue;
        known = true;
        if (accepts(listening, one.address) && !one.address.is_link_local())
            addresses.push_back(one.address);
    }
    if (!known)
        return invalid("interface=" + ior::printable(name) +
                       ": no interface of this name is up and has an address");
    return addresses;
}

Result<std::vector<std::string>> hosts_of(const PublishItem& item, const Address& listening,
                                          const Machine& machine)
{
    Result<std::vector<Address>> addresses = std::vector<Address>();
    switch (item.source) {
    case Source::host:
        return std::vector<std::string>{item.name};
    case Source::hostname:
        return std::vector<std::string>{machine.host_name};
    case Source::addresses:
        addresses = reachable(listening, machine);
        break;
    case Source::ipv4:
        addresses = of_family(reachable(listening, machine), Address::Family::ipv4);
        break;
    case Source::ipv6:
        addresses = of_family(reachable(listening, machine), Address::Family::ipv6);
        break;
    case Source::interface:
        addresses = of_interface(item.name, listening, machine);
        break;
    }
    if (!addresses) return addresses.error();
    std::vector<std::string> hosts;
    for (const Address& address : *addresses)
        hosts.push_back(address.host_text());
    return hosts;
}

} // namespace

Machine Machine::current()
{
    Machine machine;
    char name[HOST_NAME_MAX + 1] = {};
    if (::gethostname(name, sizeof name - 1) == 0) machine.host_name = name;
    // Without the list, which needs the system's leave, there is what one listens at.
    if (auto addresses = net::interface_addresses())
        machine.addresses = std::move(addresses).value();
    return machine;
}

Result<HostAndPort> parse_host_and_port(std::string_view text)
{
    HostAndPort parsed;
    std::string_view port;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return invalid("'[' without ']'");
        parsed.host = text.substr(1, close - 1);
        port = text.substr(close + 1);
    } else {
        const auto colon = std::min(text.find(':'), text.size());
        parsed.host = text.substr(0, colon);
        port = text.substr(colon);
        if (port.find(':', 1) != std::string_view::npos)
            return invalid("an IPv6 address must be in brackets");
    }
    if (port.empty()) return parsed;
    std::uint16_t number = 0;
    const char* const end = port.data() + port.size();
    const auto [stop, error] = std::from_chars(port.data() + 1, end, number);
    if (port[0] != ':' || error != std::errc{} || stop != end)
        return invalid("the port is not a number of 0 to 65535");
    parsed.port = number;
    return parsed;
}

Result<void> check_published_host(std::string_view host)
{
    const bool is_ipv6 = host.find(':') != std::string_view::npos;
    const bool plain = std::ranges::all_of(host, [&](char c) {
        return ior::is_letter(c) || ior::is_digit(c) || c == '-' || c == '.' || c == '_' ||
               (is_ipv6 && (c == ':' || c == '%'));
    });
    // No name is made of digits and dots alone; resolvers would read "0" as 0.0.0.0.
    const bool is_name = host.find_first_not_of("0123456789.") != std::string_view::npos;
    const auto address = Address::parse(host, 0);
    if (host.empty() || host.size() > host_name_size_max || !plain ||
        (!address && (is_ipv6 || !is_name)))
        return invalid("not the name or address of a host");
    if (address && address->unmapped().is_any())
        return invalid("nobody can connect to this address");
    return {};
}

Result<std::vector<PublishItem>> parse_publish(std::string_view text)
{
    std::vector<PublishItem> items;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        auto item = parse_item(text.substr(begin, end - begin));
        if (!item) return item.error();
        items.push_back(std::move(item).value());
        begin = end + 1;
    }
    return items;
}

Result<std::vector<ior::Address>> published_addresses(const std::vector<PublishItem>& items,
                                                      const Address& listening,
                                                      const Machine& machine)
{
    std::vector<ior::Address> published;
    for (const PublishItem& item : items) {
        const auto hosts = hosts_of(item, listening, machine);
        if (!hosts) return hosts.error();
        for (const std::string& host : *hosts) {
            const ior::Address address{host, item.port == 0 ? listening.port() : item.port};
            if (!host.empty() && std::ranges::find(published, address) == published.end())
                published.push_back(address);
        }
    }
    return published;
}

} // namespace kairos::orb
