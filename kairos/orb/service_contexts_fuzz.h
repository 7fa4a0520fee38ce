// SPDX-License-Identifier: Apache-2.0
//
// Lists of service contexts that a fuzzer makes up. The first octet of its data says the byte order
// of the message that the list is in.
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/giop/message.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace kairos::orb {

/// Returns what `find` finds in an encoded list of contexts; nothing where it is none.
template <typename Find>
auto found_in(Bytes list, bool little_endian, Find find)
    -> decltype(find(std::declval<const giop::ServiceContexts&>()))
{
    cdr::Reader reader(list, little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    if (!reader.ok()) return {};
    return find(contexts);
}

/// Returns what `find` finds in the list of contexts that the fuzzer made up. `data` has an octet
/// at least.
template <typename Find>
auto found_in(const std::uint8_t* data, std::size_t size, Find find)
{
    // Lists begin at a multiple of four.
    std::vector<std::uint32_t> aligned(size / 4 + 1);
    std::memcpy(aligned.data(), data + 1, size - 1);
    const Bytes list(reinterpret_cast<const std::byte*>(aligned.data()), size - 1);
    return found_in(list, (data[0] & 1) != 0, find);
}

} // namespace kairos::orb
