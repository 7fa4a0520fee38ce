// SPDX-License-Identifier: Apache-2.0
//
// The operations of each kind of DynAny: with right types and wrong ones, at every position.
#include "fixture.h"

#include <kairos/types/typecode_factory.h>

#include <functional>

namespace dynany_test {
namespace {

using Mismatch = DynAny::TypeMismatch;
using Invalid = DynAny::InvalidValue;

// --- insert and get ------------------------------------------------------------------------------

/// The operations for one type: each is a mismatch for the DynAnys of all others.
struct Operations {
    CORBA::TypeCode_ptr type;
    std::function<void(DynAny*)> insert;
    std::function<bool(DynAny*)> is_inserted;
};

std::vector<Operations> scalars()
{
    const auto text = [](DynAny* d) {
        return std::string(CORBA::String_var(d->get_string()).in()) == "text";
    };
    const auto wide = [](DynAny* d) {
        return std::wstring(CORBA::WString_var(d->get_wstring()).in()) == L"wide";
    };
    const auto any = [](DynAny* d) {
        CORBA::Long value = 0;
        return (CORBA::Any_var(d->get_any()).in() >>= value) && value == 5;
    };
    const auto dynamic = [](DynAny* d) {
        return da::DynAny_var(d->get_dyn_any())->get_long() == 5;
    };
    return {
        {CORBA::_tc_boolean, [](DynAny* d) { d->insert_boolean(true); },
         [](DynAny* d) { return d->get_boolean(); }},
        {CORBA::_tc_octet, [](DynAny* d) { d->insert_octet(7); },
         [](DynAny* d) { return d->get_octet() == 7; }},
        {CORBA::_tc_char, [](DynAny* d) { d->insert_char('c'); },
         [](DynAny* d) { return d->get_char() == 'c'; }},
        {CORBA::_tc_short, [](DynAny* d) { d->insert_short(-7); },
         [](DynAny* d) { return d->get_short() == -7; }},
        {CORBA::_tc_ushort, [](DynAny* d) { d->insert_ushort(7); },
         [](DynAny* d) { return d->get_ushort() == 7; }},
        {CORBA::_tc_long, [](DynAny* d) { d->insert_long(-7); },
         [](DynAny* d) { return d->get_long() == -7; }},
        {CORBA::_tc_ulong, [](DynAny* d) { d->insert_ulong(7); },
         [](DynAny* d) { return d->get_ulong() == 7; }},
        {CORBA::_tc_longlong, [](DynAny* d) { d->insert_longlong(-7); },
         [](DynAny* d) { return d->get_longlong() == -7; }},
        {CORBA::_tc_ulonglong, [](DynAny* d) { d->insert_ulonglong(7); },
         [](DynAny* d) { return d->get_ulonglong() == 7; }},
        {CORBA::_tc_float, [](DynAny* d) { d->insert_float(0.5F); },
         [](DynAny* d) { return d->get_float() == 0.5F; }},
        {CORBA::_tc_double, [](DynAny* d) { d->insert_double(0.5); },
         [](DynAny* d) { return d->get_double() == 0.5; }},
        {CORBA::_tc_longdouble, [](DynAny* d) { d->insert_longdouble(CORBA::LongDouble(0.5)); },
         [](DynAny* d) { return d->get_longdouble() == CORBA::LongDouble(0.5); }},
        {CORBA::_tc_wchar, [](DynAny* d) { d->insert_wchar(L'w'); },
         [](DynAny* d) { return d->get_wchar() == L'w'; }},
        {CORBA::_tc_string, [](DynAny* d) { d->insert_string("text"); }, text},
        {CORBA::_tc_wstring, [](DynAny* d) { d->insert_wstring(L"wide"); }, wide},
        {CORBA::_tc_TypeCode, [](DynAny* d) { d->insert_typecode(CORBA::_tc_long); },
         [](DynAny* d) { return CORBA::TypeCode_var(d->get_typecode())->equal(CORBA::_tc_long); }},
        {CORBA::_tc_Object, [](DynAny* d) { d->insert_reference(factory()); },
         [](DynAny* d) {
             return CORBA::Object_var(d->get_reference())->_is_equivalent(factory());
         }},
        {CORBA::_tc_any, [](DynAny* d) { d->insert_any(any_of(CORBA::Long(5))); }, any},
        {CORBA::_tc_any, [](DynAny* d) { d->insert_dyn_any(dyn_of(CORBA::Long(5))); }, dynamic},
    };
}

/// Every type that has a DynAny without components, and one that has some.
std::vector<CORBA::TypeCode_ptr> types()
{
    std::vector<CORBA::TypeCode_ptr> all;
    for (const Operations& each : scalars())
        all.push_back(each.type);
    all.insert(all.end(), {CORBA::_tc_null, CORBA::_tc_void, Kinds::_tc_Color, Kinds::_tc_Money});
    return all;
}

TEST(Scalars, TakeTheirOwnTypeAndNoOther)
{
    for (const Operations& each : scalars())
        for (const CORBA::TypeCode_ptr type : types()) {
            const da::DynAny_var object = dyn(type);
            if (type == each.type) {
                each.insert(object);
                EXPECT_TRUE(each.is_inserted(object)) << type->kind();
            } else {
                EXPECT_THROW(each.insert(object), Mismatch) << each.type->kind() << type->kind();
                EXPECT_THROW((void)each.is_inserted(object), Mismatch);
            }
        }
}

TEST(Scalars, AreReachedThroughTheCurrentComponent)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Point);
    EXPECT_THROW(object->insert_double(1.5), Mismatch); // x is a short
    object->insert_short(3);
    EXPECT_EQ(object->get_short(), 3);
    EXPECT_TRUE(object->seek(1));
    object->insert_double(1.5);
    EXPECT_EQ(object->get_double(), 1.5);
    EXPECT_FALSE(object->seek(7));
    EXPECT_THROW(object->insert_double(1.5), Invalid);
    EXPECT_THROW((void)object->get_double(), Invalid);
    // A component with components of its own is no place to insert into.
    const da::DynAny_var points = dyn(Kinds::_tc_Points);
    as<da::DynSequence>(points)->set_length(1);
    EXPECT_THROW(points->insert_short(1), Mismatch);
}

