// SPDX-License-Identifier: Apache-2.0
//
// The numbers that values are put together from on the wire (CORBA 3.3 part 2, 9.3.4).
#pragma once

#include <cstdint>

namespace kairos::values {

inline constexpr std::uint32_t null_tag = 0;
inline constexpr std::uint32_t indirection_tag = 0xFFFFFFFF;
/// Value tags are this and flags; sizes of chunks are below.
inline constexpr std::uint32_t value_tag_min = 0x7FFFFF00;
inline constexpr std::uint32_t value_tag_max = 0x7FFFFFFF;
inline constexpr std::uint32_t has_codebase = 1;
inline constexpr std::uint32_t type_info_mask = 6;
inline constexpr std::uint32_t no_type_info = 0;
inline constexpr std::uint32_t single_id = 2;
inline constexpr std::uint32_t id_list = 6;
inline constexpr std::uint32_t is_chunked = 8;
inline constexpr std::uint32_t unknown_flags = 0xF0;

} // namespace kairos::values
