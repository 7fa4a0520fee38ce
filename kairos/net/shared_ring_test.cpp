// SPDX-License-Identifier: Apache-2.0
//
// The ring alone: what goes in comes out, round and round, whatever the other end writes into the
// memory meanwhile.
#include "kairos/net/shared_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace kairos;
using namespace kairos::net;

constexpr std::uint32_t capacity = 256;

struct Ring {
    RingControl control;
    std::array<std::byte, capacity> octets{};

    [[nodiscard]] RingWriter writer() { return {control, octets.data(), capacity}; }
    [[nodiscard]] RingReader reader() { return {control, octets.data(), capacity}; }
};

std::size_t write(RingWriter& writer, Bytes data, RingWait* woken = nullptr)
{
    const iovec segment{const_cast<std::byte*>(data.data()), data.size()};
    RingWait reader{};
    const std::size_t size = writer.write(std::span(&segment, 1), reader);
    if (woken != nullptr) *woken = reader;
    return size;
}

std::size_t read(RingReader& reader, MutableBytes buffer, RingWait* woken = nullptr)
{
    RingWait writer{};
    const std::size_t size = reader.read(buffer, writer);
    if (woken != nullptr) *woken = writer;
    return size;
}

std::vector<std::byte> octets_from(std::mt19937& random, std::size_t size)
{
    std::vector<std::byte> octets(size);
    for (std::byte& octet : octets)
        octet = std::byte(random());
    return octets;
}

TEST(SharedRing, WhatGoesInComesOutRoundAndRound)
{
    std::mt19937 random(1);
    Ring ring;
    RingWriter writer = ring.writer();
    RingReader reader = ring.reader();
    std::vector<std::byte> in;
    std::vector<std::byte> out;
    while (in.size() < 20 * capacity) {
        const auto data = octets_from(random, random() % (capacity + 50));
        const std::size_t written = write(writer, data);
        in.insert(in.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(written));
        std::vector<std::byte> buffer(random() % (capacity + 50));
        const std::size_t size = read(reader, buffer);
        out.insert(out.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_EQ(in.size() - out.size(), reader.available());
        EXPECT_EQ(in.size() - out.size(), capacity - writer.room());
    }
    EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin()));
}

TEST(SharedRing, SegmentsAreGathered)
{
    Ring ring;
    RingWriter writer = ring.writer();
    RingReader reader = ring.reader();
    std::vector<std::byte> large(capacity, std::byte{7});
    std::array<std::byte, 2> small{std::byte{1}, std::byte{2}};
    const std::array segments{iovec{small.data(), small.size()}, iovec{nullptr, 0},
                              iovec{large.data(), large.size()}};
    RingWait wish{};
    EXPECT_EQ(writer.write(segments, wish), capacity);
    EXPECT_EQ(writer.room(), 0u);
    EXPECT_EQ(writer.write(segments, wish), 0u);
    std::array<std::byte, capacity> came{};
    EXPECT_EQ(read(reader, came), capacity);
    EXPECT_EQ(came[0], std::byte{1});
    EXPECT_EQ(came[1], std::byte{2});
    EXPECT_EQ(came[2], std::byte{7});
    EXPECT_EQ(came[capacity - 1], std::byte{7});
}

TEST(SharedRing, APeekLeavesItThere)
{
    Ring ring;
    RingWriter writer = ring.writer();
    RingReader reader = ring.reader();
    EXPECT_EQ(write(writer, as_bytes("ab")), 2u);
    std::array<std::byte, 4> buffer{};
    RingWait wish{};
    EXPECT_EQ(reader.read(buffer, wish, true), 2u);
    EXPECT_EQ(reader.available(), 2u);
    EXPECT_EQ(read(reader, buffer), 2u);
    EXPECT_EQ(reader.available(), 0u);
}

