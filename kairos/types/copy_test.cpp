// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/copy.h"

#include "kairos/types/typecode_factory.h"
#include "kairos/types/types_testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace testing_types;
using kairos::Bytes;
using kairos::native_little_endian;
using kairos::types::TypeCodeData;
namespace cdr = kairos::cdr;
namespace mapping = kairos::mapping;
namespace types = kairos::types;

using Octets = std::vector<std::byte>;

/// A value in CDR, at some place modulo eight of its stream.
struct Encoded {
    Octets stream; ///< `begin` bytes of zeros and the value
    std::size_t begin;
    bool little_endian;

    [[nodiscard]] cdr::Reader reader() const { return {stream, little_endian, begin}; }
    [[nodiscard]] Bytes value() const { return Bytes(stream).subspan(begin); }
};

template <typename T>
Encoded encoded(const T& value, std::size_t begin)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    std::memset(out.claim(begin, 1), 0, begin);
    mapping::encode(out, value);
    const Bytes bytes = out.contiguous();
    return {Octets(bytes.begin(), bytes.end()), begin, native_little_endian};
}

/// What a machine of the other byte order would have written: a second, simple opinion on how a
/// TypeCode describes bytes. Only for valid input.
class Swapper {
  public:
    Swapper(const Encoded& from, std::size_t begin)
        : in_(from.reader()), stream_(begin), begin_(begin)
    {
    }
    Encoded operator()(const CORBA::TypeCode& type)
    {
        walk(type);
        return {stream_, begin_, !native_little_endian};
    }

  private:
    template <typename T>
    T number()
    {
        const T value = in_.read<T>();
        put(value);
        return value;
    }
    template <typename T>
    void put(T value)
    {
        stream_.resize(kairos::align_up(stream_.size(), sizeof(T)));
        value = kairos::byteswap(value);
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        stream_.insert(stream_.end(), bytes, bytes + sizeof(T));
    }
    void walk(const CORBA::TypeCode& type)
    {
        const TypeCodeData& data = types::resolved(type)._kairos_data();
        switch (data.kind) {
        case CORBA::tk_boolean:
            return void(number<std::uint8_t>());
        case CORBA::tk_short:
            return void(number<std::uint16_t>());
        case CORBA::tk_double:
            return void(number<std::uint64_t>());
        case CORBA::tk_string: {
            const auto size = number<std::uint32_t>();
            const std::byte* text = in_.block(size, 1);
            stream_.insert(stream_.end(), text, text + size);
            return;
        }
        case CORBA::tk_sequence: {
            const auto size = number<std::uint32_t>();
            for (std::uint32_t i = 0; i < size; ++i)
                walk(*data.content);
            return;
        }
        case CORBA::tk_array:
            for (CORBA::ULong i = 0; i < data.count; ++i)
                walk(*data.content);
            return;
        case CORBA::tk_struct:
            for (CORBA::ULong i = 0; i < data.count; ++i)
                walk(*data.members[i].type);
            return;
        default:
            return void(number<std::uint32_t>());
        }
    }

    cdr::Reader in_;
    Octets stream_;
    std::size_t begin_;
};

Encoded copied(const Encoded& from, const CORBA::TypeCode& type, std::size_t begin)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    std::memset(out.claim(begin, 1), 0, begin);
    cdr::Reader in = from.reader();
    types::copy_value(in, out, type);
    EXPECT_TRUE(in.ok()) << cdr::describe(in.fault());
    EXPECT_EQ(in.left(), 0u);
    const Bytes bytes = out.contiguous();
    return {Octets(bytes.begin(), bytes.end()), begin, native_little_endian};
}

cdr::Fault fault_of(const Octets& bytes, const CORBA::TypeCode& type)
{
    cdr::Reader in(bytes, native_little_endian);
    (void)types::inspect_value(in, type);
    cdr::Reader again(bytes, native_little_endian);
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    types::copy_value(again, out, type);
    EXPECT_EQ(in.fault(), again.fault());
    return in.fault();
}

template <typename... Values>
Octets written(Values... values)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    (out.write(values), ...);
    return {out.contiguous().begin(), out.contiguous().end()};
}

