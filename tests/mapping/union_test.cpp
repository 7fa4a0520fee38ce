// SPDX-License-Identifier: Apache-2.0
//
// The union classes that kairos-idl generates from union.idl: accessors, labels and ownership as
// the C++ mapping 1.3, 1.12 has them, and their CDR, byte by byte and in both byte orders.
#include "union.h"

#include "tests/mapping/octets.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace Unions;

/// What the value is on the wire in both byte orders, and that it comes back from both.
template <typename T>
void expect_wire(const T& value, const Octets& big_endian, const Octets& little_endian)
{
    static_assert(kairos::native_little_endian);
    EXPECT_EQ(encoded(value), little_endian);
    for (const bool little : {false, true}) {
        T copy;
        ASSERT_TRUE(decode(little ? little_endian : big_endian, copy, little));
        EXPECT_EQ(copy._d(), value._d());
        EXPECT_EQ(encoded(copy), little_endian);
    }
}

/// A reference without a server whose owners can be counted.
class Counted : public Thing, public CORBA::LocalObject {
  public:
    explicit Counted(int& alive) : alive_(alive) { ++alive_; }
    ~Counted() override { --alive_; }
    bool _kairos_supports(std::string_view id) const override
    {
        return Thing::_kairos_supports(id);
    }

  private:
    int& alive_;
};

// --- Discriminators ----------------------------------------------------------------------------

TEST(Trap16_Unions, DiscriminatorsOfEveryTypeOnTheWire)
{
    ByBoolean yes;
    yes.yes(1);
    expect_wire(yes, {1, 0, 0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0});
    ByChar letter;
    letter.letter(258);
    expect_wire(letter, {'a', 0, 1, 2}, {'a', 0, 2, 1});
    ByInt8 low;
    low.low('x');
    expect_wire(low, {0x80, 'x'}, {0x80, 'x'});
    ByUint8 high;
    high.high(1);
    expect_wire(high, {255, 0, 0, 1}, {255, 0, 1, 0});
    ByOctet octet;
    octet.one(1);
    expect_wire(octet, {1, 0, 0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0});
    ByShort shorts;
    shorts.low(1);
    expect_wire(shorts, {0x80, 0, 0, 0, 0, 0, 0, 1}, {0, 0x80, 0, 0, 1, 0, 0, 0});
    ByUnsignedShort unsigned_short;
    unsigned_short.high(1);
    expect_wire(unsigned_short, {255, 255, 0, 0, 0x3F, 0x80, 0, 0},
                {255, 255, 0, 0, 0, 0, 0x80, 0x3F});
    ByLong longs;
    longs.low(7);
    expect_wire(longs, {0x80, 0, 0, 0, 7}, {0, 0, 0, 0x80, 7});
    ByUnsignedLong unsigned_long;
    unsigned_long.high(7);
    expect_wire(unsigned_long, {255, 255, 255, 255, 7}, {255, 255, 255, 255, 7});
    ByLongLong long_long;
    long_long.high("x");
    expect_wire(long_long, {0x7F, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 2, 'x', 0},
                {255, 255, 255, 255, 255, 255, 255, 0x7F, 2, 0, 0, 0, 'x', 0});
    ByUnsignedLongLong unsigned_long_long;
    unsigned_long_long.high("");
    expect_wire(unsigned_long_long, {255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 1, 0},
                {255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0});
    ByColor color;
    color.r(1);
    expect_wire(color, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 1, 0, 0, 0});
    ByInner inner;
    inner.other(ByInner::third);
    EXPECT_EQ(inner._d(), ByInner::second); // the first without a case
    expect_wire(inner, {0, 0, 0, 1, 0, 0, 0, 2}, {1, 0, 0, 0, 2, 0, 0, 0});
}

