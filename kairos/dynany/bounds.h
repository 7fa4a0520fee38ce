// SPDX-License-Identifier: Apache-2.0
//
// What bounds the memory that values from a peer may take as trees of DynAnys.
#pragma once

#include <cstddef>

namespace kairos::dynany {

/// DynAnys that one value may have become at a time: each takes some hundred octets, and may stand
/// for one. Sequences and arrays of numbers become them only when their elements are asked for.
inline constexpr std::size_t components_max = std::size_t{1} << 20;
/// Octets of an array of numbers that nobody has set yet, whose length a TypeCode says.
inline constexpr std::size_t default_octets_max = std::size_t{64} << 20;

} // namespace kairos::dynany