TEST(Scalars, TypesBehindAliasesAreTheSame)
{
    const da::DynAny_var number = dyn(Kinds::_tc_Number);
    number->insert_long(5);
    EXPECT_EQ(number->get_long(), 5);
    const CORBA::Any_var any = number->to_any();
    EXPECT_TRUE(CORBA::TypeCode_var(any->type())->equal(Kinds::_tc_Number));
    number->from_any(any_of(CORBA::Long(6)));
    EXPECT_EQ(number->get_long(), 6);
    EXPECT_TRUE(CORBA::TypeCode_var(number->type())->equal(Kinds::_tc_Number));
    EXPECT_TRUE(number->equal(dyn_of(CORBA::Long(6))));
    EXPECT_FALSE(number->equal(dyn_of(CORBA::Short(6))));
}

TEST(Scalars, BoundsOfStrings)
{
    const da::DynAny_var nick = dyn(Kinds::_tc_Nick);
    nick->insert_string("12345");
    EXPECT_THROW(nick->insert_string("123456"), Invalid);
    EXPECT_THROW(nick->insert_string(nullptr), Invalid);
    EXPECT_STREQ(CORBA::String_var(nick->get_string()), "12345");
    const da::DynAny_var wide = dyn(Kinds::_tc_WideNick);
    wide->insert_wstring(L"12345");
    EXPECT_THROW(wide->insert_wstring(L"123456"), Invalid);
    EXPECT_EQ(std::wstring(CORBA::WString_var(wide->get_wstring())), L"12345");
    EXPECT_THROW(nick->from_any(any_of("text")), Mismatch); // its type has no bound
}