TEST(Trap16_Unions, WideCharactersSelectInTheFormOfTheConnection)
{
    ByWideChar value;
    EXPECT_THROW((void)value.sign(), CORBA::BAD_PARAM); // no member at first
    value.sign(7);
    EXPECT_EQ(value._d(), L'a');
    expect_wire(value, {2, 0, 'a', 7}, {2, 0, 'a', 7}); // UTF-16 in GIOP 1.2's form
    value._d(L'\u20ac');
    expect_wire(value, {2, 0x20, 0xAC, 7}, {2, 0x20, 0xAC, 7});
    EXPECT_THROW(value._d(L'b'), CORBA::BAD_PARAM);
    value._default();
    EXPECT_THROW(value._d(L'a'), CORBA::BAD_PARAM);
    value.last(L"text");
    EXPECT_EQ(std::wstring_view(value.last()), L"text");
    EXPECT_EQ(kairos::mapping::Marshal<ByWideChar>::wire_bytes_min, 2u);
}

TEST(Trap16_Unions, LongDoubleMemberIsAligned)
{
    ByLong value;
    value.high(1.0L);
    expect_wire(
        value,
        {0x7F, 255, 255, 255, 0, 0, 0, 0, 0x3F, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        {255, 255, 255, 0x7F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0x3F});
}

TEST(Trap16_Unions, EveryLabelOfACaseSelectsItAndIsKept)
{
    ByShort value;
    value.middle("text");
    EXPECT_EQ(value._d(), -1); // the first of its labels
    value._d(1);
    EXPECT_EQ(value._d(), 1);
    EXPECT_STREQ(value.middle(), "text");
    ByShort copy(value);
    EXPECT_EQ(copy._d(), 1);
    ByShort received;
    ASSERT_TRUE(decode(encoded(value), received));
    EXPECT_EQ(received._d(), 1);
    EXPECT_STREQ(received.middle(), "text");
    value.middle("again"); // a modifier sets the first label again
    EXPECT_EQ(value._d(), -1);
}

TEST(Trap16_Unions, DiscriminatorChangesOnlyWithinAMember)
{
    ByShort value;
    value.middle("text");
    EXPECT_THROW(value._d(-32768), CORBA::BAD_PARAM);
    EXPECT_THROW(value._d(5), CORBA::BAD_PARAM);
    EXPECT_EQ(value._d(), -1);
    EXPECT_STREQ(value.middle(), "text");
    value._default();
    EXPECT_THROW(value._d(0), CORBA::BAD_PARAM);
    value._d(17); // still no member
    EXPECT_EQ(value._d(), 17);
    EXPECT_THROW((void)value.middle(), CORBA::BAD_PARAM);

    ByUnsignedLong other;
    other.rest(1);
    other._d(99);
    EXPECT_EQ(other.rest(), 1);
    EXPECT_THROW(other._d(4294967295), CORBA::BAD_PARAM);
}

TEST(Trap16_Unions, ImplicitDefaultIsAUnionWithoutMember)
{
    static_assert(requires(ByOneBoolean v, ByShort w, ByColor x) {
        v._default();
        w._default();
        x._default();
    });
    const ByColor none;
    EXPECT_EQ(none._d(), blue);
    EXPECT_THROW((void)none.r(), CORBA::BAD_PARAM);
    expect_wire(none, {0, 0, 0, 2}, {2, 0, 0, 0});
    ByOneBoolean boolean;
    boolean.yes(4);
    boolean._default();
    EXPECT_EQ(boolean._d(), false);
    expect_wire(boolean, {0}, {0});
    ByLongLong number; // a discriminator that no case has
    ASSERT_TRUE(decode({1, 2, 3, 4, 5, 6, 7, 8}, number, false));
    EXPECT_EQ(number._d(), 0x0102030405060708);
    EXPECT_THROW((void)number.high(), CORBA::BAD_PARAM);
}

template <typename U>
concept HasDefaultFunction = requires(U value) { value._default(); };

TEST(Trap16_Unions, DefaultFunctionExistsOnlyForImplicitDefaults)
{
    static_assert(!HasDefaultFunction<ByBoolean> && !HasDefaultFunction<ByAllColors>);
    static_assert(!HasDefaultFunction<ByChar> && !HasDefaultFunction<OnlyDefault>);
    static_assert(!HasDefaultFunction<ByAlias> && HasDefaultFunction<Plain>);
}

TEST(Trap16_Unions, ExplicitDefaultTakesALabelOfNoCase)
{
    ByChar value;
    value.other(5);
    EXPECT_NE(value._d(), 'a');
    EXPECT_NE(value._d(), '\'');
    EXPECT_NE(value._d(), '\xff');
    EXPECT_EQ(value.other(), 5);
    ByAlias alias;
    alias.others(1);
    EXPECT_EQ(alias._d(), red); // `case red: default:` has a label of its own
    alias._d(white);
    EXPECT_EQ(alias.others(), 1);
    OnlyDefault only;
    only.everything(3);
    EXPECT_EQ(only.everything(), 3);
}

TEST(Trap16_Unions, DiscriminatorsOutsideTheirTypeAreRefused)
{
    ByColor color;
    EXPECT_FALSE(decode({0, 0, 0, 4}, color, false));
    EXPECT_FALSE(decode({255, 255, 255, 255}, color, false));
    ByInner inner;
    EXPECT_FALSE(decode({0, 0, 0, 3, 0, 0, 0, 0}, inner, false));
    ByOneBoolean boolean;
    EXPECT_FALSE(decode({2}, boolean, false));
    EXPECT_EQ(encoded(boolean), Octets{0}); // still a value
}

// --- Members -----------------------------------------------------------------------------------

TEST(UnionMembers, ByValue)
{
    Plain value;
    value.number(-7);
    EXPECT_EQ(value._d(), 1);
    EXPECT_EQ(value.number(), -7);
    value.color(white);
    EXPECT_EQ(value._d(), 4);
    EXPECT_EQ(value.color(), white);
    EXPECT_THROW((void)value.number(), CORBA::BAD_PARAM);
}

TEST(UnionMembers, StructsByReference)
{
    Plain value;
    value.point({1, 2.5});
    value.point().x = 9;
    const Plain& constant = value;
    EXPECT_EQ(constant.point().x, 9);
    static_assert(std::is_same_v<decltype(constant.point()), const Point&>);
    static_assert(std::is_same_v<decltype(value.point()), Point&>);
}

TEST(UnionMembers, ArraysBySlices)
{
    Plain value;
    Digest digest{};
    digest[19] = 200;
    value.digest(digest);
    digest[19] = 0;
    const Plain& constant = value;
    static_assert(std::is_same_v<decltype(constant.digest()), Digest_slice*>);
    EXPECT_EQ(constant.digest()[19], 200);
    value.digest()[0] = 1;
    EXPECT_EQ(constant.digest()[0], 1);
    const Plain::_grid grid = {{1, 2, 3}, {4, 5, 6}};
    value.grid(grid);
    EXPECT_EQ(value._d(), 5);
    EXPECT_EQ(value.grid()[1][2], 6);
    Rich rich;
    Names_var names = Names_alloc();
    names[2] = "third";
    rich.names(names);
    names[2] = "changed";
    EXPECT_STREQ(rich.names()[2], "third");
    rich.names(rich.names());
    EXPECT_STREQ(rich.names()[2], "third");
}

TEST(UnionMembers, StringsInEveryForm)
{
    Rich value;
    char* adopted = CORBA::string_dup("adopted");
    value.text(adopted);
    EXPECT_EQ(value.text(), adopted);
    const char* copied = "copied";
    value.text(copied);
    EXPECT_NE(value.text(), copied);
    EXPECT_STREQ(value.text(), "copied");
    const CORBA::String_var variable = CORBA::string_dup("variable");
    value.text(variable);
    EXPECT_STREQ(value.text(), "variable");
    Person person;
    person.name = "member";
    value.text(person.name);
    EXPECT_STREQ(value.text(), "member");
    person.lines.length(1);
    person.lines[0] = "element";
    value.text(person.lines[0]);
    EXPECT_STREQ(value.text(), "element");
    static_assert(std::is_same_v<decltype(value.text()), const char*>);
    value.brief("longer than five");
    EXPECT_THROW((void)encoded(value), CORBA::BAD_PARAM);
}

TEST(UnionMembers, WideStringsInEveryForm)
{
    Rich value;
    CORBA::WChar* adopted = CORBA::wstring_dup(L"adopted");
    value.wide(adopted);
    EXPECT_EQ(value.wide(), adopted);
    value.wide(L"copied");
    EXPECT_EQ(std::wstring_view(value.wide()), L"copied");
    const CORBA::WString_var variable = CORBA::wstring_dup(L"variable");
    value.wide(variable);
    value.wide(value.wide());
    EXPECT_EQ(std::wstring_view(value.wide()), L"variable");
    Rich copy;
    ASSERT_TRUE(decode(encoded(value), copy));
    EXPECT_EQ(std::wstring_view(copy.wide()), L"variable");
    value.brief_wide(L"four");
    EXPECT_THROW((void)encoded(value), CORBA::BAD_PARAM);
    value.character(L'\u20ac');
    ASSERT_TRUE(decode(encoded(value), copy));
    EXPECT_EQ(copy.character(), L'\u20ac');
}

TEST(UnionMembers, ReferencesAreDuplicatedAndReleased)
{
    int alive = 0;
    {
        Thing_var thing = new Counted(alive);
        Rich value;
        value.thing(thing);
        EXPECT_EQ(value.thing(), thing.in());
        value.thing(value.thing()); // from its own old member
        thing = Thing::_nil();
        EXPECT_EQ(alive, 1);
        Rich copy(value);
        value.text("something else");
        EXPECT_EQ(alive, 1);
        copy._cxx_class(1);
        EXPECT_EQ(alive, 0);
        thing = new Counted(alive);
        copy.any_object(thing);
        value = copy;
    }
    EXPECT_EQ(alive, 0);
}

TEST(UnionMembers, SequencesAndTheirTypedefs)
{
    Rich value;
    value.octets({1, 2, 3});
    EXPECT_EQ(value.octets().length(), 3u);
    static_assert(std::is_same_v<decltype(value.octets()), Rich::_octets_seq&>);
    Longs longs{1, 2};
    const CORBA::Long* buffer = longs.get_buffer();
    value.longs(std::move(longs)); // moved, not copied
    EXPECT_EQ(value.longs().get_buffer(), buffer);
    People people;
    people.length(2);
    people[1].name = "Ada";
    value.people(people);
    EXPECT_STREQ(value.people()[1].name, "Ada");
}

TEST(UnionMembers, AnyByReference)
{
    CORBA::Any five;
    five <<= CORBA::Long{5};
    Rich value;
    value.whatever(five);
    Rich copy;
    ASSERT_TRUE(decode(encoded(value), copy));
    CORBA::Long number = 0;
    ASSERT_TRUE(copy.whatever() >>= number);
    EXPECT_EQ(number, 5);
    copy.whatever() <<= "text";
    copy.text("the Any is gone");
    EXPECT_STREQ(copy.text(), "the Any is gone");
}

TEST(UnionMembers, OfNestedUnions)
{
    Plain inner;
    inner.nested(ByBoolean());
    inner.nested().no(0.5);
    Rich value;
    value.plain(inner);
    EXPECT_EQ(value.plain().nested().no(), 0.5);
}

// --- Life --------------------------------------------------------------------------------------

TEST(UnionLife, DefaultConstructedUnionsHaveADefinedState)
{
    const ByBoolean first; // every label has a case: the first, with value 0
    EXPECT_TRUE(first._d());
    EXPECT_EQ(first.yes(), 0);
    const Rich text;
    EXPECT_EQ(text._d(), 1);
    EXPECT_STREQ(text.text(), "");
    const Plain none;
    EXPECT_EQ(none._d(), 0);
    expect_wire(none, {0, 0, 0, 0}, {0, 0, 0, 0});
}

TEST(UnionLife, CopiesAreDeepAndMovesTakeTheMember)
{
    Rich value;
    value.text("some text that is long enough to be allocated");
    const char* address = value.text();
    Rich copy(value);
    EXPECT_NE(copy.text(), address);
    Rich moved(std::move(value));
    EXPECT_EQ(moved.text(), address);
    EXPECT_STREQ(value.text(),
                 ""); // NOLINT(bugprone-use-after-move): promised by the mapping's _var
    Rich assigned;
    assigned.longs({1, 2, 3});
    assigned = moved;
    EXPECT_STREQ(assigned.text(), address);
    assigned = std::move(moved);
    EXPECT_EQ(assigned.text(), address);
    Rich& same = assigned;
    assigned = same;
    EXPECT_EQ(assigned.text(), address);
    static_assert(std::is_nothrow_move_constructible_v<Rich> &&
                  std::is_nothrow_move_assignable_v<Rich>);
    static_assert(std::is_trivially_copyable_v<Plain> && std::is_trivially_copyable_v<FixedHolder>);
}

TEST(UnionLife, AMemberMayBeSetFromTheOneItReplaces)
{
    Rich value;
    Person person;
    person.name = "Ada";
    person.lines.length(1);
    person.lines[0] = "a line";
    value.person(person);
    value.person(value.person());
    EXPECT_STREQ(value.person().name, "Ada");
    value.text(value.person().lines[0]);
    EXPECT_STREQ(value.text(), "a line");
    value.text(value.text());
    EXPECT_STREQ(value.text(), "a line");
    value.people({person, person});
    value.person(value.people()[1]);
    EXPECT_STREQ(value.person().name, "Ada");
    value.people({person});
    value.person(std::move(value.people()[0]));
    EXPECT_STREQ(value.person().lines[0], "a line");

    Tree tree;
    tree.branches().length(2);
    tree.branches()[1].leaf("leaf");
    tree = tree.branches()[1];
    EXPECT_STREQ(tree.leaf(), "leaf");
    Tree deep;
    deep.branches().length(1);
    deep.branches()[0].branches().length(3);
    deep.branches(deep.branches()[0].branches());
    EXPECT_EQ(deep.branches().length(), 3u);
    deep.branches()[2].leaf("moved");
    deep = std::move(deep.branches()[2]);
    EXPECT_STREQ(deep.leaf(), "moved");
}

TEST(UnionLife, VarAndOutTypesAreThoseOfStructs)
{
    static_assert(std::is_same_v<Plain_out, Plain&>);
    static_assert(std::is_same_v<Plain_var, kairos::mapping::FixedVar<Plain>>);
    static_assert(std::is_same_v<Rich_var, kairos::mapping::VariableVar<Rich>>);
    static_assert(std::is_same_v<Rich_out, kairos::mapping::VariableOut<Rich>>);
    static_assert(std::is_same_v<RichAgain_var, Rich_var> &&
                  std::is_same_v<Rich::_var_type, Rich_var>);
    Rich_var value = new Rich();
    value->text("text");
    Rich_var copy = value;
    value->text("other");
    EXPECT_STREQ(copy->text(), "text");
}

TEST(UnionLife, DecodingReplacesWhatIsThere)
{
    Rich source;
    source._cxx_class(5);
    Rich value;
    value.longs({1, 2, 3});
    ASSERT_TRUE(decode(encoded(source), value));
    EXPECT_EQ(value._cxx_class(), 5);
    source.text("text");
    ASSERT_TRUE(decode(encoded(source), value));
    EXPECT_STREQ(value.text(), "text");
    EXPECT_FALSE(decode({5, 0, 0, 0, 9}, value, true)); // a person, cut off
    EXPECT_EQ(value._d(), 5);
    value.text("usable");
    EXPECT_STREQ(value.text(), "usable");
}

// --- Within other types ------------------------------------------------------------------------

TEST(UnionParts, OfStructsArraysSequencesAndExceptions)
{
    Holder holder;
    holder.before = 1;
    holder.first.number(2);
    holder.second.text("three");
    holder.pair[0].color(green);
    holder.pair[1].point({4, 5});
    holder.more.length(2);
    holder.more[1].longs({6, 7});
    Holder copy;
    ASSERT_TRUE(decode(encoded(holder), copy));
    EXPECT_EQ(copy.first.number(), 2);
    EXPECT_STREQ(copy.second.text(), "three");
    EXPECT_EQ(copy.pair[1].point().y, 5);
    EXPECT_EQ(copy.more[1].longs()[1], 7);
    EXPECT_EQ(encoded(copy), encoded(holder));

    FixedHolder fixed{};
    fixed.middle.number(1);
    fixed.after = 1.0;
    EXPECT_EQ(encoded(fixed), (Octets{0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0,    0,
                                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
    PlainPair pair;
    pair[0].number(1);
    pair[1].number(2);
    PlainPair_var duplicate = PlainPair_dup(pair);
    EXPECT_EQ(duplicate[1].number(), 2);
    const Refused refused(holder.second, holder.first);
    EXPECT_STREQ(refused.why.text(), "three");
    EXPECT_EQ(refused.what.number(), 2);
}

TEST(UnionParts, EveryTruncationIsRefused)
{
    Holder holder;
    holder.second.people(People(1));
    holder.second.people().length(1);
    Octets octets = encoded(holder);
    for (std::size_t size = 0; size < octets.size(); ++size) {
        Holder value;
        EXPECT_FALSE(
            decode(Octets(octets.begin(), octets.begin() + static_cast<long>(size)), value))
            << size;
    }
}

TEST(UnionParts, FewestBytesOnTheWire)
{
    using kairos::mapping::Marshal;
    static_assert(Marshal<ByOneBoolean>::wire_bytes_min == 1); // no member
    static_assert(Marshal<ByBoolean>::wire_bytes_min == 1 + 4);
    static_assert(Marshal<ByChar>::wire_bytes_min == 1 + 1);
    static_assert(Marshal<Rich>::wire_bytes_min == 2 + 2);
    static_assert(Marshal<FixedHolder>::wire_bytes_min == 1 + 4 + 8);
    // So many elements cannot be in what is left.
    Riches riches;
    EXPECT_FALSE(decode({0, 0, 0, 2, 0, 13, 0, 0, 0, 0, 0}, riches, false));
    EXPECT_EQ(riches.length(), 0u);
}

TEST(UnionParts, TypesWithinAndNamesOfTheGenerator)
{
    Nested value;
    value.one({1, 2});
    expect_wire(value, {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2}, {1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0});
    Nested::Again again;
    again.text("text");
    value.two(again);
    EXPECT_STREQ(value.two().text(), "text");
    value.value(1);
    value.label(2);
    value.visitor(3);
    EXPECT_EQ(value.visitor(), 3);
    value.std(Nested::_std_seq{"a", "b"});
    EXPECT_STREQ(value.std()[1], "b");
    const Nested::_another pair = {{1, 2}, {3, 4}};
    value.another(pair);
    EXPECT_EQ(value.another()[1].b, 4);
}

TEST(UnionParts, LocalReferencesStayInTheProcess)
{
    class HereImpl : public virtual Here, public virtual CORBA::LocalObject {};
    Local value;
    const Here_var one = new HereImpl;
    value.local_one(one);
    EXPECT_EQ(value.local_one(), one.in());
    EXPECT_THROW((void)encoded(value), CORBA::MARSHAL);
}

// --- Recursion ---------------------------------------------------------------------------------

TEST(Trap14_RecursiveUnions, ThroughSequencesAndForwardDeclarations)
{
    Expression left;
    left.number(40);
    Expression right;
    right.number(2);
    Operation sum;
    sum.symbol = '+';
    sum.operands = Expressions{left, right};
    Expression expression;
    expression.operation(sum);
    Expression copy;
    ASSERT_TRUE(decode(encoded(expression), copy));
    EXPECT_EQ(copy.operation().symbol, '+');
    EXPECT_EQ(copy.operation().operands[1].number(), 2);
    expression = copy;
    EXPECT_EQ(encoded(expression), encoded(copy));
}

TEST(Trap14_RecursiveUnions, AreDecodedToABoundedDepth)
{
    using kairos::limits::nesting_max;
    for (const std::size_t depth : {nesting_max, nesting_max + 1, std::size_t{100'000}}) {
        Octets octets;
        for (std::size_t i = 1; i < depth; ++i)
            octets.insert(octets.end(), {1, 0, 0, 0, 0, 0, 0, 1}); // one branch
        octets.insert(octets.end(), {0, 0, 0, 0, 0, 0, 0, 1, 0});  // a leaf
        Tree tree;
        EXPECT_EQ(decode(octets, tree, false), depth <= nesting_max) << depth;
    }
}

} // namespace
