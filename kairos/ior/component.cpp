// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/component.h"

#include "kairos/base/limits.h"

namespace kairos::ior {

namespace {

/// A component whose data is an encapsulation of what `write_contents` writes.
template <typename WriteContents>
TaggedComponent make_component(std::uint32_t tag, WriteContents write_contents)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    write_contents(writer);
    const Bytes data = writer.contiguous();
    return {tag, OctetVector(data.begin(), data.end())};
}

CodeSetComponent read_code_set_component(cdr::Reader& reader)
{
    CodeSetComponent component;
    component.native = reader.read<std::uint32_t>();
    const std::uint32_t count = reader.read_length(4);
    component.conversions.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i)
        component.conversions.push_back(reader.read<std::uint32_t>());
    return component;
}

void write_code_set_component(cdr::Writer& writer, const CodeSetComponent& component)
{
    writer.write(component.native);
    writer.write(static_cast<std::uint32_t>(component.conversions.size()));
    for (const std::uint32_t id : component.conversions)
        writer.write(id);
}

} // namespace

std::string_view code_set::name(std::uint32_t id) noexcept
{
    switch (id) {
    case iso_8859_1:
        return "ISO 8859-1";
    case 0x00010002:
        return "ISO 8859-2";
    case 0x00010003:
        return "ISO 8859-3";
    case 0x00010004:
        return "ISO 8859-4";
    case 0x00010005:
        return "ISO 8859-5";
    case 0x00010006:
        return "ISO 8859-6";
    case 0x00010007:
        return "ISO 8859-7";
    case 0x00010008:
        return "ISO 8859-8";
    case 0x00010009:
        return "ISO 8859-9";
    case 0x0001000A:
        return "ISO 8859-10";
    case 0x0001000F:
        return "ISO 8859-15";
    case 0x00010020:
        return "ISO 646 (ASCII)";
    case ucs_2:
        return "UCS-2 level 1";
    case 0x00010101:
        return "UCS-2 level 2";
    case 0x00010102:
        return "UCS-2 level 3";
    case 0x00010104:
        return "UCS-4 level 1";
    case 0x00010105:
        return "UCS-4 level 2";
    case ucs_4:
        return "UCS-4";
    case utf_16:
        return "UTF-16";
    case utf_8:
        return "UTF-8";
    case 0x100204E4:
        return "Windows-1252";
    default:
        return "";
    }
}

std::string_view without_brackets(std::string_view host) noexcept
{
    if (host.size() < 4 || host.front() != '[' || host.back() != ']') return host;
    const std::string_view inner = host.substr(1, host.size() - 2);
    // Only around an IPv6 address are brackets notation; elsewhere they are a mistake to be seen.
    const bool is_ipv6 = inner.find(':') != std::string_view::npos &&
                         inner.find_first_of("[]") == std::string_view::npos;
    return is_ipv6 ? inner : host;
}

std::string to_string(const Address& address)
{
    const std::string port = std::to_string(address.port);
    if (address.host.find(':') == std::string::npos) return address.host + ":" + port;
    return "[" + address.host + "]:" + port;
}

std::string to_string(const LocalAddress& address)
{
    switch (address.transport) {
    case LocalAddress::Transport::unix_socket:
        return "unix:" + address.path;
    case LocalAddress::Transport::shared_memory:
        return "memory:" + address.path;
    }
    return "transport " + std::to_string(static_cast<unsigned>(address.transport)) + ": " +
           address.path;
}

const TaggedComponent* find(std::span<const TaggedComponent> components, std::uint32_t tag) noexcept
{
    for (const TaggedComponent& component : components)
        if (component.tag == tag) return &component;
    return nullptr;
}

TaggedComponent make_orb_type(std::uint32_t type)
{
    return make_component(tag_orb_type, [&](cdr::Writer& writer) { writer.write(type); });
}

TaggedComponent make_code_sets(const CodeSets& sets)
{
    return make_component(tag_code_sets, [&](cdr::Writer& writer) {
        write_code_set_component(writer, sets.characters);
        write_code_set_component(writer, sets.wide_characters);
    });
}

TaggedComponent make_alternate_address(const Address& address)
{
    return make_component(tag_alternate_iiop_address, [&](cdr::Writer& writer) {
        writer.write_string(address.host);
        writer.write(address.port);
    });
}

TaggedComponent make_priority_addresses(std::span<const PriorityAddress> addresses)
{
    return make_component(tag_priority_addresses, [&](cdr::Writer& writer) {
        writer.write(static_cast<std::uint32_t>(addresses.size()));
        for (const PriorityAddress& each : addresses) {
            writer.write(each.priority);
            writer.write_string(each.address.host);
            writer.write(each.address.port);
        }
    });
}

