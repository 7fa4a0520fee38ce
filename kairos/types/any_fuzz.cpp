// SPDX-License-Identifier: Apache-2.0
//
// An Any from arbitrary bytes: decoded, encoded at another place, decoded again. What was accepted
// once must be accepted again and give the same bytes. The first octet of the input holds the byte
// order, where the value begins and where the copy does.
#include "kairos/base/check.h"
#include "kairos/types/any_access.h"
#include "kairos/types/typecode_wire.h"

#include <vector>

namespace cdr = kairos::cdr;

namespace {

std::vector<std::byte> encoded(const CORBA::Any& any, std::size_t begin)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    std::memset(out.claim(begin, 1), 0, begin);
    kairos::mapping::encode(out, any);
    std::vector<std::byte> bytes(out.contiguous().begin(), out.contiguous().end());
    // Large values stay where they are until they are sent.
    std::size_t shift = 0;
    for (const cdr::Writer::External& external : out.externals()) {
        const auto at = static_cast<std::ptrdiff_t>(external.position + shift);
        bytes.insert(bytes.begin() + at, external.bytes.begin(), external.bytes.end());
        shift += external.bytes.size();
    }
    return bytes;
}

/// Extracts an Any inside, as deep as there are some.
void look_inside(const CORBA::Any& any)
{
    const CORBA::Any* inner = nullptr;
    if (any >>= inner) look_inside(*inner);
    const char* text = nullptr;
    (void)(any >>= text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const bool little_endian = (data[0] & 1) != 0;
    const std::size_t begin = (data[0] >> 1) % 8;
    const std::size_t other = (data[0] >> 4) % 8;
    std::vector<std::byte> bytes(begin);
    for (std::size_t i = 1; i < size; ++i)
        bytes.push_back(static_cast<std::byte>(data[i]));
    cdr::Reader in(bytes, little_endian, begin);
    CORBA::Any any;
    kairos::mapping::decode(in, any);
    if (!in.ok()) return 0;
    look_inside(any);

    const std::vector<std::byte> first = encoded(any, other);
    cdr::Reader again(first, kairos::native_little_endian, other);
    CORBA::Any copy;
    kairos::mapping::decode(again, copy);
    KAIROS_CHECK(again.ok() && again.left() == 0);
    const std::vector<std::byte> second = encoded(copy, other);
    KAIROS_CHECK(first == second);
    return 0;
}
