// SPDX-License-Identifier: Apache-2.0
//
// What the interpreter does otherwise than compiled code does: runs of strings, and views in mere
// storage. That both engines agree is for tests/marshal.
#include "kairos/types/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

/// A type with code of its own.
struct Note {
    kairos::mapping::StringMember text;
};
struct Letter {
    kairos::mapping::StringMember from;
    kairos::mapping::StringMember to;
    kairos::mapping::BoundedStringMember<4> code;
    kairos::mapping::UnboundedStringSequence<> lines;
    Note note;
    kairos::mapping::UnboundedSequence<Note> notes;
    kairos::mapping::UnboundedSequence<CORBA::Long> marks;
};
using Letters = kairos::mapping::UnboundedSequence<Letter>;

} // namespace

namespace kairos::mapping {
template <>
struct Marshal<Note> {
    static constexpr std::size_t wire_bytes_min = 5;
    static void encode(cdr::Writer& out, const Note& note) { mapping::encode(out, note.text); }
    static void decode(cdr::Reader& in, Note& note, Arena* arena = nullptr)
    {
        // A view leaves what it replaces alone, an owner frees it: it must be a value already.
        EXPECT_STREQ(note.text, "");
        mapping::decode(in, note.text, arena);
    }
};
template <>
struct Marshal<Letter> {
    static constexpr std::size_t wire_bytes_min = 35;
    static void decode(cdr::Reader& in, Letter& value, Arena* arena = nullptr);
};
} // namespace kairos::mapping

namespace kairos::types {
template <>
struct TableOf<Letter> {
    static const Table table;
};
namespace {
constexpr Member letter_members[] = {
    {&TableOf<mapping::StringMember>::table, offsetof(Letter, from), 2},
    {&TableOf<mapping::BoundedStringMember<4>>::table, offsetof(Letter, code)},
    {&TableOf<decltype(Letter::lines)>::table, offsetof(Letter, lines)},
    {&TableOf<Note>::table, offsetof(Letter, note)},
    {&TableOf<decltype(Letter::notes)>::table, offsetof(Letter, notes)},
    {&TableOf<decltype(Letter::marks)>::table, offsetof(Letter, marks)},
};
} // namespace
constinit const Table TableOf<Letter>::table = make_table<Letter>(letter_members, false);
static_assert(make_table<Letter>(letter_members, false).is_viewable);
} // namespace kairos::types

namespace {

using kairos::types::TableOf;
using Bytes = std::vector<std::byte>;

Letter letter()
{
    Letter made;
    made.from = "Ada";
    made.to = "Charles";
    made.code = "1843";
    made.lines.assign(std::vector<const char*>{"", "a", "longer than a word"});
    made.note.text = "G";
    made.notes.length(2);
    made.notes[1].text = "Bernoulli";
    made.marks = {1, 2, 3};
    return made;
}

template <typename T>
Bytes written(const T& value)
{
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    const kairos::cdr::Writer::CopyAll copying(out);
    kairos::types::encode(out, TableOf<T>::table, &value);
    return {out.contiguous().begin(), out.contiguous().end()};
}

/// Decodes a view into storage where nothing was made, and encodes it.
template <typename T>
Bytes viewed(Bytes message)
{
    kairos::Arena arena;
    (void)arena.allocate<std::max_align_t>(1); // nor is the arena cleared
    alignas(T) std::byte storage[sizeof(T)];
    std::memset(storage, 0xA5, sizeof storage);
    kairos::cdr::Reader in(message, kairos::native_little_endian);
    kairos::types::decode(in, TableOf<T>::table, storage, &arena);
    EXPECT_EQ(in.fault(), kairos::cdr::Fault::none);
    return written(*reinterpret_cast<const T*>(storage));
}

TEST(Interpreter, MakesViewsInMereStorage)
{
    const Bytes full = written(letter());
    EXPECT_EQ(viewed<Letter>(full), full);
    const Bytes empty = written(Letter());
    EXPECT_EQ(viewed<Letter>(empty), empty);
}

TEST(Interpreter, MakesViewsOfSequencesOfStructs)
{
    Letters letters;
    letters.length(3);
    letters[1] = letter();
    const Bytes full = written(letters);
    EXPECT_EQ(viewed<Letters>(full), full);
}

TEST(Interpreter, ReplacesWhatAnOwnerHolds)
{
    const Bytes bytes = written(letter());
    Letter owner = letter();
    owner.from = "somebody else";
    owner.lines.length(9);
    owner.note.text = "";
    for (Note& note : owner.notes)
        note.text = "";
    kairos::cdr::Reader in(bytes, kairos::native_little_endian);
    kairos::types::decode(in, TableOf<Letter>::table, &owner);
    EXPECT_EQ(in.fault(), kairos::cdr::Fault::none);
    EXPECT_EQ(written(owner), bytes);
}

TEST(Interpreter, OverwritesTextsOfTheSameLengthWhereTheyAre)
{
    const Bytes bytes = written(letter());
    Letter owner = letter();
    owner.from = "Bob"; // as long as "Ada"
    owner.lines.assign(std::vector<const char*>{"x", "b", "LONGER THAN A WORD"});
    owner.note.text = "";
    for (Note& note : owner.notes)
        note.text = "";
    const char* const from = owner.from;
    const char* const last = owner.lines[2];
    owner.lines[1] = static_cast<char*>(nullptr); // not a value to send, but one to replace
    kairos::cdr::Reader in(bytes, kairos::native_little_endian);
    kairos::types::decode(in, TableOf<Letter>::table, &owner);
    EXPECT_EQ(static_cast<const char*>(owner.from), from);
    EXPECT_EQ(static_cast<const char*>(owner.lines[2]), last);
    EXPECT_EQ(written(owner), bytes);
}

TEST(Interpreter, LeavesLargeStringsOfARunWhereTheyAre)
{
    const std::string large(kairos::cdr::Writer::external_bytes_min, 'x');
    Letter sent = letter();
    sent.to = large.c_str();
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    kairos::types::encode(out, TableOf<Letter>::table, &sent);
    ASSERT_EQ(out.externals().size(), 1u);
    EXPECT_EQ(out.externals()[0].bytes.size(), large.size() + 1);
    EXPECT_EQ(viewed<Letter>(written(sent)), written(sent));
}

TEST(Interpreter, RefusesNullAndBeyondTheBound)
{
    Letter sent = letter();
    sent.to = static_cast<char*>(nullptr);
    EXPECT_THROW(written(sent), CORBA::BAD_PARAM);
    sent = letter();
    sent.code = "5 now";
    EXPECT_THROW(written(sent), CORBA::BAD_PARAM);
}

TEST(Interpreter, RefusesTextsBeyondTheBoundFromOthers)
{
    Bytes bytes = written(letter());
    const CORBA::ULong longer = 6; // of `code`: its terminator becomes a character, padding that
    std::memcpy(&bytes[20], &longer, sizeof longer);

    Letter owner;
    kairos::cdr::Reader in(bytes, kairos::native_little_endian);
    kairos::types::decode(in, TableOf<Letter>::table, &owner);
    EXPECT_EQ(in.fault(), kairos::cdr::Fault::bound_exceeded);
    EXPECT_STREQ(owner.to, "Charles");
    EXPECT_STREQ(owner.code, "");

    kairos::Arena arena;
    kairos::cdr::Reader viewing(bytes, kairos::native_little_endian);
    alignas(Letter) std::byte storage[sizeof(Letter)];
    kairos::types::decode(viewing, TableOf<Letter>::table, storage, &arena);
    EXPECT_EQ(viewing.fault(), kairos::cdr::Fault::bound_exceeded);
}

} // namespace
