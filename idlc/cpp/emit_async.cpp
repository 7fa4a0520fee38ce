// SPDX-License-Identifier: Apache-2.0
//
// Calls that coroutines await: for each interface a class with a function for each request, which
// prepares it, and a function of the reference's class that makes one of these.
#include "idlc/cpp/asynchronous_emitters.h"
#include "idlc/implied_ami.h"

#include <algorithm>
#include <utility>

namespace kairos::idlc {
namespace {

constexpr std::string_view class_name = "_kairos_async";

/// The type of what `co_await` gives, as it is called within the class or, with a scope, elsewhere.
std::string result_type(const Call& call, const std::string& scope)
{
    const std::vector<Parameter> results = awaited_results(call);
    if (results.empty()) return "void";
    if (results.size() == 1) return owner_type(results.front());
    return scope + results_name(call, call.interface());
}

std::string class_scope(const Interface& interface)
{
    return stub_class(interface) + "::" + std::string(class_name);
}

void emit_results(const Call& call, Text& out)
{
    const std::vector<Parameter> results = awaited_results(call);
    if (results.size() < 2) return;
    out.open("struct ", results_name(call, call.interface()), " {");
    for (const Parameter& result : results)
        out.line(owner_type(result), " ", identifier(result.name), ";");
    out.close("};");
}

void emit_reading(const Call& call, Text& out)
{
    const std::string type = result_type(call, class_scope(call.interface()) + "::");
    out.open(type, " ", operation_constant(call), "_read([[maybe_unused]] ",
             "::kairos::messaging::Reply& _reply)\n{");
    std::string all;
    for (const Parameter& result : awaited_results(call)) {
        const Passing& how = passing(*result.type);
        const std::string name = "_" + result.name + "_out";
        out.lines(fill(how.receive, {*result.type, name, "_reply.in()"}));
        all += (all.empty() ? "" : ", ") + owner_type(result) + "(" + name + std::string(how.give) +
               ")";
    }
    if (is_asynchronous(call)) out.line("_reply.finish();");
    if (awaited_results(call).size() > 1)
        out.line("return {", all, "};");
    else if (!all.empty())
        out.line("return ", all, ";");
    out.put("}\n\n");
}

void emit_call(const Source& source, const Call& call, Text& out)
{
    const std::string scope = class_scope(call.interface());
    const std::string type = "::kairos::messaging::Call<" + result_type(call, scope + "::") + ">";
    const std::string constant = operation_reference(source, call);
    out.open(type, " ", scope.substr(2), "::", identifier(awaited_name(call, call.interface())),
             "(", sent_list(source, call, nullptr), ") const\n{");
    out.line("::kairos::messaging::AwaitedCall _call(*this, ", constant, "_awaited);");
    out.open("{");
    out.line("[[maybe_unused]] const ::kairos::cdr::Writer::CopyAll _copies(_call.out());");
    emit_sent_arguments(source, call, out);
    out.close();
    out.line("return {::std::move(_call), &", constant, "_read};");
    out.put("}\n\n");
}

} // namespace

std::vector<Parameter> awaited_results(const Call& call)
{
    return is_asynchronous(call) ? replied_parameters(call) : std::vector<Parameter>();
}

std::string owner_type(const Parameter& parameter)
{
    return fill(passing(*parameter.type).owner, {*parameter.type});
}

std::string awaited_type(const Call& call)
{
    return result_type(call, class_scope(call.interface()) + "::");
}

bool has_awaited_calls(const Source& source)
{
    return std::ranges::any_of(all_of<Interface>(source.unit), [&](const Interface* interface) {
        return is_awaited(source.unit, *interface);
    });
}

void emit_async_declarations(const Source& source, const Interface& interface, Text& out)
{
    if (!is_awaited(source.unit, interface)) return;
    std::string bases = "public virtual ::kairos::messaging::AsyncTarget";
    for (const Interface* base : interface.bases)
        if (is_awaited(source.unit, *base)) bases += ", public virtual " + class_scope(*base);
    out.open("class ", class_name, " : ", bases, " {");
    out.put("public:\n");
    out.line(class_name, "(::CORBA::Object& target, ::kairos::messaging::AsyncOptions options)");
    out.line("    : AsyncTarget(target, ::std::move(options)) {}");
    for (const Call& call : calls_in(source, interface.declarations)) {
        emit_results(call, out);
        out.line("::kairos::messaging::Call<", result_type(call, ""), "> ",
                 identifier(awaited_name(call, call.interface())), "(",
                 sent_list(source, call, nullptr), ") const;");
    }
    out.put("protected:\n");
    out.line(class_name, "() = default;");
    out.close("};");
    out.open(class_name, " ", async_name(interface),
             "(::kairos::messaging::AsyncOptions options = {}) {");
    out.line("return {*this, ::std::move(options)};");
    out.close();
}

void emit_async_calls(const Source& source, const Interface& interface, Text& out)
{
    if (!is_awaited(source.unit, interface)) return;
    const std::vector<Call> calls = calls_in(source, interface.declarations);
    if (calls.empty()) return;
    out.line("namespace {");
    out.line("namespace ", source.operation_scopes.at(&interface), " {");
    for (const Call& call : calls) {
        out.line("constexpr ::kairos::orb::Operation ", operation_constant(call), "_awaited",
                 operation_initialiser(call), ";");
        emit_reading(call, out);
    }
    out.line("} // namespace ", source.operation_scopes.at(&interface));
    out.line("} // namespace");
    out.blank();
    for (const Call& call : calls)
        emit_call(source, call, out);
}

} // namespace kairos::idlc