TEST(Copy, GivesTheBytesOfCompiledCodeFromEveryPhaseAndOrder)
{
    std::mt19937 random(20261122);
    for (int round = 0; round < 300; ++round) {
        mapping::Unbounded<mapping::ValueStorage<Person>> people;
        people.length(static_cast<CORBA::ULong>(random() % 4));
        for (Person& person : people)
            person = random_person(random);
        const std::size_t from = random() % 8;
        const std::size_t to = random() % 8;
        const Encoded source = encoded(people, from);
        const Encoded wanted = encoded(people, to);
        EXPECT_EQ(copied(source, detail::people, to).stream, wanted.stream);
        const Encoded swapped = Swapper(source, from)(detail::people);
        EXPECT_EQ(copied(swapped, detail::people, to).stream, wanted.stream);
        cdr::Reader in = swapped.reader();
        (void)types::inspect_value(in, detail::people);
        EXPECT_TRUE(in.ok() && in.left() == 0);
    }
}

TEST(Copy, EveryTruncationIsRefusedInBothOrders)
{
    std::mt19937 random(5);
    const Encoded whole = encoded(random_person(random), 0);
    const Encoded swapped = Swapper(whole, 0)(detail::person);
    for (const Encoded* each : {&whole, &swapped})
        for (std::size_t size = 0; size < each->stream.size(); ++size) {
            const Encoded part{Octets(each->stream.begin(),
                                      each->stream.begin() + static_cast<std::ptrdiff_t>(size)),
                               0, each->little_endian};
            cdr::Reader in = part.reader();
            (void)types::inspect_value(in, detail::person);
            EXPECT_FALSE(in.ok()) << size;
        }
}

/// The fragments of GIOP 1.1 begin alignments of their own.
TEST(Copy, FollowsThePartsOfAMessage)
{
    // A sequence of two longs whose second one is in a part that starts at 4 modulo 8.
    const Octets bytes = written(CORBA::ULong{2}, CORBA::Long{10}, CORBA::UShort{0xAAAA},
                                 CORBA::UShort{0xBBBB}, CORBA::Long{20});
    Octets parts(bytes.begin(), bytes.begin() + 10); // two octets that are padding
    parts.insert(parts.end(), bytes.begin() + 12, bytes.end());
    const std::uint32_t begins[] = {10};
    cdr::Reader in(parts, native_little_endian, 0, begins);
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    types::copy_value(in, out, detail::longs);
    EXPECT_TRUE(in.ok());
    EXPECT_TRUE(std::ranges::equal(out.contiguous(),
                                   written(CORBA::ULong{2}, CORBA::Long{10}, CORBA::Long{20})));
}

TEST(Copy, ChecksValuesAsCompiledDecodingDoes)
{
    using CORBA::ULong;
    EXPECT_EQ(fault_of(written(std::uint8_t{2}), *CORBA::_tc_boolean), cdr::Fault::invalid_value);
    EXPECT_EQ(fault_of(written(ULong{3}), *_tc_Color), cdr::Fault::invalid_value);
    EXPECT_EQ(fault_of(written(ULong{0}), *CORBA::_tc_string), cdr::Fault::string_not_terminated);
    EXPECT_EQ(fault_of(written(ULong{2}, 'a', 'b'), *CORBA::_tc_string),
              cdr::Fault::string_not_terminated);
    EXPECT_EQ(fault_of(written(ULong{7}, 'a', 'b', 'c', 'd', 'e', 'f', '\0'), detail::nick),
              cdr::Fault::bound_exceeded);
    EXPECT_EQ(fault_of(written(ULong{5}, ULong{1}), detail::longs), cdr::Fault::truncated);
    EXPECT_EQ(fault_of(written(~ULong{0}, ULong{1}), detail::longs), cdr::Fault::length_beyond_end);
    EXPECT_EQ(fault_of({}, *CORBA::_tc_null), cdr::Fault::none);
}

TEST(Copy, UnionsTakeTheMemberOfTheirDiscriminator)
{
    using CORBA::Short;
    const auto good = [](const Octets& bytes) {
        cdr::Reader in(bytes, native_little_endian);
        (void)types::inspect_value(in, detail::choice);
        return in.ok() && in.left() == 0;
    };
    EXPECT_TRUE(good(written(Short{1}, CORBA::Long{5})));
    EXPECT_TRUE(good(written(Short{-2}, CORBA::Long{5})));
    EXPECT_TRUE(good(written(Short{0}, 2.5))); // the default's label is none
    EXPECT_TRUE(good(written(Short{77}, 2.5)));
    EXPECT_FALSE(good(written(Short{77}, CORBA::Long{5})));
}

