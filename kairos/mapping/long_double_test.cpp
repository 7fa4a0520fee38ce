// SPDX-License-Identifier: Apache-2.0
//
// long double on the wire: IEEE 754 binary128 whatever the host has (CORBA 3.3 part 2, 9.3.1.5).
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/mapping/marshal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using CORBA::LongDouble;
using Limits = std::numeric_limits<LongDouble>;
namespace cdr = kairos::cdr;

/// The first eight octets and the last eight, most significant first.
struct Quad {
    std::uint64_t high;
    std::uint64_t low;
    friend bool operator==(const Quad&, const Quad&) = default;
};

Quad quad_of(LongDouble value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    kairos::mapping::encode(out, value);
    EXPECT_EQ(out.size(), 16u);
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), out.contiguous().data(), 16);
    if (kairos::native_little_endian) return {words[1], words[0]};
    return {words[0], words[1]};
}

LongDouble value_of(Quad quad, bool little_endian)
{
    std::array<std::uint8_t, 16> octets{};
    for (std::size_t i = 0; i < 8; ++i) {
        octets[i] = static_cast<std::uint8_t>(quad.high >> (56 - 8 * i));
        octets[8 + i] = static_cast<std::uint8_t>(quad.low >> (56 - 8 * i));
    }
    if (little_endian) std::reverse(octets.begin(), octets.end());
    cdr::Reader in(std::as_bytes(std::span(octets)), little_endian);
    LongDouble value = 0;
    kairos::mapping::decode(in, value);
    EXPECT_TRUE(in.ok());
    return value;
}

void expect_wire(LongDouble value, Quad quad)
{
    EXPECT_EQ(quad_of(value), quad) << value;
    for (const bool little_endian : {false, true}) {
        const LongDouble back = value_of(quad, little_endian);
        EXPECT_EQ(back, value);
        EXPECT_EQ(std::signbit(back), std::signbit(value));
    }
}

TEST(Trap17_LongDouble, NumbersZerosAndInfinities)
{
    expect_wire(1.0L, {0x3FFF'0000'0000'0000, 0});
    expect_wire(-1.5L, {0xBFFF'8000'0000'0000, 0});
    expect_wire(0.1L, {0x3FFB'9999'9999'9999, 0x999A'0000'0000'0000}); // 64 of x86's bits
    expect_wire(0.0L, {0, 0});
    expect_wire(-0.0L, {0x8000'0000'0000'0000, 0});
    expect_wire(Limits::infinity(), {0x7FFF'0000'0000'0000, 0});
    expect_wire(-Limits::infinity(), {0xFFFF'0000'0000'0000, 0});
    expect_wire(Limits::max(), {0x7FFE'FFFF'FFFF'FFFF, 0xFFFE'0000'0000'0000});
}

TEST(Trap17_LongDouble, SubnormalNumbers)
{
    expect_wire(Limits::min(), {0x0001'0000'0000'0000, 0});
    expect_wire(Limits::min() / 2, {0x0000'8000'0000'0000, 0});
    expect_wire(Limits::denorm_min(), {0, 0x0002'0000'0000'0000});
}

TEST(Trap17_LongDouble, NotANumberStaysOne)
{
    const Quad quad = quad_of(Limits::quiet_NaN());
    EXPECT_EQ(quad.high & 0x7FFF'8000'0000'0000, 0x7FFF'8000'0000'0000u);
    for (const bool little_endian : {false, true})
        EXPECT_TRUE(std::isnan(value_of({0x7FFF'8000'0000'0000, 1}, little_endian)));
}

TEST(Trap17_LongDouble, WhatHasMoreBitsIsRoundedToTheNearest)
{
    static_assert(Limits::digits == 64, "this test is for x86's long double");
    const LongDouble next = 1.0L + Limits::epsilon();
    EXPECT_EQ(value_of({0x3FFF'0000'0000'0000, 0x0000'FFFF'FFFF'FFFF}, true), 1.0L);
    EXPECT_EQ(value_of({0x3FFF'0000'0000'0000, 0x0001'0000'0000'0000}, true), 1.0L); // to even
    EXPECT_EQ(value_of({0x3FFF'0000'0000'0000, 0x0001'0000'0000'0001}, true), next);
    EXPECT_EQ(value_of({0x7FFE'FFFF'FFFF'FFFF, 0xFFFF'FFFF'FFFF'FFFF}, true), Limits::infinity());
}

TEST(Trap17_LongDouble, ElementsOfSequencesAndArraysAreAlignedToEight)
{
    const kairos::mapping::UnboundedSequence<LongDouble> sequence{1.0L, -2.0L};
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    kairos::mapping::encode(out, sequence);
    EXPECT_EQ(out.size(), 8u + 32u);
    const std::vector<std::byte> bytes(out.contiguous().begin(), out.contiguous().end());
    kairos::mapping::UnboundedSequence<LongDouble> copy;
    cdr::Reader in(bytes, kairos::native_little_endian);
    kairos::mapping::decode(in, copy);
    EXPECT_TRUE(in.ok());
    ASSERT_EQ(copy.length(), 2u);
    EXPECT_EQ(copy[1], -2.0L);

    LongDouble array[2] = {0.5L, 3.0L};
    out.reset(0);
    out.write(CORBA::Octet{1});
    kairos::mapping::encode(out, array);
    EXPECT_EQ(out.size(), 8u + 32u);
    cdr::Reader array_in(out.contiguous(), kairos::native_little_endian, 1);
    LongDouble back[2] = {};
    kairos::mapping::decode(array_in, back);
    EXPECT_TRUE(array_in.ok());
    EXPECT_EQ(back[1], 3.0L);
}

} // namespace
