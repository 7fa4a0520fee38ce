// SPDX-License-Identifier: Apache-2.0
//
// A01: what decoding n octets takes. Whatever lengths a message states, no more than 4 n + 64 KiB
// beyond the values that it really holds. Built once for each engine.
#include "hostile.h"

#include "kairos/base/arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> in_use = 0; // of this process, whoever allocates
std::atomic<std::size_t> most = 0;

void* counted(std::size_t size)
{
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    const std::size_t now = in_use += malloc_usable_size(memory);
    if (now > most) most = now; // one thread allocates while a test measures
    return memory;
}
void release(void* memory) noexcept
{
    in_use -= malloc_usable_size(memory);
    std::free(memory);
}

} // namespace

// NOLINTBEGIN(misc-new-delete-overloads): the aligned forms count for nothing here
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace {

using kairos::cdr::Reader;

/// A message of octets, which are valid or not.
class Message {
  public:
    explicit Message(std::size_t size) : words_(size / 4) {}

    Message& word(std::uint32_t value)
    {
        words_[used_++] = value;
        return *this;
    }
    /// The length of as many elements of so many octets as can be in what is left.
    Message& all(std::size_t element) { return word(static_cast<std::uint32_t>(left() / element)); }
    Message& fill(std::uint32_t value)
    {
        std::fill(words_.begin() + static_cast<std::ptrdiff_t>(used_), words_.end(), value);
        return *this;
    }
    [[nodiscard]] std::size_t left() const { return 4 * (words_.size() - used_ - 1); }
    [[nodiscard]] std::size_t size() const { return 4 * words_.size(); }
    [[nodiscard]] Reader reader() const
    {
        return {std::as_bytes(std::span(words_)), kairos::native_little_endian};
    }

  private:
    std::vector<std::uint32_t> words_;
    std::size_t used_ = 0;
};

struct Outcome {
    bool accepted;
    std::size_t most; ///< octets allocated at one moment
    std::size_t held; ///< by the value, when it was there
};

template <typename T>
Outcome decode(const Message& message)
{
    const std::size_t before = in_use;
    most = before;
    T value;
    Reader in = message.reader();
    kairos::mapping::decode(in, value);
    return {in.ok(), most - before, in_use - before};
}

/// The same as a skeleton does that lends its servant what is in the message.
template <typename T>
Outcome decode_view(const Message& message)
{
    const std::size_t before = in_use;
    most = before;
    kairos::Arena arena;
    Reader in = message.reader();
    const kairos::mapping::Borrowed<T> value(in, arena);
    return {in.ok(), most - before, in_use - before};
}

std::size_t allowed(const Message& message) { return 4 * message.size() + (64 << 10); }

constexpr std::size_t sizes[] = {256, 4 << 10, 64 << 10, 1 << 20};
constexpr std::uint32_t nothing_valid = 0xFFFF'FFFF;

template <typename T>
void expect_refused(const Message& message, const char* what)
{
    const Outcome outcome = decode<T>(message);
    EXPECT_FALSE(outcome.accepted) << what;
    EXPECT_LE(outcome.most, allowed(message)) << what << " of " << message.size();
    if constexpr (kairos::mapping::Lendable<T>) {
        const Outcome view = decode_view<T>(message);
        EXPECT_FALSE(view.accepted) << what;
        EXPECT_LE(view.most, allowed(message)) << what << " as a view of " << message.size();
    }
}

/// As many elements as the octets allow, the first of which is refused.
template <typename T>
void refuse_the_first(std::size_t element, const char* what)
{
    for (const std::size_t size : sizes)
        expect_refused<T>(Message(size).all(element).fill(nothing_valid), what);
}

TEST(Memory, OfElementsThatAreNotThere)
{
    refuse_the_first<Hostile::Nodes>(4, "nodes");
    refuse_the_first<Hostile::Wides>(13, "structs of sequences");
    refuse_the_first<Hostile::WideArrays>(64, "arrays");
    refuse_the_first<Hostile::Trees>(8, "trees");
    refuse_the_first<Hostile::Anys>(4, "anys");
    refuse_the_first<Hostile::LabelledAnys>(5, "structs with an any");
    refuse_the_first<Hostile::Texts>(5, "strings");
    refuse_the_first<Hostile::WideTexts>(4, "wide strings");
    refuse_the_first<Hostile::Objects>(8, "references");
    refuse_the_first<Hostile::BlocksOfBlocks>(4, "sequences of sequences of octets");
}

/// A union that is refused only behind a discriminator that is right.
TEST(Memory, OfUnionsThatAreNotThere)
{
    for (const std::size_t size : sizes)
        expect_refused<Hostile::Choices>(Message(size).all(1).fill(0x0101'0201), "unions");
}

/// Every level believes what the one around it believed.
TEST(Memory, NoOctetIsBelievedTwice)
{
    for (const std::size_t size : sizes) {
        for (unsigned levels = 1; levels < 60 && 8 * levels < size; ++levels) {
            Message nodes(size);
            Message trees(size);
            for (unsigned level = 0; level < levels; ++level) {
                nodes.all(4);
                trees.all(8).word(0);
            }
            // The first level's are there; no other one's are.
            if (levels > 1) expect_refused<Hostile::Nodes>(nodes.fill(0), "nodes");
            // All within the first element is there, what it left to the others is not.
            expect_refused<Hostile::Trees>(trees.fill(nothing_valid), "trees");
        }
    }
}

/// One element in each level, and in the last one what is not there.
TEST(Memory, DeepWithin)
{
    for (const std::size_t size : sizes) {
        for (unsigned levels = 1; levels < 60 && 16 * levels < size; ++levels) {
            Message nodes(size);
            Message trees(size);
            for (unsigned level = 0; level < levels; ++level) {
                nodes.word(1);
                trees.word(1).word(0);
            }
            expect_refused<Hostile::Nodes>(nodes.all(4).fill(nothing_valid), "nodes");
            expect_refused<Hostile::Trees>(trees.word(1).all(13).fill(nothing_valid), "trees");
        }
    }
}

/// What is there is all decoded, as it was without a limit, and costs nothing beside itself.
template <typename T>
void accept_empty(std::size_t element, std::size_t size, const char* what)
{
    const Message message = Message(size).all(element).fill(0);
    const Outcome outcome = decode<T>(message);
    EXPECT_TRUE(outcome.accepted) << what;
    EXPECT_LE(outcome.most, outcome.held + allowed(message)) << what << " of " << size;
    if constexpr (kairos::mapping::Lendable<T>) {
        EXPECT_TRUE(decode_view<T>(message).accepted) << what;
    }
}

TEST(Memory, OfElementsThatAreThere)
{
    for (const std::size_t size : {256, 4 << 10, 64 << 10}) {
        accept_empty<Hostile::Nodes>(4, static_cast<std::size_t>(size), "nodes");
        accept_empty<Hostile::Wides>(16, static_cast<std::size_t>(size), "structs of sequences");
        accept_empty<Hostile::WideArrays>(64, static_cast<std::size_t>(size), "arrays");
        accept_empty<Hostile::Trees>(8, static_cast<std::size_t>(size), "trees");
        accept_empty<Hostile::Choices>(1, static_cast<std::size_t>(size), "unions");
        accept_empty<Hostile::Anys>(4, static_cast<std::size_t>(size), "anys");
        accept_empty<Hostile::LabelledAnys>(8, static_cast<std::size_t>(size), "structs with any");
        accept_empty<Hostile::WideTexts>(4, static_cast<std::size_t>(size), "wide strings");
        accept_empty<Hostile::BlocksOfBlocks>(4, static_cast<std::size_t>(size), "blocks");
    }
}

/// 60 levels, of which each holds all that follows: read twice, and not once more a level.
TEST(Memory, WhatIsProvenIsNotProvenAgain)
{
    const std::size_t size = 1 << 20;
    Message trees(size);
    for (unsigned level = 0; level < 60; ++level)
        trees.word(1).word(0);
    trees.word(static_cast<std::uint32_t>(trees.left() / 8)).fill(0);
    Hostile::Trees value;
    Reader in = trees.reader();
    kairos::mapping::decode(in, value);
    EXPECT_TRUE(in.ok()) << static_cast<int>(in.fault());
    EXPECT_LT(in.left(), 8U);
}

} // namespace
