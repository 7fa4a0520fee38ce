// SPDX-License-Identifier: Apache-2.0
//
// The forms that the C++ mapping tells apart when a value is passed, and the one table of what is
// written for each: types in every direction, what owns a value, how it is encoded and decoded. All
// emitters read the table; none decides by the form itself what it can be asked for.
#pragma once

#include "idlc/model.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kairos::idlc {

/// C++ mapping, table 5.2 ff.
enum class Form {
    void_,
    basic,  ///< numbers and enums
    string, ///< and wstring
    object,
    fixed_struct,
    variable_struct,
    sequence,
    fixed_array,
    variable_array,
    value,           ///< valuetypes, value boxes, ValueBase
    abstract_object, ///< references of abstract interfaces: to an object or a value
    native,          ///< of local interfaces only: what the C++ type of that name is
};
inline constexpr std::size_t form_count = 12;

[[nodiscard]] Form form_of(const Type& type);
/// Of what the declaration, of a type, names.
[[nodiscard]] Form form_of(const Declaration& declaration);
/// Who holds a value that a callee gives to its caller.
enum class Kept {
    in_place,   ///< the caller, in a variable of fixed length that it has already
    by_pointer, ///< what the callee makes on the heap
    shared,     ///< texts, references and values: the caller gives its own up for the callee's
};

/// A row of the table. The texts are patterns for fill().
struct Passing {
    Kept kept = Kept::in_place;
    std::string_view in{};     ///< types of parameters
    std::string_view inout{};  ///
    std::string_view out{};    ///
    std::string_view result{}; ///< type of a result
    std::string_view owner{};  ///< type of a variable that takes a result
    std::string_view read{};   ///< behind that variable: what is encoded of it
    std::string_view give{};   ///< behind it: what the caller gets of it
    /// Declares $N, which owns what is decoded from $V.
    std::string_view receive{};
    std::string_view held{};          ///< what $N, which does, owns: what is encoded or decoded
    std::string_view decode{};        ///< from $V into $N, which is there
    std::string_view encode{};        ///< $N into $V
    std::string_view encode_result{}; ///< the same of what a servant made, which may be null
    std::string_view require{};       ///< refuses what encoding $N would refuse: null
    std::string_view release{};       ///< gives up what $N refers to
    std::string_view duplicate{};     ///< what a member keeps of $N, which is given as `in`
    std::string_view change{};        ///< type by which others may change a member
    std::string_view described{};     ///< type whose table describes a parameter
    std::string_view storage{};       ///< type of a member; empty: the type's own name
    std::string_view traits{};        ///< of what is shared by pointers
    std::string_view typedefs{};      ///< of a class $N, which go with it
    std::string_view element{};       ///< "Object" in the names of templates for sequences of it
    /// Of names that go with the type's own: "_var"; the rest are empty.
    std::array<std::string_view, 4> suffixes{};
};
[[nodiscard]] const Passing& passing(Form form);
[[nodiscard]] inline const Passing& passing(const Type& type) { return passing(form_of(type)); }

[[nodiscard]] constexpr bool is_array(Form form)
{
    return form == Form::fixed_array || form == Form::variable_array;
}
/// References and values: what is duplicated by its traits.
[[nodiscard]] constexpr bool has_traits(Form form)
{
    return form == Form::object || form == Form::value || form == Form::abstract_object;
}
/// Structs, unions, sequences, any and fixed: passed by reference.
[[nodiscard]] constexpr bool is_aggregate(Form form)
{
    return form == Form::fixed_struct || form == Form::variable_struct || form == Form::sequence;
}
/// Whether a result is given as it is, not by a pointer that somebody must own.
[[nodiscard]] constexpr bool is_given_by_value(Form form)
{
    return form == Form::basic || form == Form::fixed_struct;
}
/// Whether a parameter is decoded where it is, not into an owner of its own first.
[[nodiscard]] bool is_decoded_in_place(const Parameter& parameter);

/// What stands for the letters in a pattern.
struct Words {
    const Type& type;
    std::string name{}; ///< $N
    /// $V: the stream, or whatever else the pattern's place says.
    std::string stream{};
    /// $B where the type has no name of its own.
    std::string base{};
};
/// The pattern with $B for the C++ type, $R for the one behind typedefs (of a string "char*" or
/// "::CORBA::WChar*"), $S for the class of a string, $W for the "w" of wide ones, $C for their
/// letters, $T for the traits, $L for ", 5" where a string has a bound, which is $D, $N and $V.
[[nodiscard]] std::string fill(std::string_view pattern, const Words& words);

} // namespace kairos::idlc
