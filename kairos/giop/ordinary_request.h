// SPDX-License-Identifier: Apache-2.0
//
// The request that nearly all are: GIOP 1.2, this machine's byte order, addressed by key, without
// service contexts. In a header, to be inlined into the one place on the call path that parses
// requests (station 7 of docs/TOUR.md), whoever else calls `parse`.
#pragma once

#include "kairos/base/limits.h"
#include "kairos/giop/request.h"

#include <algorithm>
#include <cstring>

namespace kairos::giop {
namespace detail {

template <typename T>
[[nodiscard]] inline T load(const std::byte* place) noexcept
{
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

} // namespace detail

/// Reads a request of the ordinary form. False for other requests, and when anything is wrong:
/// `parse` says what.
[[nodiscard, gnu::always_inline]] inline bool parse_ordinary(const Message& message,
                                                             Request& request) noexcept
{
    constexpr std::size_t id = 12, flags = 16, target = 20; // in the header
    constexpr std::size_t key_begin = target + 8;
    const std::byte* const data = message.bytes.data();
    const std::size_t size = message.bytes.size();
    if (message.version < version_1_2) return false;
    if (message.little_endian != native_little_endian || size < key_begin + 8) return false;
    if (detail::load<std::uint16_t>(data + target) != 0) return false;
    const std::size_t key_size = detail::load<std::uint32_t>(data + key_begin - 4);
    if (key_size > limits::object_key_max) return false;
    const std::size_t name = align_up(key_begin + key_size, 4) + 4;
    if (name > size) return false;
    const std::size_t name_size = detail::load<std::uint32_t>(data + name - 4); // with its NUL
    if (name_size - 1 > limits::operation_name_max) return false;
    const std::size_t contexts_end = align_up(name + name_size, 4) + 4;
    if (contexts_end > size) return false;
    if (data[name + name_size - 1] != std::byte{0}) return false;
    if (detail::load<std::uint32_t>(data + contexts_end - 4) != 0) return false;

    request.version = message.version;
    request.little_endian = native_little_endian;
    request.request_id = detail::load<std::uint32_t>(data + id);
    request.response_flags = std::to_integer<std::uint8_t>(data[flags]);
    request.target.disposition = AddressingDisposition::key;
    request.target.key = {data + key_begin, key_size};
    request.operation = {reinterpret_cast<const char*>(data + name), name_size - 1};
    request.contexts = ServiceContexts();
    request.body = cdr::Reader(message.bytes, message.little_endian,
                               std::min(align_up(contexts_end, 8), size));
    return true;
}

} // namespace kairos::giop
