// SPDX-License-Identifier: Apache-2.0
//
// C++ values and their TypeCodes for the tests of this module, as kairos-idl would generate them:
//   enum Color { red, green, blue };
//   struct Point { short x; double y; };
//   typedef sequence<long> Numbers;  typedef sequence<long> OtherNumbers;
//   typedef short Grid[2][3];
//   struct Person { string name; Numbers numbers; Color color; boolean good; Point at; Grid grid;
//                   string<5> nick; };
//   exception Overflow { unsigned long size; string why; };
// One thread.
#pragma once

#include "kairos/types/any_value.h"
#include "kairos/types/typecode_wire.h"

#include <random>
#include <string>

namespace testing_types {

enum Color : CORBA::ULong { red, green, blue };

struct Point {
    CORBA::Short x;
    CORBA::Double y;
};

class Numbers : public kairos::mapping::UnboundedSequence<CORBA::Long> {
  public:
    using Unbounded::Unbounded;
};
class OtherNumbers : public kairos::mapping::UnboundedSequence<CORBA::Long> {
  public:
    using Unbounded::Unbounded;
};
class Points : public kairos::mapping::UnboundedSequence<Point> {
  public:
    using Unbounded::Unbounded;
};

typedef CORBA::Short Grid[2][3];
struct Grid_tag;
typedef kairos::mapping::ArrayForany<Grid, Grid_tag> Grid_forany;

struct Person {
    kairos::mapping::StringMember name;
    Numbers numbers;
    Color color;
    CORBA::Boolean good;
    Point at;
    Grid grid;
    kairos::mapping::BoundedStringMember<5> nick;
    Points path;

    static inline int alive = 0;
    Person() { ++alive; }
    Person(const Person& other)
        : name(other.name), numbers(other.numbers), color(other.color), good(other.good),
          at(other.at), nick(other.nick), path(other.path)
    {
        kairos::mapping::assign(grid, other.grid);
        ++alive;
    }
    Person& operator=(const Person&) = default;
    ~Person() { --alive; }
};

class Overflow : public CORBA::UserException {
  public:
    CORBA::ULong size{};
    kairos::mapping::StringMember why;

