// SPDX-License-Identifier: Apache-2.0
//
// Values of every kind of type: to an Any and back, built from nothing, copied, assigned, compared.
// What a DynAny gives is what compiled code gives, octet by octet.
#include "fixture.h"

namespace dynany_test {
namespace {

Kinds::Point point(int number)
{
    Kinds::Point made;
    made.x = static_cast<CORBA::Short>(number);
    made.y = number * 1.5;
    made.z = static_cast<CORBA::Octet>(number * 3);
    return made;
}

Kinds::All all()
{
    Kinds::All made;
    made.flag = true;
    made.letter = 'k';
    made.bits = 200;
    made.s = -3;
    made.us = 65535;
    made.l = -70000;
    made.ul = 4000000000U;
    made.ll = -5000000000;
    made.ull = 18000000000000000000U;
    made.f = 1.25F;
    made.d = -2.5;
    made.ld = CORBA::LongDouble(0.125);
    made.wide = L'\u00e4';
    made.text = "a text";
    made.nick = "short";
    made.wide_text = L"wide \u03b1";
    made.wide_nick = L"w";
    made.anything <<= point(4);
    made.color = Kinds::green;
    made.price = "1234.56";
    made.number = 9;
    made.where = point(1);
    made.path.length(2);
    made.path[0] = point(2);
    made.path[1] = point(3);
    made.words.length(2);
    made.words[0] = "one";
    made.words[1] = "two";
    made.octets.length(5);
    for (CORBA::ULong i = 0; i < 5; ++i)
        made.octets[i] = static_cast<CORBA::Octet>(i * 50);
    made.bigs.length(1);
    made.bigs[0] = 1LL << 40;
    for (int i = 0; i < 3; ++i)
        made.doubles[i] = i + 0.5;
    for (int i = 0; i < 4; ++i)
        made.grid[i / 2][i % 2] = static_cast<CORBA::WChar>(L'a' + i);
    made.flags[0] = false;
    made.flags[1] = true;
    return made;
}

Kinds::Trees trees(int depth)
{
    Kinds::Trees made;
    made.length(depth == 0 ? 0 : 2);
    for (CORBA::ULong i = 0; i < made.length(); ++i) {
        made[i].label = std::to_string(depth).c_str();
        made[i].children = trees(depth - 1);
    }
    return made;
}

struct Example {
    const char* name;
    CORBA::Any any;
};

std::vector<Example> examples()
{
    std::vector<Example> all_of_them;
    const auto add = [&](const char* name, const auto& value) {
        all_of_them.push_back({name, any_of(value)});
    };
    all_of_them.push_back({"nothing", {}});
    add("boolean", CORBA::Any::from_boolean(true));
    add("char", CORBA::Any::from_char('x'));
    add("octet", CORBA::Any::from_octet(255));
    add("short", CORBA::Short(-1));
    add("unsigned short", CORBA::UShort(65535));
    add("long", CORBA::Long(-70000));
    add("unsigned long", CORBA::ULong(4000000000U));
    add("long long", CORBA::LongLong(-1));
    add("unsigned long long", ~CORBA::ULongLong(0));
    add("float", CORBA::Float(0.5F));
    add("double", CORBA::Double(-0.0));
    add("long double", CORBA::LongDouble(2.5));
    add("wchar", CORBA::Any::from_wchar(L'\u20ac'));
    add("string", "text");
    add("bounded string", CORBA::Any::from_string("abc", 5));
    add("wstring", L"wide \u20ac");
    add("any", any_of(any_of("deep")));
    add("TypeCode", Kinds::_tc_All);
    all_of_them.push_back({"object", {}});
    all_of_them.back().any <<= CORBA::Object::_nil();
    const CORBA::Object_var object = orb()->string_to_object("corbaloc::127.0.0.1:1/key");
    all_of_them.push_back({"reference", {}});
    all_of_them.back().any <<= object.in();
    add("enum", Kinds::blue);
    add("fixed", CORBA::Any::from_fixed(CORBA::Fixed("-12.5"), 6, 2));
    add("struct", point(5));
    add("struct of everything", all());
    add("recursive struct", trees(4));
    Kinds::Octets octets;
    octets.length(100);
    add("octets", octets);
    add("empty sequence", Kinds::Points());
    add("array", Kinds::Doubles_forany(all().doubles));
    add("array of arrays", Kinds::WideGrid_forany(all().grid));

    Kinds::Choice choice;
    choice.number(5);
    add("union", choice);
    choice._d(Kinds::green);
    add("union by its second label", choice);
    choice.where(point(2));
    add("union of a struct", choice);
    Kinds::Answer answer;
    answer.rest(2.5);
    add("union's default", answer);
    answer.text("text");
    add("union of a text", answer);
    Kinds::Some some;
    some._d('q');
    add("union of no member", some);
    Kinds::Either either;
    either.no(3);
    add("union of a boolean", either);
    Kinds::Late late;
    late.other("x");
    add("union whose default is first", late);

    add("empty exception", Kinds::Empty());
    add("exception", Kinds::Overflow(7, "why"));
    add("system exception", CORBA::BAD_PARAM(3, CORBA::COMPLETED_YES));
    Kinds::Reference reference;
    reference.type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    add("nil in a struct", reference);
    return all_of_them;
}

class Values : public testing::TestWithParam<std::size_t> {
  protected:
    const Example example = examples()[GetParam()];
};

TEST_P(Values, ComeBackAsTheyWere)
{
    const da::DynAny_var object = dyn(example.any);
    EXPECT_EQ(octets(object), octets(example.any));
    const CORBA::TypeCode_var type = object->type();
    const CORBA::TypeCode_var wanted = example.any.type();
    EXPECT_TRUE(type->equal(wanted));
    object->destroy();
}

TEST_P(Values, ComeBackAsTheyWereReceived)
{
    const da::DynAny_var object = dyn(received(example.any));
    EXPECT_EQ(octets(object), octets(example.any));
    object->destroy();
}

TEST_P(Values, AreBuiltFromNothing)
{
    const da::DynAny_var object = dyn(received(example.any));
    const CORBA::TypeCode_var type = example.any.type();
    const da::DynAny_var built = dyn(type.in());
    rebuild(object, built);
    EXPECT_EQ(octets(built), octets(example.any));
    EXPECT_TRUE(built->equal(object));
    built->destroy();
    object->destroy();
}

TEST_P(Values, AreCopiedAssignedAndCompared)
{
    const da::DynAny_var object = dyn(example.any);
    const da::DynAny_var copy = object->copy();
    object->destroy();
    EXPECT_EQ(octets(copy), octets(example.any));
    const CORBA::TypeCode_var type = example.any.type();
    const da::DynAny_var other = dyn(type.in());
    const da::DynAny_var unchanged = dyn(type.in());
    other->assign(copy);
    EXPECT_TRUE(other->equal(copy));
    EXPECT_EQ(octets(other), octets(example.any));
    EXPECT_EQ(other->equal(unchanged), octets(other) == octets(unchanged));
    other->from_any(CORBA::Any_var(unchanged->to_any()).in());
    EXPECT_TRUE(other->equal(unchanged));
}

TEST_P(Values, AreDestroyedWithTheirComponents)
{
    const da::DynAny_var object = dyn(example.any);
    da::DynAny_var component;
    if (object->component_count() != 0) {
        component = object->current_component();
        component->destroy(); // does nothing
        EXPECT_NO_THROW((void)component->component_count());
    }
    object->destroy();
    EXPECT_THROW(object->destroy(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)object->to_any(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)object->type(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)object->component_count(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW(object->insert_short(1), CORBA::OBJECT_NOT_EXIST);
    if (component.in() != nullptr) {
        EXPECT_THROW((void)component->type(), CORBA::OBJECT_NOT_EXIST);
    }
}

TEST_P(Values, WalkThroughTheirComponents)
{
    const da::DynAny_var object = dyn(example.any);
    const CORBA::ULong count = object->component_count();
    EXPECT_FALSE(object->seek(-1));
    EXPECT_FALSE(object->seek(static_cast<CORBA::Long>(count)));
    if (count == 0) {
        EXPECT_FALSE(object->next());
        return;
    }
    EXPECT_TRUE(da::DynAny_var(object->current_component()).in() == nullptr);
    object->rewind();
    for (CORBA::ULong i = 1; i < count; ++i)
        EXPECT_TRUE(object->next());
    const da::DynAny_var last = object->current_component();
    EXPECT_FALSE(object->next());
    EXPECT_TRUE(da::DynAny_var(object->current_component()).in() == nullptr);
    EXPECT_TRUE(object->seek(static_cast<CORBA::Long>(count - 1)));
    EXPECT_TRUE(da::DynAny_var(object->current_component())->_is_equivalent(last));
}

INSTANTIATE_TEST_SUITE_P(Every, Values, testing::Range<std::size_t>(0, examples().size()),
                         [](const auto& index) {
                             std::string name = examples()[index.param].name;
                             for (char& character : name)
                                 if (std::isalnum(character) == 0) character = '_';
                             return name;
                         });

} // namespace
} // namespace dynany_test