TEST(Scalars, WhatBelongsToNobodyHere)
{
    const da::DynAny_var object = dyn_of(CORBA::Long(1));
    EXPECT_THROW(object->assign(DynAny::_nil()), CORBA::BAD_PARAM);
    EXPECT_THROW((void)object->equal(DynAny::_nil()), CORBA::BAD_PARAM);
    EXPECT_THROW(object->assign(dyn_of("text")), Mismatch);
    EXPECT_THROW(object->from_any(any_of("text")), Mismatch);
    EXPECT_THROW((void)object->current_component(), Mismatch);
    CORBA::Any without_value;
    without_value.replace(CORBA::_tc_long, nullptr);
    EXPECT_THROW(object->from_any(without_value), Invalid);
    EXPECT_EQ(object->get_long(), 1);
    CORBA::Any struct_without_value;
    struct_without_value.replace(Kinds::_tc_Point, nullptr);
    EXPECT_THROW(dyn(Kinds::_tc_Point)->from_any(struct_without_value), Invalid);
}

// --- sequences of numbers ------------------------------------------------------------------------

template <typename Sequence, typename Element>
void expect_sequence(CORBA::TypeCode_ptr element, Element value,
                     void (DynAny::*insert)(const Sequence&), Sequence* (DynAny::*get)())
{
    Sequence values;
    values.length(3);
    for (CORBA::ULong i = 0; i < 3; ++i)
        values[i] = value;
    const CORBA::TypeCode_var sequence = orb()->create_sequence_tc(3, element);
    const CORBA::TypeCode_var array = orb()->create_array_tc(3, element);
    const CORBA::TypeCode_var four = orb()->create_array_tc(4, element);
    for (const CORBA::TypeCode_ptr type : {sequence.in(), array.in()}) {
        const da::DynAny_var object = dyn(type);
        (object.in()->*insert)(values);
        EXPECT_EQ(object->component_count(), 3u);
        const typename Sequence::_var_type found = (object.in()->*get)();
        ASSERT_EQ(found->length(), 3u);
        EXPECT_EQ(found[2u], value);
        const da::DynAny_var again = dyn(CORBA::Any_var(object->to_any()).in());
        EXPECT_TRUE(again->equal(object));
        (void)da::DynAny_var(object->current_component()); // one by one from now on
        EXPECT_TRUE(again->equal(object));
        const typename Sequence::_var_type same = (object.in()->*get)();
        EXPECT_EQ(same[1u], value);
    }
    // Others do not fit.
    EXPECT_THROW((dyn(four.in()).in()->*insert)(values), Invalid);
    values.length(4);
    EXPECT_THROW((dyn(sequence.in()).in()->*insert)(values), Invalid);
    const da::DynAny_var texts = dyn(Kinds::_tc_Texts);
    as<da::DynSequence>(texts)->set_length(1);
    EXPECT_THROW((texts.in()->*insert)(values), Mismatch);
    EXPECT_THROW((void)(texts.in()->*get)(), Mismatch);
    EXPECT_THROW((void)(dyn_of(CORBA::Long(1)).in()->*get)(), Mismatch);
}