    [[noreturn]] void _raise() const override { throw Overflow(*this); }
    [[nodiscard]] const char* _name() const noexcept override { return "Overflow"; }
    [[nodiscard]] const char* _rep_id() const noexcept override { return "IDL:Overflow:1.0"; }
    [[nodiscard]] CORBA::Exception* _duplicate() const override { return new Overflow(*this); }
    void _marshal(kairos::cdr::Writer& out) const override;
};

namespace detail {
using CORBA::TypeCode;
using kairos::types::alias_type;
using kairos::types::array_type;
using kairos::types::sequence_type;
using kairos::types::struct_type;
using kairos::types::text_type;
using kairos::types::TypeCodeMember;
using kairos::types::union_type;

constexpr TypeCodeMember color_members[] = {{"red"}, {"green"}, {"blue"}};
inline constinit const TypeCode color{
    struct_type(CORBA::tk_enum, "IDL:Color:1.0", "Color", color_members)};
inline constexpr TypeCodeMember point_members[] = {{"x", &CORBA::_kairos_tc_short},
                                                   {"y", &CORBA::_kairos_tc_double}};
inline constinit const TypeCode point{
    struct_type(CORBA::tk_struct, "IDL:Point:1.0", "Point", point_members)};
inline constinit const TypeCode longs{sequence_type(CORBA::_kairos_tc_long, 0)};
inline constinit const TypeCode numbers{alias_type("IDL:Numbers:1.0", "Numbers", longs)};
inline constinit const TypeCode other{alias_type("IDL:OtherNumbers:1.0", "OtherNumbers", longs)};
inline constinit const TypeCode row{array_type(CORBA::_kairos_tc_short, 3)};
inline constinit const TypeCode rows{array_type(row, 2)};
inline constinit const TypeCode grid{alias_type("IDL:Grid:1.0", "Grid", rows)};
inline constinit const TypeCode nick{text_type(CORBA::tk_string, 5)};
inline constinit const TypeCode points{sequence_type(point, 0)};
inline constexpr TypeCodeMember person_members[] = {{"name", &CORBA::_kairos_tc_string},
                                                    {"numbers", &numbers},
                                                    {"color", &color},
                                                    {"good", &CORBA::_kairos_tc_boolean},
                                                    {"at", &point},
                                                    {"grid", &grid},
                                                    {"nick", &nick},
                                                    {"path", &points}};
inline constinit const TypeCode person{
    struct_type(CORBA::tk_struct, "IDL:Person:1.0", "Person", person_members)};
inline constexpr TypeCodeMember overflow_members[] = {{"size", &CORBA::_kairos_tc_ulong},
                                                      {"why", &CORBA::_kairos_tc_string}};
inline constinit const TypeCode overflow{
    struct_type(CORBA::tk_except, "IDL:Overflow:1.0", "Overflow", overflow_members)};
inline constinit const TypeCode people{sequence_type(person, 0)};

inline constexpr TypeCodeMember choice_members[] = {{"number", &CORBA::_kairos_tc_long},
                                                    {"number", &CORBA::_kairos_tc_long},
                                                    {"who", &person},
                                                    {"rest", &CORBA::_kairos_tc_double}};
inline constexpr std::int64_t choice_labels[] = {1, -2, 3, 0};
/// union Choice switch (short) { case 1: case -2: long number; case 3: Person who;
///                               default: double rest; };
inline constinit const TypeCode choice{union_type(
    "IDL:Choice:1.0", "Choice", CORBA::_kairos_tc_short, choice_members, choice_labels, 3)};
inline constinit const TypeCode anys{sequence_type(CORBA::_kairos_tc_any, 0)};
} // namespace detail

using kairos::types::pointer;
inline constexpr CORBA::TypeCode_ptr _tc_Color = pointer(detail::color);
inline constexpr CORBA::TypeCode_ptr _tc_Point = pointer(detail::point);
inline constexpr CORBA::TypeCode_ptr _tc_Numbers = pointer(detail::numbers);
inline constexpr CORBA::TypeCode_ptr _tc_OtherNumbers = pointer(detail::other);
inline constexpr CORBA::TypeCode_ptr _tc_Grid = pointer(detail::grid);
inline constexpr CORBA::TypeCode_ptr _tc_Person = pointer(detail::person);
inline constexpr CORBA::TypeCode_ptr _tc_Overflow = pointer(detail::overflow);

inline void operator<<=(CORBA::Any& any, Color value)
{
    kairos::types::insert_enum(any, _tc_Color, value);
}
inline CORBA::Boolean operator>>=(const CORBA::Any& any, Color& value)
{
    return kairos::types::extract_enum(any, _tc_Color, value);
}
inline void operator<<=(CORBA::Any& any, const Grid_forany& value)
{
    kairos::types::insert_array(any, _tc_Grid, value);
}
inline CORBA::Boolean operator>>=(const CORBA::Any& any, Grid_forany& value)
{
    return kairos::types::extract_array(any, _tc_Grid, value);
}
#define TESTING_OPERATORS(T)                                                                       \
    inline void operator<<=(CORBA::Any& any, const T& value)                                       \
    {                                                                                              \
        kairos::types::insert_copy(any, _tc_##T, value);                                           \
    }                                                                                              \
    inline void operator<<=(CORBA::Any& any, T* value)                                             \
    {                                                                                              \
        kairos::types::insert_adopted(any, _tc_##T, value);                                        \
    }                                                                                              \
    inline CORBA::Boolean operator>>=(const CORBA::Any& any, const T*& value)                      \
    {                                                                                              \
        return kairos::types::extract(any, _tc_##T, value);                                        \
    }
TESTING_OPERATORS(Point)
TESTING_OPERATORS(Numbers)
TESTING_OPERATORS(OtherNumbers)
TESTING_OPERATORS(Person)
TESTING_OPERATORS(Overflow)
#undef TESTING_OPERATORS

} // namespace testing_types

namespace kairos::mapping {

template <>
struct Marshal<testing_types::Color> : EnumMarshal<testing_types::Color, 3> {};
template <>
struct Marshal<testing_types::Point>
    : FixedStruct<testing_types::Point,
                  Field<&testing_types::Point::x, offsetof(testing_types::Point, x)>,
                  Field<&testing_types::Point::y, offsetof(testing_types::Point, y)>> {};
template <>
struct Marshal<testing_types::Person> {
    static constexpr std::size_t wire_bytes_min = 40;
    static void encode(cdr::Writer& out, const testing_types::Person& value)
    {
        mapping::encode(out, value.name);
        mapping::encode(out, value.numbers);
        mapping::encode(out, value.color);
        mapping::encode(out, value.good);
        mapping::encode(out, value.at);
        mapping::encode(out, value.grid);
        mapping::encode(out, value.nick);
        mapping::encode(out, value.path);
    }
    static void decode(cdr::Reader& in, testing_types::Person& value)
    {
        mapping::decode(in, value.name);
        mapping::decode(in, value.numbers);
        mapping::decode(in, value.color);
        mapping::decode(in, value.good);
        mapping::decode(in, value.at);
        mapping::decode(in, value.grid);
        mapping::decode(in, value.nick);
        mapping::decode(in, value.path);
    }
};
template <>
struct Marshal<testing_types::Overflow> {
    static constexpr std::size_t wire_bytes_min = 9;
    static void encode(cdr::Writer& out, const testing_types::Overflow& value)
    {
        mapping::encode(out, value.size);
        mapping::encode(out, value.why);
    }
    static void decode(cdr::Reader& in, testing_types::Overflow& value)
    {
        mapping::decode(in, value.size);
        mapping::decode(in, value.why);
    }
};

} // namespace kairos::mapping

namespace testing_types {

inline void Overflow::_marshal(kairos::cdr::Writer& out) const
{
    out.write_string(_rep_id());
    kairos::mapping::encode(out, *this);
}

[[nodiscard]] inline Person random_person(std::mt19937& random)
{
    const auto below = [&](unsigned end) { return static_cast<CORBA::ULong>(random() % end); };
    Person person;
    person.name = std::string(below(12), 'n');
    person.numbers.length(below(6));
    for (CORBA::Long& number : person.numbers)
        number = static_cast<CORBA::Long>(random());
    person.color = static_cast<Color>(below(3));
    person.good = below(2) == 1;
    person.at = {static_cast<CORBA::Short>(random()), below(1000) / 8.0};
    for (auto& row : person.grid)
        for (CORBA::Short& cell : row)
            cell = static_cast<CORBA::Short>(random());
    person.nick = std::string(below(6), 'k');
    person.path.length(below(4));
    for (Point& point : person.path)
        point = {static_cast<CORBA::Short>(random()), below(1000) / 8.0};
    return person;
}

} // namespace testing_types
