// SPDX-License-Identifier: Apache-2.0
#include "kairos/csi/mechanisms.h"

#include "kairos/base/shown.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/csi/context.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kairos::csi {
namespace {

OctetVector octets_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

/// Copied, however long: what is written stays in one piece.
void put_sequence(cdr::Writer& writer, Bytes octets)
{
    writer.write(static_cast<std::uint32_t>(octets.size()));
    writer.write_bytes(octets);
}

/// Reads so many things of at least so many octets each.
template <typename ReadOne>
bool read_each(cdr::Reader& reader, std::size_t octets_min, std::size_t max, ReadOne read_one)
{
    const std::uint32_t count = reader.read_length(octets_min);
    if (!reader.ok() || count > max) return false;
    for (std::uint32_t i = 0; i < count; ++i)
        if (!read_one() || !reader.ok()) return false;
    return true;
}

std::optional<TlsTransport> decode_tls(Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    TlsTransport tls;
    tls.supports = reader.read<std::uint16_t>();
    tls.requires_ = reader.read<std::uint16_t>();
    const bool is_whole = read_each(reader, 6, limits::addresses_max, [&] {
        std::string_view host = reader.read_string();
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        const auto port = reader.read<std::uint16_t>();
        tls.addresses.push_back({std::string(host), port});
        return host.find('\0') == std::string_view::npos;
    });
    return is_whole ? std::optional(std::move(tls)) : std::nullopt;
}

OctetVector encode_tls(const TlsTransport& tls)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(tls.supports);
    writer.write(tls.requires_);
    writer.write(static_cast<std::uint32_t>(tls.addresses.size()));
    for (const ior::Address& each : tls.addresses) {
        writer.write_string(each.host);
        writer.write(each.port);
    }
    return octets_of(writer.contiguous());
}

bool read_mechanism(cdr::Reader& reader, Mechanism& mechanism)
{
    mechanism.requires_ = reader.read<std::uint16_t>();
    mechanism.transport = reader.read<std::uint32_t>();
    const Bytes transport = reader.read_octets();
    if (mechanism.transport == ior::tag_tls_sec_trans) {
        mechanism.tls = decode_tls(transport);
        if (!mechanism.tls) return false;
    }
    mechanism.client_supports = reader.read<std::uint16_t>();
    mechanism.client_requires = reader.read<std::uint16_t>();
    mechanism.client_mechanism = octets_of(reader.read_octets());
    mechanism.target_name = octets_of(reader.read_octets());
    mechanism.identity_supports = reader.read<std::uint16_t>();
    mechanism.identity_requires = reader.read<std::uint16_t>();
    const auto skip_authority = [&] {
        (void)reader.read<std::uint32_t>();
        (void)reader.read_octets();
        return true;
    };
    if (!read_each(reader, 8, limits::names_max, skip_authority)) return false;
    const auto read_naming = [&] {
        mechanism.namings.push_back(octets_of(reader.read_octets()));
        return true;
    };
    if (!read_each(reader, 4, limits::names_max, read_naming)) return false;
    mechanism.identity_types = reader.read<std::uint32_t>();
    return reader.ok();
}

// --- for people ----------------------------------------------------------------------------------

std::string options_text(std::uint16_t options)
{
    struct Name {
        std::uint16_t bit;
        const char* text;
    };
    static constexpr std::array names = {
        Name{association::no_protection, "no protection"},
        Name{association::integrity, "integrity"},
        Name{association::confidentiality, "confidentiality"},
        Name{association::detect_replay, "detection of replay"},
        Name{association::detect_misordering, "detection of misordering"},
        Name{association::trust_in_target, "trust in the server"},
        Name{association::trust_in_client, "trust in the client"},
        Name{association::no_delegation, "no delegation"},
        Name{association::simple_delegation, "simple delegation"},
        Name{association::composite_delegation, "composite delegation"},
        Name{association::identity_assertion, "speaking for others"},
        Name{association::delegation_by_client, "delegation by the client"},
    };
    std::string text;
    for (const Name& each : names)
        if ((options & each.bit) != 0) text.append(text.empty() ? "" : ", ").append(each.text);
    if ((options & 0xF000) != 0)
        text.append(text.empty() ? "" : ", ").append(std::to_string(options & 0xF000));
    return text.empty() ? "nothing" : text;
}

