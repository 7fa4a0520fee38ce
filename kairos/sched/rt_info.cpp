// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/rt_info.h"

#include <array>

namespace kairos::sched {
namespace {

constexpr std::array<std::string_view, 5> levels{"very_low", "low", "medium", "high", "very_high"};

template <typename Level>
std::optional<Level> level_named(std::string_view name) noexcept
{
    for (std::size_t i = 0; i < levels.size(); ++i)
        if (levels[i] == name) return static_cast<Level>(i);
    return std::nullopt;
}

} // namespace

std::string_view name_of(Criticality criticality) noexcept
{
    return levels[static_cast<std::size_t>(criticality)];
}

std::string_view name_of(Importance importance) noexcept
{
    return levels[static_cast<std::size_t>(importance)];
}

std::optional<Criticality> criticality_named(std::string_view name) noexcept
{
    return level_named<Criticality>(name);
}

std::optional<Importance> importance_named(std::string_view name) noexcept
{
    return level_named<Importance>(name);
}

} // namespace kairos::sched
