// SPDX-License-Identifier: Apache-2.0
//
// Decodes generated unions and fixed-point numbers, in every place they can be, from arbitrary
// bytes. What is accepted must be the same value after another way over the wire. The first octet
// chooses type and byte order.
#include "fixed.h"
#include "union.h"

#include "kairos/base/check.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace {

template <typename T>
void round_trip(kairos::cdr::Reader& in)
{
    T value;
    try {
        kairos::mapping::decode(in, value);
    } catch (const CORBA::MARSHAL&) { // a reference: there is no ORB here that it could belong to
        in.fail(kairos::cdr::Fault::invalid_value);
    }
    const T copy(value); // whatever was refused is a value all the same
    if (!in.ok()) return;
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::mapping::encode(out, copy);
    kairos::cdr::Reader again(out.contiguous(), kairos::native_little_endian);
    T second;
    kairos::mapping::decode(again, second);
    KAIROS_CHECK(again.ok() && again.left() == 0);
    value = second;
    kairos::cdr::Buffer second_buffer;
    kairos::cdr::Writer second_out(second_buffer);
    kairos::mapping::encode(second_out, value);
    KAIROS_CHECK(std::ranges::equal(out.contiguous(), second_out.contiguous()));
}

constexpr void (*types[])(kairos::cdr::Reader&) = {
    round_trip<Unions::Holder>,      round_trip<Unions::FixedHolder>,
    round_trip<Unions::Riches>,      round_trip<Unions::Plains>,
    round_trip<Unions::Tree>,        round_trip<Unions::Expression>,
    round_trip<Unions::ByBoolean>,   round_trip<Unions::ByChar>,
    round_trip<Unions::ByInt8>,      round_trip<Unions::ByOctet>,
    round_trip<Unions::ByShort>,     round_trip<Unions::ByLong>,
    round_trip<Unions::ByLongLong>,  round_trip<Unions::ByUnsignedLongLong>,
    round_trip<Unions::ByAllColors>, round_trip<Unions::ByInner>,
    round_trip<FixedPoint::Items>,   round_trip<FixedPoint::Bill>,
    round_trip<FixedPoint::Cost>,    round_trip<FixedPoint::Fraction>,
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return 0;
    const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
    // Aligned as messages are: the reader counts from the first octet.
    const std::vector<std::byte> copy(bytes.begin(), bytes.end());
    kairos::cdr::Reader in(copy, (data[0] & 1) != 0);
    types[data[0] / 2 % std::size(types)](in);
    return 0;
}
