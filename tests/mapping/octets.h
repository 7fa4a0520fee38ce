// SPDX-License-Identifier: Apache-2.0
//
// Values of generated types as the octets of a message, and back.
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <vector>

using Octets = std::vector<unsigned char>;

template <typename T>
Octets encoded(const T& value)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::mapping::encode(out, value);
    const auto* begin = reinterpret_cast<const unsigned char*>(out.contiguous().data());
    return {begin, begin + out.contiguous().size()};
}

/// False where the bytes are refused or not all of them are the value's.
template <typename T>
bool decode(const Octets& octets, T& value, bool little_endian = kairos::native_little_endian)
{
    const auto* begin = reinterpret_cast<const std::byte*>(octets.data());
    // Copied, so that AddressSanitizer knows where the input ends.
    const std::vector<std::byte> bytes(begin, begin + octets.size());
    kairos::cdr::Reader in(bytes, little_endian);
    kairos::mapping::decode(in, value);
    return in.ok() && in.left() == 0;
}
