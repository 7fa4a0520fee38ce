// SPDX-License-Identifier: Apache-2.0
//
// A01: what decoding n octets takes. Whatever lengths a message states, no more than 4 n + 64 KiB
// beyond the values that it really holds. Built once for each engine.
#include "hostile_values.h"

#include "kairos/base/arena.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
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

/// In a message that may have values: its environment remembers them until they are accepted.
template <typename T>
Outcome decode_with_values(const Message& message, T& value)
{
    kairos::cdr::Environment environment;
    environment.value_factories = &hostile::registry();
    const std::size_t before = in_use;
    most = before;
    Reader in = message.reader();
    in.set_environment(&environment);
    kairos::mapping::decode(in, value);
    const std::size_t peak = most - before;
    if (in.ok()) environment.accept_values();
    return {in.ok(), peak, in_use - before};
}

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

// --- Valuetypes ----------------------------------------------------------------------------------

template <typename T>
void expect_values_refused(const Message& message, const char* what)
{
    T value;
    const Outcome outcome = decode_with_values(message, value);
    EXPECT_FALSE(outcome.accepted) << what;
    EXPECT_LE(outcome.most, allowed(message)) << what << " of " << message.size();
}

constexpr std::uint32_t no_union = 0x0101'0201; // its discriminator is right

TEST(ValueMemory, OfElementsThatAreNotThere)
{
    for (const std::size_t size : sizes) {
        const auto message = [&] { return Message(size); };
        expect_values_refused<Hostile::Holder_var>(
            message().word(hostile::value_tag).all(1).fill(no_union), "unions in a value");
        expect_values_refused<Hostile::Holder_var>(
            message().word(hostile::value_tag).word(0).all(4).fill(nothing_valid),
            "nodes in a value");
        expect_values_refused<Hostile::ChoicesBox_var>(
            message().word(hostile::value_tag).all(1).fill(no_union), "a box of unions");
        expect_values_refused<Hostile::Holders>(
            message().all(4).word(hostile::value_tag).word(0).all(4).fill(nothing_valid), "values");
        expect_values_refused<Hostile::Mixeds>(message().all(20).fill(nothing_valid),
                                               "structs with a value");
        expect_values_refused<Hostile::Perhapses>(message().all(1).fill(no_union),
                                                  "unions with a value");
        expect_values_refused<Hostile::Behind>(
            message().word(hostile::value_tag).word(0).word(0).all(1).fill(no_union),
            "unions behind a value");
        // The chunk holds all that is left.
        Message chunked(size);
        chunked.word(hostile::chunked_tag);
        chunked.word(static_cast<std::uint32_t>(chunked.left())).all(1).fill(no_union);
        expect_values_refused<Hostile::Holder_var>(chunked, "unions in a chunk");
    }
}

/// An abstract interface: a value as it says itself, by its id.
TEST(ValueMemory, OfAbstractInterfaces)
{
    for (const std::size_t size : sizes) {
        const char id[] = "IDL:Hostile/Concrete:1.0"; // 25 octets
        Message things(size);
        things.all(8).word(0).word(hostile::value_tag | 2).word(sizeof id);
        for (std::size_t i = 0; i < 28; i += 4) {
            std::uint32_t part = 0;
            std::memcpy(&part, id + i, std::min<std::size_t>(4, sizeof id - i));
            things.word(part);
        }
        expect_values_refused<Hostile::Things>(things.all(1).fill(no_union), "abstract interfaces");
    }
}

/// Each value in the sequence of the one around.
TEST(ValueMemory, NoOctetIsBelievedTwice)
{
    for (const std::size_t size : sizes) {
        for (unsigned levels = 1; levels < 60 && 32 * levels < size; ++levels) {
            Message nodes(size);
            nodes.word(hostile::value_tag).word(0);
            for (unsigned level = 0; level < levels; ++level)
                nodes.all(4);
            expect_values_refused<Hostile::Holder_var>(nodes.fill(nothing_valid), "nodes");
        }
    }
}

/// What is read twice knows what was there before, and makes nothing twice.
TEST(ValueMemory, ValuesAreSharedWithWhatIsProven)
{
    const std::uint32_t count = 4000; // more than is spent without a proof
    Message message(4 * (4 + 6 * count + 8));
    message.word(hostile::value_tag).word(0).word(0).word(count);
    std::uint32_t at = 16;
    const std::uint32_t second = at + 24;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i == 1) { // one of its own, to which those behind refer
            message.word(hostile::value_tag).word(0).word(0);
            at += 12;
        } else {
            message.word(hostile::indirection).word((i == 0 ? 0 : second) - (at + 4));
            at += 8;
        }
        message.word(0).word(0).word(0).word(0);
        at += 16;
    }
    message.fill(0);
    Hostile::Shared shared;
    const Outcome outcome = decode_with_values(message, shared);
    ASSERT_TRUE(outcome.accepted);
    ASSERT_EQ(shared.others.length(), count);
    for (std::uint32_t i = 0; i < count; ++i)
        EXPECT_EQ(shared.others[i].value.in() == shared.first.in(), i == 0) << i;
    for (std::uint32_t i = 2; i < count; ++i)
        EXPECT_EQ(shared.others[i].value.in(), shared.others[1].value.in()) << i;
    EXPECT_LE(outcome.most, outcome.held + allowed(message));
}

/// A sequence that goes through several chunks is proven through them, and read again.
TEST(ValueMemory, ChunksAreReadTwice)
{
    const std::uint32_t nodes = 12000;
    Message message(4 * (nodes + 64));
    message.word(hostile::chunked_tag).word(8).word(0).word(nodes);
    for (std::uint32_t left = nodes; left != 0; left -= 1000) {
        message.word(4000);
        for (int i = 0; i < 1000; ++i)
            message.word(0);
    }
    message.word(0xFFFF'FFFF).fill(0); // the end tag
    Hostile::Holder_var holder;
    const Outcome outcome = decode_with_values(message, holder);
    ASSERT_TRUE(outcome.accepted);
    EXPECT_EQ(holder->nodes().length(), nodes);
    EXPECT_LE(outcome.most, outcome.held + allowed(message));
}

TEST(ValueMemory, OfValuesThatAreThere)
{
    for (const std::size_t size : {256, 4 << 10, 64 << 10, 1 << 20}) {
        Message message(size);
        const auto count = static_cast<std::uint32_t>((size - 4) / 12);
        message.word(count);
        for (std::uint32_t i = 0; i < count; ++i)
            message.word(hostile::value_tag).word(0).word(0);
        message.fill(0);
        Hostile::Holders values;
        const Outcome outcome = decode_with_values(message, values);
        EXPECT_TRUE(outcome.accepted);
        EXPECT_LE(outcome.most, outcome.held + allowed(message)) << size;
    }
}

} // namespace
