// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/any.h"

#include "kairos/mapping/fixed_point.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/typecode_factory.h"
#include "kairos/types/types_testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

namespace {

using namespace testing_types;
using CORBA::Any;
using kairos::Bytes;
namespace cdr = kairos::cdr;
namespace mapping = kairos::mapping;

/// The Any after a journey, starting at `phase` modulo eight.
Any sent(const Any& any, std::size_t phase = 0)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    std::memset(out.claim(phase, 1), 0, phase);
    mapping::encode(out, any);
    EXPECT_TRUE(out.externals().empty());
    cdr::Reader in(out.contiguous(), kairos::native_little_endian, phase);
    Any received;
    mapping::decode(in, received);
    EXPECT_TRUE(in.ok()) << cdr::describe(in.fault());
    EXPECT_EQ(in.left(), 0u);
    return received;
}

CORBA::TCKind kind_of(const Any& any)
{
    const CORBA::TypeCode_var type = any.type();
    return type->kind();
}

Person named(const char* name)
{
    std::mt19937 random(7);
    Person person = random_person(random);
    person.name = name;
    return person;
}

TEST(Any, StartsWithNothing)
{
    const Any any;
    EXPECT_EQ(kind_of(any), CORBA::tk_null);
    EXPECT_EQ(any.value(), nullptr);
    CORBA::Long number = 5;
    EXPECT_FALSE(any >>= number);
    EXPECT_EQ(number, 5);
    EXPECT_EQ(kind_of(sent(any)), CORBA::tk_null);
}

template <typename T>
void expect_number(T value)
{
    Any any;
    any <<= value;
    T back{};
    EXPECT_TRUE(any >>= back);
    EXPECT_EQ(back, value);
    back = {};
    EXPECT_TRUE(sent(any) >>= back);
    EXPECT_EQ(back, value);
}

