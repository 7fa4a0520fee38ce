// SPDX-License-Identifier: Apache-2.0
//
// The IIOP profile (CORBA 3.3 part 2, 9.7.2) and the question a client asks of a reference: where
// can the object be reached, in which order. Servers build profiles when they export a reference;
// clients call `targets` once per reference, before the first call. Cold path only.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/ior/component.h"
#include "kairos/ior/ior.h"

#include <memory>
#include <string>
#include <vector>

namespace kairos::ior {

/// The version of a profile: the highest GIOP version that the server accepts there.
struct KAIROS_API IiopVersion {
    std::uint8_t major = 1;
    std::uint8_t minor = 2;
    friend auto operator<=>(const IiopVersion&, const IiopVersion&) = default;
};

struct KAIROS_API IiopProfile {
    IiopVersion version;
    std::string host; ///< IPv6 without brackets
    std::uint16_t port = 0;
    OctetVector object_key;
    std::vector<TaggedComponent> components; ///< none in 1.0
    friend bool operator==(const IiopProfile&, const IiopProfile&) = default;
};

/// Reads the data of a TAG_INTERNET_IOP profile. A minor version above 2 becomes 2, and bytes after
/// the components are ignored: later versions only append. Another major version is refused.
[[nodiscard]] KAIROS_API Result<IiopProfile> decode_iiop(Bytes data);

/// The profile as it goes into a reference. 1.0 cannot carry components: they are left out.
[[nodiscard]] KAIROS_API TaggedProfile encode_iiop(const IiopProfile& profile);

/// Reads the data of a TAG_MULTIPLE_COMPONENTS profile.
[[nodiscard]] KAIROS_API Result<std::vector<TaggedComponent>>
decode_multiple_components(Bytes data);

/// One address at which an object can be reached. Targets of one profile share it, so that many
/// addresses do not multiply a long key.
struct KAIROS_API Target {
    Address address;
    std::shared_ptr<const IiopProfile> profile; ///< never null: key, version, components
    std::size_t profile_index = 0;              ///< its place in Ior::profiles, for GIOP addressing

    [[nodiscard]] IiopVersion version() const noexcept { return profile->version; }
    [[nodiscard]] Bytes object_key() const noexcept { return profile->object_key; }
};

/// Where the object can be reached, best first: each profile's own address, then its alternate
/// ones, then the next profile. Profiles that are not IIOP or are malformed are skipped, as are
/// addresses without host or with port zero (a server that wants TLS only says so).
[[nodiscard]] KAIROS_API std::vector<Target> targets(const Ior& reference);

/// Where the object can be reached by a client that reads addresses out of components too: the list
/// that `targets` returns, and for a profile with components, but without such an address, its own
/// host with port zero.
[[nodiscard]] KAIROS_API std::vector<Target> targets_by_any_way(const Ior& reference);

/// Where the server wants requests of each priority: by the component of Kairos, or else by TAO's,
/// whose servers serve a request at the priority of the address that it came to. Empty if it does
/// not say.
[[nodiscard]] std::vector<PriorityAddress> priority_addresses(const IiopProfile& profile);

} // namespace kairos::ior
