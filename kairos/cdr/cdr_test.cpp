// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kairos::cdr {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values)
{
    std::vector<std::byte> bytes;
    for (const int value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

/// The whole stream with external bytes put where they belong.
std::vector<std::byte> gathered(const Writer& writer, std::size_t headroom)
{
    std::vector<std::byte> stream;
    std::size_t at = headroom;
    const std::byte* data = writer.buffer().data();
    for (const auto& external : writer.externals()) {
        stream.insert(stream.end(), data + at, data + external.position);
        stream.insert(stream.end(), external.bytes.begin(), external.bytes.end());
        at = external.position;
    }
    stream.insert(stream.end(), data + at, data + writer.position());
    return stream;
}

TEST(CdrWriter, AlignsToTheSizeOfThePrimitiveWithZeroPadding)
{
    Buffer buffer;
    Writer writer(buffer, 8);
    writer.write(std::uint8_t{0xAA});
    writer.write(std::uint32_t{0x01020304});
    writer.write(std::uint8_t{0xBB});
    writer.write(1.0);
    const auto stream = gathered(writer, 8);
    ASSERT_EQ(stream.size(), 24u);
    EXPECT_EQ(stream[0], std::byte{0xAA});
    for (const std::size_t at : {1u, 2u, 3u, 9u, 10u, 11u, 12u, 13u, 14u, 15u})
        EXPECT_EQ(stream[at], std::byte{0}) << at;
    EXPECT_EQ(writer.size(), 24u);
}

TEST(CdrWriter, Trap01_LargeBytesStayWhereTheyAreAndKeepTheAlignmentBehindThem)
{
    Buffer buffer;
    Writer writer(buffer, 16);
    const std::vector<std::byte> large(Writer::external_bytes_min + 3, std::byte{7});
    writer.write_octets(large);
    writer.write(std::uint64_t{42});
    ASSERT_EQ(writer.externals().size(), 1u);
    EXPECT_EQ(writer.externals()[0].bytes.data(), large.data());
    const auto stream = gathered(writer, 16);
    Reader reader(stream, native_little_endian);
    EXPECT_EQ(reader.read_octets().size(), large.size());
    EXPECT_EQ(reader.read<std::uint64_t>(), 42u);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.left(), 0u);
    EXPECT_EQ(writer.size(), stream.size());
}

TEST(CdrWriter, GrowsAndKeepsWhatWasWritten)
{
    Buffer buffer;
    Writer writer(buffer);
    for (std::uint32_t i = 0; i < 10'000; ++i)
        writer.write(i);
    Reader reader(writer.contiguous(), native_little_endian);
    for (std::uint32_t i = 0; i < 10'000; ++i)
        ASSERT_EQ(reader.read<std::uint32_t>(), i);
    EXPECT_TRUE(reader.ok());
}

TEST(CdrEncapsulation, AlignsFromItsOwnStart)
{
    Buffer buffer;
    Writer writer(buffer);
    writer.write(std::uint8_t{1});
    const auto outer = writer.begin_encapsulation();
    writer.write(std::uint64_t{11});
    const auto inner = writer.begin_encapsulation();
    writer.write(std::uint64_t{12});
    writer.end_encapsulation(inner);
    writer.write(std::uint64_t{13});
    writer.end_encapsulation(outer);
    writer.write(std::uint64_t{14});

    Reader reader(writer.contiguous(), native_little_endian);
    EXPECT_EQ(reader.read<std::uint8_t>(), 1);
    Reader first = reader.read_encapsulation();
    EXPECT_EQ(first.read<std::uint64_t>(), 11u);
    Reader second = first.read_encapsulation();
    EXPECT_EQ(second.read<std::uint64_t>(), 12u);
    EXPECT_EQ(second.left(), 0u);
    EXPECT_EQ(first.read<std::uint64_t>(), 13u);
    EXPECT_EQ(first.left(), 0u);
    EXPECT_EQ(reader.read<std::uint64_t>(), 14u);
    EXPECT_TRUE(reader.ok() && first.ok() && second.ok());
}

TEST(CdrReader, ReadsTheOtherByteOrder)
{
    const auto big = bytes_of({0x12, 0x34, 0, 0, 0x01, 0x02, 0x03, 0x04});
    Reader reader(big, /*little_endian=*/false);
    EXPECT_EQ(reader.read<std::uint16_t>(), 0x1234);
    EXPECT_EQ(reader.read<std::uint32_t>(), 0x01020304u);
    EXPECT_TRUE(reader.ok());
}

TEST(CdrReader, FailureSticksAndReadsZero)
{
    const auto bytes = bytes_of({1, 0, 0});
    Reader reader(bytes, true);
    EXPECT_EQ(reader.read<std::uint32_t>(), 0u);
    EXPECT_EQ(reader.fault(), Fault::truncated);
    EXPECT_EQ(reader.read<std::uint8_t>(), 0u); // though one byte was there
    EXPECT_EQ(reader.left(), 0u);
}

TEST(CdrReader, BelievesNoLengthBeyondTheBytesLeft)
{
    const auto bytes = bytes_of({0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4});
    Reader reader(bytes, true);
    EXPECT_EQ(reader.read_length(1), 0u);
    EXPECT_EQ(reader.fault(), Fault::length_beyond_end);
    Reader octets(bytes, true);
    EXPECT_TRUE(octets.read_octets().empty());
    EXPECT_FALSE(octets.ok());
}

TEST(CdrReader, RefusesStringsWithoutTerminator)
{
    const auto unterminated = bytes_of({2, 0, 0, 0, 'a', 'b'});
    Reader reader(unterminated, true);
    EXPECT_EQ(reader.read_string(), "");
    EXPECT_EQ(reader.fault(), Fault::string_not_terminated);
    const auto empty = bytes_of({0, 0, 0, 0});
    Reader zero(empty, true);
    EXPECT_EQ(zero.read_string(), "");
    EXPECT_EQ(zero.fault(), Fault::string_not_terminated);
}

TEST(CdrReader, RefusesBooleansOtherThanZeroAndOne)
{
    const auto bytes = bytes_of({0, 1, 2});
    Reader reader(bytes, true);
    EXPECT_FALSE(reader.read<bool>());
    EXPECT_TRUE(reader.read<bool>());
    EXPECT_FALSE(reader.read<bool>());
    EXPECT_EQ(reader.fault(), Fault::invalid_value);
}

TEST(CdrReader, RefusesEmptyEncapsulations)
{
    const auto bytes = bytes_of({0, 0, 0, 0});
    Reader reader(bytes, true);
    EXPECT_FALSE(reader.read_encapsulation().ok());
}

/// Writes and reads back random sequences of values: the round trip is exact, whatever the order.
TEST(CdrRoundTrip, AnyMixOfPrimitivesAndStrings)
{
    std::mt19937 random(20261121);
    for (int round = 0; round < 200; ++round) {
        Buffer buffer;
        Writer writer(buffer);
        std::vector<int> kinds;
        std::vector<std::uint64_t> values;
        for (int i = 0; i < 50; ++i) {
            const int kind = static_cast<int>(random() % 5);
            const std::uint64_t value = (std::uint64_t{random()} << 32) | random();
            kinds.push_back(kind);
            values.push_back(value);
            switch (kind) {
            case 0:
                writer.write(static_cast<std::uint8_t>(value));
                break;
            case 1:
                writer.write(static_cast<std::uint16_t>(value));
                break;
            case 2:
                writer.write(static_cast<std::uint32_t>(value));
                break;
            case 3:
                writer.write(value);
                break;
            default:
                writer.write_string(std::to_string(value));
                break;
            }
        }
        Reader reader(writer.contiguous(), native_little_endian);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            switch (kinds[i]) {
            case 0:
                ASSERT_EQ(reader.read<std::uint8_t>(), static_cast<std::uint8_t>(values[i]));
                break;
            case 1:
                ASSERT_EQ(reader.read<std::uint16_t>(), static_cast<std::uint16_t>(values[i]));
                break;
            case 2:
                ASSERT_EQ(reader.read<std::uint32_t>(), static_cast<std::uint32_t>(values[i]));
                break;
            case 3:
                ASSERT_EQ(reader.read<std::uint64_t>(), values[i]);
                break;
            default:
                ASSERT_EQ(reader.read_string(), std::to_string(values[i]));
                break;
            }
        }
        EXPECT_TRUE(reader.ok());
        EXPECT_EQ(reader.left(), 0u);
    }
}

// What GIOP 1.1 makes of a message in Fragments: each part counts its alignment from 4 modulo 8.
TEST(Reader, PartsAreAlignedForThemselves)
{
    // One long at 0 and padding up to 8; a part with an octet, a double, "ab" up to its end; a part
    // with the rest of "abc", padding and a long.
    Buffer buffer;
    Writer first(buffer);
    first.write(std::uint32_t{1});
    std::vector<std::byte> bytes(first.contiguous().begin(), first.contiguous().end());
    const auto append = [&](const Writer& writer, std::size_t from) {
        const Bytes part = writer.contiguous().subspan(from);
        bytes.insert(bytes.end(), part.begin(), part.end());
    };
    bytes.resize(8);
    Buffer second_buffer;
    Writer second(second_buffer);
    second.write(std::uint32_t{0}); // in the place of the header
    second.write(std::uint8_t{5});
    second.write(2.5);
    second.write(std::uint32_t{4});
    second.write(std::uint16_t{0x6261});
    append(second, 4);
    const auto third_begin = static_cast<std::uint32_t>(bytes.size());
    for (const int octet : {int{'c'}, 0, 0, 0, 7, 0, 0, 0}) // at 4, 5, two of padding, 8
        bytes.push_back(static_cast<std::byte>(octet));
    const std::uint32_t begins[] = {8, third_begin};

    Reader reader(bytes, true, 0, begins);
    EXPECT_FALSE(reader.is_native());
    EXPECT_EQ(reader.left(), bytes.size());
    EXPECT_EQ(reader.read<std::uint32_t>(), 1u);
    reader.align(8);
    EXPECT_EQ(reader.read<std::uint8_t>(), 5u);
    EXPECT_EQ(reader.read<double>(), 2.5);
    EXPECT_EQ(reader.read_string(), "abc");
    EXPECT_EQ(reader.read<std::uint32_t>(), 7u);
    EXPECT_EQ(reader.left(), 0u);
    EXPECT_TRUE(reader.ok());
    (void)reader.read<std::uint8_t>();
    EXPECT_EQ(reader.fault(), Fault::truncated);

    // Nothing beyond the last part, however it is asked for.
    Reader again(bytes, true, 0, begins);
    EXPECT_EQ(again.block(bytes.size() + 1, 1), nullptr);
    EXPECT_EQ(again.left(), 0u);
    Reader whole(bytes, true, 0, begins);
    EXPECT_EQ(whole.block(bytes.size(), 1), bytes.data());
    EXPECT_EQ(whole.left(), 0u);
    EXPECT_TRUE(whole.ok());
}

// A value that had no room is aligned in the next part; a run of values is not.
TEST(Reader, WhatIsFirstInAPart)
{
    const double number = 2.5;
    const auto* octets = reinterpret_cast<const std::byte*>(&number);
    for (const std::ptrdiff_t padding : {0, 4}) {
        std::vector<std::byte> bytes(8);
        bytes.insert(bytes.end(), static_cast<std::size_t>(padding), std::byte{0xEE});
        bytes.insert(bytes.end(), octets, octets + 8);
        const std::uint32_t begins[] = {8};
        Reader reader(bytes, native_little_endian, 0, begins);
        EXPECT_EQ(reader.read<std::uint32_t>(), 0u);
        if (padding != 0) {
            EXPECT_EQ(reader.read<double>(), number);
        } else {
            EXPECT_EQ(reader.block(8, 8), bytes.data() + 8);
        }
        EXPECT_EQ(reader.left(), 0u);
        EXPECT_TRUE(reader.ok());
    }
}

} // namespace
} // namespace kairos::cdr
