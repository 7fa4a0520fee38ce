// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/quirks.h"

#include "kairos/ior/component.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace kairos::orb {

namespace {

struct Quirk {
    std::string_view name;  ///< for -ORBQuirks
    std::uint32_t orb_type; ///< whose it is
    bool Quirks::*member;
};

constexpr std::array known_quirks = {
    Quirk{"tao-chunks", ior::orb_type::tao, &Quirks::tao_chunks},
};

std::string all_names()
{
    std::string names = "a list of";
    for (const Quirk& quirk : known_quirks)
        names.append(names.ends_with("of") ? " " : " or ").append(quirk.name);
    return names;
}

} // namespace

Result<Quirks> quirks_named(std::string_view names)
{
    Quirks quirks;
    while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(','));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        bool known = false;
        for (const Quirk& quirk : known_quirks) {
            if (quirk.name != name) continue;
            quirks.*quirk.member = true;
            known = true;
        }
        if (!known) return Error{ErrorCode::invalid_argument, all_names()};
    }
    return quirks;
}

std::string names_of(const Quirks& quirks)
{
    std::string names;
    for (const Quirk& quirk : known_quirks)
        if (quirks.*quirk.member) names.append(names.empty() ? "" : ",").append(quirk.name);
    return names;
}

Quirks quirks_of(std::span<const ior::TaggedComponent> components)
{
    Quirks quirks;
    const auto* component = ior::find(components, ior::tag_orb_type);
    const auto type = component == nullptr ? std::nullopt : ior::decode_orb_type(*component);
    for (const Quirk& quirk : known_quirks)
        if (type == quirk.orb_type) quirks.*quirk.member = true;
    return quirks;
}

} // namespace kairos::orb