TEST(Sequences, OfEveryNumber)
{
    expect_sequence(CORBA::_tc_boolean, true, &DynAny::insert_boolean_seq,
                    &DynAny::get_boolean_seq);
    expect_sequence(CORBA::_tc_octet, CORBA::Octet(200), &DynAny::insert_octet_seq,
                    &DynAny::get_octet_seq);
    expect_sequence(CORBA::_tc_char, 'c', &DynAny::insert_char_seq, &DynAny::get_char_seq);
    expect_sequence(CORBA::_tc_short, CORBA::Short(-1), &DynAny::insert_short_seq,
                    &DynAny::get_short_seq);
    expect_sequence(CORBA::_tc_ushort, CORBA::UShort(9), &DynAny::insert_ushort_seq,
                    &DynAny::get_ushort_seq);
    expect_sequence(CORBA::_tc_long, CORBA::Long(-9), &DynAny::insert_long_seq,
                    &DynAny::get_long_seq);
    expect_sequence(CORBA::_tc_ulong, CORBA::ULong(9), &DynAny::insert_ulong_seq,
                    &DynAny::get_ulong_seq);
    expect_sequence(CORBA::_tc_float, 1.5F, &DynAny::insert_float_seq, &DynAny::get_float_seq);
    expect_sequence(CORBA::_tc_double, 1.5, &DynAny::insert_double_seq, &DynAny::get_double_seq);
    expect_sequence(CORBA::_tc_longlong, CORBA::LongLong(-9), &DynAny::insert_longlong_seq,
                    &DynAny::get_longlong_seq);
    expect_sequence(CORBA::_tc_ulonglong, CORBA::ULongLong(9), &DynAny::insert_ulonglong_seq,
                    &DynAny::get_ulonglong_seq);
    expect_sequence(CORBA::_tc_longdouble, CORBA::LongDouble(1.5), &DynAny::insert_longdouble_seq,
                    &DynAny::get_longdouble_seq);
    expect_sequence(CORBA::_tc_wchar, L'w', &DynAny::insert_wchar_seq, &DynAny::get_wchar_seq);
}

TEST(Sequences, OfTheCurrentComponent)
{
    const da::DynAny_var object = dyn(Kinds::_tc_All);
    const da::DynStruct_var all = as<da::DynStruct>(object);
    CORBA::OctetSeq octets;
    octets.length(4);
    octets[3] = 9;
    while (std::string(CORBA::String_var(all->current_member_name())) != "octets")
        ASSERT_TRUE(object->next());
    object->insert_octet_seq(octets);
    const CORBA::OctetSeq_var found = object->get_octet_seq();
    EXPECT_EQ(found->length(), 4u);
    EXPECT_EQ(found[3u], 9);
    EXPECT_THROW((void)object->get_char_seq(), Mismatch);
}

TEST(Sequences, ChangeTheirLength)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Points);
    const da::DynSequence_var points = as<da::DynSequence>(object);
    EXPECT_TRUE(da::DynAny_var(object->current_component()).in() == nullptr);
    points->set_length(3); // of no position the first new one becomes the current one
    EXPECT_EQ(points->get_length(), 3u);
    const da::DynAny_var first = object->current_component();
    ASSERT_TRUE(first.in() != nullptr);
    first->insert_short(7);
    EXPECT_TRUE(object->seek(2));
    const da::DynAny_var last = object->current_component();
    points->set_length(2);
    EXPECT_THROW((void)last->type(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_TRUE(da::DynAny_var(object->current_component()).in() == nullptr);
    points->set_length(3);
    EXPECT_EQ(da::DynAny_var(object->current_component())->get_short(), 0);
    EXPECT_EQ(first->get_short(), 7);
    EXPECT_THROW(as<da::DynSequence>(dyn(Kinds::_tc_TwoPoints))->set_length(3), Invalid);
    points->set_length(0);
    EXPECT_FALSE(object->next());
}

TEST(Sequences, TakeElements)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Texts);
    const da::DynSequence_var sequence = as<da::DynSequence>(object);
    da::AnySeq anys;
    anys.length(2);
    anys[0] <<= "one";
    anys[1] <<= "two";
    sequence->set_elements(anys);
    const da::AnySeq_var found = sequence->get_elements();
    const char* text = nullptr;
    ASSERT_EQ(found->length(), 2u);
    ASSERT_TRUE(found[1u] >>= text);
    EXPECT_STREQ(text, "two");
    anys[1] <<= CORBA::Long(2);
    EXPECT_THROW(sequence->set_elements(anys), Mismatch);
    EXPECT_EQ(sequence->get_length(), 2u);

    const da::DynAnySeq_var elements = sequence->get_elements_as_dyn_any();
    ASSERT_EQ(elements->length(), 2u);
    elements[0u]->insert_string("uno");
    EXPECT_STREQ(CORBA::String_var(object->get_string()), "uno");
    const da::DynAny_var other = dyn(Kinds::_tc_Texts);
    as<da::DynSequence>(other)->set_elements_as_dyn_any(elements.in());
    EXPECT_TRUE(other->equal(object));

    const da::DynAny_var doubles = dyn(Kinds::_tc_Doubles);
    const da::DynArray_var array = as<da::DynArray>(doubles);
    EXPECT_THROW(array->set_elements(anys), Invalid); // there are three
    EXPECT_EQ(da::AnySeq_var(array->get_elements())->length(), 3u);
}

