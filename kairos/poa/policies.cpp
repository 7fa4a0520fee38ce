// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/policies.h"

#include "kairos/server/thread_pool.h"

#include <algorithm>

namespace kairos::poa {

namespace {

using Conflict = std::array<PolicyKind, 2>;

bool is_in(const std::vector<ior::PriorityBand>& bands, std::int16_t priority)
{
    return bands.empty() ||
           std::ranges::any_of(bands, [&](const auto& band) { return band.contains(priority); });
}

/// What the lanes of a pool cannot do, or nobody could call (Real-Time CORBA 1.2, 5.12.3 and 5.14).
std::optional<Conflict> real_time_conflict_of(const Policies& policies)
{
    const RealTimePolicies& real_time = policies.real_time;
    if (real_time.declares() && !is_in(real_time.bands, real_time.priority_model->server_priority))
        return Conflict{PolicyKind::priority_model, PolicyKind::priority_bands};
    if (real_time.pool == nullptr) return std::nullopt;
    if (policies.threads == Threads::main)
        return Conflict{PolicyKind::threads, PolicyKind::thread_pool};
    if (real_time.declares() &&
        !real_time.pool->has_lane(real_time.priority_model->server_priority))
        return Conflict{PolicyKind::priority_model, PolicyKind::thread_pool};
    if (!real_time.pool->settings().has_lanes) return std::nullopt;
    const auto has_lane = [&](const ior::PriorityBand& band) {
        return std::ranges::any_of(real_time.pool->settings().lanes,
                                   [&](const auto& lane) { return band.contains(lane.priority); });
    };
    if (!std::ranges::all_of(real_time.bands, has_lane))
        return Conflict{PolicyKind::thread_pool, PolicyKind::priority_bands};
    return std::nullopt;
}

} // namespace

bool RealTimePolicies::allows(std::int16_t priority) const noexcept
{
    return (pool == nullptr || pool->has_lane(priority)) && is_in(bands, priority);
}

std::optional<std::array<PolicyKind, 2>> conflict_of(const Policies& policies)
{
    if (!policies.retains() && policies.processing == Processing::map_only)
        return Conflict{PolicyKind::retention, PolicyKind::processing};
    if (policies.processing == Processing::default_servant && policies.unique())
        return Conflict{PolicyKind::id_uniqueness, PolicyKind::processing};
    if (policies.implicit() && !policies.system_ids())
        return Conflict{PolicyKind::id_assignment, PolicyKind::implicit_activation};
    if (policies.implicit() && !policies.retains())
        return Conflict{PolicyKind::implicit_activation, PolicyKind::retention};
    if (policies.strategy == IdStrategy::perfect) { // all ids are known, and looked for in a map
        if (policies.system_ids())
            return Conflict{PolicyKind::id_assignment, PolicyKind::demultiplexing};
        if (!policies.retains()) return Conflict{PolicyKind::retention, PolicyKind::demultiplexing};
    }
    return real_time_conflict_of(policies);
}

} // namespace kairos::poa
