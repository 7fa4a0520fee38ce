// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_samples_testing.h"
#include "kairos/types/typecode_wire.h"

#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace CORBA;
using kairos::cdr::Buffer;
using kairos::cdr::Reader;
using kairos::cdr::Writer;
using kairos::types::TypeCodeMember;
namespace samples = kairos::types::samples;

std::vector<std::byte> encoded(const TypeCode& type)
{
    Buffer buffer;
    Writer out(buffer);
    kairos::types::encode_type_code(out, type);
    return {out.contiguous().begin(), out.contiguous().end()};
}

TEST(TypeCodeWire, EveryKindComesBackEqual)
{
    for (const TypeCode* type : samples::all) {
        SCOPED_TRACE(type->kind());
        const std::vector<std::byte> bytes = encoded(*type);
        Reader in(bytes, kairos::native_little_endian);
        const TypeCode_var back = kairos::types::decode_type_code(in);
        ASSERT_TRUE(in.ok()) << describe(in.fault());
        EXPECT_EQ(in.left(), 0u);
        EXPECT_TRUE(back->equal(kairos::types::pointer(*type)));
    }
}

TEST(TypeCodeWire, BasicKindsAreTheConstants)
{
    const std::vector<std::byte> bytes = encoded(*_tc_double);
    Reader in(bytes, kairos::native_little_endian);
    EXPECT_EQ(kairos::types::decode_type_code(in), _tc_double);
}

TEST(TypeCodeWire, EveryTruncationIsRefused)
{
    for (const TypeCode* type : samples::all) {
        const std::vector<std::byte> bytes = encoded(*type);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            Reader in({bytes.data(), size}, kairos::native_little_endian);
            EXPECT_EQ(kairos::types::decode_type_code(in), nullptr);
            EXPECT_FALSE(in.ok());
        }
    }
}

// --- Hostile bytes -----------------------------------------------------------------------------

/// Writes TypeCodes that no honest ORB would.
class Forged {
  public:
    void kind(TCKind kind) { number(kind); }
    void number(std::uint32_t number) { out_.write(number); }
    void small(std::int16_t number) { out_.write(number); }
    void text(const char* text) { out_.write_string(text); }
    void named(const char* id = "IDL:X:1.0", const char* name = "X")
    {
        text(id);
        text(name);
    }
    void begin(TCKind kind)
    {
        number(kind);
        scopes_.push_back(out_.begin_encapsulation());
    }
    void end()
    {
        out_.end_encapsulation(scopes_.back());
        scopes_.pop_back();
    }
    /// Where the next TypeCode begins; all of them are aligned alike.
    [[nodiscard]] std::size_t here() const { return (out_.position() + 3) & ~std::size_t{3}; }
    void indirection(std::size_t target)
    {
        number(TypeCode::recursive);
        const auto offset =
            static_cast<std::int32_t>(target) - static_cast<std::int32_t>(out_.position());
        out_.write(offset);
    }
    [[nodiscard]] kairos::cdr::Fault fault() const
    {
        Reader in(out_.contiguous(), kairos::native_little_endian);
        const TypeCode_var type = kairos::types::decode_type_code(in);
        EXPECT_EQ(type.in() == nullptr, !in.ok());
        return in.fault();
    }
    [[nodiscard]] TypeCode_ptr read() const
    {
        Reader in(out_.contiguous(), kairos::native_little_endian);
        return kairos::types::decode_type_code(in);
    }
    [[nodiscard]] std::size_t size() const { return out_.size(); }

  private:
    Buffer buffer_;
    Writer out_{buffer_};
    std::vector<Writer::Encapsulation> scopes_;
};

using kairos::cdr::Fault;

TEST(TypeCodeWire, UnknownKindsAreRefused)
{
    for (const std::uint32_t kind : {37u, 64u, 0x0F00'0000u, 0xFFFF'FFFEu}) {
        Forged forged;
        forged.number(kind);
        forged.number(0);
        EXPECT_EQ(forged.fault(), Fault::invalid_value) << kind;
    }
}

/// Within struct { short a; <indirection> b; }: what the offset may point to.
TEST(TypeCodeWire, Trap13_IndirectionsMeanTypeCodesOnly)
{
    const auto fault_of = [](std::ptrdiff_t from_first_member) {
        Forged forged;
        forged.begin(tk_struct);
        forged.named();
        forged.number(2);
        forged.text("a");
        const std::size_t first = forged.here();
        forged.kind(tk_short);
        forged.text("b");
        forged.indirection(first + static_cast<std::size_t>(from_first_member));
        forged.end();
        return forged.fault();
    };
    EXPECT_EQ(fault_of(0), Fault::none);
    EXPECT_EQ(fault_of(-4), Fault::invalid_value);   // the length of "a"
    EXPECT_EQ(fault_of(1), Fault::invalid_value);    // within
    EXPECT_EQ(fault_of(12), Fault::invalid_value);   // the indirection itself
    EXPECT_EQ(fault_of(16), Fault::invalid_value);   // its offset
    EXPECT_EQ(fault_of(400), Fault::invalid_value);  // ahead
    EXPECT_EQ(fault_of(-400), Fault::invalid_value); // before everything
}