// --- enums and fixed-point numbers ---------------------------------------------------------------

TEST(Enums, ByNameAndNumber)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Color);
    const da::DynEnum_var color = as<da::DynEnum>(object);
    EXPECT_STREQ(CORBA::String_var(color->get_as_string()), "red");
    color->set_as_string("blue");
    EXPECT_EQ(color->get_as_ulong(), 2u);
    color->set_as_ulong(1);
    EXPECT_THROW(color->set_as_ulong(3), Invalid);
    EXPECT_THROW(color->set_as_string("pink"), Invalid);
    Kinds::Color value = Kinds::red;
    ASSERT_TRUE(CORBA::Any_var(object->to_any()).in() >>= value);
    EXPECT_EQ(value, Kinds::green);
}

TEST(Fixed, AsText)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Money);
    const da::DynFixed_var money = as<da::DynFixed>(object);
    EXPECT_STREQ(CORBA::String_var(money->get_value()), "0");
    EXPECT_TRUE(money->set_value("-1234.5d"));
    EXPECT_STREQ(CORBA::String_var(money->get_value()), "-1234.5");
    EXPECT_TRUE(money->set_value("1.500"));
    EXPECT_FALSE(money->set_value("1.239"));
    EXPECT_STREQ(CORBA::String_var(money->get_value()), "1.23");
    EXPECT_THROW(money->set_value("12345"), Invalid);
    for (const char* text : {"", "-", "1.2.3", "1d2", "--1", "one", " 1"})
        EXPECT_THROW(money->set_value(text), Mismatch) << text;
    EXPECT_STREQ(CORBA::String_var(money->get_value()), "1.23");
}

// --- structs and exceptions ----------------------------------------------------------------------

TEST(Structs, HaveNamedMembers)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Point);
    const da::DynStruct_var point = as<da::DynStruct>(object);
    EXPECT_STREQ(CORBA::String_var(point->current_member_name()), "x");
    EXPECT_EQ(point->current_member_kind(), CORBA::tk_short);
    EXPECT_FALSE(object->seek(3));
    EXPECT_THROW((void)point->current_member_name(), Invalid);
    EXPECT_THROW((void)point->current_member_kind(), Invalid);

    da::NameValuePairSeq_var members = point->get_members();
    ASSERT_EQ(members->length(), 3u);
    EXPECT_STREQ(members[1u].id, "y");
    members[1u].value <<= 2.5;
    members[2u].id = ""; // is any name
    point->set_members(members.in());
    EXPECT_TRUE(object->seek(1));
    EXPECT_EQ(object->get_double(), 2.5);
    members[0u].id = "z";
    EXPECT_THROW(point->set_members(members.in()), Mismatch);
    members[0u].id = "x";
    members[0u].value <<= CORBA::Long(1);
    EXPECT_THROW(point->set_members(members.in()), Mismatch);
    members->length(2);
    EXPECT_THROW(point->set_members(members.in()), Invalid);

    const da::NameDynAnyPairSeq_var nodes = point->get_members_as_dyn_any();
    nodes[0u].value->insert_short(9);
    object->rewind();
    EXPECT_EQ(object->get_short(), 9);
    const da::DynAny_var other = dyn(Kinds::_tc_Point);
    as<da::DynStruct>(other)->set_members_as_dyn_any(nodes.in());
    EXPECT_TRUE(other->equal(object));
}

TEST(Structs, ExceptionsWithoutMembers)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Empty);
    EXPECT_EQ(object->component_count(), 0u);
    EXPECT_THROW((void)object->current_component(), Mismatch);
    EXPECT_THROW((void)as<da::DynStruct>(object)->current_member_name(), Mismatch);
    EXPECT_THROW(object->insert_long(1), Mismatch);
    EXPECT_EQ(da::NameValuePairSeq_var(as<da::DynStruct>(object)->get_members())->length(), 0u);
}

