// SPDX-License-Identifier: Apache-2.0
//
// Operations and attributes as requests, and what all emitters write of one alike.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

const Type& void_type()
{
    static const Type type{};
    return type;
}

/// For a parameter whose own name would hide a declaration's: one that generated code does not
/// have.
std::string unhiding_name(const std::string& name)
{
    constexpr std::string_view used[] = {"result",    "call",   "upcall",  "context",
                                         "reference", "direct", "servant", "timed"};
    const bool taken = std::ranges::find(used, name) != std::end(used);
    return "_" + name + (taken ? "_" : "");
}

} // namespace

std::vector<Call> calls_of(const Source& source, const Declaration& declaration)
{
    std::vector<Call> calls;
    if (const auto* operation = as<Operation>(&declaration)) {
        calls.push_back({.declaration = operation,
                         .wire_name = operation->name,
                         .result = operation->result,
                         .parameters = operation->parameters,
                         .raises = operation->raises,
                         .oneway = operation->oneway,
                         .context = operation->context});
    } else if (const auto* attribute = as<Attribute>(&declaration)) {
        calls.push_back({.declaration = attribute,
                         .wire_name = "_get_" + attribute->name,
                         .result = attribute->type,
                         .raises = attribute->get_raises});
        if (!attribute->readonly)
            calls.push_back({.declaration = attribute,
                             .wire_name = "_set_" + attribute->name,
                             .result = &void_type(),
                             .parameters = {{.name = "value", .type = attribute->type}},
                             .raises = attribute->set_raises});
    }
    for (Call& call : calls)
        for (const Parameter& parameter : call.parameters) {
            const bool hides = source.declared_names.contains(parameter.name);
            call.locals.push_back(hides ? unhiding_name(parameter.name)
                                        : identifier(parameter.name));
        }
    return calls;
}

std::vector<Call> calls_in(const Source& source, const Declarations& declarations)
{
    std::vector<Call> calls;
    for (const Declaration* declaration : declarations)
        std::ranges::move(calls_of(source, *declaration), std::back_inserter(calls));
    return calls;
}

std::string operation_constant(const Call& call)
{
    const std::string& name = call.declaration->name;
    if (call.wire_name.starts_with("_get_")) return name + "_getter";
    if (call.wire_name.starts_with("_set_")) return name + "_setter";
    return name + "_op";
}

std::string operation_initialiser(const Call& call)
{
    return "{" + string_literal(call.wire_name) +
           ", ::kairos::orb::Response::" + (call.oneway ? "none" : "required") + ", " +
           (call.raises.empty() ? "{}" : operation_constant(call) + "_raises") + "}";
}

std::string operation_reference(const Source& source, const Call& call)
{
    return source.operation_scopes.at(&call.interface()) + "::" + operation_constant(call);
}

std::string parameter_list(const Call& call)
{
    std::string list;
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        list += (list.empty() ? "" : ", ") + parameter_type(*parameter.type, parameter.direction) +
                " " + call.locals[i];
    }
    if (!call.context.empty())
        list += std::string(list.empty() ? "" : ", ") + "::CORBA::Context_ptr _context";
    return list;
}

void emit_supports(const std::string& scope, const Interface& interface, const std::string& own_id,
                   Text& out)
{
    std::string ids = own_id;
    for (const Interface* ancestor : interface.ancestors)
        ids += ", " + qualified(*ancestor) + "::_kairos_id";
    // A servant asks its base class for what every object is.
    if (own_id == "_kairos_id") ids += ", ::CORBA::Object::_kairos_id";
    out.open("bool ", scope, "::_kairos_supports(std::string_view repository_id) const\n{");
    out.line("return ::kairos::corba::is_one_of(repository_id, {", ids, "});");
    out.close();
    out.blank();
}

std::string exported(const Source& source)
{
    return source.options.export_macro.empty() ? "" : source.options.export_macro + " ";
}

} // namespace kairos::idlc
