// SPDX-License-Identifier: Apache-2.0
//
// Values to CDR and back. A small encoder of this file's own, number by number and in either byte
// order, says what every type of fixed length must look like from every start.
#include "kairos/mapping/marshal.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace {

enum Color : CORBA::ULong { red, green, blue };
/// The benchmark's struct: padding in the middle, in step with CDR behind its first element.
struct BinStruct {
    CORBA::Short s;
    CORBA::Char c;
    CORBA::Long l;
    CORBA::Octet o;
    CORBA::Double d;
};
/// CDR has no padding behind the last member.
struct Tail {
    CORBA::Double d;
    CORBA::Char c;
};
/// Never in step: the second element follows at once in CDR.
struct Drifting {
    CORBA::Char a;
    CORBA::Double d;
    CORBA::Char b;
};
struct Checked {
    CORBA::Boolean b;
    Color color;
};
struct Nested {
    CORBA::Short first;
    Checked checked[2];
    Tail tail;
    CORBA::UShort grid[2][3];
};
struct Dense {
    CORBA::Long x, y, z;
};
struct Quads {
    CORBA::Octet o;
    CORBA::LongDouble quad;
};

} // namespace

namespace kairos::mapping {

#define KAIROS_FIELD(type, member) Field<&type::member, offsetof(type, member)>
template <>
struct Marshal<Color> : EnumMarshal<Color, 3> {};
template <>
struct Marshal<BinStruct> : FixedStruct<BinStruct, KAIROS_FIELD(BinStruct, s),
                                        KAIROS_FIELD(BinStruct, c), KAIROS_FIELD(BinStruct, l),
                                        KAIROS_FIELD(BinStruct, o), KAIROS_FIELD(BinStruct, d)> {};
template <>
struct Marshal<Tail> : FixedStruct<Tail, KAIROS_FIELD(Tail, d), KAIROS_FIELD(Tail, c)> {};
template <>
struct Marshal<Drifting> : FixedStruct<Drifting, KAIROS_FIELD(Drifting, a),
                                       KAIROS_FIELD(Drifting, d), KAIROS_FIELD(Drifting, b)> {};
template <>
struct Marshal<Checked>
    : FixedStruct<Checked, KAIROS_FIELD(Checked, b), KAIROS_FIELD(Checked, color)> {};
template <>
struct Marshal<Nested>
    : FixedStruct<Nested, KAIROS_FIELD(Nested, first), KAIROS_FIELD(Nested, checked),
                  KAIROS_FIELD(Nested, tail), KAIROS_FIELD(Nested, grid)> {};
template <>
struct Marshal<Dense>
    : FixedStruct<Dense, KAIROS_FIELD(Dense, x), KAIROS_FIELD(Dense, y), KAIROS_FIELD(Dense, z)> {};
template <>
struct Marshal<Quads> : FixedStruct<Quads, KAIROS_FIELD(Quads, o), KAIROS_FIELD(Quads, quad)> {};
#undef KAIROS_FIELD

namespace {

static_assert(FixedElements<BinStruct>::is_bulk && FixedElements<BinStruct>::has_padding);
static_assert(FixedElements<Tail>::is_bulk && FixedElements<Tail>::last_size == 9);
static_assert(!FixedElements<Drifting>::is_bulk);
static_assert(FixedElements<Dense>::is_bulk && !FixedElements<Dense>::has_padding);
static_assert(FixedElements<Checked>::is_bulk);
static_assert(!Marshal<Nested>::is_host_layout); // Tail's end is not padded in CDR
static_assert(end_of_elements<Marshal<Drifting>>(0, 1000) == 17 + 999 * 16);

/// CDR, written the plain way.
class Plain {
  public:
    explicit Plain(std::size_t start, bool swap) : bytes_(start), swap_(swap) {}