TaggedComponent make_tao_endpoints(std::span<const TaoEndpoint> endpoints)
{
    return make_component(tag_tao_endpoints, [&](cdr::Writer& writer) {
        writer.write(static_cast<std::uint32_t>(endpoints.size()));
        for (const TaoEndpoint& each : endpoints) {
            writer.write_string(each.address.host);
            writer.write(each.address.port);
            writer.write(each.priority);
        }
    });
}

TaggedComponent make_local_addresses(const LocalAddresses& addresses)
{
    return make_component(tag_local_addresses, [&](cdr::Writer& writer) {
        writer.write(addresses.host[0]);
        writer.write(addresses.host[1]);
        writer.write(static_cast<std::uint32_t>(addresses.addresses.size()));
        for (const LocalAddress& each : addresses.addresses) {
            writer.write(each.priority);
            writer.write(static_cast<std::uint8_t>(each.transport));
            writer.write_string(each.path);
        }
    });
}

TaggedComponent make_secure_address(const SecureAddress& address)
{
    return make_component(tag_ssl_sec_trans, [&](cdr::Writer& writer) {
        writer.write(address.supports);
        writer.write(address.requires_);
        writer.write(address.port);
    });
}

std::optional<std::uint32_t> decode_orb_type(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const auto type = reader.read<std::uint32_t>();
    return reader.ok() ? std::optional(type) : std::nullopt;
}

std::optional<CodeSets> decode_code_sets(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    CodeSets sets;
    sets.characters = read_code_set_component(reader);
    sets.wide_characters = read_code_set_component(reader);
    return reader.ok() ? std::optional(std::move(sets)) : std::nullopt;
}

std::optional<Address> decode_alternate_address(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const std::string_view host = without_brackets(reader.read_string());
    const auto port = reader.read<std::uint16_t>();
    if (!reader.ok() || host.find('\0') != std::string_view::npos) return std::nullopt;
    return Address{std::string(host), port};
}

std::optional<std::vector<PriorityAddress>>
decode_priority_addresses(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const std::uint32_t count = reader.read_length(9);
    if (count > limits::priority_addresses_max) return std::nullopt;
    std::vector<PriorityAddress> addresses;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        PriorityAddress each;
        each.priority = reader.read<std::int16_t>();
        const std::string_view host = without_brackets(reader.read_string());
        each.address = {std::string(host), reader.read<std::uint16_t>()};
        const bool usable = each.priority >= 0 && !host.empty() && each.address.port != 0 &&
                            host.find('\0') == std::string_view::npos;
        if (!usable) return std::nullopt;
        addresses.push_back(std::move(each));
    }
    if (!reader.ok()) return std::nullopt;
    return addresses;
}

std::optional<std::vector<TaoEndpoint>> decode_tao_endpoints(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    const std::uint32_t count = reader.read_length(9);
    if (count > limits::priority_addresses_max) return std::nullopt;
    std::vector<TaoEndpoint> endpoints;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const std::string_view host = without_brackets(reader.read_string());
        const auto port = reader.read<std::uint16_t>(); // TAO's IDL says short, and it means this
        const auto priority = reader.read<std::int16_t>();
        const bool usable =
            priority >= TaoEndpoint::any_priority && host.find('\0') == std::string_view::npos;
        if (!usable) return std::nullopt;
        endpoints.push_back({priority, {std::string(host), port}});
    }
    if (!reader.ok()) return std::nullopt;
    return endpoints;
}

std::optional<SecureAddress> decode_secure_address(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    SecureAddress address;
    address.supports = reader.read<std::uint16_t>();
    address.requires_ = reader.read<std::uint16_t>();
    address.port = reader.read<std::uint16_t>();
    if (!reader.ok() || address.port == 0) return std::nullopt;
    return address;
}

std::optional<LocalAddresses> decode_local_addresses(const TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    LocalAddresses addresses;
    addresses.host[0] = reader.read<std::uint64_t>();
    addresses.host[1] = reader.read<std::uint64_t>();
    const std::uint32_t count = reader.read_length(8);
    if (count > limits::local_addresses_max) return std::nullopt;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const auto priority = reader.read<std::int16_t>();
        const auto transport = LocalAddress::Transport{reader.read<std::uint8_t>()};
        const std::string_view path = reader.read_string();
        const bool usable = priority >= LocalAddress::any_priority && path.size() > 1 &&
                            path.size() <= limits::socket_path_max &&
                            (path.front() == '/' || path.front() == '@') &&
                            path.find('\0') == std::string_view::npos;
        if (!usable) return std::nullopt;
        addresses.addresses.push_back({priority, transport, std::string(path)});
    }
    if (!reader.ok()) return std::nullopt;
    return addresses;
}

std::vector<Address> alternate_addresses(std::span<const TaggedComponent> components)
{
    std::vector<Address> addresses;
    for (const TaggedComponent& component : components) {
        if (component.tag != tag_alternate_iiop_address) continue;
        if (auto address = decode_alternate_address(component))
            addresses.push_back(std::move(*address));
    }
    return addresses;
}

} // namespace kairos::ior
