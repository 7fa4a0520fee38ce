// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/group.h"

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/ior/object_url.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <utility>

namespace kairos::datagrams {

namespace {

constexpr std::size_t domain_max = 255;

template <typename T>
std::optional<T> number_of(std::string_view text)
{
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Takes the text up to the separator, and that away; all of it if there is none.
std::string_view take_until(std::string_view& text, char separator)
{
    const std::string_view taken = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), taken.size() + 1));
    return taken;
}

bool is_1_0(std::string_view version) { return version == "1.0"; }

bool may_stand_in_domain(char c)
{
    return c > ' ' && c < '\x7f' && std::string_view("-/;,@#%").find(c) == std::string_view::npos;
}

std::optional<GroupName> read_group(const ior::TaggedComponent& component, std::uint32_t& version)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const auto major = reader.read<std::uint8_t>();
    (void)reader.read<std::uint8_t>(); // later ones of the same number only append
    GroupName name;
    name.domain = reader.read_string();
    name.id = reader.read<std::uint64_t>();
    version = reader.read<std::uint32_t>();
    if (!reader.ok() || major != 1) return std::nullopt;
    return name;
}

Error bad_url(std::string_view text, std::string_view why)
{
    return {ErrorCode::invalid_argument, "'" + std::string(text.substr(0, 80)) +
                                             "' is no URL of a group: " + std::string(why) +
                                             "; expected corbaloc:miop:[1.0@]1.0-domain-id"
                                             "[-version]/address:port[;iiop:…]"};
}

/// "1.0-domain-id[-version]"
std::string_view read_name(std::string_view text, GroupProfile& profile)
{
    if (!is_1_0(take_until(text, '-'))) return "the group's version is not 1.0";
    profile.name.domain = take_until(text, '-');
    if (profile.name.domain.empty() || profile.name.domain.size() > domain_max ||
        !std::ranges::all_of(profile.name.domain, may_stand_in_domain))
        return "the group's domain is no name";
    const bool has_version = text.find('-') != std::string_view::npos;
    const auto id = number_of<std::uint64_t>(take_until(text, '-'));
    if (!id) return "the group's id is no number";
    profile.name.id = *id;
    if (!has_version) return {};
    const auto version = number_of<std::uint32_t>(text);
    if (!version) return "the version of the reference is no number";
    profile.reference_version = *version;
    return {};
}

/// "address:port"
std::string_view read_address(std::string_view text, GroupProfile& profile)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return "the port is missing";
    const auto port = number_of<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) return "the port is not 1 to 65535";
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    profile.address = {std::string(host), *port};
    if (!multicast_address(profile.address))
        return "its address is no multicast address in numbers";
    return {};
}

Result<ior::Ior> parse_rest(std::string_view text, std::string_view rest)
{
    GroupProfile profile;
    std::string_view iiop = rest;
    std::string_view place = take_until(iiop, ';');
    const std::size_t at = place.find('@');
    if (at != std::string_view::npos) {
        if (!is_1_0(place.substr(0, at))) return bad_url(text, "the version of MIOP is not 1.0");
        place.remove_prefix(at + 1);
    }
    const std::string_view name = take_until(place, '/');
    if (const auto why = read_name(name, profile); !why.empty()) return bad_url(text, why);
    if (const auto why = read_address(place, profile); !why.empty()) return bad_url(text, why);
    ior::Ior reference{.type_id = {}, .profiles = {make_group_profile(profile)}};
    if (iiop.empty()) return reference;
    auto other = ior::parse_object_url("corbaloc:" + std::string(iiop));
    if (!other) return other.error();
    if (other->initial) return bad_url(text, "behind ';' stands no address of IIOP");
    std::ranges::move(other->reference.profiles, std::back_inserter(reference.profiles));
    return reference;
}

bool starts_with_any_case(std::string_view text, std::string_view lower)
{
    return text.size() >= lower.size() &&
           std::ranges::equal(text.substr(0, lower.size()), lower, {}, [](char c) {
               return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
           });
}

} // namespace

