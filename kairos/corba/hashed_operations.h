// SPDX-License-Identifier: Apache-2.0
//
// Operations in a hash table that is filled when a skeleton is called first: dynamic hashing, as
// paper 000 §5.3 compares it with operation_table.h's perfect hash. Included by what `kairos-idl
// --operation-demux=hash` generates. Immutable once made.
#pragma once

#include "kairos/base/export.h"

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

namespace kairos::corba {

class KAIROS_API HashedOperations {
  public:
    /// Allocates. The names' characters must outlive the table.
    HashedOperations(std::initializer_list<std::string_view> names)
    {
        indices_.reserve(names.size() * 2); // few collisions, as in the paper
        for (const std::string_view name : names)
            indices_.emplace(name, indices_.size());
    }

    /// The index of `name` among the names, or their number.
    [[nodiscard]] std::size_t find(std::string_view name) const noexcept
    {
        const auto known = indices_.find(name);
        return known == indices_.end() ? indices_.size() : known->second;
    }

  private:
    std::unordered_map<std::string_view, std::size_t> indices_;
};

} // namespace kairos::corba
