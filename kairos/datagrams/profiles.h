// SPDX-License-Identifier: Apache-2.0
//
// What references say of datagrams. Values; when references are made, not on the path of a call.
#pragma once

#include "kairos/ior/profile.h"

#include <optional>
#include <span>
#include <vector>

namespace kairos::datagrams {

/// TAO's, whose range the OMG registered (TAO_TAG_DIOP_PROFILE of tao/Strategies in ACE_TAO): a
/// body as that of TAG_INTERNET_IOP.
inline constexpr std::uint32_t tag_diop = 0x54414F04;
/// Stands, within this process, for the way that a profile of datagrams says. Not registered, and
/// in no reference: one that comes from outside is none (port_of_way).
inline constexpr std::uint32_t tag_of_way = 0x4B524F04;
/// Stands, within this process, for the way to a group of objects, as that tag does for others.
inline constexpr std::uint32_t tag_of_way_to_group = 0x4B524F05;

/// Adds to a reference, which has a profile of IIOP's, one for each of these addresses.
void add_diop_profiles(ior::Ior& reference, std::span<const ior::Address> addresses);

/// Returns the reference with its profiles of datagrams alone, those of groups among them.
[[nodiscard]] ior::Ior only_datagrams(const ior::Ior& reference);

/// Returns where the object can be reached, as ior::targets_by_any_way does; where that is nowhere,
/// by datagrams, also those to a group: targets of port 0, with a component that port_of_way()
/// reads. The object key of one to a group has what stands in its requests (group_channel.h).
[[nodiscard]] std::vector<ior::Target> targets(const ior::Ior& reference);
[[nodiscard]] std::optional<std::uint16_t> port_of_way(const ior::TaggedComponent& component);

} // namespace kairos::datagrams
