// SPDX-License-Identifier: Apache-2.0
//
// Service contexts that a call adds to those of its connection, on its stack. Values.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kairos::orb {

/// Room for a list of contexts: those that a connection begins with, a priority and a time.
using ContextsBuffer = std::array<std::byte, 96>;

/// How many contexts an encoded list has, which may be empty.
[[nodiscard]] std::uint32_t count_of_contexts(Bytes contexts) noexcept;

/// The encoded list `others`, which may be empty or lie at the beginning of `buffer`, and behind it
/// one context more, whose data are a multiple of four octets long or the last there are. Lies in
/// `buffer`; just `others` if there is no room.
[[nodiscard]] Bytes with_context(Bytes others, std::uint32_t id, Bytes data,
                                 ContextsBuffer& buffer) noexcept;

} // namespace kairos::orb