// --- unions --------------------------------------------------------------------------------------

TEST(Unions, BeginWithTheirFirstMember)
{
    const da::DynAny_var choice = dyn(Kinds::_tc_Choice);
    EXPECT_EQ(choice->component_count(), 2u);
    EXPECT_STREQ(CORBA::String_var(as<da::DynUnion>(choice)->member_name()), "number");
    EXPECT_EQ(as<da::DynUnion>(choice)->discriminator_kind(), CORBA::tk_enum);
    const da::DynAny_var late = dyn(Kinds::_tc_Late); // whose first member is the default
    EXPECT_STREQ(CORBA::String_var(as<da::DynUnion>(late)->member_name()), "other");
    EXPECT_EQ(late->get_ulonglong(), 1u); // 0 is the label of another
}

TEST(Unions, FollowTheirDiscriminator)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Choice);
    const da::DynUnion_var choice = as<da::DynUnion>(object);
    const da::DynAny_var number = choice->member();
    number->insert_long(5);
    // Another label of the same member leaves it alone.
    choice->set_discriminator(dyn_of(Kinds::green));
    EXPECT_EQ(da::DynAny_var(object->current_component())->get_long(), 5);
    EXPECT_TRUE(da::DynAny_var(choice->member())->_is_equivalent(number));
    // Another member is a new one.
    choice->set_discriminator(dyn_of(Kinds::blue));
    EXPECT_EQ(choice->member_kind(), CORBA::tk_struct);
    EXPECT_THROW((void)number->get_long(), CORBA::OBJECT_NOT_EXIST);
    // So it is when the discriminator is changed by itself.
    const da::DynAny_var discriminator = choice->get_discriminator();
    as<da::DynEnum>(discriminator)->set_as_string("red");
    EXPECT_EQ(da::DynAny_var(choice->member())->get_long(), 0);
    EXPECT_THROW(choice->set_discriminator(dyn_of(CORBA::Short(1))), Mismatch);
    EXPECT_THROW(choice->set_to_default_member(), Mismatch);
    EXPECT_THROW(choice->set_to_no_active_member(), Mismatch); // every label has a member
    EXPECT_FALSE(choice->has_no_active_member());
}

TEST(Unions, DefaultsAndNoMember)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Answer);
    const da::DynUnion_var answer = as<da::DynUnion>(object);
    EXPECT_EQ(answer->member_kind(), CORBA::tk_string);
    answer->set_to_default_member();
    EXPECT_EQ(object->component_count(), 2u);
    EXPECT_EQ(answer->member_kind(), CORBA::tk_double);
    const CORBA::Short label = object->get_short(); // at position 0
    EXPECT_TRUE(label != 1 && label != -2);
    EXPECT_THROW(answer->set_to_no_active_member(), Mismatch); // there is a default

    const da::DynAny_var other = dyn(Kinds::_tc_Some);
    const da::DynUnion_var some = as<da::DynUnion>(other);
    some->set_to_no_active_member();
    EXPECT_TRUE(some->has_no_active_member());
    EXPECT_EQ(other->component_count(), 1u);
    EXPECT_THROW((void)some->member(), Invalid);
    EXPECT_THROW((void)some->member_name(), Invalid);
    EXPECT_THROW((void)some->member_kind(), Invalid);
    some->set_discriminator(dyn_of(CORBA::Any::from_char('b')));
    EXPECT_TRUE(
        da::DynAny_var(other->current_component())->_is_equivalent(da::DynAny_var(some->member())));
    some->set_discriminator(dyn_of(CORBA::Any::from_char('q')));
    EXPECT_TRUE(some->has_no_active_member());
    const da::DynAny_var either = dyn(Kinds::_tc_Either);
    EXPECT_THROW(as<da::DynUnion>(either)->set_to_no_active_member(), Mismatch);
}

