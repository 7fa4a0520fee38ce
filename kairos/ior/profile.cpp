// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/profile.h"

#include "kairos/base/limits.h"

#include <algorithm>

namespace kairos::ior {

namespace {

Error malformed(const cdr::Reader& reader)
{
    return {ErrorCode::malformed,
            "malformed profile: " + std::string(cdr::describe(reader.fault()))};
}

} // namespace

Result<IiopProfile> decode_iiop(Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    IiopProfile profile;
    profile.version.major = reader.read<std::uint8_t>();
    profile.version.minor = reader.read<std::uint8_t>();
    if (!reader.ok()) return malformed(reader);
    if (profile.version.major != 1)
        return Error{ErrorCode::malformed, "IIOP version " + std::to_string(profile.version.major) +
                                               "." + std::to_string(profile.version.minor) +
                                               " is not known"};
    profile.version.minor = std::min<std::uint8_t>(profile.version.minor, 2);

    const std::string_view host = reader.read_string();
    if (host.find('\0') != std::string_view::npos) reader.fail(cdr::Fault::invalid_value);
    profile.host = without_brackets(host);
    profile.port = reader.read<std::uint16_t>();
    const Bytes key = reader.read_octets();
    if (!reader.ok()) return malformed(reader);
    if (key.size() > limits::object_key_max)
        return Error{ErrorCode::limit_exceeded,
                     "object key of " + std::to_string(key.size()) + " octets"};
    profile.object_key.assign(key.begin(), key.end());
    if (profile.version.minor > 0 && !decode(reader, profile.components)) return malformed(reader);
    return profile;
}

TaggedProfile encode_iiop(const IiopProfile& profile)
{
    cdr::Buffer buffer;
    cdr::Writer writer(buffer);
    writer.write(native_little_endian);
    writer.write(profile.version.major);
    writer.write(profile.version.minor);
    writer.write_string(profile.host);
    writer.write(profile.port);
    writer.write(static_cast<std::uint32_t>(profile.object_key.size()));
    writer.write_bytes(profile.object_key);
    if (profile.version.minor > 0) encode(writer, profile.components);
    const Bytes data = writer.contiguous();
    return {tag_internet_iop, OctetVector(data.begin(), data.end())};
}

Result<std::vector<TaggedComponent>> decode_multiple_components(Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    std::vector<TaggedComponent> components;
    if (!decode(reader, components)) return malformed(reader);
    return components;
}

namespace {

std::vector<Target> list_targets(const Ior& reference, bool any_way)
{
    std::vector<Target> list;
    for (std::size_t i = 0; i < reference.profiles.size(); ++i) {
        const TaggedProfile& tagged = reference.profiles[i];
        if (tagged.tag != tag_internet_iop) continue;
        auto decoded = decode_iiop(tagged.data);
        if (!decoded) continue;
        const auto profile = std::make_shared<const IiopProfile>(std::move(decoded).value());
        const auto add = [&](Address address) {
            if (address.host.empty() || address.port == 0) return;
            list.push_back({std::move(address), profile, i});
        };
        const std::size_t others = list.size();
        add({profile->host, profile->port});
        for (Address& address : alternate_addresses(profile->components))
            add(std::move(address));
        if (any_way && list.size() == others && !profile->host.empty() &&
            !profile->components.empty())
            list.push_back({{profile->host, 0}, profile, i});
    }
    return list;
}

} // namespace

std::vector<Target> targets(const Ior& reference) { return list_targets(reference, false); }

std::vector<PriorityAddress> priority_addresses(const IiopProfile& profile)
{
    if (const auto* component = find(profile.components, tag_priority_addresses))
        if (auto addresses = decode_priority_addresses(*component)) return std::move(*addresses);
    const auto* component = find(profile.components, tag_tao_endpoints);
    auto endpoints = component == nullptr ? std::nullopt : decode_tao_endpoints(*component);
    if (!endpoints || endpoints->empty()) return {};
    // The first stands for the profile, which has no other place for its priority, and whose own
    // address is the one that counts: who passes references on may have changed it.
    endpoints->front().address = {profile.host, profile.port};
    std::vector<PriorityAddress> addresses;
    for (TaoEndpoint& each : *endpoints)
        if (each.priority != TaoEndpoint::any_priority && !each.address.host.empty() &&
            each.address.port != 0) // TLS only
            addresses.push_back({each.priority, std::move(each.address)});
    return addresses;
}

std::vector<Target> targets_by_any_way(const Ior& reference)
{
    return list_targets(reference, true);
}

} // namespace kairos::ior