std::optional<GroupProfile> read_group_profile(Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    const auto major = reader.read<std::uint8_t>();
    (void)reader.read<std::uint8_t>();
    GroupProfile profile;
    profile.address.host = reader.read_string();
    profile.address.port = reader.read<std::uint16_t>();
    if (!ior::decode(reader, profile.components) || major != 1) return std::nullopt;
    const auto group = std::ranges::find(profile.components, tag_group, &ior::TaggedComponent::tag);
    if (group == profile.components.end()) return std::nullopt;
    auto name = read_group(*group, profile.reference_version);
    if (!name || profile.address.port == 0 || !multicast_address(profile.address))
        return std::nullopt;
    profile.name = std::move(*name);
    return profile;
}

ior::TaggedProfile make_group_profile(const GroupProfile& profile)
{
    constexpr std::uint8_t major = 1;
    constexpr std::uint8_t minor = 0;
    std::vector<ior::TaggedComponent> components;
    {
        cdr::Buffer buffer;
        cdr::Writer writer(buffer);
        writer.write(native_little_endian);
        writer.write(major);
        writer.write(minor);
        writer.write_string(profile.name.domain);
        writer.write(profile.name.id);
        writer.write(profile.reference_version);
        const Bytes octets = writer.contiguous();
        components.push_back({tag_group, {octets.begin(), octets.end()}});
    }
    components.insert(components.end(), profile.components.begin(), profile.components.end());
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(major);
    writer.write(minor);
    writer.write_string(profile.address.host);
    writer.write(profile.address.port);
    ior::encode(writer, components);
    const Bytes octets = writer.contiguous();
    return {tag_uipmc, {octets.begin(), octets.end()}};
}

std::optional<GroupProfile> group_of(const ior::Ior& reference)
{
    for (const ior::TaggedProfile& each : reference.profiles)
        if (each.tag == tag_uipmc)
            if (auto profile = read_group_profile(each.data)) return profile;
    return std::nullopt;
}

std::optional<Result<ior::Ior>> parse_group_url(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    text = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
    constexpr std::string_view scheme = "corbaloc:miop:";
    if (!starts_with_any_case(text, scheme)) return std::nullopt;
    return parse_rest(text, text.substr(scheme.size()));
}

std::optional<net::Address> multicast_address(const ior::Address& address)
{
    std::string host = address.host;
    if (host.find('\0') != std::string::npos) return std::nullopt;
    sockaddr_in ipv4{};
    if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) == 1) {
        if (!IN_MULTICAST(ntohl(ipv4.sin_addr.s_addr))) return std::nullopt;
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htons(address.port);
        return net::Address::from_native(reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4);
    }
    sockaddr_in6 ipv6{};
    if (const std::size_t zone = host.find('%'); zone != std::string::npos) {
        ipv6.sin6_scope_id = ::if_nametoindex(host.c_str() + zone + 1);
        if (ipv6.sin6_scope_id == 0) return std::nullopt;
        host.resize(zone);
    }
    if (::inet_pton(AF_INET6, host.c_str(), &ipv6.sin6_addr) != 1 ||
        !IN6_IS_ADDR_MULTICAST(&ipv6.sin6_addr))
        return std::nullopt;
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(address.port);
    return net::Address::from_native(reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6);
}

Result<MulticastSettings> multicast_settings(const std::string& text)
{
    MulticastSettings settings;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view item = take_until(rest, ',');
        std::string_view value = item;
        const std::string_view name = take_until(value, '=');
        const auto number = number_of<int>(value);
        bool is_good = true;
        if (name == "interface" && !value.empty())
            settings.interface = value;
        else if (name == "ttl" && number && *number >= 0 && *number <= 255)
            settings.ttl = *number;
        else if (name == "loopback" && number && (*number == 0 || *number == 1))
            settings.loops = *number == 1;
        else if (name == "packet" && number && *number >= 128 && *number <= 65'507)
            settings.packet = static_cast<std::size_t>(*number);
        else
            is_good = false;
        if (!is_good)
            return Error{ErrorCode::invalid_argument,
                         "-ORBMulticast: '" + std::string(item) +
                             "' is not interface=NAME, ttl= and a number up to 255, loopback=0, "
                             "loopback=1 or packet= and a number of 128 to 65507"};
    }
    return settings;
}

Result<unsigned> interface_index(const MulticastSettings& settings)
{
    if (settings.interface.empty()) return 0u;
    const unsigned index = ::if_nametoindex(settings.interface.c_str());
    if (index == 0)
        return Error{ErrorCode::invalid_argument,
                     "-ORBMulticast: there is no interface '" + settings.interface + "'"};
    return index;
}

} // namespace kairos::datagrams
