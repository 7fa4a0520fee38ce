// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls: for each request a function that sends it, and one that reads its reply and
// tells the handler. The handlers themselves are interfaces like any (implied_ami.h).
#include "idlc/cpp/asynchronous_emitters.h"
#include "idlc/implied_ami.h"

#include <utility>

namespace kairos::idlc {
namespace {

/// Null where there are no asynchronous calls of the interface.
const Interface* handler_of(const Source& source, const Interface& interface)
{
    const auto found = source.unit.reply_handlers.find(&interface);
    return found == source.unit.reply_handlers.end() ? nullptr : found->second;
}

std::vector<Call> asynchronous_calls_in(const Source& source, const Interface& interface)
{
    std::vector<Call> calls = calls_in(source, interface.declarations);
    std::erase_if(calls, [](const Call& call) { return !is_asynchronous(call); });
    return calls;
}

/// "Demo_Echo_operations_poller": the class of an interface's pollers.
std::string poller_class(const Source& source, const Interface& interface)
{
    return source.operation_scopes.at(&interface) + "_poller";
}

void emit_replied(const Call& call, const Interface& handler, Text& out)
{
    out.open("void ", operation_constant(call), "_replied(::kairos::messaging::Reply& _reply, ",
             qualified(handler), "& _handler)\n{");
    std::string arguments;
    for (const Parameter& parameter : replied_parameters(call)) {
        const std::string name = "_" + parameter.name + "_out";
        out.lines(fill(passing(*parameter.type).receive, {*parameter.type, name, "_reply.in()"}));
        const bool is_plain = is_given_by_value(form_of(*parameter.type));
        arguments += (arguments.empty() ? "" : ", ") + name + (is_plain ? "" : ".in()");
    }
    out.line("_reply.finish();");
    out.line("::kairos::messaging::tell([&] { _handler.", identifier(reply_name(call)), "(",
             arguments, "); });");
    out.put("}\n\n");
}

void emit_constants(const Call& call, const Interface& handler, const Interface& interface,
                    Text& out)
{
    const std::string type = qualified(handler);
    out.line("constexpr ::kairos::orb::Operation ", operation_constant(call), "_sent",
             operation_initialiser(call), ";");
    emit_replied(call, handler, out);
    out.line("constexpr ::kairos::messaging::Callback<", type, "> ", operation_constant(call),
             "_callback(&", operation_constant(call), "_replied, &", type,
             "::", identifier(failure_name(call, interface)), ");");
    out.blank();
}

void emit_sendc(const Source& source, const Call& call, const Interface& handler, Text& out)
{
    const Interface& interface = call.interface();
    const std::string constant = operation_reference(source, call);
    out.open("void ", stub_class(interface).substr(2), "::", sendc_name(call, interface), "(",
             sent_list(source, call, &handler), ")\n{");
    out.line("::kairos::messaging::CallbackCall _call(*this, ", constant, "_sent);");
    emit_sent_arguments(source, call, out);
    out.line("_call.send(", constant, "_callback, ami_handler);");
    out.put("}\n\n");
}

void emit_sendp(const Source& source, const Call& call, const ValueType& poller, Text& out)
{
    const Interface& interface = call.interface();
    out.open(qualified(poller), "* ", stub_class(interface).substr(2),
             "::", sendp_name(call, interface), "(", sent_list(source, call, nullptr), ")\n{");
    out.line("::kairos::messaging::PollingCall _call(*this, ", operation_reference(source, call),
             "_sent);");
    emit_sent_arguments(source, call, out);
    out.line("return new ", poller_class(source, interface), "(*this, _call.send(), ",
             operation_reference(source, call), "_callback);");
    out.put("}\n\n");
}

/// A poller's function: waits for the reply, and reads it as a stub does.
void emit_poll(const Source& source, const Call& call, Text& out)
{
    std::string list = "::CORBA::ULong ami_timeout";
    const std::vector<Parameter> polled = polled_parameters(call);
    for (const Parameter& parameter : polled)
        list += ", " + parameter_type(*parameter.type, Direction::out) + " " +
                unhidden_name(source, parameter.name);
    out.open("void ", identifier(reply_name(call)), "(", list, ") override {");
    out.line("::kairos::messaging::FetchedReply _reply(*this, ", string_literal(call.wire_name),
             ", ami_timeout);");
    for (const Parameter& parameter : polled) {
        const Passing& how = passing(*parameter.type);
        if (is_decoded_in_place(parameter))
            out.line(fill(how.decode,
                          {*parameter.type, unhidden_name(source, parameter.name), "_reply.in()"}));
        else
            out.lines(
                fill(how.receive, {*parameter.type, "_" + parameter.name + "_out", "_reply.in()"}));
    }
    out.line("_reply.finish();");
    for (const Parameter& parameter : polled)
        if (!is_decoded_in_place(parameter))
            out.line(unhidden_name(source, parameter.name), " = _", parameter.name,
                     "_out._retn();");
    out.close();
}

/// With the operations of bases, whose own classes are in other files, perhaps.
void emit_poller(const Source& source, const Interface& interface, const ValueType& poller,
                 Text& out)
{
    const std::string name = poller_class(source, interface);
    out.open("class ", name, " final : public virtual ", qualified(poller),
             ", public ::kairos::messaging::PollerBase {");
    out.put("public:\n");
    out.line(name, "(::CORBA::Object& target, ",
             "const ::kairos::IntrusivePtr<::kairos::RefCounted>& polled,");
    out.line("    const ::kairos::messaging::CallbackKind& callback)");
    out.line("    : PollerBase(target, polled, callback) {}");
    std::vector<const Interface*> all = interface.ancestors;
    all.push_back(&interface);
    for (const Interface* one : all) {
        if (!source.unit.pollers.contains(one)) continue;
        for (const Call& call : asynchronous_calls_in(source, *one))
            emit_poll(source, call, out);
    }
    out.put("};\n");
}

} // namespace

std::string unhidden_name(const Source& source, const std::string& name)
{
    return source.declared_names.contains(name) ? "_" + name + "_in" : identifier(name);
}

std::string sent_list(const Source& source, const Call& call, const Interface* handler)
{
    std::string list = handler == nullptr ? "" : qualified(*handler) + "_ptr ami_handler";
    const auto add = [&list](const std::string& one) { list += (list.empty() ? "" : ", ") + one; };
    for (const Parameter& parameter : sent_parameters(call))
        add(parameter_type(*parameter.type, Direction::in) + " " +
            unhidden_name(source, parameter.name));
    if (!call.context.empty()) add("::CORBA::Context_ptr _context");
    return list;
}

void emit_sent_arguments(const Source& source, const Call& call, Text& out)
{
    for (const Parameter& parameter : sent_parameters(call))
        out.line(fill(passing(*parameter.type).encode,
                      {*parameter.type, unhidden_name(source, parameter.name), "_call.out()"}));
    if (!call.context.empty())
        out.line("::kairos::corba::encode_context(_call.out(), _context, ",
                 operation_reference(source, call), "_context);");
}

bool has_asynchronous_calls(const Source& source)
{
    return std::ranges::any_of(all_of<Interface>(source.unit), [&](const Interface* interface) {
        return handler_of(source, *interface) != nullptr;
    });
}

void emit_known_exceptions(const Source& source, Text& out)
{
    const std::vector<const Exception*> exceptions = all_of<Exception>(source.unit);
    if (!has_asynchronous_calls(source) || exceptions.empty()) return;
    out.line("namespace {");
    for (const Exception* exception : exceptions)
        out.line("const ::kairos::messaging::KnownException ", flat_name(*exception),
                 "_kairos_known(::kairos::corba::exception_type<", qualified(*exception), ">());");
    out.line("} // namespace");
    out.blank();
}

void emit_asynchronous_declarations(const Source& source, const Interface& interface, Text& out)
{
    const Interface* const handler = handler_of(source, interface);
    if (handler == nullptr) return;
    const std::string poller = qualified(*source.unit.pollers.at(&interface));
    for (const Call& call : asynchronous_calls_in(source, interface)) {
        out.line("void ", sendc_name(call, interface), "(", sent_list(source, call, handler), ");");
        out.line(poller, "* ", sendp_name(call, interface), "(", sent_list(source, call, nullptr),
                 ");");
    }
}

void emit_asynchronous_calls(const Source& source, const Interface& interface, Text& out)
{
    const Interface* const handler = handler_of(source, interface);
    if (handler == nullptr) return;
    const std::vector<Call> calls = asynchronous_calls_in(source, interface);
    if (calls.empty()) return;
    out.line("namespace {");
    out.line("namespace ", source.operation_scopes.at(&interface), " {");
    for (const Call& call : calls)
        emit_constants(call, *handler, interface, out);
    out.line("} // namespace ", source.operation_scopes.at(&interface));
    const ValueType& poller = *source.unit.pollers.at(&interface);
    emit_poller(source, interface, poller, out);
    out.line("} // namespace");
    out.blank();
    for (const Call& call : calls) {
        emit_sendc(source, call, *handler, out);
        emit_sendp(source, call, poller, out);
    }
}

} // namespace kairos::idlc
