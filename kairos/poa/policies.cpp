// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/policies.h"

namespace kairos::poa {

std::optional<std::array<PolicyKind, 2>> conflict_of(const Policies& policies)
{
    using Conflict = std::array<PolicyKind, 2>;
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
    return std::nullopt;
}

} // namespace kairos::poa
