// SPDX-License-Identifier: Apache-2.0
//
// Servants whose operations are coroutines: their classes, and what decodes arguments that belong
// to the coroutine, begins it, and encodes what it ends with.
#include "idlc/cpp/asynchronous_emitters.h"
#include "idlc/implied_ami.h"

#include <utility>

namespace kairos::idlc {
namespace {

bool has_coroutines(const Source& source, const Interface& interface)
{
    return is_awaited(source.unit, interface) &&
           std::ranges::all_of(interface.ancestors, [&](const Interface* ancestor) {
               return is_awaited(source.unit, *ancestor);
           });
}

std::string coroutine_class(const Interface& interface)
{
    return with_servant_prefix("Async_", interface);
}

/// Nothing that a coroutine is given lies in the message.
std::string owned_parameters(const Source& source, const Call& call)
{
    std::string list = listed(sent_parameters(call), [&](const Parameter& each) {
        return owner_type(each) + " " + unhidden_name(source, each.name);
    });
    if (!call.context.empty())
        list += std::string(list.empty() ? "" : ", ") + "::CORBA::Context_var _context";
    return list;
}

std::string task_type(const Call& call)
{
    return "::kairos::messaging::Task<" + awaited_type(call) + ">";
}

void emit_written_results(const Call& call, Text& out)
{
    const std::vector<Parameter> results = awaited_results(call);
    out.line(results.empty() ? ", [](::kairos::orb::Upcall& _later) {"
                             : ", [](::kairos::orb::Upcall& _later, const auto& _results) {");
    for (const Parameter& result : results) {
        const Passing& row = passing(*result.type);
        const std::string value =
            results.size() == 1 ? "_results" : "_results." + identifier(result.name);
        out.line(
            fill(row.encode_result, {*result.type, value + std::string(row.read), "_later.out()"}));
    }
    out.line("_later.reply();");
    out.line("});");
}

void emit_coroutine_serve(const Source& source, const Call& call, Text& out)
{
    out.open("void ", coroutine_class(call.interface()), "::_serve_", call.wire_name,
             "(::kairos::orb::Upcall& _upcall)\n{");
    std::string arguments;
    for (const Parameter& parameter : sent_parameters(call)) {
        const Passing& row = passing(*parameter.type);
        const std::string name = "_" + parameter.name + "_in";
        out.lines(fill(row.receive, {*parameter.type, name, "_upcall.in()"}));
        arguments += (arguments.empty() ? "" : ", ") + owner_type(parameter) + "(" + name +
                     std::string(row.give) + ")";
    }
    if (!call.context.empty()) {
        out.line("::CORBA::Context_var _context = "
                 "::kairos::corba::decode_context(_upcall.in());");
        arguments += std::string(arguments.empty() ? "" : ", ") + "_context";
    }
    out.line("_upcall.", call.oneway ? "oneway_" : "", "arguments_read(",
             call.raises.empty() ? "" : operation_reference(source, call) + "_raises", ");");
    out.line("::kairos::messaging::serve_coroutine(_upcall, [&] {");
    out.line("    return this->", call.cpp_name(), "(", arguments, ");");
    out.line("}");
    emit_written_results(call, out);
    out.put("}\n\n");
}

} // namespace

bool has_coroutine_servants(const Source& source)
{
    return std::ranges::any_of(all_of<Interface>(source.unit), [&](const Interface* interface) {
        return has_coroutines(source, *interface);
    });
}

void emit_async_class(const Source& source, const Interface& interface, Text& out)
{
    if (!has_coroutines(source, interface)) return;
    begin_servant(source, interface, coroutine_class, out);
    for (const Call& call : calls_in(source, interface.declarations)) {
        if (awaited_results(call).size() > 1)
            out.line("using ", results_name(call, interface), " = ", awaited_type(call), ";");
        out.line("virtual ", task_type(call), " ", call.cpp_name(), "(",
                 owned_parameters(source, call), ") = 0;");
    }
    end_servant(source, interface, out);
}

void emit_async_servant(const Source& source, const Interface& interface, Text& out,
                        Diagnostics& diagnostics)
{
    if (!has_coroutines(source, interface)) return;
    emit_servant_functions(source, interface, coroutine_class, out, diagnostics);
    for (const Call& call : calls_in(source, interface.declarations))
        emit_coroutine_serve(source, call, out);
}

} // namespace kairos::idlc
