// SPDX-License-Identifier: Apache-2.0
//
// Who owns what: strings, sequences, arrays and T_var. Run under AddressSanitizer these tests find
// leaks and double frees; the assertions find wrong values.
#include "kairos/mapping/sequence.h"

#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <numeric>

namespace {
/// An object with a visible reference count in place of the façade's.
class Counted {
  public:
    static Counted* _duplicate(Counted* object)
    {
        if (object != nullptr) ++object->references;
        return object;
    }
    int references = 1;
};
void release(Counted* object) { --object->references; }
} // namespace

namespace kairos::mapping {
namespace {

using CORBA::String_out;
using CORBA::String_var;

TEST(StringVar, AdoptsPointersAndCopiesConstants)
{
    char* owned = CORBA::string_dup("adopted");
    String_var text(owned);
    EXPECT_EQ(text.in(), owned);
    const char* constant = "copied";
    text = constant;
    EXPECT_STREQ(text, "copied");
    EXPECT_NE(text.in(), constant);
    const String_var& itself = text;
    text = itself;
    EXPECT_STREQ(text, "copied");
    text[0] = 'C';
    EXPECT_EQ(std::string_view(text), "Copied");
    const String_var copy = text;
    EXPECT_NE(copy.in(), text.in());
    char* returned = text._retn();
    EXPECT_EQ(text.in(), nullptr);
    EXPECT_STREQ(returned, "Copied");
    CORBA::string_free(returned);
}

TEST(StringVar, WorksWithStandardStrings)
{
    const std::string standard("with\tlife");
    String_var text = standard;
    const std::string back(text);
    EXPECT_EQ(back, standard);
    text = std::string("other");
    const std::string_view view = text;
    EXPECT_EQ(view, "other");
}

std::size_t length_of(const char* text) { return std::strlen(text); }

TEST(StringVar, ConvertsWhereCStringsAreWanted)
{
    String_var text = "text";
    const String_var constant = "constant";
    EXPECT_EQ(length_of(text), 4u);
    EXPECT_EQ(length_of(constant), 8u);
    EXPECT_TRUE(text && constant);
    EXPECT_TRUE(text != nullptr && !(text == 0));
    text = static_cast<char*>(nullptr);
    EXPECT_TRUE(!text && text == nullptr);
    std::string standard;
    standard = constant;
    standard += constant;
    EXPECT_EQ(standard, "constantconstant");
}

TEST(StringOut, IsNullBeforeTheCalleeAssigns)
{
    const auto callee = [](String_out out, bool assign) {
        EXPECT_EQ(out.ptr(), nullptr);
        if (assign) out = "answer";
    };
    String_var text("old");
    callee(text.out(), true);
    EXPECT_STREQ(text, "answer");
    callee(text, false);
    EXPECT_EQ(text.in(), nullptr);
    char* raw = CORBA::string_dup("leaks if the caller forgot");
    CORBA::string_free(raw);
    callee(raw, true);
    EXPECT_STREQ(raw, "answer");
    CORBA::string_free(raw);
}

TEST(StringMember, StartsEmptyWithoutAnAllocation)
{
    StringMember member;
    EXPECT_STREQ(member, "");
    EXPECT_EQ(member.in(), shared_empty_string);
    StringMember copy = member;
    EXPECT_EQ(copy.in(), shared_empty_string);
    CORBA::string_free(member._retn());
    member = "x";
    String_var variable = member;
    EXPECT_STREQ(variable, "x");
    copy = variable;
    EXPECT_STREQ(copy, "x");
    member = std::move(copy);
    EXPECT_STREQ(member, "x");
    BoundedStringMember<3> bounded;
    bounded = "abc";
    EXPECT_STREQ(bounded, "abc");
}

struct LongSeq : UnboundedSequence<CORBA::Long> {
    using Unbounded::Unbounded;
};

TEST(Sequence, GrowsAndKeepsElements)
{
    LongSeq numbers(2);
    EXPECT_EQ(numbers.maximum(), 2u);
    EXPECT_EQ(numbers.length(), 0u);
    for (CORBA::ULong i = 0; i < 100; ++i) {
        numbers.length(i + 1);
        numbers[i] = static_cast<CORBA::Long>(i);
    }
    EXPECT_EQ(numbers.length(), 100u);
    EXPECT_EQ(numbers[99], 99);
    EXPECT_EQ(numbers[0], 0);
    const LongSeq copy = numbers;
    numbers[5] = -1;
    EXPECT_EQ(copy[5], 5);
    const std::span<const CORBA::Long> span(copy);
    EXPECT_EQ(span.size(), 100u);
    LongSeq moved = std::move(numbers);
    EXPECT_EQ(moved[5], -1);
    moved = {1, 2, 3};
    EXPECT_EQ(moved.length(), 3u);
    EXPECT_EQ(std::accumulate(moved.begin(), moved.end(), 0), 6);
}

TEST(Sequence, BorrowsItsBufferWhenReleaseIsFalse)
{
    CORBA::Long storage[] = {1, 2, 3, 4};
    LongSeq view(4, 2, storage);
    EXPECT_FALSE(view.release());
    view[0] = 7;
    EXPECT_EQ(storage[0], 7);
    view.length(4);
    EXPECT_EQ(view.get_buffer(), storage);
    EXPECT_EQ(view.get_buffer(true), nullptr);
    view.length(5); // more than there is: now a buffer of its own
    EXPECT_TRUE(view.release());
    EXPECT_EQ(view[3], 4);
    view[0] = 8;
    EXPECT_EQ(storage[0], 7);
}

TEST(Sequence, HandsItsBufferOver)
{
    LongSeq numbers{1, 2};
    CORBA::Long* buffer = numbers.get_buffer(true);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(numbers.length(), 0u);
    LongSeq other(2, 2, buffer, true);
    EXPECT_EQ(other[1], 2);
    CORBA::Long* replacement = LongSeq::allocbuf(8);
    replacement[0] = 9;
    other.replace(8, 1, replacement, true);
    EXPECT_EQ(other[0], 9);
    EXPECT_EQ(other.maximum(), 8u);
}

TEST(BoundedSequence, RefusesMoreThanItsBound)
{
    BoundedSequence<CORBA::Short, 3> numbers;
    EXPECT_EQ(numbers.maximum(), 3u);
    numbers.length(3);
    EXPECT_THROW(numbers.length(4), CORBA::BAD_PARAM);
    EXPECT_THROW(numbers.replace(4, nullptr), CORBA::BAD_PARAM);
    EXPECT_THROW((BoundedSequence<CORBA::Short, 1>{1, 2}), CORBA::BAD_PARAM);
    BoundedSequence<CORBA::Short, 3> empty;
    CORBA::Short* buffer = empty.get_buffer();
    ASSERT_NE(buffer, nullptr);
    buffer[2] = 5; // the whole bound is there
    empty.length(3);
    EXPECT_EQ(empty[2], 5);
}

TEST(Sequence, OfSequencesOwnsThemDeeply)
{
    UnboundedSequence<LongSeq> rows;
    rows.length(3);
    rows[1] = LongSeq{4, 5};
    const auto copy = rows;
    rows.length(1); // gives the others back
    rows.length(3);
    EXPECT_EQ(rows[1].length(), 0u);
    EXPECT_EQ(copy[1][1], 5);
}

TEST(Sequence, OfArrays)
{
    UnboundedSequence<CORBA::Long[2]> pairs;
    pairs.length(2);
    pairs[1][0] = 3;
    pairs[1][1] = 4;
    const auto copy = pairs;
    EXPECT_EQ(copy[1][1], 4);
}

TEST(StringSequence, ElementsAssignAsStringVars)
{
    UnboundedStringSequence<> texts;
    texts.length(3);
    EXPECT_STREQ(texts[2], "");
    texts[0] = "constant";
    texts[1] = CORBA::string_dup("adopted");
    texts[2] = texts[0];
    const String_var variable("variable");
    texts[0] = variable;
    EXPECT_STREQ(texts[0], "variable");
    EXPECT_STREQ(texts[1], "adopted");
    EXPECT_STREQ(texts[2], "constant");
    const String_var kept = texts[2];
    EXPECT_STREQ(kept, "constant");
    char* taken = texts[2]._retn();
    CORBA::string_free(taken);
    EXPECT_STREQ(texts[2], "");
    texts[2] = std::string("standard");
    const auto copy = texts;
    texts.length(0);
    texts.length(2);
    EXPECT_STREQ(texts[0], "");
    EXPECT_STREQ(copy[2], "standard");
    const UnboundedStringSequence<> initialised{"a", "b"};
    EXPECT_STREQ(initialised[1], "b");
}

TEST(StringSequence, ViewsNeverFreeTheirElements)
{
    char first[] = "first";
    char second[] = "second";
    char* storage[] = {first, second};
    UnboundedStringSequence<> view(2, 2, storage);
    EXPECT_STREQ(view[1], "second");
    UnboundedStringSequence<> copy = view;
    copy[0] = "own";
    view[0] = copy[1];
    view.length(3);                 // now it owns copies
    CORBA::string_free(storage[0]); // but never what was assigned to the view
    EXPECT_STREQ(view[0], "second");
    EXPECT_STREQ(view[1], "second");
    EXPECT_STREQ(first, "first");
}

TEST(StringSequence, FreebufReleasesEveryElement)
{
    char** buffer = UnboundedStringSequence<>::allocbuf(3);
    buffer[0] = CORBA::string_dup("x");
    buffer[2] = CORBA::string_dup("y");
    UnboundedStringSequence<>::freebuf(buffer);
    UnboundedStringSequence<>::freebuf(nullptr);
    UnboundedStringSequence<> texts(2, 2, UnboundedStringSequence<>::allocbuf(2), true);
    texts[0] = "z";
    char** orphan = texts.get_buffer(true);
    EXPECT_STREQ(orphan[0], "z");
    UnboundedStringSequence<>::freebuf(orphan);
}

TEST(ObjectVar, CountsReferences)
{
    Counted object;
    {
        ObjectVar<Counted> variable(Counted::_duplicate(&object));
        ObjectVar<Counted> copy = variable;
        EXPECT_EQ(object.references, 3);
        copy = nullptr;
        EXPECT_EQ(object.references, 2);
        copy = variable;
        const ObjectVar<Counted>& itself = copy;
        copy = itself;
        Counted* taken = copy._retn();
        EXPECT_EQ(copy.in(), nullptr);
        release(taken);
        EXPECT_EQ(object.references, 2);
        const auto callee = [](ObjectOut<Counted> out) { EXPECT_EQ(out.ptr(), nullptr); };
        callee(variable);
        EXPECT_EQ(object.references, 1);
    }
    EXPECT_EQ(object.references, 1);
}

TEST(ObjectSequence, OwnsItsReferences)
{
    Counted object;
    {
        UnboundedObjectSequence<Counted> objects;
        objects.length(2);
        EXPECT_EQ(objects[0].in(), nullptr);
        objects[0] = Counted::_duplicate(&object);
        objects[1] = objects[0];
        const auto copy = objects;
        EXPECT_EQ(object.references, 5);
        const ObjectVar<Counted> element = objects[1];
        EXPECT_EQ(object.references, 6);
        EXPECT_EQ(copy[1]->references, 6);
        objects.length(1);
        EXPECT_EQ(object.references, 5);
    }
    EXPECT_EQ(object.references, 1);
}

// --- What assignment does (C++ mapping 1.3: 5.6, 5.8.2, 5.9.1, 5.15, 5.16), a test a rule
// ---------

/// Counts how many there are.
struct Live {
    Live() { ++count; }
    Live(const Live&) { ++count; }
    Live& operator=(const Live&) = default;
    ~Live() { --count; }
    static inline int count = 0;
};

/// What a holder of references is assigned: T_var, member and sequence element do the same.
template <typename Holder>
void expect_references_are_taken_over(Counted& object, Holder holder)
{
    holder = Counted::_duplicate(&object);
    EXPECT_EQ(object.references, 2);
    for (int i = 0; i < 3; ++i) // what it holds already, too
        holder = Counted::_duplicate(&object);
    EXPECT_EQ(object.references, 2);
    const ObjectVar<Counted> other = Counted::_duplicate(&object);
    holder = other; // a count of its own
    EXPECT_EQ(object.references, 3);
    holder = static_cast<Counted*>(nullptr);
    EXPECT_EQ(object.references, 2);
}

TEST(Assignment, OfACountedPointerTakesACountOver)
{
    Counted object;
    ObjectVar<Counted> variable;
    expect_references_are_taken_over<ObjectVar<Counted>&>(object, variable);
    struct {
        ObjectMember<Counted> member;
    } holder;
    expect_references_are_taken_over<ObjectMember<Counted>&>(object, holder.member);
    ObjectMember<Counted> array[2];
    expect_references_are_taken_over<ObjectMember<Counted>&>(object, array[1]);
    UnboundedObjectSequence<Counted> sequence;
    sequence.length(2);
    expect_references_are_taken_over<PointerElement<ObjectElements<Counted>>>(object, sequence[1]);
    BoundedObjectSequence<Counted, 2> bounded;
    bounded.length(2);
    expect_references_are_taken_over<PointerElement<ObjectElements<Counted>>>(object, bounded[1]);
    EXPECT_EQ(object.references, 1);
}

TEST(Assignment, OfAHolderToItselfChangesNothing)
{
    Counted object;
    ObjectVar<Counted> variable = Counted::_duplicate(&object);
    const ObjectVar<Counted>& itself = variable;
    variable = itself;
    EXPECT_EQ(object.references, 2);
    UnboundedObjectSequence<Counted> sequence;
    sequence.length(1);
    sequence[0] = variable;
    sequence[0] = sequence[0];
    EXPECT_EQ(object.references, 3);
    variable = nullptr;
    sequence.length(0);
    EXPECT_EQ(object.references, 1);
}

TEST(Assignment, ToAnOutReleasesNothing)
{
    Counted object;
    Counted* raw = nullptr;
    ObjectOut<Counted> out(raw);
    out = Counted::_duplicate(&object);
    const ObjectVar<Counted> variable = Counted::_duplicate(&object);
    EXPECT_EQ(object.references, 3);
    out = variable; // duplicates; what was there is the callee's to release
    EXPECT_EQ(object.references, 4);
    release(&object);
    release(raw);
    EXPECT_EQ(object.references, 2);
}

/// T_vars do not widen: it would give away the only count of the other.
TEST(Assignment, OfAnotherInterfacesHolderIsRefused)
{
    struct Derived : Counted {};
    using Base_var = ObjectVar<Counted>;
    using Derived_var = ObjectVar<Derived, ObjectTraits<Counted>>;
    static_assert(std::is_assignable_v<Base_var&, Derived*>);
    static_assert(!std::is_assignable_v<Base_var&, Derived_var&>);
    static_assert(!std::is_assignable_v<Base_var&, const Derived_var&>);
    static_assert(!std::is_constructible_v<Base_var, Derived_var&>);
    static_assert(!std::is_assignable_v<ObjectOut<Counted>&, Derived_var&>);
    static_assert(!std::is_assignable_v<PointerElement<ObjectElements<Counted>>, Derived_var&>);
    static_assert(std::is_convertible_v<Derived_var&, Counted*>); // as an argument it may
}

/// Of everything that holds a reference: T_var and members, T_out, elements of sequences.
TEST(Nil, IsAnExceptionForWhoCallsThroughAHolder)
{
    const ObjectVar<Counted> variable;
    EXPECT_THROW((void)variable->references, CORBA::INV_OBJREF);
    struct Holder {
        ObjectMember<Counted> member;
    } holder;
    EXPECT_THROW((void)holder.member->references, CORBA::INV_OBJREF);
    Counted* raw = nullptr;
    ObjectOut<Counted> out(raw);
    EXPECT_THROW((void)out->references, CORBA::INV_OBJREF);
    Counted object;
    UnboundedObjectSequence<Counted> objects;
    objects.length(1);
    EXPECT_THROW((void)objects[0]->references, CORBA::INV_OBJREF);
    objects[0] = Counted::_duplicate(&object);
    EXPECT_EQ(objects[0]->references, 2);
    raw = &object;
    EXPECT_EQ(out->references, 2);
}

/// Nothing is counted: a pointer that is held already is no second thing to own.
TEST(Assignment, OfAPointerToAValueAdoptsItOnce)
{
    {
        VariableVar<Live> variable = new Live;
        variable = new Live;
        EXPECT_EQ(Live::count, 1);
        variable = variable.ptr();
        EXPECT_EQ(Live::count, 1);
        const Live value;
        variable = value; // copies
        EXPECT_EQ(Live::count, 2);
        variable = static_cast<const Live&>(variable);
        EXPECT_EQ(Live::count, 2);
        const VariableVar<Live> copy = variable;
        EXPECT_EQ(Live::count, 3);
        variable = copy;
        EXPECT_NE(variable.ptr(), copy.ptr());
        EXPECT_EQ(Live::count, 3);
        Live* raw = nullptr;
        VariableOut<Live> out(raw);
        out = new Live;
        const Live* const first = raw;
        out = new Live; // releases nothing
        EXPECT_EQ(Live::count, 5);
        delete first;
        delete raw;
    }
    EXPECT_EQ(Live::count, 0);
    {
        using Lives = Live[2];
        VariableArrayVar<Lives> array = array_alloc<Lives>();
        array = array_alloc<Lives>();
        EXPECT_EQ(Live::count, 2);
        array = array.ptr();
        EXPECT_EQ(Live::count, 2);
        const VariableArrayVar<Lives> copy = array;
        EXPECT_EQ(Live::count, 4);
        array = copy;
        EXPECT_EQ(Live::count, 4);
    }
    EXPECT_EQ(Live::count, 0);
}

/// T_var, member and element of strings of either width.
template <typename Char, typename Holder>
void expect_strings_are_adopted_or_copied(Holder holder, const Char* text, const Char* other)
{
    const std::basic_string<Char> expected = text;
    Char* adopted = duplicate_text<Char>(text);
    holder = adopted;
    EXPECT_EQ(holder.in(), adopted);
    holder = adopted; // its own already
    EXPECT_EQ(holder.in(), adopted);
    EXPECT_EQ(holder.in(), expected);
    holder = static_cast<const Char*>(adopted);
    EXPECT_EQ(holder.in(), expected);
    holder = other;
    EXPECT_NE(holder.in(), other);
    EXPECT_EQ(holder.in(), std::basic_string<Char>(other));
    const TextOwner<Char, false> variable(text);
    holder = variable;
    EXPECT_NE(holder.in(), variable.in());
    EXPECT_EQ(holder.in(), expected);
    const TextOwner<Char, true> member(other);
    holder = member;
    EXPECT_NE(holder.in(), member.in());
    EXPECT_EQ(holder.in(), std::basic_string<Char>(other));
    holder = holder.in() + 1; // part of itself
    EXPECT_EQ(holder.in(), std::basic_string<Char>(other + 1));
}

TEST(Assignment, OfStringsAdoptsOrCopies)
{
    String_var variable;
    expect_strings_are_adopted_or_copied<char, String_var&>(variable, "text", "other");
    StringMember member;
    expect_strings_are_adopted_or_copied<char, StringMember&>(member, "text", "other");
    BoundedStringMember<8> bounded;
    expect_strings_are_adopted_or_copied<char, BoundedStringMember<8>&>(bounded, "text", "other");
    UnboundedStringSequence<> strings;
    strings.length(1);
    expect_strings_are_adopted_or_copied<char, PointerElement<StringElements<0>>>(strings[0],
                                                                                  "text", "other");
    CORBA::WString_var wide;
    expect_strings_are_adopted_or_copied<wchar_t, CORBA::WString_var&>(wide, L"text", L"other");
    WStringMember wide_member;
    expect_strings_are_adopted_or_copied<wchar_t, WStringMember&>(wide_member, L"text", L"other");
    UnboundedWStringSequence<> wide_strings;
    wide_strings.length(1);
    expect_strings_are_adopted_or_copied<wchar_t, PointerElement<WStringElements<0>>>(
        wide_strings[0], L"text", L"other");
}

/// `replace` with the buffer that the sequence has: it is not freed in between.
TEST(Assignment, OfASequencesOwnBufferKeepsIt)
{
    {
        UnboundedSequence<Live> lives;
        lives.length(3);
        Live* const buffer = lives.get_buffer();
        lives.replace(lives.maximum(), 2, buffer, true);
        EXPECT_EQ(lives.get_buffer(), buffer);
        EXPECT_EQ(lives.length(), 2u);
        EXPECT_TRUE(lives.release());
        EXPECT_EQ(Live::count, 3);
        lives.replace(3, 3, buffer, false); // the caller's from now on
        EXPECT_FALSE(lives.release());
        lives.replace(3, 3, buffer, true);
    }
    EXPECT_EQ(Live::count, 0);
    Counted object;
    {
        UnboundedObjectSequence<Counted> objects;
        objects.length(1);
        objects[0] = Counted::_duplicate(&object);
        objects.replace(1, 1, objects.get_buffer(), true);
        EXPECT_EQ(object.references, 2);
        EXPECT_EQ(objects[0].in(), &object);
    }
    EXPECT_EQ(object.references, 1);
}

struct Person {
    StringMember name;
    LongSeq marks;
};

TEST(VariableVar, OwnsOneValue)
{
    VariableVar<Person> person = new Person;
    person->name = "Ada";
    VariableVar<Person> copy = person;
    person->name = "Bob";
    EXPECT_STREQ(copy->name, "Ada");
    const auto callee = [](VariableOut<Person> out) {
        EXPECT_EQ(out.ptr(), nullptr);
        out = new Person;
        out->name = "Eve";
    };
    callee(person);
    EXPECT_STREQ(person->name, "Eve");
    callee(copy.out());
    const Person& reference = copy;
    EXPECT_STREQ(reference.name, "Eve");
    delete person._retn();
    EXPECT_EQ(person.ptr(), nullptr);
}

TEST(VariableVar, OfSequencesHasElements)
{
    VariableVar<LongSeq> numbers = new LongSeq{1, 2, 3};
    numbers[1] = 7;
    EXPECT_EQ(std::as_const(numbers)[1], 7);
    EXPECT_EQ(numbers->length(), 3u);
}

TEST(FixedVar, MakesRoomForOut)
{
    struct Point {
        CORBA::Long x, y;
    };
    FixedVar<Point> point;
    point.out() = Point{1, 2};
    EXPECT_EQ(point->y, 2);
    const Point copied = point._retn();
    EXPECT_EQ(copied.x, 1);
}

TEST(ArrayVar, OwnsSlices)
{
    using Grid = CORBA::Long[2][3];
    FixedArrayVar<Grid> grid = array_alloc<Grid>();
    grid[1][2] = 5;
    const FixedArrayVar<Grid> copy = grid;
    grid[1][2] = 6;
    EXPECT_EQ(copy[1][2], 5);
    array_free<Grid>(grid._retn());
    grid.out()[0][0] = 1;
    EXPECT_EQ(grid[0][0], 1);

    using Names = StringMember[2];
    VariableArrayVar<Names> names = array_alloc<Names>();
    names[0] = "one";
    const VariableArrayVar<Names> names_copy = names;
    EXPECT_STREQ(names_copy[0], "one");
    const auto callee = [](VariableArrayOut<Names> out) {
        EXPECT_EQ(out.ptr(), nullptr);
        out = array_alloc<Names>();
        out[1] = "two";
    };
    callee(names);
    EXPECT_STREQ(names[1], "two");
}

TEST(ArrayVar, MovesItsSlices)
{
    using Grid = CORBA::Long[2][3];
    FixedArrayVar<Grid> from = array_alloc<Grid>();
    const auto* const slices = from.in();
    FixedArrayVar<Grid> to = std::move(from);
    EXPECT_EQ(to.in(), slices);
    EXPECT_EQ(from.in(), nullptr);
    from = std::move(to);
    EXPECT_EQ(from.in(), slices);
    to = from;
    EXPECT_NE(to.in(), slices);
}

TEST(ArrayForany, OwnsNothing)
{
    using Grid = CORBA::Long[2][3];
    struct Tag {};
    const FixedArrayVar<Grid> owner = array_alloc<Grid>();
    ArrayForany<Grid, Tag> grid(owner.ptr(), true);
    EXPECT_TRUE(grid.nocopy());
    grid[1][2] = 5;
    EXPECT_EQ(owner[1][2], 5);
    const ArrayForany<Grid, Tag> copy = grid;
    EXPECT_EQ(copy.in(), owner.in());
    EXPECT_TRUE(copy.nocopy());
    EXPECT_EQ(grid._retn(), owner.in());
    EXPECT_EQ(grid.in(), nullptr);
    grid = owner.ptr();
    EXPECT_FALSE(grid.nocopy());
    EXPECT_EQ(grid.inout(), owner.in());
    EXPECT_EQ(grid.out(), nullptr);
}

} // namespace
} // namespace kairos::mapping
