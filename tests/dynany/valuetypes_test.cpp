// SPDX-License-Identifier: Apache-2.0
//
// DynValue and DynValueBox: the octets of compiled valuetypes, in chunks or not; null; what is
// shared or holds itself stays so; what is truncated.
#include "fixture.h"

#include <kairos/corba/valuetypes.h>

namespace dynany_test {
namespace {

using Mismatch = DynAny::TypeMismatch;
using Invalid = DynAny::InvalidValue;

template <typename T>
class FactoryOf : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new T(); }
};

class ValueTypes : public testing::Test {
  protected:
    static void SetUpTestSuite()
    {
        add<OBV_Kinds::Node>(Kinds::_tc_Node);
        add<OBV_Kinds::Base>(Kinds::_tc_Base);
        add<OBV_Kinds::Derived>(Kinds::_tc_Derived);
    }
    template <typename T>
    static void add(CORBA::TypeCode_ptr type)
    {
        const CORBA::ValueFactoryBase_var made = new FactoryOf<T>;
        const CORBA::ValueFactoryBase_var old =
            orb()->register_value_factory(type->id(), made.in());
    }

    static kairos::values::Var<Kinds::Node> node(const char* name, Kinds::Node* left = nullptr,
                                                 Kinds::Node* right = nullptr)
    {
        return new OBV_Kinds::Node(name, 7, left, right);
    }
    static Kinds::Pair pair()
    {
        Kinds::Pair made;
        const auto shared = node("shared");
        made.first = node("first", shared.in(), shared.in());
        made.second = shared;
        made.letters = new Kinds::Letters("letters");
        const kairos::values::Var<Kinds::Base> base = new OBV_Kinds::Base(4);
        made.derived = new OBV_Kinds::Derived(5, "text", base.in());
        made.box = new Kinds::Boxed(Kinds::Point{1, 2.5, 3});
        return made;
    }
};

TEST_F(ValueTypes, ComeBackAsTheyWere)
{
    const CORBA::Any any = any_of(pair());
    const da::DynAny_var object = dyn(any);
    EXPECT_EQ(octets(object), octets(any));
    const da::DynAny_var again = dyn(received(any));
    EXPECT_EQ(octets(again), octets(any));
    EXPECT_TRUE(again->equal(object));
    EXPECT_EQ(octets(da::DynAny_var(object->copy())), octets(any));
}

TEST_F(ValueTypes, AreBuiltFromNothing)
{
    // Nothing in it is there twice: what is built is a tree.
    Kinds::Pair made = pair();
    made.second = node("another");
    made.first->right(node("third").in());
    const CORBA::Any any = any_of(made);
    const da::DynAny_var object = dyn(any);
    const da::DynAny_var built = dyn(Kinds::_tc_Pair);
    rebuild(object, built);
    EXPECT_EQ(octets(built), octets(any));
}

TEST_F(ValueTypes, AloneSayWhichTheyAre)
{
    CORBA::Any any;
    any <<= pair().derived.in();
    const da::DynAny_var object = dyn(any);
    EXPECT_EQ(octets(object), octets(any));
    const CORBA::Any_var back = object->to_any();
    Kinds::Derived* derived = nullptr;
    ASSERT_TRUE(back.in() >>= derived);
    EXPECT_STREQ(derived->text(), "text");
    EXPECT_EQ(derived->number(), 5);
    EXPECT_EQ(derived->other()->number(), 4);
}

TEST_F(ValueTypes, WhatIsSharedStaysSo)
{
    const da::DynAny_var object = dyn(any_of(pair()));
    const da::DynStruct_var whole = as<da::DynStruct>(object);
    const da::NameDynAnyPairSeq_var members = whole->get_members_as_dyn_any();
    members[1u].value->insert_string("renamed"); // the name of `second`
    // It is `left` and `right` of `first`, too.
    const CORBA::Any_var back = object->to_any();
    const Kinds::Pair* made = nullptr;
    ASSERT_TRUE(back.in() >>= made);
    EXPECT_STREQ(made->second->name(), "renamed");
    EXPECT_EQ(made->first->left(), made->second.in());
    EXPECT_EQ(made->first->right(), made->second.in());
}

