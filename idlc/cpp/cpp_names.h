// SPDX-License-Identifier: Apache-2.0
//
// How the classic C++ mapping calls what IDL declares: identifiers, scoped names, and the C++ type
// of every IDL type in each role it can play. Every name of a type starts with "::", so that no
// scope of the user's can hide it. Used by the emitters; depends on the model alone.
#pragma once

#include "idlc/model.h"

#include <string>
#include <string_view>

namespace kairos::idlc {

/// The identifier, with "_cxx_" in front where C++ has it as a keyword, or a header that generated
/// code includes as a macro.
[[nodiscard]] std::string identifier(std::string_view idl_name);
/// That of a declaration: namespaces `std` and `kairos` are not the IDL's, either.
[[nodiscard]] std::string identifier(const Declaration& declaration);

/// Whether it is within a class, not in a namespace.
[[nodiscard]] inline bool in_class(const Declaration& declaration)
{
    return declaration.parent != nullptr && as<Module>(declaration.parent) == nullptr;
}
/// "::Demo::Echo". The name of an enumerator is that of the scope around its enum.
[[nodiscard]] std::string qualified(const Declaration& declaration);
/// "Demo::Echo": for definitions, where a leading "::" would join the type before it.
[[nodiscard]] std::string defined_name(const Declaration& declaration);
/// "Demo_Echo": for names of constants in generated source files.
[[nodiscard]] std::string flat_name(const Declaration& declaration);
/// The innermost name of what has a prefix at file scope: "POA_Echo" there, else "Echo".
[[nodiscard]] std::string prefixed_identifier(std::string_view prefix, const Declaration& one);
/// "POA_Demo::Echo".
[[nodiscard]] std::string prefixed_name(std::string_view prefix, const Declaration& declaration);
[[nodiscard]] inline std::string skeleton_name(const Interface& interface)
{
    return prefixed_name("POA_", interface);
}

/// The C++ type of a value of the IDL type: "::CORBA::Long", "::Demo::Numbers". Of an interface its
/// class, of a string "char*" or
/// "::CORBA::WChar*". Not of arrays without a name.
[[nodiscard]] std::string value_type(const Type& type);

/// A declarator for a member, an element or a typedef: the type in front of the name and the
/// dimensions behind it.
struct Declarator {
    std::string type;
    std::string dimensions{}; ///< "[2][3]", or empty
};
[[nodiscard]] Declarator storage_type(const Type& type);
/// The base of a sequence class: "::kairos::mapping::UnboundedSequence<::CORBA::Long>".
[[nodiscard]] std::string sequence_base(const Type& sequence);
/// "BoundedStringSequence" of that.
[[nodiscard]] std::string sequence_template(const Type& sequence);
/// "[2][3]", from dimension `first` on.
[[nodiscard]] std::string dimensions_of(const Type& array, std::size_t first = 0);

[[nodiscard]] std::string parameter_type(const Type& type, Direction direction);
[[nodiscard]] std::string result_type(const Type& type);
/// Of a string, wide or not: "::CORBA::String" or "::CORBA::WString", what "_var" is appended to.
[[nodiscard]] std::string string_class(const Type& type);
/// The bound of the string behind the type, or 0.
[[nodiscard]] std::uint64_t string_bound(const Type& type);
/// ", 5" for a string with a bound: the last argument of the functions that check it.
[[nodiscard]] std::string bound_argument(const Type& type);
/// Whether it is a wstring.
[[nodiscard]] bool is_wide(const Type& type);

/// A constant as C++ writes it. `type` is the constant's own.
[[nodiscard]] std::string literal(const Value& value, const Type& type);
/// A C++ string literal.
[[nodiscard]] std::string string_literal(std::string_view text);

} // namespace kairos::idlc
