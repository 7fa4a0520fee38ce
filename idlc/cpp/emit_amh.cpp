// SPDX-License-Identifier: Apache-2.0
//
// Servants that answer later, as TAO has them: their classes, and the response handlers that their
// operations are given. The handlers' interfaces are local ones like any (implied_amh.h).
#include "idlc/cpp/asynchronous_emitters.h"
#include "idlc/implied_amh.h"
#include "idlc/implied_ami.h"

#include <utility>

namespace kairos::idlc {
namespace {

/// Null where servants of the interface cannot answer later.
const Interface* response_handler_of(const Source& source, const Interface& interface)
{
    const auto found = source.unit.response_handlers.find(&interface);
    return found == source.unit.response_handlers.end() ? nullptr : found->second;
}

std::string amh_name(const Interface& interface) { return with_servant_prefix("AMH_", interface); }

std::string responder_class(const Source& source, const Interface& interface)
{
    return source.operation_scopes.at(&interface) + "_responder";
}

/// "_tao_rh" or, where that is an argument, "_tao_rh_".
std::string handler_parameter(const Call& call)
{
    std::string name = "_tao_rh";
    while (std::ranges::find(call.parameters, name, &Parameter::name) != call.parameters.end())
        name += '_';
    return name;
}

std::string amh_parameters(const Source& source, const Call& call)
{
    std::string list = qualified(*response_handler_of(source, call.interface())) + "_ptr " +
                       handler_parameter(call);
    for (const Parameter& parameter : sent_parameters(call))
        list += ", " + parameter_type(*parameter.type, Direction::in) + " " +
                unhidden_name(source, parameter.name);
    if (!call.context.empty()) list += ", ::CORBA::Context_ptr _context";
    return list;
}

void emit_amh_serve(const Source& source, const Call& call, Text& out)
{
    out.open("void ", amh_name(call.interface()), "::_serve_", call.wire_name,
             "(::kairos::orb::Upcall& _upcall)\n{");
    std::string arguments;
    for (const Parameter& parameter : sent_parameters(call))
        arguments +=
            ", " + emit_in(*parameter.type, unhidden_name(source, parameter.name), out).argument;
    if (!call.context.empty()) {
        out.line("const ::CORBA::Context_var _context = "
                 "::kairos::corba::decode_context(_upcall.in());");
        arguments += ", _context.in()";
    }
    out.line("_upcall.", call.oneway ? "oneway_" : "", "arguments_read(",
             call.raises.empty() ? "" : operation_reference(source, call) + "_raises", ");");
    out.line("::kairos::messaging::serve_", call.oneway ? "oneway" : "later", "<",
             responder_class(source, call.interface()), ">(_upcall, [&](",
             qualified(*response_handler_of(source, call.interface())), "_ptr _handler) {");
    out.line("    this->", call.cpp_name(), "(_handler", arguments, ");");
    out.line("});");
    out.put("}\n\n");
}

void emit_answer(const Source& source, const Call& call, Text& out)
{
    const Interface& interface = call.interface();
    const std::vector<Parameter> answered = answered_parameters(call);
    const std::string list = listed(answered, [&](const Parameter& each) {
        return parameter_type(*each.type, Direction::in) + " " + unhidden_name(source, each.name);
    });
    const std::string name = string_literal(call.wire_name);
    out.open("void ", identifier(reply_name(call)), "(", list, ") override {");
    out.line("_give(", name, ", [&](::kairos::orb::Upcall& _upcall) {");
    for (const Parameter& each : answered)
        out.line(fill(passing(*each.type).encode,
                      {*each.type, unhidden_name(source, each.name), "_upcall.out()"}));
    out.line("_upcall.reply();");
    out.line("});");
    out.close();
    out.open("void ", identifier(failure_name(call, interface)), "(",
             qualified(*source.unit.response_holders.at(&interface)), "* excep_holder) override {");
    out.line("_give_exception(", name, ", excep_holder);");
    out.close();
}

/// With the operations of bases, whose own classes are in other files, perhaps.
void emit_responder(const Source& source, const Interface& interface, Text& out)
{
    const std::string name = responder_class(source, interface);
    out.line("namespace {");
    out.open("class ", name, " final : public virtual ",
             qualified(*response_handler_of(source, interface)),
             ", public ::kairos::messaging::Responder {");
    out.put("public:\n");
    out.line("explicit ", name,
             "(::kairos::IntrusivePtr<::kairos::orb::OwedAnswer> answer) noexcept "
             ": Responder(::std::move(answer)) {}");
    std::vector<const Interface*> all = interface.ancestors;
    all.push_back(&interface);
    for (const Interface* one : all)
        for (const Call& call : calls_in(source, one->declarations))
            if (is_asynchronous(call)) emit_answer(source, call, out);
    out.put("};\n");
    out.line("} // namespace");
    out.blank();
}

} // namespace

void begin_servant(const Source& source, const Interface& interface, ServantName class_of,
                   Text& out)
{
    const std::string full_name = class_of(interface);
    std::string bases = listed(interface.bases, [&](const Interface* base) {
        return "public virtual ::" + class_of(*base);
    });
    if (bases.empty()) bases = "public virtual ::PortableServer::ServantBase";
    out.open("class ", exported(source), full_name.substr(full_name.rfind(':') + 1), " : ", bases,
             " {");
    out.label("public:");
}

void end_servant(const Source& source, const Interface& interface, Text& out)
{
    out.blank();
    emit_servant_class(interface, out);
    out.blank();
    for (const Call& call : calls_in(source, interface.declarations))
        out.line("void _serve_", call.wire_name, "(::kairos::orb::Upcall& upcall);");
    out.close("};");
    out.blank();
}

bool has_late_answers(const Source& source)
{
    return std::ranges::any_of(all_of<Interface>(source.unit), [&](const Interface* interface) {
        return response_handler_of(source, *interface) != nullptr;
    });
}

bool emit_response_holder(const Source& source, const ValueType& value, Text& out)
{
    const auto found = std::ranges::find(source.unit.response_holders, &value,
                                         [](const auto& implied) { return implied.second; });
    if (found == source.unit.response_holders.end()) return false;
    const std::string name = identifier(value);
    std::string bases = listed(
        value.bases, [](const ValueType* base) { return "public virtual " + qualified(*base); });
    if (bases.empty()) bases = "public virtual ::kairos::messaging::ResponseExceptionHolder";
    out.put(
        {'E', exported(source), 'N', name, 'B', bases, 'I', string_literal(value.repository_id)},
        R"(
class $E$N : $B {
  public:
    typedef $N* _ptr_type;
    typedef $N_var _var_type;
    static constexpr const char* _kairos_id = $I;
    static const ::kairos::values::Type _kairos_value_type;
    static $N* _downcast(::CORBA::ValueBase* value);
    static const $N* _downcast(const ::CORBA::ValueBase* value);

    explicit $N(::CORBA::Exception* exception) noexcept
        : ResponseExceptionHolder(exception) {}
    ~$N() override = default;
    const ::kairos::values::Type& _kairos_type() const override { return _kairos_value_type; }
)");
    for (const Call& call : calls_in(source, found->first->declarations))
        if (is_asynchronous(call))
            out.line("virtual void ", identifier(raising_name(call)), "() { _raise(); }");
    out.put({'N', name}, R"(

protected:
$N() = default;
};

)");
    return true;
}

void emit_amh_class(const Source& source, const Interface& interface, Text& out)
{
    if (response_handler_of(source, interface) == nullptr) return;
    begin_servant(source, interface, amh_name, out);
    for (const Call& call : calls_in(source, interface.declarations))
        out.line("virtual void ", call.cpp_name(), "(", amh_parameters(source, call), ") = 0;");
    end_servant(source, interface, out);
}

void emit_amh_servant(const Source& source, const Interface& interface, Text& out,
                      Diagnostics& diagnostics)
{
    if (response_handler_of(source, interface) == nullptr) return;
    const std::vector<Call> calls = calls_in(source, interface.declarations);
    if (!calls.empty()) emit_responder(source, interface, out);
    emit_servant_functions(source, interface, amh_name, out, diagnostics);
    for (const Call& call : calls)
        emit_amh_serve(source, call, out);
}

} // namespace kairos::idlc
