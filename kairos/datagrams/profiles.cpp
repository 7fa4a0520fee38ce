// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/profiles.h"

#include "kairos/base/limits.h"
#include "kairos/datagrams/group.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

namespace kairos::datagrams {

namespace {

/// What holds however the object is called. Code sets are agreed on by connections, of which there
/// are none here: text is ISO 8859-1, as where a server says nothing.
void keep_common(std::vector<ior::TaggedComponent>& components)
{
    std::erase_if(components, [](const ior::TaggedComponent& each) {
        return each.tag != ior::tag_orb_type && each.tag != ior::tag_policies;
    });
}

/// Peers cannot guess it: what references say from outside is no way of ours.
std::uint64_t own_number()
{
    static const std::uint64_t number = [] {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }();
    return number;
}

/// A profile of a group as the ORB knows others. Its key is what its requests have in place of one.
Result<ior::IiopProfile> as_iiop(Bytes group_profile)
{
    auto group = read_group_profile(group_profile);
    if (!group || group_profile.size() > limits::object_key_max - sizeof(std::uint32_t))
        return Error{ErrorCode::malformed, "no profile of a group"};
    ior::IiopProfile profile{.version = {},
                             .host = std::move(group->address.host),
                             .port = group->address.port,
                             .object_key = {},
                             .components = std::move(group->components)};
    const auto size = static_cast<std::uint32_t>(group_profile.size());
    profile.object_key.resize(sizeof size);
    std::memcpy(profile.object_key.data(), &size, sizeof size);
    profile.object_key.insert(profile.object_key.end(), group_profile.begin(), group_profile.end());
    return profile;
}

} // namespace

void add_diop_profiles(ior::Ior& reference, std::span<const ior::Address> addresses)
{
    if (reference.profiles.empty() || addresses.empty()) return;
    auto first = ior::decode_iiop(reference.profiles.front().data);
    if (!first) return;
    ior::IiopProfile profile = std::move(first).value();
    profile.version = {};
    keep_common(profile.components);
    for (const ior::Address& address : addresses) {
        profile.host = address.host;
        profile.port = address.port;
        ior::TaggedProfile tagged = ior::encode_iiop(profile);
        tagged.tag = tag_diop;
        reference.profiles.push_back(std::move(tagged));
    }
}

ior::Ior only_datagrams(const ior::Ior& reference)
{
    ior::Ior only{.type_id = reference.type_id, .profiles = {}};
    std::ranges::copy_if(reference.profiles, std::back_inserter(only.profiles),
                         [](const ior::TaggedProfile& each) {
                             return each.tag == tag_diop || each.tag == tag_uipmc;
                         });
    return only;
}

std::vector<ior::Target> targets(const ior::Ior& reference)
{
    std::vector<ior::Target> found = ior::targets_by_any_way(reference);
    if (!found.empty()) return found;
    for (std::size_t i = 0; i < reference.profiles.size(); ++i) {
        const ior::TaggedProfile& tagged = reference.profiles[i];
        if (tagged.tag != tag_diop && tagged.tag != tag_uipmc) continue;
        auto decoded =
            tagged.tag == tag_diop ? ior::decode_iiop(tagged.data) : as_iiop(tagged.data);
        if (!decoded || decoded->host.empty() || decoded->port == 0) continue;
        ior::IiopProfile profile = std::move(decoded).value();
        const std::uint16_t port = std::exchange(profile.port, 0);
        keep_common(profile.components);
        const std::uint64_t number = own_number();
        ior::OctetVector data(sizeof port + sizeof number);
        std::memcpy(data.data(), &port, sizeof port);
        std::memcpy(data.data() + sizeof port, &number, sizeof number);
        profile.components.push_back(
            {tagged.tag == tag_diop ? tag_of_way : tag_of_way_to_group, std::move(data)});
        const std::string host = profile.host;
        found.push_back(
            {{host, 0}, std::make_shared<const ior::IiopProfile>(std::move(profile)), i});
    }
    return found;
}

std::optional<std::uint16_t> port_of_way(const ior::TaggedComponent& component)
{
    std::uint16_t port = 0;
    const std::uint64_t number = own_number();
    if (component.data.size() != sizeof port + sizeof number ||
        std::memcmp(component.data.data() + sizeof port, &number, sizeof number) != 0)
        return std::nullopt;
    std::memcpy(&port, component.data.data(), sizeof port);
    return port;
}

} // namespace kairos::datagrams