std::string identities_text(std::uint32_t types)
{
    std::string text;
    const auto add = [&](IdentityType type, const char* name) {
        const auto bit = static_cast<std::uint32_t>(type);
        if ((types & bit) != 0) text.append(text.empty() ? "" : ", ").append(name);
        types &= ~bit;
    };
    add(IdentityType::anonymous, "anonymous");
    add(IdentityType::principal_name, "names");
    add(IdentityType::certificates, "certificates");
    add(IdentityType::distinguished_name, "distinguished names");
    if (types != 0) text.append(text.empty() ? "" : ", ").append(std::to_string(types));
    return text;
}

std::string mechanism_text(const OctetVector& identifier)
{
    if (std::ranges::equal(identifier, gssup_mechanism)) return "user and password (GSSUP)";
    return "a mechanism of " + std::to_string(identifier.size()) + " octets";
}

std::string name_text(const OctetVector& exported)
{
    const auto name = decode_exported_name(exported);
    return name ? "'" + shown(*name) + "'" : std::to_string(exported.size()) + " octets";
}

} // namespace

ior::TaggedComponent make_component(const MechanismList& list)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(list.is_stateful);
    writer.write(static_cast<std::uint32_t>(list.all.size()));
    for (const Mechanism& each : list.all) {
        writer.write(each.requires_);
        writer.write(each.transport);
        put_sequence(writer, each.tls ? encode_tls(*each.tls) : OctetVector());
        writer.write(each.client_supports);
        writer.write(each.client_requires);
        put_sequence(writer, each.client_mechanism);
        put_sequence(writer, each.target_name);
        writer.write(each.identity_supports);
        writer.write(each.identity_requires);
        writer.write(std::uint32_t{0}); // privilege authorities
        writer.write(static_cast<std::uint32_t>(each.namings.size()));
        for (const OctetVector& naming : each.namings)
            put_sequence(writer, naming);
        writer.write(each.identity_types);
    }
    return {ior::tag_csi_sec_mech_list, octets_of(writer.contiguous())};
}

std::optional<MechanismList> decode_component(const ior::TaggedComponent& component)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
    MechanismList list;
    list.is_stateful = reader.read<bool>();
    const bool is_whole = read_each(reader, 32, limits::mechanisms_max, [&] {
        return read_mechanism(reader, list.all.emplace_back());
    });
    return is_whole ? std::optional(std::move(list)) : std::nullopt;
}

std::string describe(const ior::TaggedComponent& component, std::size_t indent)
{
    const auto list = decode_component(component);
    if (!list) return "";
    std::string text;
    const auto line = [&](std::size_t depth, const std::string& words) {
        text.append(indent + 2 * depth, ' ').append(words).append("\n");
    };
    for (const Mechanism& each : list->all) {
        line(0, "requires " + options_text(each.requires_));
        if (each.tls) {
            line(0, "TLS: supports " + options_text(each.tls->supports) + "; requires " +
                        options_text(each.tls->requires_));
            for (const ior::Address& address : each.tls->addresses)
                line(1, "at " + shown(ior::to_string(address)));
        } else {
            line(0, each.transport == tag_null
                        ? "no transport of its own"
                        : "transport of tag " + std::to_string(each.transport));
        }
        if (each.client_supports != 0 || !each.client_mechanism.empty())
            line(0, "clients: " + mechanism_text(each.client_mechanism) + " for " +
                        name_text(each.target_name) + "; requires " +
                        options_text(each.client_requires));
        if (each.identity_supports != 0)
            line(0, "speaking for others: " + identities_text(each.identity_types));
    }
    return text;
}

} // namespace kairos::csi