    template <typename T>
        requires std::is_arithmetic_v<T>
    void put(T value)
    {
        bytes_.resize(align_up(bytes_.size(), sizeof(T)));
        if (swap_) value = byteswap(value);
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
    }
    void put(Color value) { put(static_cast<CORBA::ULong>(value)); }
    void put(const BinStruct& value)
    {
        put(value.s), put(value.c), put(value.l), put(value.o), put(value.d);
    }
    void put(const Tail& value) { put(value.d), put(value.c); }
    void put(const Drifting& value) { put(value.a), put(value.d), put(value.b); }
    void put(const Checked& value) { put(value.b), put(value.color); }
    void put(const Dense& value) { put(value.x), put(value.y), put(value.z); }
    void put(const Nested& value)
    {
        put(value.first);
        for (const Checked& checked : value.checked)
            put(checked);
        put(value.tail);
        for (const auto& row : value.grid)
            for (const CORBA::UShort number : row)
                put(number);
    }
    [[nodiscard]] Bytes bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
    bool swap_;
};

std::mt19937& engine()
{
    static std::mt19937 generator(20'261'121);
    return generator;
}

template <typename T>
    requires std::is_arithmetic_v<T>
void randomise(T& value)
{
    value = static_cast<T>(engine()() % (std::is_same_v<T, bool> ? 2 : 1'000'000));
}
void randomise(Color& value) { value = static_cast<Color>(engine()() % 3); }
void randomise(BinStruct& value)
{
    randomise(value.s), randomise(value.c), randomise(value.l), randomise(value.o),
        randomise(value.d);
}
void randomise(Tail& value) { randomise(value.d), randomise(value.c); }
void randomise(Drifting& value) { randomise(value.a), randomise(value.d), randomise(value.b); }
void randomise(Checked& value) { randomise(value.b), randomise(value.color); }
void randomise(Dense& value) { randomise(value.x), randomise(value.y), randomise(value.z); }
void randomise(Nested& value)
{
    randomise(value.first);
    for (Checked& checked : value.checked)
        randomise(checked);
    randomise(value.tail);
    for (auto& row : value.grid)
        for (CORBA::UShort& number : row)
            randomise(number);
}

/// Elements whose padding holds what must never be sent.
template <typename T>
UnboundedSequence<T> random_elements(CORBA::ULong count)
{
    UnboundedSequence<T> elements;
    elements.length(count);
    if (count == 0) return elements;
    std::memset(static_cast<void*>(elements.get_buffer()), 0xAA, count * sizeof(T));
    for (T& element : elements)
        randomise(element);
    return elements;
}

template <typename T>
std::vector<std::byte> plain(const UnboundedSequence<T>& elements, std::size_t start, bool swap)
{
    Plain out(start, swap);
    out.put(elements.length());
    for (const T& element : elements)
        out.put(element);
    return {out.bytes().begin(), out.bytes().end()};
}

/// A message in memory that is aligned as receive buffers are.
class Message {
  public:
    explicit Message(Bytes bytes) : size_(bytes.size()), buffer_(std::max<std::size_t>(size_, 1))
    {
        std::ranges::copy(bytes, buffer_.data());
    }
    [[nodiscard]] cdr::Reader reader(std::size_t start, bool swap = false) const
    {
        return cdr::Reader({buffer_.data(), size_}, swap != native_little_endian, start);
    }
    [[nodiscard]] bool contains(const void* pointer) const
    {
        const auto* at = static_cast<const std::byte*>(pointer);
        return at >= buffer_.data() && at < buffer_.data() + size_;
    }

  private:
    std::size_t size_;
    cdr::Buffer buffer_;
};

template <typename T>
class FixedTypes : public testing::Test {};
using Types = testing::Types<CORBA::Boolean, CORBA::Octet, CORBA::Short, CORBA::Long,
                             CORBA::LongLong, CORBA::Float, CORBA::Double, Color, BinStruct, Tail,
                             Drifting, Checked, Nested, Dense>;
TYPED_TEST_SUITE(FixedTypes, Types);

TYPED_TEST(FixedTypes, EncodeAsPlainCdrFromEveryStart)
{
    for (std::size_t start = 0; start < 8; ++start) {
        for (CORBA::ULong count : {0u, 1u, 2u, 3u, 7u, 50u}) {
            const auto elements = random_elements<TypeParam>(count);
            cdr::Buffer buffer;
            cdr::Writer out(buffer);
            for (std::size_t i = 0; i < start; ++i)
                out.write(std::uint8_t{0});
            encode(out, elements);
            const auto expected = plain(elements, start, false);
            const Bytes actual = out.contiguous();
            ASSERT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin(), expected.end()))
                << "start " << start << ", count " << count;
        }
    }
}

