// SPDX-License-Identifier: Apache-2.0
//
// The source file of the client side: descriptions of operations, encoding and decoding of structs
// and exceptions, and one function a stub operation. Straight-line code: policy stays in the ORB.
#include "idlc/cpp/asynchronous_emitters.h"

#include <utility>

namespace kairos::idlc {
namespace {

// --- Descriptions of operations ----------------------------------------------------------------

void emit_constants(const Source& source, const Call& call, bool stubs, Text& out)
{
    const std::string name = operation_constant(call);
    const std::string raises = listed(call.raises, [](const Declaration* raised) {
        return "::kairos::corba::exception_type<" + qualified(*raised) + ">()";
    });
    if (!raises.empty())
        out.line("constexpr ::kairos::orb::ExceptionType ", name, "_raises[] = {", raises, "};");
    if (is_interpreted(source, call)) return emit_signature(call, out);
    if (!stubs) return; // a compiled skeleton needs to know of the exceptions only
    const std::string context = listed(call.context, string_literal);
    if (!context.empty())
        out.line("constexpr std::string_view ", name, "_context[] = {", context, "};");
    out.line("constexpr ::kairos::orb::Operation ", name, operation_initialiser(call), ";");
}

// --- Members of structs and exceptions ---------------------------------------------------------

/// What a Marshal's functions do, and with which arguments.
struct Coding {
    std::string encode{}; ///< the statements, each a line
    std::string decode{};
    bool recursive = false;
    bool viewable = false;   ///< decoded with an arena, into a view
    bool has_members = true; ///< else the arguments have no names
    bool measured = true;    ///< by --instrument
};

void emit_marshal(const Source& source, const Declaration& declaration, const Coding& how,
                  Text& out)
{
    const std::string name = qualified(declaration);
    const std::string_view value = how.has_members ? " value" : "";
    out.put({'N', name, 'S', how.has_members ? " out" : "", 'V', value},
            "void Marshal<$N>::encode(cdr::Writer&$S, const $N&$V)\n{");
    if (how.measured) emit_type_probe(source, declaration, "encode", out);
    out.put(how.encode);
    out.put("}\n\n");
    out.put({'N', name, 'S', how.has_members ? " in" : "", 'V', value, 'A',
             how.viewable ? ", Arena* arena" : ""},
            "void Marshal<$N>::decode(cdr::Reader&$S, $N&$V$A)\n{");
    if (how.measured) emit_type_probe(source, declaration, "decode", out);
    if (how.recursive) out.put("const NestingGuard nesting(in);\nif (!in.ok()) return;");
    out.put(how.decode);
    out.put("}\n\n");
}

Coding compiled(const std::vector<Member>& members, bool recursive, bool viewable)
{
    Coding how{.recursive = recursive, .viewable = viewable, .has_members = !members.empty()};
    for (const Member& member : members) {
        const std::string value = ", value." + identifier(member.name);
        how.encode += "mapping::encode(out" + value + ");\n";
        how.decode += "mapping::decode(in" + value + (viewable ? ", arena);\n" : ");\n");
    }
    return how;
}

Coding interpreted(const Struct& composite)
{
    const std::string table = ", types::TableOf<" + qualified(composite) + ">::table, &value";
    const bool viewable = is_viewable(composite);
    return {.encode = "types::encode(out" + table + ");",
            .decode = "types::decode(in" + table + (viewable ? ", arena);" : ");"),
            .viewable = viewable,
            .measured = false};
}

void emit_marshals(const Source& source, Text& out)
{
    Text body;
    for (const Struct* composite : all_of<Struct>(source.unit))
        if (!has_fixed_layout(*composite))
            emit_marshal(source, *composite,
                         is_interpreted(source, *composite)
                             ? interpreted(*composite)
                             : compiled(composite->members, is_recursive(*composite),
                                        is_viewable(*composite)),
                         body);
    for (const Union* united : all_of<Union>(source.unit))
        emit_marshal(source, *united,
                     {.encode = "UnionAccess::encode(out, value);",
                      .decode = "UnionAccess::decode(in, value);",
                      .recursive = is_recursive(*united)},
                     body);
    for (const Exception* exception : all_of<Exception>(source.unit))
        emit_marshal(source, *exception, compiled(exception->members, false, false), body);
    if (body.text().empty()) return;
    out.line("namespace kairos::mapping {");
    out.blank();
    out.append(body);
    out.line("} // namespace kairos::mapping");
    out.blank();
}

// --- Exceptions --------------------------------------------------------------------------------

/// The constructor that sets all members; it copies, as `in` parameters are copied.
void emit_exception_constructor(const Exception& exception, Text& out)
{
    std::string initialisers;
    for (const Member& member : exception.members) {
        if (is_array(form_of(*member.type))) continue;
        const Words given{*member.type, "_" + member.name + "_"};
        initialisers += (initialisers.empty() ? " : " : ", ") + identifier(member.name) + "(" +
                        fill(passing(given.type).duplicate, given) + ")";
    }
    out.open(defined_name(exception), "::", identifier(exception), "(",
             listed(exception.members, member_parameter), ")", initialisers, "\n{");
    for (const Member& member : exception.members) {
        if (!is_array(form_of(*member.type))) continue;
        const std::string name = identifier(member.name);
        out.line("::kairos::mapping::array_copy<decltype(", name, ")>(", name, ", _", member.name,
                 "_);");
    }
    out.close();
    out.blank();
}

void emit_exception(const Exception& exception, Text& out)
{
    const std::string name = defined_name(exception);
    const std::string type = qualified(exception);
    if (!exception.members.empty()) emit_exception_constructor(exception, out);
    for (const std::string_view constant : {"", "const "})
        out.put({'C', constant, 'T', type, 'N', name},
                "$C$T* $N::_downcast($C::CORBA::Exception* exception) "
                "{ return dynamic_cast<$C$T*>(exception); }");
    out.put({'N', name, 'T', type, 'L', string_literal(exception.name)}, R"(
void $N::_raise() const { throw $T(*this); }
const char* $N::_name() const noexcept { return $L; }
const char* $N::_rep_id() const noexcept { return _kairos_id.data(); }
::CORBA::Exception* $N::_duplicate() const { return new $T(*this); }
void $N::_marshal(::kairos::cdr::Writer& out) const
{
    out.write_string(_kairos_id);
    ::kairos::mapping::encode(out, *this);
}

)");
}

// --- Stubs -------------------------------------------------------------------------------------

/// Behind finish(): nothing can fail any more.
void emit_hand_over(const Call& call, Text& out)
{
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        if (parameter.direction == Direction::in || is_decoded_in_place(parameter)) continue;
        const std::string& name = call.locals[i];
        if (parameter.direction == Direction::inout)
            out.line(fill(passing(*parameter.type).release, {*parameter.type, name}));
        out.line(name, " = _out_", parameter.name, "._retn();");
    }
    if (call.has_result()) out.line("return _result", passing(*call.result).give, ";");
}

void emit_stub(const Source& source, const Call& call, Text& out)
{
    if (is_interpreted(source, call)) return emit_interpreted_stub(source, call, out);
    out.open(result_type(*call.result), " ", stub_class(call.interface()).substr(2),
             "::", call.cpp_name(), "(", parameter_list(call), ")\n{");
    const bool tried = emit_direct_call(source, call, out);
    out.line("::kairos::corba::Invocation _call(", tried ? "*_reference, " : "*this, ",
             operation_reference(source, call), ");");
    emit_call_probe(source, call, "client-encode", "_kairos_encoding", out);
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
        if (call.parameters[i].direction != Direction::out)
            out.line(fill(passing(*call.parameters[i].type).encode,
                          {*call.parameters[i].type, call.locals[i], "_call.out()"}));
    if (!call.context.empty())
        out.line("::kairos::corba::encode_context(_call.out(), _context, ",
                 operation_reference(source, call), "_context);");
    end_call_probe(source, "_kairos_encoding", out);
    const std::string deadline_ns = timed_call_argument(source, call);
    out.line(deadline_ns.empty() ? "_call.invoke(" : "_call.invoke_within(", deadline_ns, ");");
    if (!call.oneway) {
        emit_call_probe(source, call, "client-decode", "_kairos_decoding", out);
        const auto receive = [&out](const Type& type, const std::string& name) {
            out.lines(fill(passing(type).receive, {type, name, "_call.in()"}));
        };
        if (call.has_result()) receive(*call.result, "_result");
        for (std::size_t i = 0; i < call.parameters.size(); ++i) {
            const Parameter& parameter = call.parameters[i];
            if (parameter.direction == Direction::in) continue;
            if (is_decoded_in_place(parameter)) {
                out.line(fill(passing(*parameter.type).decode,
                              {*parameter.type, call.locals[i], "_call.in()"}));
            } else {
                receive(*parameter.type, "_out_" + parameter.name);
            }
        }
        end_call_probe(source, "_kairos_decoding", out);
        out.line("_call.finish();");
        emit_hand_over(call, out);
    }
    out.put("}\n\n");
}

} // namespace

