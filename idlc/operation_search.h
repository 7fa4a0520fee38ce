// SPDX-License-Identifier: Apache-2.0
//
// Searches the perfect hash of an interface's operations, over the function that skeletons evaluate
// at run time (kairos/base/operation_hash.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kairos::idlc {

struct OperationHash {
    std::uint64_t multiplier = 0;
    unsigned bits = 0;
    /// By slot: the index of the name that falls into it, or the number of names.
    std::vector<std::size_t> slots{};
};

/// The smallest table found. Always the same one for the same names. None where two names have the
/// same digest, or there are far too many.
[[nodiscard]] std::optional<OperationHash>
search_operation_hash(const std::vector<std::string>& names);

} // namespace kairos::idlc