// --- the factory, and what DynAnys are as objects ------------------------------------------------

TEST(Factory, RefusesTypesThatCannotBeTakenApart)
{
    using Inconsistent = da::DynAnyFactory::InconsistentTypeCode;
    const CORBA::TypeCode_var native = orb()->create_native_tc("IDL:N:1.0", "N");
    EXPECT_THROW((void)dyn(CORBA::_tc_Principal), Inconsistent);
    EXPECT_THROW((void)dyn(native.in()), Inconsistent);
    EXPECT_THROW((void)dyn(Kinds::_tc_Own), Inconsistent); // custom
    const kairos::types::NewMember member{"own", Kinds::_tc_Own};
    const CORBA::TypeCode_var around =
        kairos::types::make_struct(CORBA::tk_struct, "IDL:S:1.0", "S", {&member, 1});
    EXPECT_THROW((void)dyn(around.in()), Inconsistent);
    EXPECT_THROW((void)dyn(CORBA::TypeCode_ptr(nullptr)), CORBA::BAD_PARAM);
}

TEST(Factory, NoDynAnyOfWhatIsInAnAny)
{
    CORBA::Any inner;
    inner.replace(CORBA::_tc_Principal, nullptr);
    CORBA::Any any;
    any <<= inner;
    const da::DynAny_var object = dyn(any);
    EXPECT_THROW((void)object->get_dyn_any(), Mismatch);
    EXPECT_EQ(da::DynAnySeq_var(factory()->create_multiple_dyn_anys({}, true))->length(), 0u);
}

TEST(Factory, ManyAtOnce)
{
    da::AnySeq anys;
    anys.length(3);
    anys[0] <<= CORBA::Long(5);
    anys[1] <<= Kinds::Overflow(3, "why");
    Kinds::Doubles doubles = {1, 2, 3};
    anys[2] <<= Kinds::Doubles_forany(doubles);
    const da::DynAnySeq_var objects = factory()->create_multiple_dyn_anys(anys, true);
    ASSERT_EQ(objects->length(), 3u);
    EXPECT_EQ(objects[0u]->get_long(), 5);
    EXPECT_EQ(objects[1u]->get_ulong(), 3u);
    EXPECT_EQ(objects[2u]->get_double(), 1);
    const da::AnySeq_var again = factory()->create_multiple_anys(objects.in());
    for (CORBA::ULong i = 0; i < 3; ++i)
        EXPECT_EQ(octets(again[i]), octets(anys[i]));
    objects[0u]->destroy();
    EXPECT_EQ(objects[1u]->get_ulong(), 3u);
}

TEST(Factory, IsAnInitialReference)
{
    const CORBA::ORB::ObjectIdList_var names = orb()->list_initial_services();
    bool is_there = false;
    for (CORBA::ULong i = 0; i < names->length(); ++i)
        is_there = is_there || std::string(names[i]) == "DynAnyFactory";
    EXPECT_TRUE(is_there);
}

TEST(Objects, EndWithTheirLastReference)
{
    da::DynAny_var component;
    {
        const da::DynAny_var object = dyn(Kinds::_tc_Point);
        component = object->current_component();
        EXPECT_EQ(component->get_short(), 0);
    }
    EXPECT_THROW((void)component->get_short(), CORBA::OBJECT_NOT_EXIST);
}

TEST(Objects, AreLocal)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Point);
    EXPECT_TRUE(CORBA::is_nil(da::DynUnion_var(da::DynUnion::_narrow(object))));
    EXPECT_FALSE(CORBA::is_nil(da::DynStruct_var(da::DynStruct::_narrow(object))));
    EXPECT_THROW((void)orb()->object_to_string(object), CORBA::MARSHAL);
    // Nor does a local object travel in the Any of a struct.
    const da::DynAny_var reference = dyn(Kinds::_tc_Reference);
    reference->insert_reference(object);
    EXPECT_THROW((void)reference->to_any(), CORBA::MARSHAL);
}

} // namespace
} // namespace dynany_test
