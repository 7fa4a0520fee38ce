// SPDX-License-Identifier: Apache-2.0
//
// Groups of objects, as references and URLs say them (CORBA 3.3 part 2, 11; the IDL is in
// idl/MIOP.idl and idl/PortableGroup.idl). Values; when references are made, and for the target of
// each request that comes to a group.
#pragma once

#include "kairos/ior/profile.h"
#include "kairos/net/address.h"
#include "kairos/orb/options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::datagrams {

inline constexpr std::uint32_t tag_uipmc = 3;  ///< IOP::TAG_UIPMC: a profile
inline constexpr std::uint32_t tag_group = 39; ///< IOP::TAG_GROUP: a component of it

/// Which group. The version of a reference to it is no part of that.
struct GroupName {
    std::string domain;
    std::uint64_t id = 0;
    friend bool operator==(const GroupName&, const GroupName&) = default;
};

struct GroupProfile {
    GroupName name;
    std::uint32_t reference_version = 0; ///< 0: not said
    ior::Address address;                ///< of a multicast group, in numbers
    std::vector<ior::TaggedComponent> components;
};

/// Reads the data of a TAG_UIPMC profile. Nothing if it is malformed, says no group, or an address
/// that is none of multicast: nobody can have us send to somebody who has not joined.
[[nodiscard]] std::optional<GroupProfile> read_group_profile(Bytes data);
/// Returns the profile; its components are that of the group, and those that are given.
[[nodiscard]] ior::TaggedProfile make_group_profile(const GroupProfile& profile);
/// Returns the group of a reference; nothing if it has none.
[[nodiscard]] std::optional<GroupProfile> group_of(const ior::Ior& reference);

/// Parses a text "corbaloc:miop:[version@]1.0-domain-id[-version]/address:port[;iiop:…]". The error
/// says what is wrong with it. Nothing for a text that begins otherwise.
[[nodiscard]] std::optional<Result<ior::Ior>> parse_group_url(std::string_view text);

/// The socket address of a multicast group in numbers, "239.1.2.3", "ff15::7" or "ff12::7%eth0".
[[nodiscard]] std::optional<net::Address> multicast_address(const ior::Address& address);

/// What -ORBMulticast says.
struct MulticastSettings {
    std::string interface; ///< "": what the system's routes say
    int ttl = 1;
    bool loops = true;
    std::size_t packet = 1452; ///< octets of a datagram: what an Ethernet takes, also over IPv6
};
[[nodiscard]] Result<MulticastSettings> multicast_settings(const std::string& text);
/// The number of the interface, 0 if the settings say none.
[[nodiscard]] Result<unsigned> interface_index(const MulticastSettings& settings);

} // namespace kairos::datagrams