TEST(SharedRing, WhoWaitsIsWokenOnce)
{
    Ring ring;
    RingWriter writer = ring.writer();
    RingReader reader = ring.reader();
    RingWait woken{};
    ring.control.reader_waits.word = static_cast<std::uint32_t>(RingWait::sleeps);
    write(writer, as_bytes("a"), &woken);
    EXPECT_EQ(woken, RingWait::sleeps);
    write(writer, as_bytes("a"), &woken);
    EXPECT_EQ(woken, RingWait::no);
    ring.control.reader_waits.word = static_cast<std::uint32_t>(RingWait::polls);
    write(writer, as_bytes("a"), &woken);
    EXPECT_EQ(woken, RingWait::polls);
    ring.control.reader_waits.word = 0xDEADBEEF; // of whom it is not known what he means
    write(writer, as_bytes("a"), &woken);
    EXPECT_EQ(woken, RingWait::sleeps);
    std::array<std::byte, 4> buffer{};
    ring.control.writer_waits.word = static_cast<std::uint32_t>(RingWait::sleeps);
    EXPECT_EQ(read(reader, buffer, &woken), 4u);
    EXPECT_EQ(woken, RingWait::sleeps);
}

TEST(SharedRing, PositionsGoRoundTheWord)
{
    constexpr std::uint32_t begin = 0U - 3 * capacity;
    Ring ring;
    ring.control.head.word = begin;
    ring.control.tail.word = begin;
    RingWriter writer(ring.control, ring.octets.data(), capacity, begin);
    RingReader reader(ring.control, ring.octets.data(), capacity, begin);
    std::mt19937 random(2);
    std::array<std::byte, capacity> buffer{};
    for (int i = 0; i < 40; ++i) {
        const auto data = octets_from(random, 100);
        ASSERT_EQ(write(writer, data), data.size());
        ASSERT_EQ(reader.available(), data.size());
        ASSERT_EQ(read(reader, buffer), data.size());
        EXPECT_TRUE(std::equal(data.begin(), data.end(), buffer.begin()));
    }
    EXPECT_LT(ring.control.head.word.load(), begin);
    EXPECT_FALSE(writer.broken() || reader.broken());
}

TEST(SharedRing, ImpossiblePositionsBreakIt)
{
    std::array<std::byte, capacity> buffer{};
    for (const std::uint32_t head : {capacity + 1, 0x80000000U, 0xFFFFFFFFU}) {
        Ring ring;
        RingReader reader = ring.reader();
        ring.control.head.word = head;
        EXPECT_EQ(read(reader, buffer), 0u);
        EXPECT_TRUE(reader.broken());
        ring.control.head.word = 1;
        EXPECT_EQ(read(reader, buffer), 0u) << "once broken, always broken";
    }
    for (const std::uint32_t tail : {1U, 0x80000000U, 0xFFFFFFFFU - capacity}) {
        Ring ring;
        RingWriter writer = ring.writer();
        ring.control.tail.word = tail;
        EXPECT_EQ(write(writer, as_bytes("x")), 0u);
        EXPECT_TRUE(writer.broken());
        EXPECT_EQ(writer.room(), 0u);
    }
}

/// Numbers, so that one that is lost, doubled or torn is seen.
TEST(SharedRing, TwoThreads)
{
    constexpr std::uint32_t count = 200'000;
    const auto ring = std::make_unique<Ring>();
    std::thread writing([&] {
        RingWriter writer = ring->writer();
        for (std::uint32_t next = 0; next < count;) {
            const Bytes data = std::as_bytes(std::span(&next, 1));
            if (writer.room() < sizeof next) {
                std::this_thread::yield();
                continue;
            }
            ASSERT_EQ(write(writer, data), sizeof next);
            ++next;
        }
    });
    RingReader reader = ring->reader();
    for (std::uint32_t expected = 0; expected < count;) {
        if (reader.available() < sizeof expected) {
            std::this_thread::yield();
            continue;
        }
        std::uint32_t came = 0;
        ASSERT_EQ(read(reader, std::as_writable_bytes(std::span(&came, 1))), sizeof came);
        ASSERT_EQ(came, expected++);
    }
    writing.join();
}

} // namespace
