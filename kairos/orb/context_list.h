// SPDX-License-Identifier: Apache-2.0
//
// Service contexts that a call or reply adds to those of its connection. Values.
#pragma once

#include "kairos/base/bytes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kairos::orb {

/// Memory of an encoded list of contexts, which grows with it. A thread has one for its calls
/// (Lane::contexts), which lasts from call to call.
using ContextList = std::vector<std::byte>;

/// Returns how many contexts an encoded list has, which may be empty.
[[nodiscard]] std::uint32_t count_of_contexts(Bytes contexts) noexcept;

/// Sets `list` to the encoded list `others`, which may be empty or lie in `list`, and behind it one
/// context more, whose data are a multiple of four octets long or the last there are. Returns what
/// `list` then holds. Throws std::bad_alloc.
[[nodiscard]] Bytes with_context(Bytes others, std::uint32_t id, Bytes data, ContextList& list);

} // namespace kairos::orb
