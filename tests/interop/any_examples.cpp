// SPDX-License-Identifier: Apache-2.0
#include "any_examples.h"

namespace anys {
namespace {

using CORBA::Any;

template <typename T, int number>
void make_number(Any& any, Anys::Peer_ptr)
{
    any <<= static_cast<T>(number);
}
template <typename T, int number>
bool is_number(const Any& any)
{
    T value = 0;
    return (any >>= value) && value == static_cast<T>(number);
}

Anys::Point point(int number)
{
    Anys::Point point;
    point.x = static_cast<CORBA::Short>(number);
    point.y = number * 1.5;
    point.z = static_cast<CORBA::Octet>(number * 3);
    return point;
}
bool is_point(const Anys::Point& point, int number)
{
    return point.x == number && point.y == number * 1.5 && point.z == number * 3;
}

void fill(Anys::Person& person, int number)
{
    person.name = "a person";
    person.called = "nick";
    person.eyes = Anys::blue;
    person.good = true;
    person.at = point(number);
    for (int i = 0; i < 6; ++i)
        person.board[i / 3][i % 3] = static_cast<CORBA::Short>(number + i);
    person.marks.length(3);
    for (CORBA::ULong i = 0; i < 3; ++i)
        person.marks[i] = static_cast<CORBA::Long>(i) * -number;
    person.extra <<= point(number + 1);
    person.extras.length(2);
    person.extras[0] <<= "in a list";
    person.extras[1] <<= CORBA::Any::from_boolean(true);
}
bool is_person(const Anys::Person& person, int number)
{
    const Anys::Point* inner = nullptr;
    const char* text = nullptr;
    CORBA::Boolean flag = false;
    bool good =
        std::strcmp(person.name, "a person") == 0 && std::strcmp(person.called, "nick") == 0;
    good = good && person.eyes == Anys::blue && person.good && is_point(person.at, number);
    for (int i = 0; i < 6; ++i)
        good = good && person.board[i / 3][i % 3] == number + i;
    good = good && person.marks.length() == 3 && person.marks[2] == -2 * number;
    good = good && (person.extra >>= inner) && is_point(*inner, number + 1);
    good = good && person.extras.length() == 2 && (person.extras[0] >>= text) &&
           std::strcmp(text, "in a list") == 0;
    return good && (person.extras[1] >>= CORBA::Any::to_boolean(flag)) && flag;
}

#define NUMBER(type, number)                                                                       \
    {                                                                                              \
        #type, &make_number<CORBA::type, number>, &is_number<CORBA::type, number>                  \
    }

/// An example whose extraction gives a pointer to a T.
#define CLASS(name, T, statements, condition)                                                      \
    {                                                                                              \
        name,                                                                                      \
            [](Any& any, Anys::Peer_ptr) {                                                         \
                T value;                                                                           \
                statements;                                                                        \
                any <<= value;                                                                     \
            },                                                                                     \
            [](const Any& any) {                                                                   \
                const T* found = nullptr;                                                          \
                if (!(any >>= found)) return false;                                                \
                const T& value = *found;                                                           \
                return static_cast<bool>(condition);                                               \
            }                                                                                      \
    }

bool nested(const Any& any, int depth)
{
    const Any* inner = nullptr;
    CORBA::Long number = 0;
    if (depth == 0) return (any >>= number) && number == 77;
    return (any >>= inner) && nested(*inner, depth - 1);
}

} // namespace

const Example examples[] = {
    {"nothing", [](Any& any, Anys::Peer_ptr) { any = Any(); },
     [](const Any& any) {
         const CORBA::TypeCode_var type = any.type();
         return type->kind() == CORBA::tk_null;
     }},
    NUMBER(Short, -7),
    NUMBER(UShort, 65000),
    NUMBER(Long, -70000),
    NUMBER(ULong, 70000),
    NUMBER(LongLong, -5),
    NUMBER(ULongLong, 5),
    NUMBER(Float, 3),
    NUMBER(Double, -9),
    {"boolean", [](Any& any, Anys::Peer_ptr) { any <<= Any::from_boolean(true); },
     [](const Any& any) {
         CORBA::Boolean value = false;
         return (any >>= Any::to_boolean(value)) && value;
     }},
    {"octet", [](Any& any, Anys::Peer_ptr) { any <<= Any::from_octet(200); },
     [](const Any& any) {
         CORBA::Octet value = 0;
         return (any >>= Any::to_octet(value)) && value == 200;
     }},
    {"char", [](Any& any, Anys::Peer_ptr) { any <<= Any::from_char('c'); },
     [](const Any& any) {
         CORBA::Char value = 0;
         return (any >>= Any::to_char(value)) && value == 'c';
     }},
    {"string", [](Any& any, Anys::Peer_ptr) { any <<= "a string"; },
     [](const Any& any) {
         const char* value = nullptr;
         return (any >>= value) && std::strcmp(value, "a string") == 0;
     }},
    {"bounded_string",
     [](Any& any, Anys::Peer_ptr) {
         any <<= Any::from_string(CORBA::string_dup("seven"), 7, true);
     },
     [](const Any& any) {
         const char* value = nullptr;
         return (any >>= Any::to_string(value, 7)) && std::strcmp(value, "seven") == 0;
     }},
    {"enum", [](Any& any, Anys::Peer_ptr) { any <<= Anys::green; },
     [](const Any& any) {
         Anys::Color value = Anys::red;
         return (any >>= value) && value == Anys::green;
     }},
    CLASS("struct", Anys::Point, value = point(4), is_point(value, 4)),
    CLASS("variable_struct", Anys::Person, fill(value, 5), is_person(value, 5)),
    CLASS("sequence", Anys::Numbers, value.length(2); value[0] = 8;
          value[1] = -8, value.length() == 2 && value[0] == 8 && value[1] == -8),
    CLASS("sequence_of_structs", Anys::Points, value.length(2); value[0] = point(1);
          value[1] = point(2), value.length() == 2 && is_point(value[1], 2)),
    CLASS("empty_sequence", Anys::Points, (void)value, value.length() == 0),
    CLASS("sequence_of_any", Anys::List, value.length(2); value[0] <<= point(6);
          value[1] <<= "second",
          [&] {
              const Anys::Point* inner = nullptr;
              const char* text = nullptr;
              return (value[0] >>= inner) && is_point(*inner, 6) && (value[1] >>= text) &&
                     std::strcmp(text, "second") == 0;
          }()),
    {"array",
     [](Any& any, Anys::Peer_ptr) {
         Anys::Grid grid;
         for (int i = 0; i < 6; ++i)
             grid[i / 3][i % 3] = static_cast<CORBA::Short>(i);
         any <<= Anys::Grid_forany(grid);
     },
     [](const Any& any) {
         Anys::Grid_forany grid;
         return (any >>= grid) && grid[0][1] == 1 && grid[1][2] == 5;
     }},
    {"array_of_strings",
     [](Any& any, Anys::Peer_ptr) {
         Anys::Words_slice* words = Anys::Words_alloc();
         words[0] = "zero";
         words[1] = "one";
         any <<= Anys::Words_forany(words, true);
     },
     [](const Any& any) {
         Anys::Words_forany words;
         return (any >>= words) && std::strcmp(words[1], "one") == 0;
     }},
    CLASS("recursive_struct", Anys::Tree, value.label = "root"; value.children.length(2);
          value.children[1].label = "leaf"; value.children[1].children.length(1);
          value.children[1].children[0].label = "tip",
          value.children.length() == 2 &&
              std::strcmp(value.children[1].children[0].label, "tip") == 0),
    CLASS("union_of_number", Anys::Choice, value.number(12);
          value._d(Anys::green), value._d() == Anys::green && value.number() == 12),
    CLASS("union_of_struct", Anys::Choice, Anys::Person who; fill(who, 2);
          value.who(who), value._d() == Anys::blue && is_person(value.who(), 2)),
    CLASS("union_of_sequence", Anys::Answer, Anys::Points path; path.length(1); path[0] = point(3);
          value.path(path), value._d() == -2 && is_point(value.path()[0], 3)),
    CLASS("union_default", Anys::Answer, value.rest(0.25);
          value._d(99), value._d() == 99 && value.rest() == 0.25),
    CLASS("exception", Anys::Overflow, value.size = 3;
          value.why = "full", value.size == 3 && std::strcmp(value.why, "full") == 0),
    CLASS("exception_without_members", Anys::Empty, (void)value, (void(value), true)),
    {"object", [](Any& any, Anys::Peer_ptr self) { any <<= self; },
     [](const Any& any) {
         Anys::Peer_ptr peer = nullptr;
         CORBA::Object_var object;
         return (any >>= peer) && !CORBA::is_nil(peer) && (any >>= Any::to_object(object.out())) &&
                !CORBA::is_nil(object.in());
     }},
    // omniORB 4.2 fails where the Any itself is a nil reference, so it is a member here.
    CLASS("nil_object", Anys::Holder, value.number = 6,
          CORBA::is_nil(value.target) && value.number == 6),
    {"type_code", [](Any& any, Anys::Peer_ptr) { any <<= Anys::_tc_Tree; },
     [](const Any& any) {
         CORBA::TypeCode_ptr type = nullptr;
         return (any >>= type) && type->equal(Anys::_tc_Tree);
     }},
    {"any_in_any_in_any",
     [](Any& any, Anys::Peer_ptr) {
         any <<= CORBA::Long(77);
         for (int i = 0; i < 3; ++i) {
             const Any inner = any;
             any <<= inner;
         }
     },
     [](const Any& any) { return nested(any, 3); }},
};
const int example_count = sizeof examples / sizeof examples[0];

} // namespace anys
