// SPDX-License-Identifier: Apache-2.0
//
// Insertion into Any and extraction, in the header: inline functions of one line, in the namespace
// of the type (C++ mapping 5.17), where every use of them finds them. What nobody uses costs no
// code.
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

/// An operator: the type of `_value`, the function that does it, and what that is given; $N is the
/// name of what is inserted or extracted.
struct Operator {
    std::string_view type;
    std::string_view function;
    std::string_view value = "_value";
};
using Operators = std::vector<Operator>;

/// Structs, unions, sequences, exceptions: by reference copied, by pointer taken over. Values of
/// local ones never leave the process: there is no CDR to keep them in.
Operators class_operators(const auto& declaration)
{
    if (declaration.composition.local) return {};
    return {{"const $N&", "types::insert_copy"},
            {"$N*", "types::insert_adopted"},
            {"const $N*&", "types::extract"},
            {"$N*&", "types::extract"}};
}

/// What is shared by pointers: inserted by one it is shared, by a pointer to one taken over.
Operators value_operators()
{
    return {{"$N*", "values::insert_value"},
            {"$N**", "values::insert_adopted_value", "*_value"},
            {"$N*&", "values::extract_value"}};
}

Operators operators_of(const Declaration&) { return {}; }
Operators operators_of(const Struct& composite) { return class_operators(composite); }
Operators operators_of(const Union& choice) { return class_operators(choice); }
Operators operators_of(const Exception& exception) { return class_operators(exception); }
Operators operators_of(const ValueBox&) { return value_operators(); }
Operators operators_of(const ValueType& value)
{
    return value.defined ? value_operators() : Operators();
}
Operators operators_of(const Enum&)
{
    return {{"$N", "types::insert_enum"}, {"$N&", "types::extract_enum"}};
}
/// Other typedefs are typedefs in C++, too: their operators are those of what they name.
Operators operators_of(const Alias& alias)
{
    if (alias.type->kind == TypeKind::sequence) return class_operators(alias);
    if (alias.type->kind != TypeKind::array || alias.composition.local) return {};
    return {{"const $N_forany&", "types::insert_array"}, {"$N_forany&", "types::extract_array"}};
}
Operators operators_of(const Interface& interface)
{
    if (!interface.defined) return {};
    if (interface.is_abstract)
        return {{"$N_ptr", "corba::insert_abstract"},
                {"$N_ptr*", "corba::insert_adopted_abstract", "*_value"},
                {"$N_ptr&", "corba::extract_abstract"}};
    return {{"$N_ptr", "corba::insert_object", "$N::_duplicate(_value)"},
            {"$N_ptr*", "corba::insert_object", "*_value"},
            {"$N_ptr&", "corba::extract_object",
             interface.is_local ? "::kairos::corba::local_class<$N>, _value"
                                : "::kairos::corba::stub_class<$N>, _value"}};
}

void emit_operators(const Declaration& declaration, const Operators& operators, Text& out)
{
    const std::string scope = declaration.parent != nullptr ? qualified(*declaration.parent) : "";
    for (const Operator& each : operators) {
        const bool inserts = each.function.find("::insert") != each.function.npos;
        const std::string pattern =
            (inserts ? "inline void operator<<=(::CORBA::Any& _any, "
                     : "inline ::CORBA::Boolean operator>>=(const ::CORBA::Any& _any, ") +
            std::string(each.type) + (inserts ? " _value) { " : " _value) { return ") +
            "::kairos::$F(_any, $S::_tc_$I, " + std::string(each.value) + "); }";
        out.put(
            {'N', qualified(declaration), 'F', each.function, 'S', scope, 'I', declaration.name},
            pattern);
    }
}

void emit_all(const Declarations& declarations, Text& out)
{
    for (const Declaration* declaration : declarations) {
        if (!declaration->generated) continue;
        if (const auto* module = as<Module>(declaration)) {
            in_namespace(identifier(*module), *module, out, emit_all);
            continue;
        }
        emit_all(within(*declaration), out);
        visit(*declaration,
              [&out](const auto& own) { emit_operators(own, operators_of(own), out); });
    }
}

} // namespace

void emit_any_operators(const Source& source, Text& out)
{
    if (!source.options.any) return;
    Text body;
    emit_all(source.unit.declarations, body);
    if (body.text().empty()) return;
    out.blank();
    out.append(body);
}

} // namespace kairos::idlc
