// SPDX-License-Identifier: Apache-2.0
//
// The rules of an Interface Repository's model, and rows of it.
#include "kairos/repository/model.h"
#include "kairos/repository/row.h"

#include <gtest/gtest.h>
#include <utility>

namespace kairos::repository {
namespace {

constexpr Key void_ = first_primitive + 1;
constexpr Key long_ = first_primitive + 3;
constexpr Key double_ = first_primitive + 7;

Definition named(Kind kind, const std::string& name, Key container = root)
{
    Definition definition;
    definition.kind = kind;
    definition.container = container;
    definition.name = name;
    definition.id = "IDL:" + std::to_string(container) + "/" + name + ":1.0";
    definition.version = "1.0";
    return definition;
}

struct ModelTest : testing::Test {
    Key make(Definition definition)
    {
        Key created = nothing;
        EXPECT_EQ(model.create(std::move(definition), created), Refusal::none);
        return created;
    }
    Refusal refusal_of(Definition definition)
    {
        const std::size_t before = model.size();
        Key created = nothing;
        const Refusal refusal = model.create(std::move(definition), created);
        if (refusal != Refusal::none) {
            EXPECT_EQ(model.size(), before);
        }
        return refusal;
    }
    Key operation(const std::string& name, Key interface, Key result = void_)
    {
        Definition made = named(Kind::operation, name, interface);
        made.type = result;
        return make(made);
    }
    Key interface(const std::string& name, std::vector<Key> bases = {})
    {
        Definition made = named(Kind::interface, name);
        made.bases = std::move(bases);
        return make(made);
    }
    Key structure(const std::string& name, std::vector<Member> members = {})
    {
        Definition made = named(Kind::struct_, name);
        made.members = std::move(members);
        return make(made);
    }
    Key sequence_of(Key type)
    {
        Definition made;
        made.kind = Kind::sequence;
        made.type = type;
        return make(made);
    }