TYPED_TEST(FixedTypes, DecodeFromEveryStartAndByteOrder)
{
    for (std::size_t start = 0; start < 8; ++start) {
        for (CORBA::ULong count : {0u, 1u, 2u, 3u, 7u, 50u}) {
            for (const bool swap : {false, true}) {
                const auto elements = random_elements<TypeParam>(count);
                const Message message(plain(elements, start, swap));
                cdr::Reader owning = message.reader(start, swap);
                UnboundedSequence<TypeParam> decoded;
                decode(owning, decoded);
                ASSERT_TRUE(owning.ok());
                EXPECT_EQ(owning.left(), 0u);
                EXPECT_TRUE(decoded.release());
                EXPECT_EQ(plain(decoded, start, swap), plain(elements, start, swap));

                // Views may rewrite the message, so this is last.
                cdr::Reader viewing = message.reader(start, swap);
                UnboundedSequence<TypeParam> view;
                Arena arena;
                decode(viewing, view, &arena);
                ASSERT_TRUE(viewing.ok());
                EXPECT_EQ(viewing.left(), 0u);
                EXPECT_EQ(plain(view, start, swap), plain(elements, start, swap))
                    << "start " << start << ", count " << count << ", swapped " << swap;
            }
        }
    }
}

TYPED_TEST(FixedTypes, RefuseEveryTruncation)
{
    const auto elements = random_elements<TypeParam>(3);
    const auto bytes = plain(elements, 0, false);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Message message(Bytes(bytes).first(size));
        cdr::Reader owning = message.reader(0);
        UnboundedSequence<TypeParam> decoded;
        decode(owning, decoded);
        EXPECT_FALSE(owning.ok()) << size;
        cdr::Reader viewing = message.reader(0);
        Arena arena;
        UnboundedSequence<TypeParam> view;
        decode(viewing, view, &arena);
        EXPECT_FALSE(viewing.ok()) << size;
    }
}

TYPED_TEST(FixedTypes, SingleValuesAndArraysRoundTrip)
{
    using Grid = TypeParam[2][3];
    Grid grid;
    TypeParam single;
    randomise(single);
    for (auto& row : grid)
        for (TypeParam& element : row)
            randomise(element);
    for (std::size_t start = 0; start < 8; ++start) {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        Plain expected(start, false);
        for (std::size_t i = 0; i < start; ++i)
            out.write(std::uint8_t{0});
        encode(out, single);
        encode(out, grid);
        expected.put(single);
        for (auto& row : grid)
            for (TypeParam& element : row)
                expected.put(element);
        EXPECT_TRUE(std::ranges::equal(out.contiguous(), expected.bytes()));
        EXPECT_EQ(Marshal<Grid>::end(Marshal<TypeParam>::end(start)), out.size());

        const Message message(out.contiguous());
        cdr::Reader in = message.reader(start);
        Grid decoded;
        TypeParam decoded_single{};
        decode(in, decoded_single);
        decode(in, decoded);
        ASSERT_TRUE(in.ok());
        Plain again(start, false);
        again.put(decoded_single);
        for (auto& row : decoded)
            for (TypeParam& element : row)
                again.put(element);
        EXPECT_TRUE(std::ranges::equal(again.bytes(), expected.bytes()));
    }
}

TEST(View, OfBinStructsBehindALengthIsInTheMessage)
{
    const auto elements = random_elements<BinStruct>(100);
    const Message message(plain(elements, 0, false)); // elements at 4 mod 8: the usual case
    cdr::Reader in = message.reader(0);
    Arena arena;
    UnboundedSequence<BinStruct> view;
    decode(in, view, &arena);
    ASSERT_TRUE(in.ok());
    EXPECT_TRUE(message.contains(view.data()));
    EXPECT_FALSE(view.release());
}

