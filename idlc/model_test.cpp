// SPDX-License-Identifier: Apache-2.0
//
// What back ends ask about the model, on models the front end made.
#include "idlc/frontend.h"

#include <gtest/gtest.h>

#include <string>

namespace kairos::idlc {
namespace {

struct Model : testing::Test {
    void compile(const std::string& text)
    {
        ASSERT_TRUE(compilation_.compile_text(text, "t.idl"))
            << compilation_.diagnostics().render(false);
    }
    template <typename T>
    const T& get(const std::string& name)
    {
        const T* out = nullptr;
        for (const Declaration* declaration : compilation_.unit().declarations)
            if (declaration->name == name && as<T>(declaration)) out = as<T>(declaration);
        EXPECT_NE(out, nullptr) << name;
        return *out;
    }
    const Options options_;
    Compilation compilation_{options_};
};

TEST_F(Model, KnowsVariableLength)
{
    compile("struct Plain { long a; double b[3]; enum Kind { x } e; fixed<3,1> f; };"
            "typedef Plain Alias; typedef Alias Many[4];"
            "struct Holder { Many m; };"
            "struct Text { string s; }; struct Deep { Text t[2]; };"
            "typedef sequence<long, 4> Bounded; typedef string<3> Name;"
            "union U switch (long) { case 1: Plain f; }; union V switch (long) { case 1: any a; };"
            "interface I {}; struct Ref { I i; }; exception Bad { Name s; };");
    EXPECT_FALSE(is_variable_length(get<Struct>("Plain")));
    EXPECT_FALSE(is_variable_length(get<Struct>("Holder")));
    EXPECT_FALSE(is_variable_length(*get<Alias>("Many").type));
    EXPECT_TRUE(is_variable_length(get<Struct>("Text")));
    EXPECT_TRUE(is_variable_length(get<Struct>("Deep")));
    EXPECT_TRUE(is_variable_length(*get<Alias>("Bounded").type));
    EXPECT_FALSE(is_variable_length(get<Union>("U")));
    EXPECT_TRUE(is_variable_length(get<Union>("V")));
    EXPECT_TRUE(is_variable_length(get<Struct>("Ref")));
    EXPECT_TRUE(is_variable_length(get<Exception>("Bad")));
}

TEST_F(Model, WalksWhatIsDeclaredWithin)
{
    compile("module M { interface I { typedef long A; }; exception X { enum B { x1 } b1; };"
            "struct S { struct C { long n; } c1; }; valuetype V { typedef long D; };"
            "union U switch (enum E { x2 }) { case x2: long n; };"
            "valuetype Box struct F { long n; }; };");
    std::string order;
    for_each(compilation_.unit().declarations,
             [&order](const Declaration& declaration) { order += declaration.name + " "; });
    EXPECT_EQ(order, "A I B X C S D V E U F Box M ");
    const Module& module = get<Module>("M");
    EXPECT_EQ(within(module).size(), 6u);
    EXPECT_TRUE(within(*within(*module.declarations[0])[0]).empty()); // a typedef
}

TEST_F(Model, KnowsRecursion)
{
    compile("struct Tree { sequence<Tree> children; }; struct Leaf { Tree t; };"
            "struct A; typedef sequence<A> As; struct B { As as[2]; }; struct A { B b; };"
            "valuetype Node { public Node next; }; valuetype Flat { public Node n; };"
            "union U switch (long) { case 1: sequence<U> more; };");
    EXPECT_TRUE(is_recursive(get<Struct>("Tree")));
    EXPECT_FALSE(is_recursive(get<Struct>("Leaf")));
    EXPECT_TRUE(is_recursive(get<Struct>("A")));
    EXPECT_TRUE(is_recursive(get<Struct>("B")));
    EXPECT_TRUE(is_recursive(get<ValueType>("Node")));
    EXPECT_FALSE(is_recursive(get<ValueType>("Flat")));
    EXPECT_TRUE(is_recursive(get<Union>("U")));
}

TEST_F(Model, KnowsWhatOwnsNoMoreThanText)
{
    compile(
        "enum Kind { x }; typedef sequence<wstring<3>> Texts; typedef Texts Table[2];"
        "struct Flat { long a; fixed<3,1> f; wchar w; };"
        "struct Text { string s; Table t; Kind k; Flat f; };"
        "struct Tree { Text t; sequence<Tree> children; };"
        "union U switch (long) { case 1: long l; }; interface I {};"
        "struct A { sequence<any> a; }; struct B { I i; }; struct C { A a; }; struct D { U u; };"
        "valuetype V {}; struct E { V v; }; struct F { CORBA::TypeCode t; };"
        "struct G { sequence<G> more; Object o; };");
    for (const char* name : {"Flat", "Text", "Tree"})
        EXPECT_TRUE(is_viewable(get<Struct>(name))) << name;
    EXPECT_TRUE(is_viewable(*get<Alias>("Table").type));
    for (const char* name : {"A", "B", "C", "D", "E", "F", "G"})
        EXPECT_FALSE(is_viewable(get<Struct>(name))) << name;
}

TEST_F(Model, OrdersAncestorsAndOperations)
{
    compile("interface A { void fa(); }; interface B : A { attribute long fb; };"
            "interface C : A { void fc(); }; interface D : B, C { void fd(); typedef long T; };");
    const Interface& d = get<Interface>("D");
    std::string names;
    for (const Interface* ancestor : d.ancestors)
        names += ancestor->name;
    EXPECT_EQ(names, "ABC");
    names.clear();
    for (const Declaration* operation : all_operations(d))
        names += operation->name;
    EXPECT_EQ(names, "fafbfcfd");
}

TEST_F(Model, CollectsStateOfBases)
{
    compile("abstract valuetype X {}; valuetype A : X { public long a; };"
            "valuetype B : truncatable A, X { private long b; public short c; };");
    std::string names;
    for (const StateMember* member : all_members(get<ValueType>("B")))
        names += member->member.name + (member->is_public ? "+" : "-");
    EXPECT_EQ(names, "a+b-c+");
    EXPECT_TRUE(get<ValueType>("B").is_truncatable);
}

TEST_F(Model, FindsAnUnusedDiscriminator)
{
    compile(
        "enum E { p, q, r };"
        "union Some switch (E) { case p: case r: long x; };"
        "union All switch (E) { case p: case q: long x; case r: long y; };"
        "union Flag switch (boolean) { case FALSE: long x; };"
        "union Number switch (long) { case 0: case 1: long x; case -1: long y; default: long z; };"
        "union Letter switch (char) { case '\\0': long x; };");
    const auto name = [this](const char* type) {
        const auto value = unlabelled_discriminator(get<Union>(type));
        return value ? to_string(*value) : std::string("none");
    };
    EXPECT_EQ(name("Some"), "q");
    EXPECT_EQ(name("All"), "none");
    EXPECT_EQ(name("Flag"), "TRUE");
    EXPECT_EQ(name("Number"), "2");
    EXPECT_EQ(name("Letter"), "'\\001'");
    EXPECT_TRUE(get<Union>("Number").has_default);
}

TEST_F(Model, KeepsAnnotations)
{
    compile(
        "@topic @id(5) struct S { @key @range(min=-1, max=2.5) long x; @text(\"a b\") long y; };"
        "enum E { @value(7) one }; interface I { @c void f(@d(x::y) in long a); };");
    const Struct& s = get<Struct>("S");
    ASSERT_EQ(s.annotations.size(), 2u);
    EXPECT_EQ(s.annotations[0].name, "topic");
    EXPECT_EQ(std::get<std::int64_t>(s.annotations[1].parameters.at(0).value), 5);
    const Annotations& x = s.members[0].annotations;
    ASSERT_EQ(x.size(), 2u);
    EXPECT_EQ(x[1].parameters[0].name, "min");
    EXPECT_EQ(std::get<std::int64_t>(x[1].parameters[0].value), -1);
    EXPECT_EQ(x[1].parameters[1].text, "2.5");
    EXPECT_EQ(std::get<std::string>(s.members[1].annotations[0].parameters[0].value), "a b");
    EXPECT_EQ(get<Enum>("E").enumerators[0]->annotations[0].name, "value");
    const auto& f = *as<Operation>(get<Interface>("I").declarations[0]);
    EXPECT_EQ(f.annotations[0].name, "c");
    EXPECT_EQ(f.parameters[0].annotations[0].parameters[0].text, "x :: y");
}

TEST_F(Model, KeepsOpeningsOfModulesApart)
{
    compile("module M { typedef long A; }; typedef M::A B; module M { typedef A C; };");
    const Declarations& all = compilation_.unit().declarations;
    ASSERT_EQ(all.size(), 3u);
    const Module& first = *as<Module>(all[0]);
    const Module& second = *as<Module>(all[2]);
    EXPECT_EQ(second.first, &first);
    ASSERT_EQ(second.declarations.size(), 1u);
    EXPECT_EQ(second.declarations[0]->parent, &second);
    EXPECT_EQ(second.declarations[0]->scoped_name, "M::C");
}

TEST_F(Model, ForwardDeclarationsLeadToTheDefinition)
{
    compile(
        "interface I; typedef I Early; struct S; interface I { void f(); }; struct S { I i; };");
    const Declarations& all = compilation_.unit().declarations;
    ASSERT_EQ(all.size(), 5u);
    const Forward* forward = as<Forward>(all[0]);
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->definition, all[3]);
    EXPECT_EQ(as<Alias>(all[1])->type->declaration, all[3]);
    EXPECT_TRUE(as<Interface>(all[3])->defined);
    EXPECT_EQ(as<Forward>(all[2])->definition, all[4]);
}

} // namespace
} // namespace kairos::idlc