void emit_operations(const Source& source, bool stubs, Text& out)
{
    Text scopes;
    for (const Interface* interface : all_of<Interface>(source.unit)) {
        if (interface->is_local) continue;
        Text constants;
        for (const Call& call : calls_in(source, interface->declarations))
            emit_constants(source, call, stubs, constants);
        if (constants.text().empty()) continue;
        scopes.line("namespace ", source.operation_scopes.at(interface), " {");
        scopes.append(constants);
        scopes.line("} // namespace ", source.operation_scopes.at(interface));
        scopes.blank();
    }
    if (!scopes.text().empty()) {
        out.line("namespace {");
        out.blank();
        out.append(scopes);
        out.line("} // namespace");
    }
    out.blank();
}

void emit_stubs(const Source& source, Text& out)
{
    emit_tables(source, out);
    emit_marshals(source, out);
    for (const Exception* exception : all_of<Exception>(source.unit))
        emit_exception(*exception, out);
    for (const Interface* interface : all_of<Interface>(source.unit)) {
        if (interface->is_local)
            emit_local_functions(*interface, out);
        else if (interface->is_abstract)
            emit_abstract_functions(*interface, out);
        else
            emit_stub_functions(source, *interface, out);
        if (interface->is_local) continue;
        for (const Call& call : calls_in(source, interface->declarations))
            emit_stub(source, call, out);
        emit_asynchronous_calls(source, *interface, out);
        emit_async_calls(source, *interface, out);
        emit_smart_proxy_functions(source, *interface, out);
    }
    emit_known_exceptions(source, out);
    emit_values(source, out);
}

} // namespace kairos::idlc