TEST(TypeCodeWire, Trap13_NothingBeginsWithAnIndirection)
{
    for (const std::int32_t offset : {-4, 0, 4, INT32_MIN, INT32_MAX}) {
        Forged forged;
        forged.number(TypeCode::recursive);
        forged.number(static_cast<std::uint32_t>(offset));
        EXPECT_EQ(forged.fault(), Fault::invalid_value) << offset;
    }
}

TEST(TypeCodeWire, TypesOfNothingButThemselvesAreRefused)
{
    Forged sequence;
    sequence.begin(tk_sequence);
    sequence.indirection(0);
    sequence.number(0);
    sequence.end();
    EXPECT_EQ(sequence.fault(), Fault::invalid_value);

    Forged alias;
    alias.begin(tk_alias);
    alias.named();
    alias.indirection(0);
    alias.end();
    EXPECT_EQ(alias.fault(), Fault::invalid_value);

    Forged box;
    box.begin(tk_value_box);
    box.named();
    box.indirection(0);
    box.end();
    EXPECT_EQ(box.fault(), Fault::invalid_value);

    for (const TCKind kind : {tk_struct, tk_except}) {
        Forged direct;
        direct.begin(kind);
        direct.named();
        direct.number(1);
        direct.text("self");
        direct.indirection(0);
        direct.end();
        EXPECT_EQ(direct.fault(), Fault::invalid_value);
    }
}

/// struct S { sequence<struct T { S s; }> list; T t; }: each step is legal, S as a whole is not.
TEST(TypeCodeWire, Trap14_TypesThatContainThemselvesByDetourAreRefused)
{
    const auto forge = [](bool with_t) {
        Forged forged;
        forged.begin(tk_struct);
        forged.named("IDL:S:1.0", "S");
        forged.number(with_t ? 2 : 1);
        forged.text("list");
        forged.begin(tk_sequence);
        const std::size_t t = forged.here();
        forged.begin(tk_struct);
        forged.named("IDL:T:1.0", "T");
        forged.number(1);
        forged.text("s");
        forged.indirection(0);
        forged.end();
        forged.number(0);
        forged.end();
        if (with_t) {
            forged.text("t");
            forged.indirection(t);
        }
        forged.end();
        return forged.fault();
    };
    EXPECT_EQ(forge(false), Fault::none);
    EXPECT_EQ(forge(true), Fault::invalid_value);
}

TEST(TypeCodeWire, NoValueIsItsOwnBase)
{
    Forged forged;
    forged.begin(tk_value);
    forged.named();
    forged.small(VM_NONE);
    forged.indirection(0);
    forged.number(0);
    forged.end();
    EXPECT_EQ(forged.fault(), Fault::invalid_value);
}

