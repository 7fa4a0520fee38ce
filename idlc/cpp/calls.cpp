// SPDX-License-Identifier: Apache-2.0
//
// Operations and attributes as requests, and what all emitters write of one alike.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

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
    for (Request& request : requests_of(declaration)) {
        Call& call = calls.emplace_back(Call{std::move(request)});
        for (const Parameter& parameter : call.parameters) {
            const bool hides = source.declared_names.contains(parameter.name);
            call.locals.push_back(hides ? unhiding_name(parameter.name)
                                        : identifier(parameter.name));
        }
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

void declare(const Call& call, std::string_view front, std::string_view behind, Text& out)
{
    out.line(front, result_type(*call.result), " ", call.cpp_name(), "(", parameter_list(call), ")",
             behind, ";");
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
    out.put({'S', scope, 'I', ids}, R"(
bool $S::_kairos_supports(std::string_view repository_id) const
{
    return ::kairos::corba::is_one_of(repository_id, {$I});
}

)");
}

std::string exported(const Source& source)
{
    return source.options.export_macro.empty() ? "" : source.options.export_macro + " ";
}

} // namespace kairos::idlc
