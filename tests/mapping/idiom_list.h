// SPDX-License-Identifier: Apache-2.0
//
// What programs of the classic mapping write, each with what it must have done. The file is C++ of
// any ORB: it is compiled with our headers (idioms_test.cpp) and, where it is installed, omniORB's
// (tests/interop/idioms_omniorb.cpp). It is part of the IDL's module; whoever includes it has
// included the header of idioms.idl.
#pragma once

#include <cstring>
#include <cwchar>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace Idioms {

/// How many idioms were tried and how many of them did something else. One thread.
inline int tried = 0;
inline int failed = 0;

inline void expect(bool holds, const char* idiom, int line)
{
    ++tried;
    if (holds) return;
    ++failed;
    std::cout << "line " << line << ": " << idiom << '\n';
}

/// Statements, and what is true after them.
#define IDIOM(condition, ...)                                                                      \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        expect(condition, #__VA_ARGS__, __LINE__);                                                 \
    }

inline bool same(const char* text, const char* other) { return std::strcmp(text, other) == 0; }
inline bool same(const CORBA::WChar* text, const CORBA::WChar* other)
{
    return std::wcscmp(text, other) == 0;
}

// Parameters as stubs have them.
inline bool takes_in(const char* text) { return same(text, "text"); }
inline bool takes_in(const CORBA::WChar* text) { return same(text, L"text"); }
inline bool takes_wide_in(const CORBA::WChar* text) { return same(text, L"text"); }
inline bool takes_text_in(const char* text) { return same(text, "text"); }
inline bool takes_text_inout(char*& text) { return same(text, "text"); }
inline bool takes_wide_inout(CORBA::WChar*& text) { return same(text, L"text"); }
inline void gives_text(CORBA::String_out text) { text = CORBA::string_dup("text"); }
inline void gives_wide(CORBA::WString_out text) { text = CORBA::wstring_dup(L"text"); }
inline bool takes_object_in(Thing_ptr object) { return !CORBA::is_nil(object); }
inline bool takes_base_in(CORBA::Object_ptr object) { return !CORBA::is_nil(object); }
inline bool takes_object_inout(Thing_ptr& object) { return !CORBA::is_nil(object); }
inline bool takes_record_in(const Record& record) { return same(record.text, "text"); }
inline bool takes_names_in(const Names& names) { return names.length() == 2; }
inline bool takes_row_in(const Row row) { return row[1] == 1; }
inline bool takes_any_in(const CORBA::Any& any)
{
    CORBA::Long number = 0;
    return (any >>= number) && number == 7;
}

/// What omniORB does not take, but others do.
#ifdef IDIOMS_OF_OMNIORB
#define WIDER(...)
#else
#define WIDER(...) IDIOM(__VA_ARGS__)
#endif

