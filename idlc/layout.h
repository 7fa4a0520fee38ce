// SPDX-License-Identifier: Apache-2.0
//
// How many bytes values of a type take, on the wire and in memory: facts of CDR, which are the same
// for every language.
#pragma once

#include "idlc/model.h"

#include <cstdint>

namespace kairos::idlc {

/// The fewest bytes that CDR needs for a value.
[[nodiscard]] std::uint64_t wire_bytes_min(const Type& type);
[[nodiscard]] std::uint64_t wire_bytes_min(const Union& type);
/// About how large a value of fixed length is in memory.
[[nodiscard]] std::uint64_t memory_bytes(const Type& type);

/// Whether CDR has each number of such structs at a place known beforehand, counted from the
/// first: they are of fixed length, and neither unions nor wide characters are in them.
[[nodiscard]] bool has_fixed_layout(const Struct& type);

} // namespace kairos::idlc