    Model model;
};

TEST_F(ModelTest, IdsAndNamesAreUnique)
{
    const Key module = make(named(Kind::module, "M"));
    Definition twice = named(Kind::module, "Other");
    twice.id = model.find(module)->id;
    EXPECT_EQ(refusal_of(twice), Refusal::id_in_use);
    Definition same_name = named(Kind::module, "m"); // IDL's names differ by more than case
    EXPECT_EQ(refusal_of(same_name), Refusal::name_in_use);
    EXPECT_EQ(refusal_of(named(Kind::module, "1x")), Refusal::invalid_name);
    Definition no_id = named(Kind::module, "X");
    no_id.id = "no id";
    EXPECT_EQ(refusal_of(no_id), Refusal::invalid_id);
}

TEST_F(ModelTest, ContainersContainWhatTheSpecificationSays)
{
    const Key own = interface("I");
    EXPECT_EQ(refusal_of(named(Kind::module, "M", own)), Refusal::not_a_container);
    EXPECT_EQ(refusal_of(named(Kind::operation, "f")), Refusal::wrong_reference); // no result
    Definition operation = named(Kind::operation, "f");
    operation.type = void_;
    EXPECT_EQ(refusal_of(operation), Refusal::not_a_container);
    EXPECT_EQ(refusal_of(named(Kind::struct_, "S", nothing)), Refusal::not_a_container);
    const Key type = structure("S", {{.name = "a", .type = long_}});
    EXPECT_EQ(refusal_of(named(Kind::enum_, "E", type)), Refusal::none);
    EXPECT_EQ(refusal_of(named(Kind::exception, "X", type)), Refusal::not_a_container);
}

TEST_F(ModelTest, InheritedNamesClash)
{
    const Key base = interface("Base");
    operation("f", base);
    const Key other = interface("Other");
    operation("f", other);
    Definition both = named(Kind::interface, "Both");
    both.bases = {base, other};
    EXPECT_EQ(refusal_of(both), Refusal::inherited_clash);
    const Key derived = interface("Derived", {base});
    Definition again = named(Kind::operation, "f", derived);
    again.type = void_;
    EXPECT_EQ(refusal_of(again), Refusal::inherited_clash);
    Definition changed = *model.find(derived);
    changed.bases = {base, other};
    EXPECT_EQ(model.change(changed), Refusal::inherited_clash);
    EXPECT_EQ(refusal_of(named(Kind::enum_, "E", derived)), Refusal::none);
}

TEST_F(ModelTest, OnewaysGiveNothingBack)
{
    const Key own = interface("I");
    Definition oneway = named(Kind::operation, "f", own);
    oneway.is_oneway = true;
    oneway.type = long_;
    EXPECT_EQ(refusal_of(oneway), Refusal::not_oneway);
    oneway.type = void_;
    oneway.parameters = {{.name = "a", .type = long_, .direction = Direction::out}};
    EXPECT_EQ(refusal_of(oneway), Refusal::not_oneway);
    oneway.parameters.front().direction = Direction::in;
    EXPECT_EQ(refusal_of(oneway), Refusal::none);
}

TEST_F(ModelTest, MembersAndLabelsAreUnique)
{
    Definition twice = named(Kind::struct_, "S");
    twice.members = {{.name = "a", .type = long_}, {.name = "A", .type = long_}};
    EXPECT_EQ(refusal_of(twice), Refusal::invalid_member);
    Definition choice = named(Kind::union_, "U");
    choice.type = double_;
    EXPECT_EQ(refusal_of(choice), Refusal::no_discriminator);
    choice.type = long_;
    choice.members = {{.name = "a", .type = long_, .label = 1},
                      {.name = "b", .type = long_, .label = 1}};
    EXPECT_EQ(refusal_of(choice), Refusal::duplicate_label);
    choice.members[1] = {.name = "a", .type = long_, .label = 2}; // two labels of one member
    choice.members.push_back({.name = "c", .type = double_, .is_default = true});
    EXPECT_EQ(refusal_of(choice), Refusal::none);
}

TEST_F(ModelTest, TypesAreNotPartOfThemselves)
{
    const Key tree = structure("Tree");
    Definition changed = *model.find(tree);
    changed.members = {{.name = "value", .type = tree}};
    EXPECT_EQ(model.change(changed), Refusal::contains_itself);
    changed.members = {{.name = "children", .type = sequence_of(tree)}};
    EXPECT_EQ(model.change(changed), Refusal::none);
    Definition alias = named(Kind::alias, "A");
    alias.type = long_;
    const Key made = make(alias);
    const Key sequence = sequence_of(made);
    alias = *model.find(made);
    alias.type = sequence; // of itself, and no TypeCode can say that
    EXPECT_EQ(model.change(alias), Refusal::contains_itself);
    const Key own = interface("I");
    const Key derived = interface("D", {own});
    Definition base = *model.find(own);
    base.bases = {derived};
    EXPECT_EQ(model.change(base), Refusal::contains_itself);
}

TEST_F(ModelTest, WhatIsUsedCannotBeDestroyed)
{
    const Key type = structure("S", {{.name = "a", .type = long_}});
    const Key module = make(named(Kind::module, "M"));
    Definition alias = named(Kind::alias, "A", module);
    alias.type = sequence_of(type);
    const Key made = make(alias);
    EXPECT_EQ(model.destroy(type), Refusal::in_use);
    EXPECT_EQ(model.destroy(alias.type), Refusal::in_use);
    EXPECT_EQ(model.destroy(root), Refusal::indestructible);
    EXPECT_EQ(model.destroy(long_), Refusal::indestructible);
    EXPECT_EQ(model.destroy(module), Refusal::none); // with what is in it
    EXPECT_EQ(model.find(made), nullptr);
    EXPECT_EQ(model.find(alias.type), nullptr); // nothing else was made of it
    EXPECT_EQ(model.destroy(type), Refusal::none);
    EXPECT_EQ(model.destroy(type), Refusal::not_there);
    EXPECT_EQ(model.size(), 1 + primitives);
}

TEST_F(ModelTest, TypesWithinThemselvesAreDestroyed)
{
    const Key tree = structure("Tree");
    Definition changed = *model.find(tree);
    changed.members = {{.name = "children", .type = sequence_of(tree)}};
    ASSERT_EQ(model.change(changed), Refusal::none);
    EXPECT_EQ(model.destroy(tree), Refusal::none);
    EXPECT_EQ(model.size(), 1 + primitives);
}

TEST_F(ModelTest, MovesBetweenContainers)
{
    const Key from = make(named(Kind::module, "From"));
    const Key to = make(named(Kind::module, "To"));
    const Key type = make(named(Kind::enum_, "E", from));
    make(named(Kind::native, "Taken", to));
    EXPECT_EQ(model.move(type, to, "taken", "1.0"), Refusal::name_in_use);
    EXPECT_EQ(model.move(from, from, "From", "1.0"), Refusal::not_a_container);
    EXPECT_EQ(model.move(type, to, "Moved", "2.0"), Refusal::none);
    EXPECT_EQ(model.absolute_name(type), "::To::Moved");
    EXPECT_EQ(model.find(type)->version, "2.0");
    EXPECT_EQ(model.find_name(root, "To::Moved"), type);
    EXPECT_EQ(model.find_name(from, "E"), nothing);
    EXPECT_EQ(model.find_name(from, "::To::Moved"), type);
}

TEST_F(ModelTest, LooksNamesUp)
{
    const Key base = interface("Base");
    const Key f = operation("f", base);
    const Key derived = interface("Derived", {base});
    EXPECT_EQ(model.find_name(derived, "f"), f);
    EXPECT_EQ(model.find_name(root, "Derived::f"), f);
    EXPECT_EQ(model.contents(derived, Kind::all, false).size(), 0U);
    EXPECT_EQ(model.contents(derived, Kind::operation, true), std::vector<Key>{f});
    EXPECT_EQ(model.find_all(root, "f", 1, Kind::all, true).size(), 0U);
    EXPECT_EQ(model.find_all(root, "f", 2, Kind::all, true), std::vector<Key>{f});
    EXPECT_EQ(model.find_all(root, "f", -1, Kind::operation, false), std::vector<Key>{f});
    EXPECT_TRUE(model.is_a(derived, model.find(base)->id));
    EXPECT_TRUE(model.is_a(derived, "IDL:omg.org/CORBA/Object:1.0"));
    EXPECT_FALSE(model.is_a(base, model.find(derived)->id));
}

/// Each twice the one before: a TypeCode of them all would fill the memory.
TEST_F(ModelTest, TypeCodesDoNotGrowWithoutBounds)
{
    Key last = structure("S", {{.name = "a", .type = long_}});
    Refusal refusal = Refusal::none;
    int made = 0;
    for (; refusal == Refusal::none && made < 100; ++made) {
        Definition next = named(Kind::struct_, "S" + std::to_string(made));
        next.members = {{.name = "a", .type = last}, {.name = "b", .type = last}};
        refusal = model.create(next, last);
    }
    EXPECT_EQ(refusal, Refusal::too_much);
    EXPECT_LT(made, 20);
    // Nor by what is in the middle of others.
    Definition first = *model.find(model.find_name(root, "S"));
    for (int i = 0; i < 1000; ++i)
        first.members.push_back({.name = "m" + std::to_string(i), .type = long_});
    EXPECT_EQ(model.change(first), Refusal::too_much);
}

TEST_F(ModelTest, RowsAreTheDefinitionsAgain)
{
    const Key base = interface("Base");
    Definition operation = named(Kind::operation, "f", base);
    operation.type = long_;
    operation.parameters = {{.name = "a", .type = double_, .direction = Direction::inout}};
    operation.contexts = {"c*"};
    make(operation);
    Definition value = named(Kind::value, "V");
    value.initializers = {{.name = "make", .members = {{.name = "a", .type = long_}}}};
    value.supported = {base};
    make(value);
    Definition choice = named(Kind::union_, "U");
    choice.type = long_;
    choice.members = {{.name = "a", .type = sequence_of(long_), .label = -1}};
    make(choice);
    std::vector<Definition> kept;
    for (const Key key : model.take_changes().written) {
        const auto again = decode(encode(*model.find(key)));
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, *model.find(key));
        kept.push_back(*again);
    }
    Model restored;
    ASSERT_TRUE(restored.restore(kept, model.next_key()));
    EXPECT_EQ(restored.size(), model.size());
    for (const Definition& each : kept)
        EXPECT_EQ(*restored.find(each.key), each);
    // What breaks a rule is not restored.
    kept.back().type = double_;
    kept.back().kind = Kind::union_;
    Model refused;
    EXPECT_FALSE(refused.restore(kept, model.next_key()));
    EXPECT_FALSE(decode(encode(kept.front()) + "x"));
    EXPECT_FALSE(decode(""));
}

} // namespace
} // namespace kairos::repository