TEST(Copy, TimeDoesNotDependOnLengthsWithoutBytes)
{
    using namespace kairos::types;
    static constexpr TypeCodeMember none[1] = {{"", nullptr}};
    static constinit const CORBA::TypeCode empty{
        {.kind = CORBA::tk_struct, .count = 0, .members = none}};
    static constinit const CORBA::TypeCode many{array_type(empty, 0xFFFF'FFFF)};
    static constinit const CORBA::TypeCode most{array_type(many, 0xFFFF'FFFF)};
    EXPECT_EQ(fault_of({}, most), cdr::Fault::length_beyond_end);
    static constinit const CORBA::TypeCode list{sequence_type(empty, 0)};
    EXPECT_EQ(fault_of(written(CORBA::ULong{5}), list), cdr::Fault::none);
    EXPECT_EQ(fault_of(written(CORBA::ULong{0x7FFF'FFFF}), list), cdr::Fault::length_beyond_end);
}

TEST(Copy, FixedPointDigitsAreChecked)
{
    static constinit const CORBA::TypeCode even{types::fixed_type(4, 2)};
    const auto fault = [](std::initializer_list<int> octets) {
        Octets bytes;
        for (const int octet : octets)
            bytes.push_back(static_cast<std::byte>(octet));
        return fault_of(bytes, even);
    };
    EXPECT_EQ(fault({0x01, 0x23, 0x4C}), cdr::Fault::none);
    EXPECT_EQ(fault({0x01, 0x23, 0x4D}), cdr::Fault::none);
    EXPECT_EQ(fault({0x11, 0x23, 0x4C}), cdr::Fault::invalid_value); // five digits
    EXPECT_EQ(fault({0x01, 0xA3, 0x4C}), cdr::Fault::invalid_value);
    EXPECT_EQ(fault({0x01, 0x23, 0x45}), cdr::Fault::invalid_value);
    EXPECT_EQ(fault({0x01, 0x23}), cdr::Fault::truncated);
}

/// Sequences of structs of numbers are passed over without a look at each; copying looks at each.
TEST(Copy, PassingOverEndsWhereCopyingEnds)
{
    using Types = std::vector<CORBA::TypeCode_ptr>;
    const auto struct_of = [](const Types& members) {
        std::vector<types::NewMember> list;
        const char* const names[] = {"a", "b", "c", "d", "e"};
        for (std::size_t i = 0; i < members.size(); ++i)
            list.push_back({names[i], members[i]});
        return types::make_struct(CORBA::tk_struct, "IDL:S:1.0", "S", list);
    };
    const CORBA::TypeCode_var inner = struct_of({CORBA::_tc_octet, CORBA::_tc_short});
    const CORBA::TypeCode_var alias =
        types::make_alias(CORBA::tk_alias, "IDL:A:1.0", "A", inner.in());
    const CORBA::TypeCode_var row = types::make_elements(CORBA::tk_array, 3, CORBA::_tc_short);
    for (const Types& members :
         {Types{CORBA::_tc_octet}, Types{CORBA::_tc_long, CORBA::_tc_octet},
          Types{CORBA::_tc_short, CORBA::_tc_char, CORBA::_tc_long, CORBA::_tc_octet,
                CORBA::_tc_double},
          Types{CORBA::_tc_octet, CORBA::_tc_octet, CORBA::_tc_octet},
          Types{CORBA::_tc_longdouble, CORBA::_tc_octet}, Types{inner.in(), CORBA::_tc_long},
          Types{alias.in(), CORBA::_tc_longlong, inner.in()}, Types{CORBA::_tc_boolean},
          Types{row.in(), CORBA::_tc_octet}, Types{CORBA::_tc_octet, CORBA::_tc_string}}) {
        const CORBA::TypeCode_var element = struct_of(members);
        const CORBA::TypeCode_var type = types::make_elements(CORBA::tk_sequence, 0, element.in());
        for (std::size_t begin = 0; begin < 8; ++begin) {
            for (std::size_t size = begin; size < begin + 100; ++size) {
                Octets bytes(size); // zeros: empty strings would end with one, and are refused
                const std::size_t at = kairos::align_up(begin, 4);
                if (at + 4 <= size) bytes[at + (native_little_endian ? 0 : 3)] = std::byte{3};
                cdr::Reader passed(bytes, native_little_endian, begin);
                (void)types::inspect_value(passed, *type.in());
                cdr::Reader copied(bytes, native_little_endian, begin);
                cdr::Buffer buffer;
                cdr::Writer out(buffer);
                types::copy_value(copied, out, *type.in());
                ASSERT_EQ(copied.ok(), passed.ok()) << size << " from " << begin;
                if (copied.ok()) {
                    ASSERT_EQ(copied.offset(), passed.offset()) << size << " from " << begin;
                }
            }
        }
    }
}

} // namespace
