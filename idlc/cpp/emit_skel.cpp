// SPDX-License-Identifier: Apache-2.0
//
// The server side: skeleton and TIE classes, and the functions by which a skeleton decodes an
// operation's arguments, calls the servant and encodes the results.
#include "idlc/cpp/asynchronous_emitters.h"

#include <algorithm>
#include <utility>

namespace kairos::idlc {
namespace {

// --- Classes -----------------------------------------------------------------------------------

std::string argument_list(const Call& call)
{
    std::vector<std::string> arguments = call.locals;
    if (!call.context.empty()) arguments.emplace_back("_context");
    return listed(arguments);
}

void emit_class(const Source& source, const Interface& interface, Text& out)
{
    const std::string name = prefixed_identifier("POA_", interface);
    std::string bases = listed(interface.bases, [](const Interface* base) {
        return "public virtual ::" + skeleton_name(*base);
    });
    if (bases.empty()) bases = "public virtual ::PortableServer::ServantBase";
    // Not virtual, so that both classes have one table of functions.
    if (has_direct_class(source, interface)) bases += ", public " + direct_class(interface);
    out.open("class ", exported(source), name, " : ", bases, " {");
    out.label("public:");
    for (const Call& call : calls_in(source, interface.declarations)) {
        const bool overrides = is_called_directly(source, call);
        declare(call, overrides ? "" : "virtual ", overrides ? " override = 0" : " = 0", out);
    }
    out.blank();
    if (!interface.is_abstract) {
        emit_servant_class(interface, out);
        if (gives_direct_classes(source, interface))
            out.line("void* _kairos_direct(const void* interface) noexcept override;");
        out.blank();
    }
    emit_timings_declaration(source, interface, out);
    for (const Call& call : calls_in(source, interface.declarations))
        out.line("void _serve_", call.wire_name, "(::kairos::orb::Upcall& upcall);");
    out.close("};");
    out.blank();
}

void emit_tie(const Source& source, const Interface& interface, Text& out)
{
    const std::string base = prefixed_identifier("POA_", interface);
    const std::string name = base + "_tie";
    out.put({'N', name, 'B', base}, R"(
template <class T>
class $N : public $B {
  public:
    $N(T& tied) : _tied(&tied) {}
    $N(T& tied, ::PortableServer::POA_ptr poa)
        : _tied(&tied), _poa(::PortableServer::POA::_duplicate(poa)) {}
    $N(T* tied, ::CORBA::Boolean release = true)
        : _tied(tied), _release(release) {}
    $N(T* tied, ::PortableServer::POA_ptr poa, ::CORBA::Boolean release = true)
        : _tied(tied), _poa(::PortableServer::POA::_duplicate(poa)), _release(release) {}
    $N(const $N&) = delete;
    $N& operator=(const $N&) = delete;
    ~$N() override
    {
        if (_release) delete _tied;
    }

    T* _tied_object() { return _tied; }
    void _tied_object(T& tied) { _tied_object(&tied, false); }
    void _tied_object(T* tied, ::CORBA::Boolean release = true)
    {
        if (_release && tied != _tied) delete _tied;
        _tied = tied;
        _release = release;
    }
    ::CORBA::Boolean _is_owner() { return _release; }
    void _is_owner(::CORBA::Boolean release) { _release = release; }
    ::PortableServer::POA_ptr _default_POA() override
    {
        if (::CORBA::is_nil(_poa.in())) return $B::_default_POA();
        return ::PortableServer::POA::_duplicate(_poa.in());
    }

)");
    for (const Call& call : calls_in(source, all_operations(interface))) {
        out.open(result_type(*call.result), " ", call.cpp_name(), "(", parameter_list(call),
                 ") override\n    {");
        out.line(!call.has_result() ? "" : "return ", "_tied->", call.cpp_name(), "(",
                 argument_list(call), ");");
        out.close();
    }
    out.put(R"(

private:
T* _tied;
::PortableServer::POA_var _poa{};
::CORBA::Boolean _release = false;
};

)");
}

// --- Serving one request -----------------------------------------------------------------------
ServantArgument emit_out(const Type& type, const std::string& name, Text& out)
{
    const Passing& row = passing(type);
    if (row.kept == Kept::in_place) return emit_owner(type, name, false, out);
    out.line(fill(row.owner, {type}), " ", name, ";");
    return {name + std::string(row.read), name + ".out()"};
}

/// Encodes the result, or an inout or out argument. Of an array `value` is one already, no pointer.
void emit_result(const Type& type, const std::string& value, bool may_be_null, Text& out)
{
    const Form form = form_of(type);
    const std::string_view encode = may_be_null
                                        ? passing(form).encode_result
                                        : passing(is_array(form) ? Form::basic : form).encode;
    out.line(fill(encode, {type, value, "_upcall.out()"}));
}

void emit_serve(const Source& source, const Call& call, Text& out)
{
    if (is_interpreted(source, call)) return emit_interpreted_serve(source, call, out);
    out.open("void ", skeleton_name(call.interface()), "::_serve_", call.wire_name,
             "(::kairos::orb::Upcall& _upcall)\n{");
    begin_timed(source, call, out);
    emit_call_probe(source, call, "server-decode", "_kairos_decoding", out);
    std::vector<ServantArgument> locals(call.parameters.size());
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        if (parameter.direction == Direction::out) continue;
        locals[i] = parameter.direction == Direction::in
                        ? emit_in(*parameter.type, call.locals[i], out)
                        : emit_owner(*parameter.type, call.locals[i], true, out);
    }
    if (!call.context.empty()) {
        out.line("const ::CORBA::Context_var _context = "
                 "::kairos::corba::decode_context(_upcall.in());");
        locals.push_back({"", "_context.in()"});
    }
    end_call_probe(source, "_kairos_decoding", out);
    out.line("_upcall.", call.oneway ? "oneway_" : "", "arguments_read(",
             call.raises.empty() ? "" : operation_reference(source, call) + "_raises", ");");
    // Not before: nothing has to be known to be empty, or to be given back, that is not there yet.
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
        if (call.parameters[i].direction == Direction::out)
            locals[i] = emit_out(*call.parameters[i].type, call.locals[i], out);
    const std::string arguments =
        listed(locals, [](const ServantArgument& local) { return local.argument; });
    const std::string invocation = "this->" + call.cpp_name() + "(" + arguments + ")";
    const Passing& result = passing(*call.result);
    const std::string owner = fill(result.owner, {*call.result});
    out.line(owner.empty() ? "" : "const " + owner + " _result = ", invocation, ";");
    if (!call.oneway) emit_call_probe(source, call, "server-encode", "_kairos_encoding", out);
    if (!owner.empty()) emit_result(*call.result, "_result" + std::string(result.read), true, out);
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        if (parameter.direction == Direction::in) continue;
        const bool pointer = passing(*parameter.type).kept == Kept::by_pointer;
        emit_result(*parameter.type, locals[i].value,
                    pointer && parameter.direction == Direction::out, out);
    }
    if (!call.oneway) end_call_probe(source, "_kairos_encoding", out);
    out.line("_upcall.reply();");
    end_timed(source, call, out);
    out.put("}\n\n");
}

} // namespace

void emit_skeleton_classes(const Source& source, Text& out)
{
    in_own_namespaces<Interface>(
        "POA_", source.unit.declarations, out, [](const Interface*) { return true; },
        [&](const Interface& interface) {
            if (interface.is_local) return;
            emit_class(source, interface, out);
            if (!interface.is_abstract) emit_tie(source, interface, out);
            emit_amh_class(source, interface, out);
            emit_async_class(source, interface, out);
        });
}

void emit_skeletons(const Source& source, Text& out, Diagnostics& diagnostics)
{
    for (const Interface* interface : all_of<Interface>(source.unit)) {
        if (interface->is_local) continue;
        if (!interface->is_abstract) {
            emit_servant_functions(source, *interface, skeleton_name, out, diagnostics);
            emit_direct_function(source, *interface, out);
            emit_timed_operations(source, *interface, out);
        }
        emit_timings(source, *interface, out);
        for (const Call& call : calls_in(source, interface->declarations))
            emit_serve(source, call, out);
        emit_amh_servant(source, *interface, out, diagnostics);
        emit_async_servant(source, *interface, out, diagnostics);
    }
}

} // namespace kairos::idlc