/// The idioms by which a text goes from where it is to somewhere else. `from` can be changed and
/// holds "text".
#define TEXT_FROM_ANYWHERE(from, Char, Var, Out, L, dup, release, W, List, Elements)               \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to = from)                                          \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to(from))                                           \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to; to = from)                                      \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to = dup(L##"old"); to = from)                      \
    IDIOM(same(to, L##"text"), const Char* to = from)                                              \
    IDIOM(same(to, L##"text"), const Char* to; to = from)                                          \
    IDIOM(same(to, L##"text"), const Char* to = (const Char*)from)                                 \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to = (const Char*)from)                             \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to = dup(from))                                     \
    IDIOM(same(to.in(), L##"text"), CORBA::Var to; to = dup(from))                                 \
    IDIOM(same(to.W, L##"text"), Record to; to.W = from)                                           \
    IDIOM(same(to->W, L##"text"), Record_var to = new Record; to->W = from)                        \
    IDIOM(same(to[0], L##"text"), List to; to.length(1); to[0] = from)                             \
    IDIOM(same(to[0], L##"text"), List to; to.length(1); to[0] = dup(L##"old"); to[0] = from)      \
    IDIOM(same(to[0], L##"text"), List to; to.length(1); to[0] = dup(from))                        \
    IDIOM(same(to[0], L##"text"), List to; to.length(1); to[0] = (const Char*)from)                \
    IDIOM(same(to[0], L##"text"), List##_var to = new List; to->length(1); to[0] = from)           \
    IDIOM(same(to[1], L##"text"), Elements to; to[1] = from)                                       \
    WIDER(same(to.W(), L##"text"), Choice to; to.W(from))                                          \
    IDIOM(same(to.W(), L##"text"), Choice to; to.W((const Char*)from))                             \
    IDIOM(takes_in(to.c_str()), std::basic_string<Char> to(from))                                  \
    IDIOM(takes_in(to.c_str()), std::basic_string<Char> to; to = (const Char*)from)                \
    IDIOM(takes_in(from), )                                                                        \
    IDIOM(same(from, L##"text"), )                                                                 \
    IDIOM(!same(L##"other", from), )                                                               \
    IDIOM((from)[0] == L##'t' && (from)[3] == L##'t', )                                            \
    IDIOM((any >>= to) && same(to, L##"text"), CORBA::Any any; const Char* to; any <<= from)       \
    IDIOM((any >>= to) && same(to, L##"text"), CORBA::Any any; const Char* to;                     \
          any <<= (const Char*)from)                                                               \
    IDIOM(true, if (!from) expect(false, #from, __LINE__))

/// Those that need an owner, not const.
#define TEXT_CHANGED(from, Char, taken, L)                                                         \
    IDIOM(taken(from.inout()), )                                                                   \
    IDIOM(same(to, L##"text"), Char* to = from)                                                    \
    IDIOM(same(to, L##"text"), Char* to; to = from)

#define TEXT_IN(from, L) IDIOM(same(from.in(), L##"text"), )

#define NARROW(from)                                                                               \
    TEXT_FROM_ANYWHERE(from, char, String_var, String_out, , CORBA::string_dup,                    \
                       CORBA::string_free, text, Names, Words)                                     \
    IDIOM(out.str() == "text", std::ostringstream out; out << from)
#define WIDE(from)                                                                                 \
    TEXT_FROM_ANYWHERE(from, wchar_t, WString_var, WString_out, L, CORBA::wstring_dup,             \
                       CORBA::wstring_free, wide, WideNames, WideWords)

/// Values with "text" wherever they have a text, and `object` wherever they have a reference.
inline void fill(Record& record, Thing_ptr object)
{
    record.text = "text";
    record.wide = L"text";
    record.target = Thing::_duplicate(object);
    record.where.x = 1;
    record.where.y = 2.5;
    record.labels.length(2);
    record.labels[0] = "text";
    record.labels[1] = CORBA::string_dup("text");
    record.targets.length(2);
    record.targets[0] = Thing::_duplicate(object);
    record.targets[1] = Thing::_duplicate(object);
    record.line[0] = 0;
    record.line[1] = 1;
    record.line[2] = 2;
    record.pieces[0] = "text";
    record.pieces[1] = CORBA::string_dup("text");
    record.ends[0] = Thing::_duplicate(object);
    record.ends[1] = Thing::_duplicate(object);
    record.extra <<= CORBA::Long(7);
    record.paint = green;
    record.flag = true;
    record.small = 3;
    record.cost = CORBA::Fixed("12.25");
}

#ifdef IDIOMS_OF_OMNIORB
// Functions for char* and for const char*: a text that is not const goes to the former.
inline int taken_as(char*) { return 1; }
inline int taken_as(const char*) { return 2; }
template <typename T>
struct Property {
    Property& operator=(const T&) { return kind = 1, *this; }
    Property& operator=(const char*) { return kind = 2, *this; }
    Property& operator=(const std::string&) { return kind = 3, *this; }
    int kind;
};

// Classes that read generated types from streams in ways of their own.
struct OwnStream : cdrMemoryStream {
    int asked;
    OwnStream() : asked(0) {}
};
struct OwnChoice : Choice {
    void operator<<=(OwnStream& stream)
    {
        ++stream.asked;
        Choice::operator<<=(stream);
    }
};
struct OwnPoints : Points {
    void operator<<=(OwnStream& stream)
    {
        CORBA::ULong count;
        count <<= stream;
        length(count);
        for (CORBA::ULong i = 0; i < count; ++i) {
            Point& point = pd_buf[i];
            point <<= stream;
        }
    }
};

inline void texts_and_streams_of_omniorb(Thing_ptr object)
{
    CORBA::String_var var = CORBA::string_dup("text");
    Record record;
    fill(record, object);
    const Record& constant = record;

    IDIOM(taken_as(var) == 1, )
    IDIOM(taken_as(record.text) == 1, )
    IDIOM(taken_as(record.labels[0]) == 1, )
    IDIOM(taken_as(constant.text) == 2, )
    IDIOM(to.kind == 1, Property<char*> to; to = var)
    IDIOM(to.kind == 1, Property<char*> to; to = record.text)
    IDIOM(to.kind == 1, Property<char*> to; to = record.labels[0])
    IDIOM(to.kind == 2, Property<char*> to; to = constant.text)
    IDIOM(to.kind == 2, Property<CORBA::Long> to; to = record.text)

    IDIOM(stream.asked == 1 && same(to.text(), "text"), OwnStream stream; OwnChoice to; Choice from;
          from.text("text"); from >>= stream; to <<= stream)
    IDIOM(stream.asked == 1 && same(to.text(), "text"), OwnStream stream; OwnChoice to; Choice from;
          from.text("text"); from.Choice::operator>>=(stream); (OwnChoice&)to <<= stream)
    IDIOM(to.length() == 2 && to[1].x == 1, OwnStream stream; OwnPoints to; Points from;
          from.length(2); from[1] = record.where; from >>= stream; to <<= stream)
    IDIOM(to.x == 1, OwnStream stream; Point to; constant.where.Point::operator>>=(stream);
          to.Point::operator<<=(stream))
    IDIOM(same(to.text, "text") && to.target->_is_equivalent(object), OwnStream stream; Record to;
          constant.Record::operator>>=(stream); to.Record::operator<<=(stream))
    IDIOM(to[1]->_is_equivalent(object), cdrMemoryStream stream; Things to;
          constant.targets >>= stream; to <<= stream)
    IDIOM(same(to[1], "text"), cdrMemoryStream stream; Names to;
          constant.labels.Names::operator>>=(stream); to.Names::operator<<=(stream))
}
#endif

inline void texts(Thing_ptr object)
{
    CORBA::String_var var = CORBA::string_dup("text");
    const CORBA::String_var constant_var = CORBA::string_dup("text");
    Record record;
    fill(record, object);
    const Record& constant = record;
    Record_var held = new Record(record);
    const Record_var constant_held = new Record(record);
    Names names = record.labels;
    const Names& constant_names = names;
    Names_var held_names = new Names(names);
    const Names_var constant_held_names = new Names(names);
    FewNames few;
    few.length(2);
    few[0] = "text";
    NameTable table;
    table.length(1);
    table[0] = names;
    const NameTable& constant_table = table;
    Words words;
    words[0] = CORBA::string_dup("text");
    Words_var held_words = Words_alloc();
    held_words[0] = "text";
    Records records;
    records.length(1);
    records[0] = record;
    const Records& constant_records = records;
    Choice choice;
    choice.text("text");
    Choice whole;
    whole.whole(record);
    const Choice& constant_whole = whole;
    Choice listed;
    listed.labels(names);
    const Choice& constant_listed = listed;
    Refused refused;
    refused.why = "text";
    refused.others = names;
    const Refused& constant_refused = refused;
    const char* pointer = "text";

    NARROW(var)
    NARROW(constant_var)
    NARROW(record.text)
    NARROW(constant.text)
    NARROW(held->text)
    NARROW(constant_held->text)
    NARROW(held.in().text)
    NARROW(held.inout().text)
    NARROW(names[0])
    NARROW(constant_names[0])
    NARROW(held_names[0])
#ifndef IDIOMS_OF_OMNIORB
    NARROW((*held_names)[0])
#endif
    NARROW(held_names.in()[0])
#ifndef IDIOMS_OF_OMNIORB
    NARROW(constant_held_names[0])
#endif
    NARROW(few[0])
    NARROW(table[0][0])
    NARROW(constant_table[0][0])
    NARROW(record.labels[1])
    NARROW(constant.labels[1])
    NARROW(words[0])
    NARROW(held_words[0])
    NARROW(record.pieces[1])
    NARROW(constant.pieces[1])
    NARROW(records[0].text)
    NARROW(constant_records[0].text)
    NARROW(constant_records[0].labels[0])
    NARROW(choice.text())
    NARROW(whole.whole().text)
    NARROW(constant_whole.whole().text)
    NARROW(listed.labels()[0])
    NARROW(constant_listed.labels()[0])
    NARROW(refused.why)
    NARROW(constant_refused.why)
    NARROW(refused.others[0])
    NARROW(constant_refused.others[0])
    NARROW(pointer)

    TEXT_CHANGED(var, char, takes_text_inout, )
    TEXT_CHANGED(record.text, char, takes_text_inout, )
    TEXT_CHANGED(held->text, char, takes_text_inout, )
    TEXT_CHANGED(names[0], char, takes_text_inout, )
    TEXT_CHANGED(held_names[0], char, takes_text_inout, )
    TEXT_CHANGED(table[0][0], char, takes_text_inout, )
    TEXT_CHANGED(words[0], char, takes_text_inout, )
    TEXT_CHANGED(refused.why, char, takes_text_inout, )
    TEXT_IN(var, )
    TEXT_IN(constant_var, )
    TEXT_IN(record.text, )
    TEXT_IN(constant.text, )
    TEXT_IN(names[0], )
    TEXT_IN(constant_names[0], )
    TEXT_IN(held_names[0], )
    TEXT_IN(held_names.in()[0], )
    TEXT_IN(constant.labels[1], )
    TEXT_IN(constant.pieces[1], )
    TEXT_IN(constant_table[0][0], )
    TEXT_IN(constant_records[0].labels[0], )
    TEXT_IN(constant_listed.labels()[0], )
    TEXT_IN(constant_refused.others[0], )

    // Ways that are a text's only.
    IDIOM(same(to.in(), "text"), CORBA::String_var to; gives_text(to))
    IDIOM(same(to.in(), "text"), CORBA::String_var to; gives_text(to.out()))
    IDIOM(same(to.text, "text"), Record to; gives_text(to.text.out()))
    IDIOM(same(to[0], "text"), Names to; to.length(1); gives_text(to[0].out()))
    IDIOM(same(to, "text"), CORBA::String_var from = CORBA::string_dup("text");
          CORBA::String_var to = from._retn())
    IDIOM(same(to, "text") && same(from.in(), "text"),
          CORBA::String_var from = CORBA::string_dup("text");
          CORBA::String_var to = from)
    IDIOM(same(to, "Text"), CORBA::String_var to = CORBA::string_dup("text"); to[0] = 'T')
    IDIOM(same(to.text, "Text"), Record to; to.text = "text"; to.text[0] = 'T')
    IDIOM(same(to[0], "Text"), Names to(names); to[0][0] = 'T')
    IDIOM(same(to, "text"), CORBA::String_var to("text"))
    IDIOM(same(to, "text"), CORBA::String_var to((const char*)"text"))
    IDIOM(to.in() == 0, CORBA::String_var to)
    IDIOM(to.in() == 0, CORBA::String_var to = (char*)0)
    IDIOM(same(to, "a"), CORBA::String_var to = CORBA::string_alloc(1); strcpy(to, "a"))
    IDIOM(same(to, "a"), CORBA::String_var to = CORBA::string_alloc(1); strcpy(to.inout(), "a"))
    IDIOM(strlen(var) == 4 && strlen(names[0]) == 4 && strlen(constant.text) == 4, )
    IDIOM(strcmp(names[0], names[1]) == 0 && strcmp(record.text, var) == 0, )
    IDIOM(sum == "a text", std::string sum = std::string("a ") + (const char*)names[0])
    IDIOM(sum == "a text", std::string sum = "a "; sum += names[0])
    IDIOM(sum == "a text", std::string sum = "a "; sum += var)
    IDIOM(sum == "a text", std::string sum = "a "; sum += record.text)
    IDIOM(sum == "a text", std::string sum = "a "; sum += constant.text)
    IDIOM(sum == "a text", std::string sum = "a "; sum.append(names[0]))
    IDIOM(list[0] == "text", std::vector<std::string> list; list.push_back((const char*)names[0]))
    IDIOM(list[0] == "text", std::vector<std::string> list; list.push_back(std::string(names[0])))
    IDIOM(same(list[1], "text"), std::vector<CORBA::String_var> list(2); list[1] = names[0])
    IDIOM(same(pick, "text"), const char* pick = failed ? "no" : names[0].in())
    IDIOM(same(pick, "text"), const char* pick = failed ? "no" : constant_names[0].in())
    IDIOM(same(names[1], "text"), names[1] = names[0])
    IDIOM(same(names[0], "text"), names[0] = names[0])
    IDIOM(same(names[1], "text"), names[1] = constant_names[0])
    IDIOM(same(copy[1], "text"), Names copy = constant_names; copy[1] = constant_names[0])
    IDIOM(same(few[1], "text"), few[1] = names[0])
    IDIOM(same(held_names[1], "text"), held_names[1] = names[1])
    IDIOM(same(record.text, "text"), record.text = record.text)
    IDIOM(same(record.text, "text"), record.text = record.labels[0])
    IDIOM(same(choice.text(), "text"), choice.text(CORBA::string_dup("text")))
    IDIOM(same(choice.text(), "text"), choice.text("text"))
    IDIOM(same(to[1], "b"), char** buffer = Names::allocbuf(2); buffer[0] = CORBA::string_dup("a");
          buffer[1] = CORBA::string_dup("b"); Names to(2, 2, buffer, true))
    IDIOM(same(to[0], "a"), char** buffer = Names::allocbuf(1); buffer[0] = CORBA::string_dup("a");
          Names to; to.replace(1, 1, buffer, true))
    IDIOM(same(buffer[0], "text"), const char* const* buffer = constant_names.get_buffer())
    IDIOM(same(buffer[0], "text"), char** buffer = names.get_buffer())
    IDIOM(same(buffer[0], "text"), Names from(names); char** buffer = from.get_buffer(true);
          CORBA::String_var first = buffer[0]; buffer[0] = first._retn();
          expect(from.length() == 0, "orphan", __LINE__); Names kept(2, 2, buffer, true))
    IDIOM(any.type()->kind() == CORBA::tk_string, CORBA::Any any; any <<= names[0];
          CORBA::TypeCode_var type = any.type())
    IDIOM((any >>= CORBA::Any::to_string(to, 0)) && same(to, "text"), CORBA::Any any;
          const char* to; any <<= CORBA::Any::from_string(var, 0))
    IDIOM((any >>= CORBA::Any::to_string(to, 0)) && same(to, "text"), CORBA::Any any;
          const char* to; any <<= CORBA::Any::from_string(names[0], 0))
    IDIOM((any >>= CORBA::Any::to_string(to, 9)) && same(to, "text"), CORBA::Any any;
          const char* to; any <<= CORBA::Any::from_string(record.text, 9))
    IDIOM((any >>= CORBA::Any::to_string(to, 0)) && same(to, "text"), CORBA::Any any;
          const char* to; any <<= CORBA::Any::from_string(CORBA::string_dup("text"), 0, true))
    IDIOM(same(refused2.why, "text"), Refused refused2(names[0], Thing::_nil(), names))
    IDIOM(same(refused2.why, "text"), Refused refused2(var, Thing::_nil(), names))
    IDIOM(same(refused2.why, "text"), Refused refused2(record.text, Thing::_nil(), names))
    IDIOM(same(refused2.why, "text"), Refused refused2("text", object, names))
}

inline void wide_texts(Thing_ptr object)
{
    CORBA::WString_var var = CORBA::wstring_dup(L"text");
    const CORBA::WString_var constant_var = CORBA::wstring_dup(L"text");
    Record record;
    fill(record, object);
    const Record& constant = record;
    Record_var held = new Record(record);
    WideNames names;
    names.length(2);
    names[0] = L"text";
    names[1] = CORBA::wstring_dup(L"text");
    const WideNames& constant_names = names;
    WideNames_var held_names = new WideNames(names);
    WideWords words;
    words[0] = L"text";
    Choice choice;
    choice.wide(L"text");
    const CORBA::WChar* pointer = L"text";

    WIDE(var)
    WIDE(constant_var)
    WIDE(record.wide)
    WIDE(constant.wide)
    WIDE(held->wide)
    WIDE(names[0])
    WIDE(constant_names[0])
    WIDE(held_names[0])
    WIDE(words[0])
    WIDE(choice.wide())
    WIDE(pointer)
    TEXT_CHANGED(var, wchar_t, takes_wide_inout, L)
    TEXT_CHANGED(record.wide, wchar_t, takes_wide_inout, L)
    TEXT_CHANGED(names[0], wchar_t, takes_wide_inout, L)
    TEXT_CHANGED(words[0], wchar_t, takes_wide_inout, L)
    TEXT_IN(var, L)
    TEXT_IN(constant.wide, L)
    TEXT_IN(constant_names[0], L)
    TEXT_IN(held_names.in()[0], L)
    IDIOM(same(to.in(), L"text"), CORBA::WString_var to; gives_wide(to))
    IDIOM(same(to.in(), L"text"), CORBA::WString_var to; gives_wide(to.out()))
    IDIOM(same(names[1], L"text"), names[1] = constant_names[0])
    IDIOM(same(choice.wide(), L"text"), choice.wide(CORBA::wstring_dup(L"text")))
}

/// The idioms by which a reference goes from where it is to somewhere else; `from` holds `object`.
#define OBJECT(from)                                                                               \
    IDIOM(to->_is_equivalent(object), Thing_var to = Thing::_duplicate(from))                      \
    IDIOM(to->_is_equivalent(object), Thing_var to; to = Thing::_duplicate(from))                  \
    IDIOM(to->_is_equivalent(object), Thing_ptr to = from)                                         \
    IDIOM(to->_is_equivalent(object), Thing_ptr to; to = from)                                     \
    IDIOM(to->_is_equivalent(object), CORBA::Object_ptr to = from)                                 \
    IDIOM(to->_is_equivalent(object), CORBA::Object_var to = CORBA::Object::_duplicate(from))      \
    IDIOM(to->_is_equivalent(object), CORBA::Object_var to; to = CORBA::Object::_duplicate(from))  \
    IDIOM(to->_is_equivalent(object), CORBA::Object_var to = Thing::_duplicate(from))              \
    IDIOM(to->_is_equivalent(object), Thing_var to = Thing::_unchecked_narrow(from))               \
    IDIOM(!CORBA::is_nil(from), )                                                                  \
    IDIOM(takes_object_in(from), )                                                                 \
    IDIOM(takes_base_in(from), )                                                                   \
    IDIOM((from)->_is_equivalent(object), )                                                        \
    IDIOM(object->_is_equivalent(from), )                                                          \
    IDIOM(to.target->_is_equivalent(object), Record to; to.target = Thing::_duplicate(from))       \
    IDIOM(to[0]->_is_equivalent(object), Things to; to.length(1); to[0] = Thing::_duplicate(from)) \
    IDIOM(to[1]->_is_equivalent(object), Pair to; to[1] = Thing::_duplicate(from))                 \
    WIDER(to.target()->_is_equivalent(object), Choice to; to.target(from))                         \
    IDIOM((any >>= to) && to->_is_equivalent(object), CORBA::Any any; Thing_ptr to; any <<= from)  \
    IDIOM((any >>= CORBA::Any::to_object(to)) && to->_is_equivalent(object), CORBA::Any any;       \
          CORBA::Object_var to; any <<= Thing_ptr(from))

/// Those of owners: they share where a pointer would be adopted.
#define SHARED(from)                                                                               \
    IDIOM(to->_is_equivalent(object), Thing_var to = from)                                         \
    IDIOM(to->_is_equivalent(object), Thing_var to(from))                                          \
    IDIOM(to->_is_equivalent(object), Thing_var to; to = from)                                     \
    IDIOM(to->_is_equivalent(object), Thing_var to = Thing::_duplicate(object); to = from)         \
    IDIOM(to.target->_is_equivalent(object), Record to; to.target = from)                          \
    IDIOM(to[0]->_is_equivalent(object), Things to; to.length(1); to[0] = from)                    \
    IDIOM(to[0]->_is_equivalent(object), FewThings to; to.length(1); to[0] = from)                 \
    IDIOM(to[0]->_is_equivalent(object), Things_var to = new Things; to->length(1); to[0] = from)  \
    IDIOM(to[1]->_is_equivalent(object), Pair to; to[1] = from)                                    \
    IDIOM((from).in()->_is_equivalent(object), )

inline void objects(Thing_ptr object)
{
    Thing_var var = Thing::_duplicate(object);
    const Thing_var constant_var = Thing::_duplicate(object);
    Record record;
    fill(record, object);
    const Record& constant = record;
    Record_var held = new Record(record);
    const Record_var constant_held = new Record(record);
    Things things = record.targets;
    const Things& constant_things = things;
    Things_var held_things = new Things(things);
    const Things_var constant_held_things = new Things(things);
    FewThings few;
    few.length(2);
    few[0] = Thing::_duplicate(object);
    ThingTable table;
    table.length(1);
    table[0] = things;
    const ThingTable& constant_table = table;
    Pair pair;
    pair[0] = Thing::_duplicate(object);
    Pair_var held_pair = Pair_alloc();
    held_pair[0] = Thing::_duplicate(object);
    Choice choice;
    choice.target(object);
    Choice listed;
    listed.targets(things);
    const Choice& constant_listed = listed;
    Refused refused;
    refused.by = Thing::_duplicate(object);
    const Refused& constant_refused = refused;
    Thing_ptr pointer = object;

    OBJECT(var)
    OBJECT(constant_var)
    OBJECT(var.in())
    OBJECT(record.target)
    OBJECT(constant.target)
    OBJECT(held->target)
    OBJECT(constant_held->target)
    OBJECT(things[0])
    OBJECT(constant_things[0])
    OBJECT(held_things[0])
#ifndef IDIOMS_OF_OMNIORB
    OBJECT((*held_things)[0])
    OBJECT(constant_held_things[0])
#endif
    OBJECT(held_things.in()[0])
    OBJECT(few[0])
    OBJECT(table[0][0])
    OBJECT(constant_table[0][0])
    OBJECT(record.targets[1])
    OBJECT(constant.targets[1])
    OBJECT(pair[0])
    OBJECT(held_pair[0])
    OBJECT(record.ends[1])
    OBJECT(constant.ends[1])
    OBJECT(choice.target())
    OBJECT(listed.targets()[0])
    OBJECT(constant_listed.targets()[0])
    OBJECT(refused.by)
    OBJECT(constant_refused.by)
    OBJECT(pointer)

    SHARED(var)
    SHARED(constant_var)
    SHARED(record.target)
    SHARED(constant.target)
    SHARED(held->target)
    SHARED(constant_held->target)
    SHARED(things[0])
    SHARED(constant_things[0])
    SHARED(held_things[0])
#ifndef IDIOMS_OF_OMNIORB
    SHARED((*held_things)[0])
    SHARED(constant_held_things[0])
#endif
    SHARED(held_things.in()[0])
    SHARED(few[0])
    SHARED(table[0][0])
    SHARED(constant_table[0][0])
    SHARED(record.targets[1])
    SHARED(constant.targets[1])
    SHARED(pair[0])
    SHARED(held_pair[0])
    SHARED(record.ends[1])
    SHARED(constant.ends[1])
    SHARED(listed.targets()[0])
    SHARED(constant_listed.targets()[0])
    SHARED(refused.by)
    SHARED(constant_refused.by)

    IDIOM(things[1]->_is_equivalent(object), things[1] = things[0])
    IDIOM(things[0]->_is_equivalent(object), things[0] = things[0])
    IDIOM(things[1]->_is_equivalent(object), things[1] = constant_things[0])
    IDIOM(CORBA::is_nil(things[1]), things[1] = Thing::_nil())
    IDIOM(CORBA::is_nil(to), Thing_var to)
    IDIOM(CORBA::is_nil(to) && CORBA::is_nil(to.in()), Thing_var to = Thing::_nil())
    IDIOM(takes_object_inout(var.inout()) && takes_object_inout(record.target.inout()), )
    IDIOM(takes_object_inout(things[0].inout()), )
    IDIOM(from->_is_equivalent(object), Part_var part = Part::_unchecked_narrow(object);
          Thing_var from = Thing::_duplicate(part))
    IDIOM(from->_is_equivalent(object), Part_var part = Part::_unchecked_narrow(object);
          Thing_ptr from = part)
    IDIOM(takes_object_in(part), Part_var part = Part::_unchecked_narrow(object))
    IDIOM(takes_base_in(part), Part_var part = Part::_unchecked_narrow(object))
    IDIOM(list[0]->_is_equivalent(object), Part_var part = Part::_unchecked_narrow(object);
          Things list; list.length(1); list[0] = Thing::_duplicate(part))
    IDIOM(list[0]->_is_equivalent(object), Parts parts; parts.length(1);
          parts[0] = Part::_unchecked_narrow(object); Things list; list.length(1);
          list[0] = Thing::_duplicate(parts[0]))
    IDIOM(raw->_is_equivalent(object), Thing_var from = Thing::_duplicate(object);
          Thing_ptr raw = from._retn(); CORBA::release(raw))
    IDIOM(list[1]->_is_equivalent(object), std::vector<Thing_var> list; list.push_back(var);
          list.push_back(things[0].in() ? Thing::_duplicate(things[0]) : Thing::_nil()))
    IDIOM(list[0]->_is_equivalent(object), std::vector<Thing_var> list(1); list[0] = things[0])
    IDIOM(list[0]->_is_equivalent(object), std::vector<Thing_var> list(1);
          list[0] = constant_things[0])
    IDIOM((any >>= CORBA::Any::to_object(to)) && to->_is_equivalent(object), CORBA::Any any;
          CORBA::Object_var to; Thing_ptr adopted = Thing::_duplicate(object); any <<= &adopted)
    IDIOM(to[0]->_is_equivalent(object), Thing_ptr* buffer = Things::allocbuf(1);
          buffer[0] = Thing::_duplicate(object); Things to(1, 1, buffer, true))
    IDIOM(refused2.by->_is_equivalent(object), Refused refused2("why", var, Names()))
    IDIOM(refused2.by->_is_equivalent(object), Refused refused2("why", things[0], Names()))
    IDIOM(refused2.by->_is_equivalent(object), Refused refused2("why", record.target, Names()))
}

/// Structs, sequences, unions and exceptions: whatever travels as a pointer.
inline void aggregates(Thing_ptr object)
{
    Record record;
    fill(record, object);
    const Record& constant = record;
    Record_var var = new Record(record);
    Records records;
    records.length(2);
    records[0] = record;
    records[1] = record;
    const Records& constant_records = records;
    Records_var held_records = new Records(records);
    Names names = record.labels;
    const Names& constant_names = names;
    NameTable table;
    table.length(1);
    table[0] = names;
    const NameTable& constant_table = table;
    LongTable numbers;
    numbers.length(2);
    numbers[1].length(2);
    numbers[1][1] = 7;
    const LongTable& constant_numbers = numbers;
    Choice choice;
    Choices choices;
    choices.length(2);

#define RECORD(from)                                                                               \
    IDIOM(same(to.text, "text"), Record to = from)                                                 \
    IDIOM(same(to.text, "text"), Record to; to = from)                                             \
    IDIOM(same(to->text, "text"), Record_var to = new Record(from))                                \
    IDIOM(same(to->text, "text"), Record_var to; to = new Record(from))                            \
    IDIOM(same(to[0].text, "text"), Records to; to.length(1); to[0] = from)                        \
    IDIOM(same(choice.whole().text, "text"), choice.whole(from))                                   \
    IDIOM(takes_record_in(from), )                                                                 \
    IDIOM((any >>= to) && same(to->text, "text"), CORBA::Any any; const Record* to; any <<= from)  \
    IDIOM((any >>= to) && same(to->text, "text"), CORBA::Any any; Record * to;                     \
          any <<= new Record(from))                                                                \
    IDIOM(same(to.text, "text"), const Record& to = from)

    RECORD(record)
    RECORD(constant)
#ifndef IDIOMS_OF_OMNIORB
    RECORD(*var)
#endif
    RECORD(var.in())
    RECORD(var.inout())
    RECORD(records[0])
    RECORD(constant_records[0])
    RECORD(held_records[0])
    RECORD(held_records.in()[0])
#ifndef IDIOMS_OF_OMNIORB
    RECORD((*held_records)[0])
#endif
    IDIOM(same(to->text, "text"), Record_var to = var)
    IDIOM(same(to->text, "text"), Record_var to(var))
    IDIOM(same(to->text, "text"), Record_var to; to = var)
    WIDER(same(to->text, "text"), Record_var to; to = record)
    IDIOM(same(to.text, "text"), Record to = var)
    IDIOM(same(to.text, "text"), Record to(var))
    IDIOM(same(to.text, "text"), Record to; to = var)
    IDIOM(takes_record_in(var), )
    IDIOM(same(to->text, "text"), Record_var from = new Record(record);
          Record_var to = from._retn())
    IDIOM(same(to[0].text, "text"), Records to; to.length(1); to[0] = var)
    IDIOM(same(choice.whole().text, "text"), choice.whole(var))
    IDIOM(var->where.x == 1 && var->line[2] == 2 && var->small == 3 && var->flag, )
    IDIOM(var->paint == green && constant.paint == green, )
    WIDER((any >>= to) && same(to->text, "text"), CORBA::Any any; const Record* to; any <<= *var)
    IDIOM((any >>= to) && same(to->text, "text"), CORBA::Any any; const Record* to;
          any <<= var.in())
    IDIOM((any >>= to) && same(to->text, "text"), CORBA::Any any; const Record* to;
          any <<= var._retn(); var = new Record(record))

#define NAMES(from)                                                                                \
    IDIOM(to.length() == 2 && same(to[1], "text"), Names to = from)                                \
    IDIOM(to.length() == 2 && same(to[1], "text"), Names to(from))                                 \
    IDIOM(to.length() == 2 && same(to[1], "text"), Names to; to = from)                            \
    IDIOM(to->length() == 2 && same(to[1], "text"), Names_var to = new Names(from))                \
    IDIOM(to->length() == 2 && same(to[1], "text"), Names_var to; to = new Names(from))            \
    IDIOM(same(to.labels[1], "text"), Record to; to.labels = from)                                 \
    IDIOM(same(to[0][1], "text"), NameTable to; to.length(1); to[0] = from)                        \
    IDIOM(same(choice.labels()[1], "text"), choice.labels(from))                                   \
    IDIOM(takes_names_in(from), )                                                                  \
    IDIOM((any >>= to) && same((*to)[1], "text"), CORBA::Any any; const Names* to; any <<= from)   \
    IDIOM((any >>= to) && same((*to)[1], "text"), CORBA::Any any; Names * to;                      \
          any <<= new Names(from))

    Names_var held = new Names(names);
    NAMES(names)
    NAMES(constant_names)
#ifndef IDIOMS_OF_OMNIORB
    NAMES(*held)
#endif
    NAMES(held.in())
    NAMES(record.labels)
    NAMES(constant.labels)
    NAMES(var->labels)
    NAMES(records[0].labels)
    NAMES(constant_records[0].labels)
    NAMES(table[0])
    NAMES(constant_table[0])
    IDIOM(to.length() == 2 && same(to[1], "text"), Names to = held)
    IDIOM(to->length() == 2 && same(to[1], "text"), Names_var to = held)
    IDIOM(to->length() == 2 && same(to[1], "text"), Names_var to; to = held)
    WIDER(to->length() == 2 && same(to[1], "text"), Names_var to; to = names)
    IDIOM(same(to.labels[1], "text"), Record to; to.labels = held)
    IDIOM(same(choice.labels()[1], "text"), choice.labels(held))
    IDIOM(takes_names_in(held), )
    IDIOM(numbers[1][1] == 7 && constant_numbers[1][1] == 7, )
    IDIOM(to[1][1] == 7, LongTable_var to = new LongTable(numbers))
    IDIOM(to[1] == 7, Longs to = constant_numbers[1])
    IDIOM(to == 7, CORBA::Long to = constant_numbers[1][1])
    IDIOM(numbers[0][0] == 9, numbers[0].length(1); numbers[0][0] = 9)
    IDIOM(to.get_buffer()[1] == 7, const Longs& to = constant_numbers[1])
    IDIOM(to[2] == 3, CORBA::Long* buffer = Longs::allocbuf(3); buffer[2] = 3;
          Longs to(3, 3, buffer, true))
    IDIOM(to[2] == 3, CORBA::Long buffer[] = {1, 2, 3}; Longs to(3, 3, buffer))
    IDIOM(to[2] == 3, CORBA::Octet buffer[] = {1, 2, 3}; Octets to(3, 3, buffer, false))
    IDIOM(to[3] == 9, Octets to; to.length(4); memset(to.get_buffer(), 9, 4))
    IDIOM(to.maximum() >= 5 && to.length() == 0, Longs to(5))
    IDIOM(to[1] == blue && to.length() == 2, Colours to; to.length(2); to[1] = blue)
    IDIOM(to[1] && !to[0], Flags to; to.length(2); to[0] = false; to[1] = true)
    IDIOM(to[1], Flags to; to.length(2); to[1] = 1; CORBA::Boolean flag = to[1]; to[1] = flag)
    IDIOM(to.x == 1 && to.y == 2.5, Point to = constant.where)
    IDIOM(to->x == 1, Point_var to = new Point(record.where))
    IDIOM(to->x == 1, Point_var to = new Point; to = record.where)
    IDIOM(to.x == 1, Points list; list.length(1); list[0] = record.where; Point to = list[0])
    IDIOM(to.y == 5, Point to = {4, 5})
    IDIOM((any >>= to) && to->x == 1, CORBA::Any any; const Point* to; any <<= record.where)

    // Unions.
    IDIOM(choice._d() == 4 && choice.where().x == 1, choice.where(record.where))
    IDIOM(choice.where().x == 8, choice.where(record.where); choice.where().x = 8)
    IDIOM(choice._d() == 9 && choice.paint() == blue, choice.paint(blue))
    IDIOM(choice.flag(), choice.flag(true))
    IDIOM(choice.flag() && choice._d() == 10, choice.flag(record.flag))
    IDIOM(choice.line()[1] == 1, choice.line(record.line))
    IDIOM(choice.line()[1] == 1, choice.line(constant.line))
    WIDER(choice.line()[1] == 5, choice.line(record.line); choice.line()[1] = 5)
    IDIOM(takes_any_in(choice.extra()), choice.extra(record.extra))
    IDIOM(takes_any_in(to), choice.extra(record.extra); CORBA::Any to = choice.extra())
    IDIOM(takes_any_in(choice.extra()), choice.extra(CORBA::Any());
          choice.extra() <<= CORBA::Long(7))
    IDIOM(choice.labels().length() == 3, choice.labels(names); choice.labels().length(3))
    IDIOM(to.paint() == red, choice.paint(red); Choice to = choice)
    IDIOM(to->paint() == red, choice.paint(red); Choice_var to = new Choice(choice))
    IDIOM(to->paint() == red, Choice_var to = new Choice; to->paint(red))
    IDIOM(choices[1].paint() == red, choice.paint(red); choices[1] = choice)
    IDIOM(choices[1].paint() == blue, choices[1].paint(blue))
    IDIOM((any >>= to) && to->paint() == red, choice.paint(red); CORBA::Any any; const Choice* to;
          any <<= choice)
    IDIOM(same(choice.whole().labels[0], "text"), choice.whole(record))
    IDIOM(same(to, "text"), choice.whole(record); CORBA::String_var to = choice.whole().labels[0])
    IDIOM(to->_is_equivalent(object), choice.whole(record);
          Thing_var to = choice.whole().targets[0])
    IDIOM(to->_is_equivalent(object), choice.target(object);
          Thing_var to = Thing::_duplicate(choice.target()))
    IDIOM(CORBA::is_nil(choice.target()), choice.target(Thing::_nil()))

    // Exceptions.
    Refused refused("text", object, names);
    IDIOM(to && same(to->why, "text"), CORBA::Exception* base = &refused;
          Refused* to = Refused::_downcast(base))
    IDIOM(to && same(to->why, "text"), CORBA::UserException* base = &refused;
          Refused* to = Refused::_downcast(base))
    IDIOM(
        caught, bool caught = false; try {
            throw Refused("text", object, names);
        } catch (const Refused& one) { caught = same(one.why, "text"); })
    IDIOM(
        caught, bool caught = false; try { refused._raise(); } catch (CORBA::UserException& one) {
            caught = Refused::_downcast(&one) != 0;
        })
    IDIOM((any >>= to) && same(to->why, "text"), CORBA::Any any; const Refused* to; any <<= refused)
    IDIOM(same(refused._name(), "Refused"), )
    IDIOM(same(refused._rep_id(), "IDL:Idioms/Refused:1.0"), )
}

inline void arrays(Thing_ptr object)
{
    Record record;
    fill(record, object);
    const Record& constant = record;
    Row row = {0, 1, 2};
    Grid grid = {{0, 1, 2}, {3, 4, 5}};
    Row_var var = Row_dup(row);
    const Row_var constant_var = Row_dup(row);
    Grid_var held_grid = Grid_dup(grid);
    Words_var words = Words_alloc();
    words[0] = "text";
    words[1] = CORBA::string_dup("text");
    Pair_var pair = Pair_dup(record.ends);

#define ROW(from)                                                                                  \
    IDIOM(to[1] == 1, const Row_slice* to = from)                                                  \
    IDIOM(to[1] == 1, Row_var to = Row_dup(from))                                                  \
    IDIOM(to[1] == 1, Row_var to; to = Row_dup(from))                                              \
    IDIOM(to[1] == 1, Row to; Row_copy(to, from))                                                  \
    IDIOM(takes_row_in(from), )                                                                    \
    IDIOM((from)[1] == 1, )                                                                        \
    IDIOM(to.line[1] == 1, Record to; Row_copy(to.line, from))                                     \
    IDIOM(to[0][1] == 1, Rows to; to.length(1); Row_copy(to[0], from))                             \
    IDIOM(choice.line()[1] == 1, Choice choice; choice.line(from))

    ROW(row)
    ROW(var)
    ROW(var.in())
    ROW(constant_var)
    ROW(record.line)
    ROW(constant.line)
    IDIOM(to[1] == 1, Row_slice* to = row)
    IDIOM(to[1] == 1, Row_slice* to = var)
    IDIOM(to[1] == 1, Row_slice* to = record.line)
    IDIOM(to[1] == 1, Row_var to = var)
    IDIOM(to[1] == 1, Row_var to; to = var)
    IDIOM(to[1] == 1, Row_slice* from = Row_dup(row); Row_var to = from)
    IDIOM(to[1] == 1, Row_slice* from = Row_dup(row); Row_var to; to = from)
    IDIOM(to[1] == 1, Row_var from = Row_dup(row); Row_var to = from._retn())
    IDIOM(to[1] == 8, Row_var to = Row_alloc(); to[1] = 8)
    IDIOM(to[1] == 8, Row_slice* to = Row_alloc(); to[1] = 8; Row_free(to); to = row; to[1] = 8)
    IDIOM(row[1] == 1, row[1] = 1)
    IDIOM(grid[1][2] == 5 && held_grid[1][2] == 5, )
    IDIOM(to[1][2] == 5, Grid_slice* to = grid)
    IDIOM(to[1][2] == 5, Grid_var to = Grid_dup(held_grid))
    IDIOM(to[1][2] == 5, Grid_var to = Grid_dup(held_grid.in()))
    IDIOM(held_grid[1][2] == 8, held_grid[1][2] = 8)
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any; Row_forany to; any <<= Row_forany(row))
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any; Row_forany to; Row_forany from(row);
          any <<= from)
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any; Row_forany to;
          any <<= Row_forany(Row_dup(row), true))
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any; Row_forany to;
          any <<= Row_forany(var.inout()))
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any; Row_forany to;
          any <<= Row_forany(record.line))
    IDIOM((any >>= to) && to[1] == 1, CORBA::Any any;
          const_cast<CORBA::Any&>(any) <<= Row_forany(row); Row_forany to)
    IDIOM(copy[1] == 1, CORBA::Any any; any <<= Row_forany(row); Row_forany to; any >>= to;
          Row copy; Row_copy(copy, to))
    IDIOM(copy[1] == 1, CORBA::Any any; any <<= Row_forany(row); Row_forany to; any >>= to;
          Row_var copy = Row_dup(to))
    IDIOM(to[1][2] == 5, CORBA::Any any; any <<= Grid_forany(grid); Grid_forany to; any >>= to)
    IDIOM((any >>= to) && same(to[0], "text"), CORBA::Any any; Words_forany to;
          any <<= Words_forany(words.inout()))
    IDIOM(same(to[1], "text"), Words_var to = Words_dup(words))
    IDIOM(same(to[1], "text"), Words_var to = words)
    IDIOM(same(to[1], "text"), Words to; Words_copy(to, words))
    IDIOM(same(to, "text"), CORBA::String_var to = words[1])
    IDIOM(same(words[0], "text"), words[0] = words[1])
    IDIOM(same(words[0], "text"), words[0] = record.labels[0])
    IDIOM(to[1]->_is_equivalent(object), Pair_var to = Pair_dup(pair))
    IDIOM(to[1]->_is_equivalent(object), Pair_var to = pair)
    IDIOM(to->_is_equivalent(object), Thing_var to = pair[1])
    IDIOM(pair[0]->_is_equivalent(object), pair[0] = pair[1])
    IDIOM(to[0][1] == 1, Rows to; to.length(2); to[0][1] = 1)
    IDIOM(from[1] == 1, Rows to; to.length(2); to[0][1] = 1; const Rows& constant_rows = to;
          const Row_slice* from = constant_rows[0])
    IDIOM(from[1] == 1, Rows to; to.length(2); to[0][1] = 1; Row_slice* from = to[0])
    IDIOM(to[0] == 0 && to[2] == 2, CORBA::Long to[3]; for (int i = 0; i < 3; ++i) to[i] = var[i])
}

inline void anys(Thing_ptr object)
{
    Record record;
    fill(record, object);
    CORBA::Any any;
    const CORBA::Any& constant = any;
    CORBA::Any_var var = new CORBA::Any;
    Anys list;
    list.length(2);
    const Anys& constant_list = list;

#define NUMBER(Type, value)                                                                        \
    IDIOM((any >>= to) && to == value, CORBA::Type to = 0; any <<= CORBA::Type(value))             \
    IDIOM((any >>= to) && to == value, CORBA::Type to = 0; any <<= (CORBA::Type)value)             \
    IDIOM((constant >>= to) && to == value, CORBA::Type from = value; CORBA::Type to = 0;          \
          any <<= from)                                                                            \
    IDIOM((var.in() >>= to) && to == value, CORBA::Type to = 0;                                    \
          var.inout() <<= CORBA::Type(value))                                                      \
    WIDER((*var >>= to) && to == value, CORBA::Type to = 0; *var <<= CORBA::Type(value))           \
    IDIOM((list[0] >>= to) && to == value, CORBA::Type to = 0; list[0] <<= CORBA::Type(value))     \
    IDIOM((constant_list[0] >>= to) && to == value, CORBA::Type to = 0)                            \
    IDIOM((record.extra >>= to) && to == value, CORBA::Type to = 0;                                \
          record.extra <<= CORBA::Type(value))

    NUMBER(Short, 7)
    NUMBER(UShort, 7)
    NUMBER(Long, 7)
    NUMBER(ULong, 7)
    NUMBER(LongLong, 7)
    NUMBER(ULongLong, 7)
    NUMBER(Float, 0.5F)
    NUMBER(Double, 0.5)
    IDIOM((any >>= CORBA::Any::to_boolean(to)) && to, CORBA::Boolean to = false;
          any <<= CORBA::Any::from_boolean(true))
    IDIOM((any >>= to) && to, CORBA::Boolean to = false; any <<= CORBA::Any::from_boolean(true))
    IDIOM((any >>= to) && to, CORBA::Boolean to = false; any <<= CORBA::Any::from_boolean(1))
    IDIOM((any >>= to) && !to, CORBA::Boolean to = true; any <<= CORBA::Any::from_boolean(0))
    IDIOM((any >>= record.flag) && record.flag, record.flag = false;
          any <<= CORBA::Any::from_boolean(true))
    IDIOM((any >>= CORBA::Any::to_octet(to)) && to == 9, CORBA::Octet to = 0;
          any <<= CORBA::Any::from_octet(9))
    IDIOM((any >>= CORBA::Any::to_octet(record.small)) && record.small == 9,
          any <<= CORBA::Any::from_octet(9))
    IDIOM((any >>= CORBA::Any::to_char(to)) && to == 'c', CORBA::Char to = 0;
          any <<= CORBA::Any::from_char('c'))
    IDIOM((any >>= CORBA::Any::to_wchar(to)) && to == L'c', CORBA::WChar to = 0;
          any <<= CORBA::Any::from_wchar(L'c'))
    IDIOM((any >>= to) && to == blue, Colour to = red; any <<= blue)
    IDIOM((any >>= to) && to == green, Colour to = red; any <<= record.paint)
    IDIOM((any >>= to) && takes_any_in(*to), const CORBA::Any* to; CORBA::Any inner;
          inner <<= CORBA::Long(7); any <<= inner)
    IDIOM((any >>= to) && takes_any_in(*to), const CORBA::Any* to;
          CORBA::Any* inner = new CORBA::Any; *inner <<= CORBA::Long(7); any <<= inner)
    IDIOM((any >>= to) && to->kind() == CORBA::tk_long, CORBA::TypeCode_ptr to;
          any <<= CORBA::_tc_long)
    IDIOM((any >>= to) && to->equal(_tc_Record), CORBA::TypeCode_ptr to; any <<= _tc_Record)
    IDIOM((any >>= to) && to->kind() == CORBA::tk_long, CORBA::TypeCode_ptr to;
          CORBA::TypeCode_var from = CORBA::TypeCode::_duplicate(CORBA::_tc_long); any <<= from)
    IDIOM(type->kind() == CORBA::tk_long, any <<= CORBA::Long(7);
          CORBA::TypeCode_var type = any.type())
    IDIOM(takes_any_in(to), any <<= CORBA::Long(7); CORBA::Any to = any)
    IDIOM(takes_any_in(to), CORBA::Any to; to = any)
    IDIOM(takes_any_in(to.in()), CORBA::Any_var to = new CORBA::Any(any))
    IDIOM(takes_any_in(to), CORBA::Any_var to = new CORBA::Any(any))
    WIDER(takes_any_in(*to), CORBA::Any_ptr to = &any)
    IDIOM(takes_any_in(to), CORBA::Any_var from = new CORBA::Any(any); CORBA::Any to = from)
    IDIOM(takes_any_in(to.extra), Record to; to.extra = any)
    IDIOM(takes_any_in(to.extra), Record to; to.extra = list[1]; to.extra <<= CORBA::Long(7))
    IDIOM(takes_any_in(list[1]), list[1] = any)
    IDIOM(takes_any_in(to), list[1] <<= CORBA::Long(7); CORBA::Any to = constant_list[1])
    IDIOM(!(any >>= to), const char* to = 0; any <<= CORBA::Long(7))
    IDIOM(!(any >>= to), const Record* to = 0; any <<= CORBA::Long(7))
    IDIOM((any >>= to) && (*to)[1] == 4, const Longs* to; Longs from; from.length(2); from[1] = 4;
          any <<= from)
    IDIOM((any >>= to) && (*to)[1] == 4, const Longs* to; Longs_var from = new Longs;
          from->length(2); from[1] = 4; any <<= from.in())
    IDIOM((any >>= to) && (*to)[1] == 4, const Longs* to; Longs_var from = new Longs;
          from->length(2); from[1] = 4; any <<= from._retn())
    IDIOM((any >>= CORBA::Any::to_fixed(to, 8, 2)) && to == CORBA::Fixed("12.25"), CORBA::Fixed to;
          any <<= CORBA::Any::from_fixed(record.cost, 8, 2))
    IDIOM((any >>= CORBA::Any::to_object(to)) && to->_is_equivalent(object), CORBA::Object_var to;
          CORBA::Object_ptr from = object; any <<= from)
    IDIOM((any >>= CORBA::Any::to_object(to.out())) && to->_is_equivalent(object),
          CORBA::Object_var to)
    IDIOM((any >>= to) && to->minor() == 3, const CORBA::BAD_PARAM* to;
          any <<= CORBA::BAD_PARAM(3, CORBA::COMPLETED_NO))
}

inline void fixed_points(Thing_ptr object)
{
    Record record;
    fill(record, object);
    const Record& constant = record;
    Prices prices;
    prices.length(2);
    IDIOM(to == CORBA::Fixed("12.25"), Price to = record.cost)
    IDIOM(to == CORBA::Fixed("12.25"), Price to = constant.cost)
    IDIOM(to == CORBA::Fixed("12.25"), CORBA::Fixed to = record.cost)
    IDIOM(to == CORBA::Fixed("24.50"), CORBA::Fixed to = record.cost + record.cost)
    IDIOM(to == CORBA::Fixed("24.50"), Price to = record.cost * CORBA::Fixed(2))
    IDIOM(to == CORBA::Fixed("24.50"), Price to = record.cost; to += constant.cost)
    IDIOM(to == CORBA::Fixed(3), Price to; to = CORBA::Fixed(3))
    IDIOM(to == CORBA::Fixed(3), Price to("3.00"))
    IDIOM(to == CORBA::Fixed("3.5"), Price to(3.5))
    IDIOM(prices[1] == CORBA::Fixed("12.25"), prices[1] = record.cost)
    IDIOM(record.cost == prices[1], record.cost = prices[1])
    IDIOM(to == 12, CORBA::LongLong to = (CORBA::LongLong)record.cost)
    IDIOM(record.cost < CORBA::Fixed(13) && record.cost > CORBA::Fixed(12), )
}

class Paper : public virtual OBV_Idioms::Note, public virtual CORBA::DefaultValueRefCountBase {};

inline void values(Thing_ptr object)
{
    Record record;
    fill(record, object);
    const Record& constant = record;
    CORBA::String_var text = CORBA::string_dup("text");
    Thing_var thing = Thing::_duplicate(object);
    Names_var names = new Names(record.labels);
    Note_var note = new Paper;
    Notes notes;
    notes.length(2);
    const Notes& constant_notes = notes;

    IDIOM(same(note->text(), "text"), note->text("text"))
    IDIOM(same(note->text(), "text"), note->text(CORBA::string_dup("text")))
    IDIOM(same(note->text(), "text"), note->text(text))
    IDIOM(same(note->text(), "text"), note->text(text.in()))
    IDIOM(same(note->text(), "text"), note->text(record.text))
    IDIOM(same(note->text(), "text"), note->text(constant.text))
    WIDER(same(note->text(), "text"), note->text(record.labels[0]))
    WIDER(same(note->text(), "text"), note->text(constant.labels[0]))
    IDIOM(same(note->text(), "text"), note->text(record.pieces[0]))
    IDIOM(same(to, "text"), CORBA::String_var to = note->text())
    IDIOM(note->target()->_is_equivalent(object), note->target(object))
    IDIOM(note->target()->_is_equivalent(object), note->target(thing))
    IDIOM(note->target()->_is_equivalent(object), note->target(thing.in()))
    IDIOM(note->target()->_is_equivalent(object), note->target(record.target))
    WIDER(note->target()->_is_equivalent(object), note->target(record.targets[0]))
    WIDER(note->target()->_is_equivalent(object), note->target(constant.targets[0]))
    IDIOM(note->target()->_is_equivalent(object), note->target(record.ends[0]))
    IDIOM(to->_is_equivalent(object), Thing_var to = Thing::_duplicate(note->target()))
    IDIOM(note->labels().length() == 2, note->labels(record.labels))
    IDIOM(note->labels().length() == 2, note->labels(names))
    IDIOM(note->labels().length() == 2, note->labels(names.in()))
    IDIOM(same(note->labels()[1], "text"), note->labels()[1] = text)
    IDIOM(same(to, "text"), CORBA::String_var to = note->labels()[1])
    IDIOM(note->where().x == 1, note->where(record.where))
    IDIOM(note->where().x == 3, note->where().x = 3)
    IDIOM(note->number() == 4, note->number(4))
    IDIOM(to->number() == 4, Note_var to = note)
    IDIOM(to->number() == 4, Note_var to(note))
    IDIOM(to->number() == 4, Note_var to; to = note)
    IDIOM(to->number() == 4, Note* to = note)
    IDIOM(to->number() == 4, Note* to = note.in())
    IDIOM(notes[0]->number() == 4, CORBA::add_ref(note); notes[0] = note.in())
    IDIOM(notes[1]->number() == 4, notes[1] = note)
    IDIOM(notes[1]->number() == 4, notes[1] = notes[0])
    IDIOM(constant_notes[1]->number() == 4, )
    IDIOM(to->number() == 4, Note_var to = notes[1])
    IDIOM(to->number() == 4, Note_var to; to = notes[1])
    IDIOM(to->number() == 4, Note_var to = constant_notes[1])
    IDIOM(to->number() == 4, Note_var to; to = constant_notes[1])
    IDIOM(to->number() == 4, Note* to = notes[1])
    IDIOM(to->number() == 4, Note* to = constant_notes[1])
    IDIOM(to != 0, Note* to = Note::_downcast(note))
    IDIOM(to != 0, CORBA::ValueBase* base = note; Note* to = Note::_downcast(base))
    IDIOM((any >>= to) && to->number() == 4, CORBA::Any any; Note* to = 0; any <<= note.in())

    TextBox_var box = new TextBox("text");
    IDIOM(same(box->_value(), "text"), )
    IDIOM(same(box->_boxed_in(), "text"), )
    IDIOM(same(box->_value(), "text"), box->_value("text"))
    IDIOM(same(box->_value(), "text"), box->_value(text))
    IDIOM(same(box->_value(), "text"), *box = "text")
    IDIOM(same(box->_value(), "text"), *box = text)
    IDIOM(same(box->_value(), "text"), *box = CORBA::string_dup("text"))
    IDIOM(same(to->_value(), "text"), TextBox_var to = new TextBox(text))
    IDIOM(same(to->_value(), "text"), TextBox_var to = new TextBox(CORBA::string_dup("text")))
    IDIOM(same(to->_value(), "text"), TextBox_var to = new TextBox(*box))
    IDIOM(same(to->_value(), "text"), TextBox_var to = new TextBox(record.labels[0]))
    IDIOM(same(to->_value(), "text"), TextBox_var to = new TextBox(record.text))
    NamesBox_var names_box = new NamesBox(record.labels);
    IDIOM(names_box->length() == 2 && same((*names_box)[1], "text"), )
    IDIOM(names_box->_value().length() == 2, )
    IDIOM(same(to, "text"), CORBA::String_var to = (*names_box)[1])
    IDIOM(same((*names_box)[1], "text"), (*names_box)[1] = text)
    IDIOM(takes_names_in(names_box->_boxed_in()), )
    PointBox_var point_box = new PointBox(record.where);
    IDIOM(point_box->x() == 1 && point_box->_value().x == 1, )
    IDIOM(point_box->x() == 5, point_box->x(5))
    ThingBox_var thing_box = new ThingBox(object);
    IDIOM(thing_box->_value()->_is_equivalent(object), )
    IDIOM(to->_is_equivalent(object), Thing_var to = Thing::_duplicate(thing_box->_value()))
    LongBox_var long_box = new LongBox(5);
    IDIOM(long_box->_value() == 5, )
    IDIOM(long_box->_value() == 6, long_box->_value(6))
    IDIOM(long_box->_value() == 7, *long_box = 7)
}

/// Tries all of them; false if one did something else than it should.
inline bool all(CORBA::ORB_ptr orb)
{
    CORBA::Object_var found = orb->string_to_object("corbaloc::127.0.0.1:1/thing");
    Thing_var thing = Thing::_unchecked_narrow(found);
#ifdef IDIOMS_OF_OMNIORB
    texts_and_streams_of_omniorb(thing);
#endif
    texts(thing);
    wide_texts(thing);
    objects(thing);
    aggregates(thing);
    arrays(thing);
    anys(thing);
    fixed_points(thing);
    values(thing);
    std::cout << tried << " idioms, " << failed << " of them do something else\n";
    return failed == 0;
}

} // namespace Idioms
