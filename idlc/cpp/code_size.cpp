// SPDX-License-Identifier: Apache-2.0
//
// The figures are a least-squares fit over object files of 31 random IDL files with 283 operations
// and 101 structs (g++ 12, -O2 -fPIC, without Any): how much larger files become when some of them
// are compiled. Nothing compiled counts as less than interpreted. Templates of sequences of other
// than numbers and fixed structs are large and counted by themselves. Parameters of shape `shared`
// have no interpreted form, so that nothing is fitted to them. Since the fit, code for `in` strings
// and sequences of values has become smaller, and what all files had in common has gone to the
// libraries: those, and operations as such, are set by hand, to param.idl and CosNaming.
#include "idlc/cpp/code_size.h"

#include "idlc/cpp/emitters.h"

#include <array>

namespace kairos::idlc {
namespace {

/// What code for a value of a type is made of.
enum class Shape : std::size_t {
    basic,
    string,
    object,
    fixed_struct,
    variable_struct,
    bulk,     ///< sequence of numbers or fixed structs: moved at once
    pointers, ///< sequence of strings or references
    values,   ///< any other sequence
    fixed_array,
    variable_array,
    shared, ///< values and abstract interfaces
};
constexpr std::size_t shapes = 11;
using BytesByShape = std::array<std::int64_t, shapes>;

constexpr std::int64_t operations_bytes = 400; ///< what all of a file have in common
constexpr std::int64_t sequence_bytes = 890;
constexpr std::int64_t operation_bytes = 160;
constexpr std::int64_t direct_call_bytes = 245; ///< of the stub (emit_direct.cpp), from CosNaming
constexpr BytesByShape in_bytes{375, 600, 40, 40, 700, 205, 380, 600, 65, 235, 190};
constexpr BytesByShape inout_bytes{535, 380, 40, 525, 40, 490, 480, 1645, 280, 280, 335};
constexpr BytesByShape out_bytes{605, 40, 435, 885, 260, 165, 530, 1050, 85, 40, 285};
constexpr BytesByShape result_bytes{380, 390, 240, 40, 40, 430, 520, 1325, 40, 775, 155};
constexpr std::int64_t struct_bytes = 60;
constexpr BytesByShape member_bytes{305, 20, 110, 20, 70, 415, 20, 610, 175, 260, 20};

constexpr std::int64_t interpreted_operation_bytes = 175;
constexpr std::int64_t interpreted_parameter_bytes = 30;
constexpr std::int64_t interpreted_struct_bytes = 60;
constexpr std::int64_t interpreted_member_bytes = 16;

/// By Form; of a sequence it depends on the elements.
constexpr std::array<Shape, form_count> shape_by_form{
    Shape::basic,          Shape::basic,           Shape::string, Shape::object,
    Shape::fixed_struct,   Shape::variable_struct, Shape::values, Shape::fixed_array,
    Shape::variable_array, Shape::shared,          Shape::shared, Shape::shared};

Shape shape_of(const Type& type)
{
    const Form form = form_of(type);
    if (form != Form::sequence) return shape_by_form[static_cast<std::size_t>(form)];
    const Form element = form_of(*resolved(type).element);
    if (is_given_by_value(element)) return Shape::bulk;
    return element == Form::string || element == Form::object ? Shape::pointers : Shape::values;
}

/// Adds what a part of a type costs by its shape.
void add(const Type& type, const BytesByShape& compiled, std::int64_t interpreted, CodeSize& size)
{
    const Shape shape = shape_of(type);
    size.bytes.compiled += compiled[static_cast<std::size_t>(shape)];
    size.bytes.interpretive += interpreted;
    if (shape != Shape::values && shape != Shape::pointers) return;
    const Type& element = *resolved(type).element;
    if (form_of(element) == Form::string) return; // in the library
    size.sequences.push_back(to_string(element));
}

std::optional<CodeSize> size_of(const Request& request)
{
    if (!can_interpret(request)) return std::nullopt;
    CodeSize size{{operation_bytes, interpreted_operation_bytes}};
    if (can_share_arguments(request)) size.bytes.compiled += direct_call_bytes;
    if (request.has_result()) add(*request.result, result_bytes, interpreted_parameter_bytes, size);
    for (const Parameter& parameter : request.parameters)
        add(*parameter.type,
            parameter.direction == Direction::in      ? in_bytes
            : parameter.direction == Direction::inout ? inout_bytes
                                                      : out_bytes,
            interpreted_parameter_bytes, size);
    return size;
}

CodeSize size_of_struct(const Struct& composite)
{
    CodeSize size{{struct_bytes, interpreted_struct_bytes}};
    for (const Member& member : composite.members)
        add(*member.type, member_bytes, interpreted_member_bytes, size);
    return size;
}

} // namespace

CodeSizes cpp_code_sizes()
{
    return {.of_request = size_of,
            .of_struct = size_of_struct,
            .sequence_bytes = sequence_bytes,
            .operations_bytes = operations_bytes};
}

} // namespace kairos::idlc