TEST(View, OfTrailingPaddingBeyondTheMessageIsCopied)
{
    const auto elements = random_elements<Tail>(2);
    const Message message(plain(elements, 0, false));
    cdr::Reader in = message.reader(0);
    Arena arena;
    UnboundedSequence<Tail> view;
    decode(in, view, &arena);
    ASSERT_TRUE(in.ok());
    EXPECT_FALSE(message.contains(view.data()));
}

TEST(View, DoesNotTouchTheArgumentBehindIt)
{
    static constexpr CORBA::Octet following[] = {1, 2, 3, 4, 5, 6, 7, 8};
    Plain plain(0, false);
    plain.put(CORBA::ULong{1});
    plain.put(Tail{1.5, 'x'});
    for (const CORBA::Octet octet : following)
        plain.put(octet);
    const Message message(plain.bytes());
    cdr::Reader in = message.reader(0);
    Arena arena;
    UnboundedSequence<Tail> view;
    decode(in, view, &arena);
    EXPECT_EQ(view[0].c, 'x');
    for (const CORBA::Octet octet : following)
        EXPECT_EQ(in.read<CORBA::Octet>(), octet);
}

TEST(Decode, RefusesBooleansAndEnumeratorsOutsideTheirType)
{
    for (const bool swap : {false, true}) {
        Plain bad_boolean(0, swap);
        bad_boolean.put(CORBA::ULong{2});
        bad_boolean.put(CORBA::Octet{1});
        bad_boolean.put(CORBA::Octet{2});
        Plain bad_color(0, swap);
        bad_color.put(CORBA::ULong{2});
        bad_color.put(CORBA::ULong{2});
        bad_color.put(CORBA::ULong{3});
        const auto refused = [&](const Plain& bytes, auto sequence) {
            const Message message(bytes.bytes());
            cdr::Reader owning = message.reader(0, swap);
            decode(owning, sequence);
            EXPECT_EQ(owning.fault(), cdr::Fault::invalid_value);
            cdr::Reader viewing = message.reader(0, swap);
            Arena arena;
            decltype(sequence) view;
            decode(viewing, view, &arena);
            EXPECT_EQ(viewing.fault(), cdr::Fault::invalid_value);
        };
        refused(bad_boolean, UnboundedSequence<CORBA::Boolean>());
        refused(bad_color, UnboundedSequence<Color>());
    }
}

