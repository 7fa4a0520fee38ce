// SPDX-License-Identifier: Apache-2.0
//
// A binding as the columns of a row, the same in every database. Any thread.
#pragma once

#include "kairos/nameserver/store.h"

#include <optional>
#include <string>
#include <string_view>

namespace kairos::nameserver {

/// What a row has behind the context, the id and the kind.
template <typename Text>
struct Columns {
    std::int64_t type = 0;
    std::int64_t target = 0; ///< the context, of this store's
    Text reference;          ///< the encapsulation of an IOR, but for contexts of the store
    std::int64_t checksum = 0;
};

[[nodiscard]] Columns<std::string>
columns_of(ContextId context, const ior::NameComponent& component, const Entry& entry);

/// None for a row that nobody wrote like this.
[[nodiscard]] std::optional<Entry> entry_of(ContextId context, std::string_view id,
                                            std::string_view kind,
                                            const Columns<std::string_view>& columns);

} // namespace kairos::nameserver