TEST_F(ValueTypes, WhatHoldsItselfStaysSo)
{
    const auto ring = node("ring");
    ring->left(ring.in());
    CORBA::Any any;
    any <<= ring.in();
    const da::DynAny_var object = dyn(any);
    EXPECT_EQ(octets(object), octets(any));
    EXPECT_TRUE(object->seek(2));
    const da::DynAny_var left = object->current_component();
    left->insert_string("renamed");
    object->rewind();
    EXPECT_STREQ(CORBA::String_var(object->get_string()), "renamed");
    const da::DynAny_var copy = object->copy();
    EXPECT_TRUE(copy->equal(object));
    CORBA::ValueBase* value = copy->get_val();
    auto* made = dynamic_cast<Kinds::Node*>(value);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->left(), made);
    EXPECT_STREQ(made->name(), "renamed");
    made->left(nullptr);
    CORBA::remove_ref(value);
    ring->left(nullptr);
    // The ring is no more once its owner has gone.
    object->destroy();
    EXPECT_THROW((void)left->type(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(ValueTypes, SeveralAnysShareTheirValues)
{
    const auto shared = node("shared");
    da::AnySeq anys;
    anys.length(2);
    anys[0] <<= shared.in();
    anys[1] <<= node("other", shared.in()).in();
    const da::DynAnySeq_var objects = factory()->create_multiple_dyn_anys(anys, true);
    objects[0u]->insert_string("renamed");
    EXPECT_TRUE(objects[1u]->seek(2));
    const da::DynAny_var left = objects[1u]->current_component();
    EXPECT_STREQ(CORBA::String_var(left->get_string()), "renamed");
    objects[0u]->destroy();
    EXPECT_STREQ(CORBA::String_var(left->get_string()), "renamed");
}

TEST_F(ValueTypes, NullAndNot)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Node);
    const da::DynValue_var value = as<da::DynValue>(object);
    EXPECT_TRUE(value->is_null());
    EXPECT_EQ(object->component_count(), 0u);
    EXPECT_TRUE(da::DynAny_var(object->current_component()).in() == nullptr);
    EXPECT_THROW((void)value->get_members(), Invalid);
    EXPECT_THROW((void)value->get_members_as_dyn_any(), Invalid);
    EXPECT_THROW((void)value->current_member_name(), Invalid);
    EXPECT_EQ(object->get_val(), nullptr);
    value->set_to_value();
    EXPECT_FALSE(value->is_null());
    EXPECT_EQ(object->component_count(), 4u);
    EXPECT_STREQ(CORBA::String_var(value->current_member_name()), "name");
    EXPECT_EQ(value->current_member_kind(), CORBA::tk_string);
    const da::DynAny_var name = object->current_component();
    name->insert_string("kept");
    value->set_to_value(); // changes nothing
    EXPECT_STREQ(CORBA::String_var(name->get_string()), "kept");
    const da::NameValuePairSeq_var members = value->get_members();
    value->set_to_null();
    EXPECT_THROW((void)name->type(), CORBA::OBJECT_NOT_EXIST);
    value->set_members(members.in()); // makes it a value again
    EXPECT_STREQ(CORBA::String_var(object->get_string()), "kept");
    da::NameValuePairSeq one;
    one.length(1);
    EXPECT_THROW(value->set_members(one), Invalid);
    EXPECT_FALSE(value->is_null());
}

TEST_F(ValueTypes, InsertedAsValues)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Node);
    object->insert_val(node("inserted").in());
    EXPECT_STREQ(CORBA::String_var(object->get_string()), "inserted");
    const kairos::values::Var<Kinds::Base> base = new OBV_Kinds::Base(4);
    EXPECT_THROW(object->insert_val(base.in()), Mismatch);
    object->insert_val(nullptr);
    EXPECT_TRUE(as<da::DynValue>(object)->is_null());
    EXPECT_THROW(dyn_of(CORBA::Long(1))->insert_val(nullptr), Mismatch);
    EXPECT_THROW((void)dyn_of(CORBA::Long(1))->get_val(), Mismatch);
}

TEST_F(ValueTypes, Boxes)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Letters);
    const da::DynValueBox_var box = as<da::DynValueBox>(object);
    EXPECT_TRUE(box->is_null());
    EXPECT_THROW((void)box->get_boxed_value(), Invalid);
    EXPECT_THROW((void)box->get_boxed_value_as_dyn_any(), Invalid);
    EXPECT_THROW(box->set_boxed_value(any_of(CORBA::Long(1))), Mismatch);
    box->set_boxed_value(any_of("boxed"));
    const char* text = nullptr;
    const CORBA::Any_var boxed = box->get_boxed_value();
    ASSERT_TRUE(boxed.in() >>= text);
    EXPECT_STREQ(text, "boxed");
    box->set_boxed_value_as_dyn_any(dyn_of("again"));
    const da::DynAny_var inside = box->get_boxed_value_as_dyn_any();
    EXPECT_STREQ(CORBA::String_var(inside->get_string()), "again");
    const kairos::values::Var<Kinds::Letters> letters = new Kinds::Letters("again");
    CORBA::Any any;
    any <<= letters.in();
    EXPECT_EQ(octets(object), octets(any));
}

TEST_F(ValueTypes, Truncation)
{
    // A derived value under its base's TypeCode.
    const Kinds::Pair made = pair();
    CORBA::Any any;
    kairos::values::insert_value(any, Kinds::_tc_Base, made.derived.in());
    const da::DynAny_var object = dyn(any);
    EXPECT_EQ(object->component_count(), 1u);
    EXPECT_EQ(object->get_long(), 5);
    EXPECT_THROW((void)factory()->create_dyn_any_without_truncation(any), da::MustTruncate);
    da::AnySeq anys;
    anys.length(1);
    anys[0] = any;
    EXPECT_THROW((void)factory()->create_multiple_dyn_anys(anys, false), da::MustTruncate);
    EXPECT_EQ(da::DynAnySeq_var(factory()->create_multiple_dyn_anys(anys, true))->length(), 1u);
    const da::DynAny_var whole = factory()->create_dyn_any_without_truncation(any_of(made));
    EXPECT_EQ(whole->component_count(), 5u);
    // One that its base does not allow to be truncated is of no use there.
    const kairos::values::Var<Kinds::Base> rigid = new OBV_Kinds::Rigid(1, 2);
    kairos::values::insert_value(any, Kinds::_tc_Base, rigid.in());
    EXPECT_THROW((void)dyn(any), da::DynAnyFactory::InconsistentTypeCode);
    EXPECT_THROW(object->from_any(any), Invalid);
}

TEST_F(ValueTypes, AbstractInterfacesHoldWhatTheyHold)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Held);
    EXPECT_EQ(object->get_abstract(), nullptr);
    const da::DynAny_var again = dyn(CORBA::Any_var(object->to_any()).in());
    EXPECT_TRUE(again->equal(object));
    EXPECT_EQ(octets(object), octets(any_of(Kinds::Held())));
}

} // namespace
} // namespace dynany_test
