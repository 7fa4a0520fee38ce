// SPDX-License-Identifier: Apache-2.0
//
// How Store::resolve follows a name, the same in every database.
#pragma once

#include "kairos/nameserver/store.h"

namespace kairos::nameserver {

/// `find(context, component, entry)` looks for one binding: `done`, or why the walk ends there.
template <typename Find>
[[nodiscard]] StoreStatus walk(ContextId start, std::span<const ior::NameComponent> name,
                               Resolution& resolution, Find&& find)
{
    resolution.context = start;
    for (resolution.resolved = 0;;) {
        const StoreStatus found =
            find(resolution.context, name[resolution.resolved], resolution.entry);
        if (found != StoreStatus::done) return found;
        if (++resolution.resolved == name.size()) return StoreStatus::done;
        if (resolution.entry.kind == Entry::Kind::object) return StoreStatus::wrong_type;
        if (resolution.entry.kind == Entry::Kind::foreign_context) return StoreStatus::foreign;
        resolution.context = resolution.entry.context;
    }
}

} // namespace kairos::nameserver