TEST(Decode, AllocatesNothingFromAnUnprovenLength)
{
    Plain plain(0, false);
    plain.put(CORBA::ULong{0xFFFF'FFF0});
    plain.put(CORBA::ULong{1});
    const Message message(plain.bytes());
    const auto refused = [&](auto sequence) {
        cdr::Reader owning = message.reader(0);
        decode(owning, sequence);
        EXPECT_EQ(owning.fault(), cdr::Fault::length_beyond_end);
        EXPECT_EQ(sequence.length(), 0u);
        cdr::Reader viewing = message.reader(0);
        Arena arena;
        decode(viewing, sequence, &arena);
        EXPECT_EQ(viewing.fault(), cdr::Fault::length_beyond_end);
        EXPECT_EQ(sequence.length(), 0u);
    };
    refused(UnboundedSequence<CORBA::Octet>());
    refused(UnboundedSequence<BinStruct>());
    refused(UnboundedStringSequence<>());
    refused(UnboundedSequence<UnboundedSequence<CORBA::Double>>());
}

TEST(Bounds, AreKeptOnBothSides)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    encode(out, UnboundedSequence<CORBA::Long>{1, 2, 3});
    const Message message(out.contiguous());
    cdr::Reader in = message.reader(0);
    BoundedSequence<CORBA::Long, 2> two;
    decode(in, two);
    EXPECT_EQ(in.fault(), cdr::Fault::bound_exceeded);

    BoundedStringMember<3> text;
    text = "long";
    EXPECT_THROW(encode(out, text), CORBA::BAD_PARAM);
    EXPECT_THROW(encode_string(out, "four", 3), CORBA::BAD_PARAM);
    out.reset(0);
    encode_string(out, "four");
    const Message string_message(out.contiguous());
    cdr::Reader string_in = string_message.reader(0);
    decode(string_in, text);
    EXPECT_EQ(string_in.fault(), cdr::Fault::bound_exceeded);
}

TEST(Strings, RoundTripInSequences)
{
    UnboundedStringSequence<> texts{"", "a", "four", "longer than a word"};
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    encode(out, texts);
    const Message message(out.contiguous());
    cdr::Reader owning = message.reader(0);
    UnboundedStringSequence<> decoded;
    decode(owning, decoded);
    ASSERT_TRUE(owning.ok());
    EXPECT_TRUE(decoded.release());
    cdr::Reader viewing = message.reader(0);
    UnboundedStringSequence<> view;
    Arena arena;
    decode(viewing, view, &arena);
    ASSERT_TRUE(viewing.ok());
    ASSERT_EQ(view.length(), 4u);
    for (CORBA::ULong i = 0; i < 4; ++i) {
        EXPECT_STREQ(decoded[i], texts[i]);
        EXPECT_STREQ(view[i], texts[i]);
        EXPECT_TRUE(message.contains(view[i]));
        EXPECT_FALSE(message.contains(decoded[i]));
    }
}

TEST(Strings, NullIsRefused)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    EXPECT_THROW(encode_string(out, static_cast<const char*>(nullptr)), CORBA::BAD_PARAM);
    StringMember member(nullptr);
    EXPECT_THROW(encode(out, member), CORBA::BAD_PARAM);
    UnboundedStringSequence<> texts;
    texts.length(1);
    texts[0] = static_cast<char*>(nullptr);
    EXPECT_THROW(encode(out, texts), CORBA::BAD_PARAM);
    EXPECT_THROW(encode_result(out, static_cast<UnboundedStringSequence<>*>(nullptr)),
                 CORBA::BAD_PARAM);
}

TEST(Strings, LongOnesTravelFromWhereTheyAre)
{
    const std::string text(cdr::Writer::external_bytes_min, 'x');
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    encode_string(out, text.c_str());
    ASSERT_EQ(out.externals().size(), 1u);
    EXPECT_EQ(out.externals()[0].bytes.data(), reinterpret_cast<const std::byte*>(text.data()));
    EXPECT_EQ(out.size(), 4 + text.size() + 1);
}

TEST(LongDouble, IsAQuadOnTheWire)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const Quads value{7, -1.5L};
    encode(out, value);
    ASSERT_EQ(out.size(), 24u);
    // -1.5 as IEEE binary128: sign 1, exponent 0x3fff, mantissa 0.5.
    std::array<std::uint8_t, 16> expected{};
    expected[15] = 0xBF, expected[14] = 0xFF, expected[13] = 0x80;
    if (!native_little_endian) std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(std::memcmp(out.contiguous().data() + 8, expected.data(), 16), 0);
    const Message message(out.contiguous());
    cdr::Reader in = message.reader(0);
    Quads decoded{};
    decode(in, decoded);
    EXPECT_EQ(decoded.quad, -1.5L);

    std::reverse(expected.begin(), expected.end());
    const Message swapped(std::as_bytes(std::span(expected)));
    cdr::Reader swapped_in = swapped.reader(0, true);
    CORBA::LongDouble quad = 0;
    decode(swapped_in, quad);
    EXPECT_EQ(quad, -1.5L);
}

TEST(Nesting, IsBounded)
{
    cdr::Reader in;
    const auto descend = [&](auto& self, std::size_t depth) -> void {
        const NestingGuard guard(in);
        if (depth > 1) self(self, depth - 1);
    };
    descend(descend, limits::nesting_max);
    EXPECT_TRUE(in.ok());
    descend(descend, limits::nesting_max + 1);
    EXPECT_EQ(in.fault(), cdr::Fault::nesting_too_deep);
}

} // namespace
} // namespace kairos::mapping