TEST(TypeCodeWire, DiscriminatorsAreCompleteAndOfTheRightKind)
{
    const auto fault_of = [](auto write_discriminator) {
        Forged forged;
        forged.begin(tk_value);
        forged.named();
        forged.small(VM_NONE);
        forged.kind(tk_null);
        forged.number(1);
        forged.text("u");
        forged.begin(tk_union);
        forged.named();
        write_discriminator(forged);
        forged.number(0xFFFF'FFFF);
        forged.number(0);
        forged.end();
        forged.small(PUBLIC_MEMBER);
        forged.end();
        return forged.fault();
    };
    EXPECT_EQ(fault_of([](Forged& f) { f.kind(tk_long); }), Fault::none);
    EXPECT_EQ(fault_of([](Forged& f) { f.kind(tk_double); }), Fault::invalid_value);
    EXPECT_EQ(fault_of([](Forged& f) { f.indirection(0); }), Fault::invalid_value);
    EXPECT_EQ(fault_of([](Forged& f) {
                  f.begin(tk_alias);
                  f.named();
                  f.indirection(0);
                  f.end();
              }),
              Fault::invalid_value);
}

TEST(TypeCodeWire, ParametersThatNoTypeHasAreRefused)
{
    const auto fixed = [](std::int16_t digits, std::int16_t scale) {
        Forged forged;
        forged.kind(tk_fixed);
        forged.small(digits);
        forged.small(scale);
        return forged.fault();
    };
    EXPECT_EQ(fixed(31, 31), Fault::none);
    EXPECT_EQ(fixed(32, 0), Fault::invalid_value);
    EXPECT_EQ(fixed(0, 0), Fault::invalid_value);
    EXPECT_EQ(fixed(5, 6), Fault::invalid_value);
    EXPECT_EQ(fixed(5, -1), Fault::invalid_value);

    for (const TCKind part : {tk_null, tk_void}) {
        Forged forged;
        forged.begin(tk_sequence);
        forged.kind(part);
        forged.number(0);
        forged.end();
        EXPECT_EQ(forged.fault(), Fault::invalid_value);
    }
    Forged array;
    array.begin(tk_array);
    array.kind(tk_long);
    array.number(0);
    array.end();
    EXPECT_EQ(array.fault(), Fault::invalid_value);
}

TEST(TypeCodeWire, LabelsAndTheDefaultIndexAreChecked)
{
    const auto fault_of = [](std::int32_t default_index, std::uint32_t label) {
        Forged forged;
        forged.begin(tk_union);
        forged.named();
        forged.begin(tk_enum);
        forged.named("IDL:E:1.0", "E");
        forged.number(2);
        forged.text("a");
        forged.text("b");
        forged.end();
        forged.number(static_cast<std::uint32_t>(default_index));
        forged.number(1);
        forged.number(label);
        forged.text("m");
        forged.kind(tk_long);
        forged.end();
        return forged.fault();
    };
    EXPECT_EQ(fault_of(-1, 1), Fault::none);
    EXPECT_EQ(fault_of(0, 99), Fault::none); // the default member's says nothing
    EXPECT_EQ(fault_of(-1, 2), Fault::invalid_value);
    EXPECT_EQ(fault_of(1, 1), Fault::invalid_value);
    EXPECT_EQ(fault_of(-2, 1), Fault::none); // omniORB, where all labels are taken
}

TEST(TypeCodeWire, CountsAreBelievedOnlyWithTheBytes)
{
    for (const TCKind kind : {tk_struct, tk_enum, tk_except}) {
        Forged forged;
        forged.begin(kind);
        forged.named();
        forged.number(0x4000'0000);
        forged.end();
        EXPECT_EQ(forged.fault(), Fault::length_beyond_end);
    }
}

TEST(TypeCodeWire, NestingIsBounded)
{
    const auto nested = [](std::size_t levels) {
        Forged forged;
        for (std::size_t i = 0; i < levels; ++i)
            forged.begin(tk_sequence);
        forged.kind(tk_long);
        for (std::size_t i = 0; i < levels; ++i) {
            forged.number(0);
            forged.end();
        }
        return forged.fault();
    };
    EXPECT_EQ(nested(kairos::limits::nesting_max), Fault::none);
    EXPECT_EQ(nested(kairos::limits::nesting_max + 1), Fault::nesting_too_deep);
}

/// A chain of types, each the member of the next by an indirection: flat bytes, deep type.
TEST(TypeCodeWire, Trap13_NestingByIndirectionIsBounded)
{
    const auto chained = [](std::size_t levels) {
        Forged forged;
        forged.begin(tk_struct);
        forged.named("IDL:All:1.0", "All");
        forged.number(static_cast<std::uint32_t>(levels));
        std::size_t previous = 0;
        for (std::size_t i = 0; i < levels; ++i) {
            forged.text("m");
            const std::size_t begin = forged.here();
            forged.begin(tk_struct);
            forged.named();
            forged.number(1);
            forged.text("n");
            if (i == 0) {
                forged.kind(tk_long);
            } else {
                forged.indirection(previous);
            }
            forged.end();
            previous = begin;
        }
        forged.end();
        return forged.fault();
    };
    EXPECT_EQ(chained(kairos::limits::nesting_max - 1), Fault::none);
    EXPECT_EQ(chained(kairos::limits::nesting_max), Fault::nesting_too_deep);
}

/// Each struct has the one before twice: 2^40 members, unless each type is there once.
TEST(TypeCodeWire, Trap14_SharedTypesDoNotMultiply)
{
    Forged forged;
    constexpr std::uint32_t levels = 40;
    forged.begin(tk_struct);
    forged.named("IDL:All:1.0", "All");
    forged.number(levels);
    std::size_t previous = 0;
    for (std::uint32_t i = 0; i < levels; ++i) {
        forged.text("m");
        const std::size_t begin = forged.here();
        forged.begin(tk_struct);
        forged.named("", "");
        forged.number(2);
        for (const char* member : {"a", "b"}) {
            forged.text(member);
            if (i == 0) {
                forged.kind(tk_long);
            } else {
                forged.indirection(previous);
            }
        }
        forged.end();
        previous = begin;
    }
    forged.end();
    const TypeCode_var type = forged.read();
    ASSERT_NE(type.in(), nullptr);
    const TypeCode_var compact = type->get_compact_typecode();
    EXPECT_TRUE(compact->equivalent(type));
    const TypeCode_var last = type->member_type(levels - 1);
    const TypeCode_var last_compact = compact->member_type(levels - 1);
    EXPECT_TRUE(last->equivalent(last_compact));
    EXPECT_LE(encoded(*type).size(), forged.size());
}

/// The outer encapsulation in one byte order, the inner one in the other, an indirection across.
TEST(TypeCodeWire, Trap02_EncapsulationsHaveAnOrderOfTheirOwn)
{
    // clang-format off
    const std::vector<unsigned char> bytes = {
        0, 0, 0, 15, 0, 0, 0, 64,                             // tk_struct, of 64 bytes
        0, 0, 0, 0, 0, 0, 0, 10,                              // big-endian
        'I', 'D', 'L', ':', 'N', ':', '1', '.', '0', 0, 0, 0, // the id
        0, 0, 0, 2, 'N', 0, 0, 0, 0, 0, 0, 1,                 // the name; one member
        0, 0, 0, 2, 'c', 0, 0, 0, 0, 0, 0, 19,                // c: tk_sequence
        0, 0, 0, 16,                                          // of 16 bytes
        1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF,                   // little-endian; an indirection
        0xC0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0,                   // 64 back; no bound
    };
    // clang-format on
    Reader in(std::as_bytes(std::span(bytes)), false);
    const TypeCode_var type = kairos::types::decode_type_code(in);
    ASSERT_TRUE(in.ok()) << describe(in.fault());
    const TypeCode_var list = type->member_type(0);
    EXPECT_EQ(TypeCode_var(list->content_type()).in(), type.in());
}

/// GIOP 1.1 sends a message in parts. Offsets of indirections count bytes of the message, without
/// the headers between: wherever it is cut, the type is the same.
TEST(TypeCodeWire, Trap13_IndirectionsAcrossParts)
{
    static constexpr TypeCodeMember members[] = {{"a", &samples::choice}, {"b", &samples::choice}};
    static constexpr TypeCode twice{struct_type(tk_struct, "IDL:Twice:1.0", "Twice", members)};
    const std::vector<std::byte> bytes = encoded(twice);
    for (std::uint32_t cut = 4; cut < bytes.size(); ++cut) {
        const std::uint32_t part_begins[] = {cut};
        Reader in(bytes, kairos::native_little_endian, 0, part_begins);
        const TypeCode_var type = kairos::types::decode_type_code(in);
        if (cut > 4 && cut < 8) { // cut through a length, which no sender does
            EXPECT_EQ(type.in(), nullptr);
            continue;
        }
        ASSERT_TRUE(in.ok()) << cut;
        EXPECT_TRUE(type->equal(kairos::types::pointer(twice))) << cut;
    }
}

TEST(TypeCodeWire, NilIsNoTypeCode)
{
    Buffer buffer;
    Writer out(buffer);
    const TypeCode_var nil;
    EXPECT_THROW(kairos::mapping::Marshal<TypeCode_var>::encode(out, nil), BAD_PARAM);
    EXPECT_THROW(kairos::mapping::encode_object(out, TypeCode::_nil()), BAD_PARAM);
}

/// Labels of every kind of discriminator.
TEST(TypeCodeWire, LabelsOfEveryDiscriminator)
{
    static constexpr TypeCodeMember members[] = {{"a", &_kairos_tc_long}, {"b", &_kairos_tc_long}};
    const auto check = [](const TypeCode& discriminator, const std::int64_t(&labels)[2]) {
        const TypeCode type{union_type("IDL:U:1.0", "U", discriminator, members, labels, -1)};
        const std::vector<std::byte> bytes = encoded(type);
        Reader in(bytes, kairos::native_little_endian);
        const TypeCode_var back = kairos::types::decode_type_code(in);
        ASSERT_TRUE(in.ok()) << discriminator.kind();
        EXPECT_EQ(back->_kairos_label(0), labels[0]) << discriminator.kind();
        EXPECT_EQ(back->_kairos_label(1), labels[1]) << discriminator.kind();
    };
    check(_kairos_tc_short, {-32768, 32767});
    check(_kairos_tc_ushort, {0, 65535});
    check(_kairos_tc_long, {INT32_MIN, INT32_MAX});
    check(_kairos_tc_ulong, {0, 0xFFFF'FFFF});
    check(_kairos_tc_longlong, {INT64_MIN, INT64_MAX});
    check(_kairos_tc_ulonglong, {0, -1}); // 2^64 - 1
    check(_kairos_tc_boolean, {0, 1});
    check(_kairos_tc_char, {0, 255});
    check(_kairos_tc_octet, {0, 255});
    check(_kairos_tc_wchar, {0x20AC, 0x1'F600});
}

} // namespace