TEST(Any, NumbersGoInAndOut)
{
    expect_number<CORBA::Short>(-3);
    expect_number<CORBA::UShort>(65535);
    expect_number<CORBA::Long>(std::numeric_limits<CORBA::Long>::min());
    expect_number<CORBA::ULong>(4'000'000'000u);
    expect_number<CORBA::LongLong>(std::numeric_limits<CORBA::LongLong>::min());
    expect_number<CORBA::ULongLong>(std::numeric_limits<CORBA::ULongLong>::max());
    expect_number<CORBA::Float>(1.5F);
    expect_number<CORBA::Double>(-2.25);
    expect_number<CORBA::LongDouble>(1.0L / 3);
}

TEST(Any, ExtractionOfAnotherTypeChangesNothing)
{
    Any any;
    any <<= CORBA::Long{7};
    CORBA::ULong number = 1;
    EXPECT_FALSE(any >>= number);
    EXPECT_EQ(number, 1u);
    const char* text = "as it was";
    EXPECT_FALSE(any >>= text);
    EXPECT_STREQ(text, "as it was");
    const Point* point = nullptr;
    EXPECT_FALSE(any >>= point);
    EXPECT_EQ(point, nullptr);
    CORBA::Boolean flag = true;
    EXPECT_FALSE(any >>= Any::to_boolean(flag));
    EXPECT_TRUE(flag);
}

TEST(Any, WrappersTellSmallTypesApart)
{
    Any any;
    any <<= Any::from_boolean(true);
    CORBA::Boolean flag = false;
    CORBA::Octet octet = 0;
    CORBA::Char character = 0;
    EXPECT_FALSE(any >>= Any::to_octet(octet));
    EXPECT_FALSE(any >>= Any::to_char(character));
    EXPECT_TRUE(sent(any) >>= Any::to_boolean(flag));
    EXPECT_TRUE(flag);
    any <<= Any::from_octet(200);
    EXPECT_TRUE(sent(any) >>= Any::to_octet(octet));
    EXPECT_EQ(octet, 200);
    any <<= Any::from_char('x');
    EXPECT_TRUE(sent(any) >>= Any::to_char(character));
    EXPECT_EQ(character, 'x');
}

// --- Strings -----------------------------------------------------------------------------------

TEST(Any, StringsAreCopiedIn)
{
    CORBA::String_var text = CORBA::string_dup("text");
    Any any;
    any <<= text.in();
    text[0] = 'n';
    const char* back = nullptr;
    ASSERT_TRUE(any >>= back);
    EXPECT_STREQ(back, "text");
    const Any received = sent(any);
    ASSERT_TRUE(received >>= back);
    EXPECT_STREQ(back, "text");
}

TEST(Any, FromStringTakesTheStringOverWhenToldTo)
{
    char* text = CORBA::string_dup("mine");
    Any any;
    any <<= Any::from_string(text, 0, true);
    const char* back = nullptr;
    ASSERT_TRUE(any >>= back);
    EXPECT_EQ(back, text);
}

TEST(Any, BoundedStringsHaveTheirBound)
{
    Any any;
    any <<= Any::from_string("abc", 3);
    const char* back = nullptr;
    EXPECT_FALSE(any >>= back); // that is an unbounded string
    EXPECT_FALSE(any >>= Any::to_string(back, 4));
    ASSERT_TRUE(any >>= Any::to_string(back, 3));
    EXPECT_STREQ(back, "abc");
    ASSERT_TRUE(sent(any) >>= Any::to_string(back, 3));
    const CORBA::TypeCode_var type = any.type();
    EXPECT_EQ(type->length(), 3u);
}

TEST(Any, WideStringsAndCharacters)
{
    const std::wstring text = {L'a', wchar_t{0x20AC}, wchar_t{0x1F600}};
    Any any;
    any <<= text.c_str();
    const CORBA::WChar* back = nullptr;
    Any received = sent(any, 3);
    ASSERT_TRUE(received >>= back);
    EXPECT_EQ(back, text);
    received = any;
    ASSERT_TRUE(received >>= back);
    EXPECT_EQ(back, text);
    CORBA::WChar* own = CORBA::wstring_dup(L"four");
    any <<= Any::from_wstring(own, 4, true);
    ASSERT_TRUE(any >>= Any::to_wstring(back, 4));
    EXPECT_EQ(back, own);
    EXPECT_FALSE(any >>= back);
    EXPECT_THROW(any <<= Any::from_wstring(L"five!", 4), CORBA::BAD_PARAM);
    any <<= Any::from_wchar(wchar_t{0x20AC});
    CORBA::WChar character = 0;
    ASSERT_TRUE(sent(any, 1) >>= Any::to_wchar(character));
    EXPECT_EQ(character, wchar_t{0x20AC});
    Any outer;
    outer <<= received; // kept as bytes
    const Any inside = sent(sent(outer, 2), 5);
    const Any* inner = nullptr;
    ASSERT_TRUE(inside >>= inner);
    ASSERT_TRUE(*inner >>= back);
    EXPECT_EQ(back, text);
}

TEST(Any, Trap22_StringsBeyondTheirBoundAndNullAreBadParam)
{
    Any any;
    any <<= CORBA::Long{1};
    EXPECT_THROW(any <<= Any::from_string("abcd", 3), CORBA::BAD_PARAM);
    EXPECT_THROW(any <<= Any::from_string(CORBA::string_dup("abcd"), 3, true), CORBA::BAD_PARAM);
    EXPECT_THROW(any <<= static_cast<const char*>(nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW(any <<= static_cast<Person*>(nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW(any <<= static_cast<Any*>(nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW(any <<= Grid_forany(), CORBA::BAD_PARAM);
    CORBA::Long number = 0;
    EXPECT_TRUE(any >>= number); // it kept what it had
}

TEST(Any, FixedHasDigitsAndScale)
{
    Any any;
    any <<= Any::from_fixed(CORBA::Fixed("-12.345"), 4, 2);
    CORBA::Fixed value(7);
    EXPECT_FALSE(any >>= Any::to_fixed(value, 5, 2));
    EXPECT_EQ(value, CORBA::Fixed(7));
    ASSERT_TRUE(sent(any, 3) >>= Any::to_fixed(value, 4, 2));
    EXPECT_EQ(value, CORBA::Fixed("-12.34"));
    EXPECT_THROW(any <<= Any::from_fixed(CORBA::Fixed(1000), 4, 2), CORBA::DATA_CONVERSION);
    EXPECT_THROW(any <<= Any::from_fixed(CORBA::Fixed(1), 2, 3), CORBA::BAD_PARAM);
    ASSERT_TRUE(any >>= Any::to_fixed(value, 4, 2));
}

// --- Values of C++ classes ---------------------------------------------------------------------

TEST(Any, StructsAreCopiedOrTakenOver)
{
    ASSERT_EQ(Person::alive, 0);
    {
        const Person person = named("Ada");
        Any any;
        any <<= person;
        const Person* back = nullptr;
        ASSERT_TRUE(any >>= back);
        EXPECT_NE(back, &person);
        EXPECT_STREQ(back->name.in(), "Ada");
        EXPECT_EQ(any.value(), back);

        auto* own = new Person(named("Bo"));
        any <<= own;
        ASSERT_TRUE(any >>= back);
        EXPECT_EQ(back, own);
        EXPECT_EQ(Person::alive, 2);
    }
    EXPECT_EQ(Person::alive, 0);
}

TEST(Any, WhatWasReceivedIsMadeOnce)
{
    {
        Any any;
        any <<= named("Cy");
        const Any received = sent(any);
        EXPECT_EQ(received.value(), nullptr);
        EXPECT_EQ(Person::alive, 1);
        const Person* first = nullptr;
        const Person* second = nullptr;
        ASSERT_TRUE(received >>= first);
        ASSERT_TRUE(received >>= second);
        EXPECT_EQ(first, second);
        EXPECT_STREQ(first->name.in(), "Cy");
        EXPECT_EQ(first->color, named("").color);
    }
    EXPECT_EQ(Person::alive, 0);
}

TEST(Any, Trap15_TwoTypedefsOfASequenceAreOneType)
{
    Any any;
    any <<= Numbers{1, 2, 3};
    const OtherNumbers* others = nullptr;
    const Numbers* numbers = nullptr;
    ASSERT_TRUE(any >>= others);
    ASSERT_TRUE(any >>= numbers);
    EXPECT_EQ(others->length(), 3u);
    EXPECT_EQ((*others)[2], 3);
    EXPECT_EQ((*numbers)[0], 1);
    const OtherNumbers* again = nullptr;
    ASSERT_TRUE(any >>= again);
    EXPECT_EQ(again, others);
}

TEST(Any, ArraysTravelAsForany)
{
    const Grid grid = {{1, 2, 3}, {4, 5, 6}};
    Any any;
    any <<= Grid_forany(const_cast<CORBA::Short(*)[3]>(grid));
    Grid_forany back;
    ASSERT_TRUE(sent(any) >>= back);
    auto* own = mapping::array_dup<Grid>(grid);
    any <<= Grid_forany(own, true);
    ASSERT_TRUE(any >>= back);
    EXPECT_EQ(back.in(), own);
    EXPECT_EQ(back[1][2], 6);
}

TEST(Any, Trap15_EnumsAreChecked)
{
    Any any;
    any <<= blue;
    Color color = red;
    ASSERT_TRUE(sent(any) >>= color);
    EXPECT_EQ(color, blue);

    any <<= static_cast<Color>(3);
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    mapping::encode(out, any);
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    Any received;
    mapping::decode(in, received);
    EXPECT_EQ(in.fault(), cdr::Fault::invalid_value);
    EXPECT_EQ(kind_of(received), CORBA::tk_null);
}

TEST(Any, Trap15_ExceptionsTravelWithTheirId)
{
    Overflow overflow;
    overflow.size = 9;
    overflow.why = "full";
    Any any;
    any <<= overflow;
    const Any received = sent(any, 3);
    const Overflow* back = nullptr;
    ASSERT_TRUE(received >>= back);
    EXPECT_EQ(back->size, 9u);
    EXPECT_STREQ(back->why.in(), "full");
    EXPECT_THROW(back->_raise(), Overflow);
    const Any again = sent(received, 2);
    ASSERT_TRUE(again >>= back);
    EXPECT_STREQ(back->why.in(), "full");
}

/// omniORB before 4.3 (exceptionIdInAny = 0).
TEST(Any, Trap15_ExceptionsMayComeWithoutTheirId)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    kairos::types::encode_type_code(out, *_tc_Overflow);
    out.write(CORBA::ULong{9});
    out.write_string("full");
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    Any received;
    mapping::decode(in, received);
    ASSERT_TRUE(in.ok());
    const Overflow* back = nullptr;
    ASSERT_TRUE(received >>= back);
    EXPECT_EQ(back->size, 9u);
    const Any again = sent(received);
    ASSERT_TRUE(again >>= back);
    EXPECT_STREQ(back->why.in(), "full");
}

// --- Any and TypeCode --------------------------------------------------------------------------

/// Inserts and extracts one as what it is, here and after a journey.
template <typename E>
void expect_system_exception_travels(CORBA::TypeCode_ptr type)
{
    const E thrown(kairos::mapping::omg_minor(7), CORBA::COMPLETED_MAYBE);
    Any any;
    any <<= thrown;
    for (const Any& each : {any, Any(any), sent(any), sent(sent(any, 3), 5)}) {
        const CORBA::TypeCode_var held = each.type();
        EXPECT_TRUE(held->equal(type)) << E::kairos_name;
        const E* found = nullptr;
        ASSERT_TRUE(each >>= found) << E::kairos_name;
        EXPECT_EQ(found->minor(), thrown.minor());
        EXPECT_EQ(found->completed(), CORBA::COMPLETED_MAYBE);
        E* changeable = nullptr; // the deprecated form
        ASSERT_TRUE(each >>= changeable);
        EXPECT_EQ(changeable, found);
        const CORBA::SystemException* base = nullptr;
        ASSERT_TRUE(each >>= base);
        EXPECT_STREQ(base->_rep_id(), E::kairos_id);
        EXPECT_NE(E::_downcast(base), nullptr);
    }
}

TEST(Any, EverySystemExceptionGoesInAndOut)
{
#define KAIROS_TRAVELS(exception)                                                                  \
    expect_system_exception_travels<CORBA::exception>(CORBA::_tc_##exception);
    KAIROS_SYSTEM_EXCEPTIONS(KAIROS_TRAVELS)
#undef KAIROS_TRAVELS
}

TEST(Any, SystemExceptionsAreCopiedOrTakenOverAndToldApart)
{
    Any any;
    any <<= new CORBA::TIMEOUT(3, CORBA::COMPLETED_NO);
    const CORBA::BAD_PARAM* other = nullptr;
    EXPECT_FALSE(any >>= other);
    EXPECT_EQ(other, nullptr);
    const CORBA::TIMEOUT* found = nullptr;
    ASSERT_TRUE(any >>= found);
    EXPECT_EQ(found->minor(), 3u);
    const Any copy = any;
    any <<= CORBA::BAD_PARAM(4, CORBA::COMPLETED_YES);
    ASSERT_TRUE(any >>= other);
    EXPECT_EQ(other->minor(), 4u);
    ASSERT_TRUE(copy >>= found);
    EXPECT_EQ(found->minor(), 3u);
    // By the base, as what it is.
    try {
        throw CORBA::NO_MEMORY(5, CORBA::COMPLETED_NO);
    } catch (const CORBA::SystemException& exception) {
        any <<= exception;
    }
    const CORBA::NO_MEMORY* memory = nullptr;
    ASSERT_TRUE(any >>= memory);
    EXPECT_EQ(memory->minor(), 5u);
    EXPECT_THROW(any <<= static_cast<CORBA::BAD_PARAM*>(nullptr), CORBA::BAD_PARAM);
    ASSERT_TRUE(any >>= memory); // it keeps what it had
    any <<= CORBA::Long{1};
    const CORBA::SystemException* base = nullptr;
    EXPECT_FALSE(any >>= base);
    EXPECT_FALSE(any >>= memory);
}

TEST(Any, HoldsOthersAndItself)
{
    Any any;
    any <<= CORBA::Long{4};
    any <<= any;
    any <<= new Any(any);
    const Any received = sent(any, 1);
    const Any* middle = nullptr;
    const Any* inner = nullptr;
    CORBA::Long number = 0;
    ASSERT_TRUE(received >>= middle);
    ASSERT_TRUE(*middle >>= inner);
    ASSERT_TRUE(*inner >>= number);
    EXPECT_EQ(number, 4);
}

TEST(Any, HoldsTypeCodes)
{
    Any any;
    any <<= _tc_Person;
    CORBA::TypeCode_ptr type = nullptr;
    ASSERT_TRUE(any >>= type);
    EXPECT_TRUE(type->equal(_tc_Person));
    const Any received = sent(any);
    ASSERT_TRUE(received >>= type);
    EXPECT_TRUE(type->equal(_tc_Person));
    EXPECT_THROW(any <<= CORBA::TypeCode::_nil(), CORBA::BAD_TYPECODE);
}

TEST(Any, TypeChangesToAnEquivalentOneOnly)
{
    Any any;
    any <<= Numbers{1};
    any.type(_tc_OtherNumbers);
    CORBA::TypeCode_var type = any.type();
    EXPECT_STREQ(type->name(), "OtherNumbers");
    const Numbers* numbers = nullptr;
    EXPECT_TRUE(any >>= numbers);
    EXPECT_THROW(any.type(_tc_Point), CORBA::BAD_TYPECODE);
    EXPECT_THROW(any.type(nullptr), CORBA::BAD_TYPECODE);
    type = any.type();
    EXPECT_STREQ(type->name(), "OtherNumbers");
}

TEST(Any, LabelsOfUnionsAreAnys)
{
    CORBA::TypeCode_ptr choice = pointer(detail::choice);
    CORBA::Short label = 0;
    CORBA::Any_var any = choice->member_label(1);
    ASSERT_TRUE(any.in() >>= label);
    EXPECT_EQ(label, -2);
    CORBA::Octet none = 1;
    any = choice->member_label(3);
    ASSERT_TRUE(any.in() >>= Any::to_octet(none));
    EXPECT_EQ(none, 0);
    EXPECT_THROW((void)choice->member_label(4), CORBA::TypeCode::Bounds);
    EXPECT_THROW((void)_tc_Person->member_label(0), CORBA::TypeCode::BadKind);
}

// --- Copies and moves --------------------------------------------------------------------------

TEST(Any, CopiesAndMoves)
{
    {
        Any any;
        any <<= named("Di");
        Any copy = any;
        const Person* original = nullptr;
        const Person* copied = nullptr;
        ASSERT_TRUE(any >>= original);
        ASSERT_TRUE(copy >>= copied);
        EXPECT_NE(original, copied);
        const Any moved = std::move(any);
        const Person* same = nullptr;
        ASSERT_TRUE(moved >>= same);
        EXPECT_EQ(same, original);
        copy = moved;
        copy = *&copy;
        ASSERT_TRUE(copy >>= copied);
        EXPECT_STREQ(copied->name.in(), "Di");

        Any received = sent(copy);
        const Any shared = received;
        received = Any();
        ASSERT_TRUE(shared >>= copied);
        EXPECT_STREQ(copied->name.in(), "Di");

        Any text;
        text <<= "text";
        copy = text;
        text = std::move(copy);
        const char* back = nullptr;
        ASSERT_TRUE(text >>= back);
        EXPECT_STREQ(back, "text");
    }
    EXPECT_EQ(Person::alive, 0);
}

TEST(Any, VarAndSequenceOwnTheirs)
{
    CORBA::Any_var var = new Any;
    var.inout() <<= CORBA::Short{3};
    const CORBA::Any_var copy = var;
    CORBA::Short number = 0;
    EXPECT_TRUE(copy.in() >>= number);
    kairos::mapping::UnboundedSequence<CORBA::Any> list(2);
    list.length(2);
    list[0] <<= "one";
    list[1] <<= named("Ed");
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    mapping::encode(out, list);
    cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    kairos::mapping::UnboundedSequence<CORBA::Any> received;
    mapping::decode(in, received);
    ASSERT_TRUE(in.ok());
    const Person* person = nullptr;
    ASSERT_TRUE(received[1] >>= person);
    EXPECT_STREQ(person->name.in(), "Ed");
}

TEST(Any, DeprecatedReplaceKnowsTheSimpleTypes)
{
    Any any;
    any.replace(CORBA::_tc_long, new CORBA::Long(5), true);
    CORBA::Long number = 0;
    ASSERT_TRUE(any >>= number);
    EXPECT_EQ(number, 5);
    any.replace(CORBA::_tc_string, CORBA::string_dup("own"), true);
    const char* text = nullptr;
    ASSERT_TRUE(any >>= text);
    EXPECT_STREQ(text, "own");
    EXPECT_EQ(any.value(), text);
    Person person = named("Flo");
    EXPECT_THROW(any.replace(_tc_Person, &person), CORBA::BAD_PARAM);
    EXPECT_THROW(any.replace(nullptr, &person), CORBA::BAD_TYPECODE);
    any.replace(CORBA::_tc_null, nullptr);
    EXPECT_EQ(kind_of(any), CORBA::tk_null);
}

TEST(Any, MayHaveATypeWithoutItsValue)
{
    for (CORBA::TypeCode_ptr type : {CORBA::_tc_long, CORBA::_tc_string, CORBA::_tc_any,
                                     CORBA::_tc_TypeCode, CORBA::_tc_Object, _tc_Person}) {
        Any any;
        any <<= CORBA::Long{5};
        any.replace(type, nullptr);
        const Any copy(any);
        const CORBA::TypeCode_var held = copy.type();
        EXPECT_TRUE(held->equal(type));
        EXPECT_EQ(nullptr, copy.value());
        CORBA::Long number = 7;
        const char* text = "as before";
        const Any* inner = nullptr;
        CORBA::TypeCode_ptr inner_type = nullptr;
        const Person* person = nullptr;
        EXPECT_FALSE(copy >>= number);
        EXPECT_FALSE(copy >>= text);
        EXPECT_FALSE(copy >>= inner);
        EXPECT_FALSE(copy >>= inner_type);
        EXPECT_FALSE(copy >>= person);
        EXPECT_THROW((void)sent(copy), CORBA::BAD_PARAM);
    }
    Any any;
    const CORBA::TypeCode_var money = kairos::types::make_fixed(4, 2);
    any.replace(money.in(), nullptr);
    CORBA::Fixed number;
    EXPECT_FALSE(any >>= Any::to_fixed(number, 4, 2));
}

TEST(Any, ThreadsMayExtractTogether)
{
    Any any;
    any <<= named("Gus");
    const Any received = sent(any);
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            const Person* person = nullptr;
            if ((received >>= person) && std::string_view(person->name) == "Gus") ++good;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(good, 4);
}

// --- Bounds of what a peer may send ------------------------------------------------------------

TEST(Any, Trap14_DeepNestingIsRefusedAndNotExponential)
{
    // An Any in an Any in an Any …: 4 octets a level and nothing in the innermost.
    for (const std::size_t depth : {std::size_t{60}, std::size_t{100}, std::size_t{100'000}}) {
        cdr::Buffer buffer;
        cdr::Writer out(buffer);
        for (std::size_t i = 0; i < depth; ++i)
            out.write(static_cast<CORBA::ULong>(CORBA::tk_any));
        out.write(static_cast<CORBA::ULong>(CORBA::tk_null));
        cdr::Reader in(out.contiguous(), kairos::native_little_endian);
        Any any;
        mapping::decode(in, any);
        EXPECT_EQ(in.fault(), depth < kairos::limits::nesting_max ? cdr::Fault::none
                                                                  : cdr::Fault::nesting_too_deep);
    }
}

TEST(Any, EveryTruncationIsRefused)
{
    Any any;
    any <<= named("Hal");
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    mapping::encode(out, any);
    for (std::size_t size = 0; size < out.size(); ++size) {
        cdr::Reader in(out.contiguous().first(size), kairos::native_little_endian);
        Any received;
        mapping::decode(in, received);
        EXPECT_FALSE(in.ok()) << size;
    }
}

} // namespace
