// SPDX-License-Identifier: Apache-2.0
//
// The server side: skeleton and TIE classes, and the functions by which a skeleton finds the
// operation, decodes its arguments, calls the servant and encodes the results.
#include "idlc/cpp/emitters.h"
#include "idlc/operation_search.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace kairos::idlc {
namespace {

/// Larger arguments live on the heap, not on the stack of the thread that serves.
constexpr std::uint64_t stack_bytes_max = 16 << 10;

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

/// What an argument is within the function that serves a request.
struct Local {
    std::string value;    ///< the C++ expression that encodes or decodes it
    std::string argument; ///< the C++ expression that the servant is given
};

bool is_on_stack(const Type& type)
{
    return form_of(type) == Form::basic || memory_bytes(type) <= stack_bytes_max;
}

/// The form of what owns an argument that is decoded: what is large is not on the stack.
Form form_of_owner(const Type& type)
{
    const Form form = form_of(type);
    if (passing(form).kept == Kept::shared) return form;
    if (is_on_stack(type)) return Form::basic;
    return form == Form::fixed_struct ? Form::variable_struct : form;
}

/// A value that owns something by its type, but refers to the message and the arena instead.
bool is_borrowed(const Type& type)
{
    return is_variable_length(type) && is_viewable(type) && memory_bytes(type) <= stack_bytes_max;
}

/// Declares what owns the argument; decodes it, or leaves it empty.
Local emit_owner(const Type& type, const std::string& name, bool decoded, Text& out)
{
    const Passing& row = passing(form_of_owner(type));
    // The first line of what decodes declares it.
    const std::size_t end = decoded ? row.receive.npos : row.receive.find('\n');
    out.lines(fill(row.receive.substr(0, end), {type, name, "_upcall.in()"}));
    return {fill(row.held, {type, name}), row.held == "$N" ? name : name + ".inout()"};
}

Local emit_in(const Type& type, const std::string& name, Text& out)
{
    const Form form = form_of(type);
    const Words words{type, name, "_upcall.in()"};
    if (form == Form::string) {
        out.lines(fill("const $R $N = nullptr;\n"
                       "::kairos::mapping::decode_string_view($V, _upcall.arena(), $N$L);",
                       words));
        return {name, name};
    }
    if (has_traits(form)) {
        out.lines(fill(passing(form).receive, words));
    } else if (is_borrowed(type)) {
        out.line(fill("::kairos::mapping::Borrowed<$B> $N($V, _upcall.arena());", words));
    } else {
        return emit_owner(type, name, true, out);
    }
    return {name + ".in()", name + ".in()"};
}

Local emit_out(const Type& type, const std::string& name, Text& out)
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
    std::vector<Local> locals(call.parameters.size());
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
    const std::string arguments = listed(locals, [](const Local& local) { return local.argument; });
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

// --- Finding the operation ---------------------------------------------------------------------

std::string hexadecimal(std::uint64_t number)
{
    char text[32];
    std::snprintf(text, sizeof text, "0x%016llxu", static_cast<unsigned long long>(number));
    return text;
}

std::string name_list(const std::vector<Call>& calls)
{
    return listed(calls, [](const Call& call) { return string_literal(call.wire_name); });
}

std::optional<OperationHash> hash_of(const Interface& interface, const std::vector<Call>& calls,
                                     Diagnostics& diagnostics)
{
    std::vector<std::string> wire_names(calls.size());
    std::ranges::transform(calls, wire_names.begin(), &Call::wire_name);
    auto hash = search_operation_hash(wire_names);
    if (!hash)
        diagnostics.error(interface.location, "internal error: no perfect hash of the operations");
    return hash;
}

std::string number_list(const std::vector<std::size_t>& numbers)
{
    return listed(numbers, [](std::size_t number) { return std::to_string(number); });
}

/// `table`, whose find() says the index of an operation by its name.
void emit_table(const Source& source, const Interface& interface, const std::vector<Call>& calls,
                Text& out, Diagnostics& diagnostics)
{
    const std::string count = std::to_string(calls.size());
    const std::string names = name_list(calls);
    switch (source.options.operation_demux) {
    case OperationDemux::perfect:
        if (const auto hash = hash_of(interface, calls, diagnostics))
            out.put({'C', count, 'B', std::to_string(hash->bits), 'M',
                     hexadecimal(hash->multiplier), 'N', names, 'S', number_list(hash->slots)},
                    R"(
static constexpr ::kairos::corba::OperationTable<$C, $B> table{
    $M,
    {$N},
    {$S},
};
)");
        return;
    case OperationDemux::hash:
        return out.put({'N', names},
                       "static const ::kairos::corba::HashedOperations table{\n    $N,\n};");
    case OperationDemux::delayered: // has one in _kairos_skeleton
        return;
    case OperationDemux::linear:
        return out.put({'C', count, 'N', names},
                       "static constexpr ::kairos::corba::LinearOperations<$C> table{{\n"
                       "    $N,\n}};");
    }
}

void emit_dispatch(const Source& source, const Interface& interface, ServantName class_of,
                   Text& out, Diagnostics& diagnostics)
{
    const std::vector<Call> calls = calls_in(source, all_operations(interface));
    const std::string name = class_of(interface);
    out.open("void ", name, "::_kairos_dispatch(::kairos::orb::Upcall& upcall)", "\n{");
    const bool delayered = source.options.operation_demux == OperationDemux::delayered;
    if (delayered || calls.empty()) {
        out.line(delayered ? name + "::_kairos_skeleton().serve(upcall.operation(), upcall);"
                           : "_kairos_dispatch_standard(upcall);");
        return out.close();
    }
    emit_table(source, interface, calls, out, diagnostics);
    out.line("switch (table.find(upcall.operation())) {");
    for (std::size_t i = 0; i < calls.size(); ++i) {
        out.line("case ", std::to_string(i), ":");
        const bool own = calls[i].declaration->parent == &interface;
        const std::string scope = own ? "" : "::" + class_of(calls[i].interface()) + "::";
        out.line("    return ", scope, "_serve_", calls[i].wire_name, "(upcall);");
    }
    out.put("default:\n    return _kairos_dispatch_standard(upcall);");
    out.line("}");
    out.close();
}

/// The table that object adapters look into by themselves.
void emit_delayered_table(const Interface& interface, const std::vector<Call>& calls,
                          ServantName class_of, Text& out, Diagnostics& diagnostics)
{
    std::optional<OperationHash> hash(std::in_place);
    if (!calls.empty()) hash = hash_of(interface, calls, diagnostics);
    if (!hash) return;
    std::ranges::replace(hash->slots, calls.size(), std::size_t{0}); // where no name falls
    const std::string name = "::" + class_of(interface);
    const std::string serve = "::kairos::corba::serve<" + name + ", &";
    const std::string others = serve + name + "::_kairos_dispatch_standard>";
    out.open("static constexpr ::kairos::poa::Operations::Entry entries[] = {");
    for (const Call& call : calls)
        out.line("{", string_literal(call.wire_name), ", ", serve, "::", class_of(call.interface()),
                 "::_serve_", call.wire_name, ">},");
    if (calls.empty()) out.line("{\"\", ", others, "},");
    out.put({'S', calls.empty() ? "0" : number_list(hash->slots), 'M',
             hexadecimal(hash->multiplier), 'B', std::to_string(hash->bits), 'O', others},
            R"(
};
static constexpr std::uint16_t slots[] = {$S};
static constexpr ::kairos::poa::Operations operations{
    entries, slots, $M, $B,
    $O,
};
)");
}

} // namespace

void emit_servant_functions(const Source& source, const Interface& interface, ServantName class_of,
                            Text& out, Diagnostics& diagnostics)
{
    const std::string name = class_of(interface);
    const std::string stub = qualified(interface);
    out.put({'S', stub, 'N', name}, R"(
$S_ptr $N::_this() { return ::kairos::corba::this_reference<$S>(*this); }
const char* $N::_kairos_id() const { return $S::_kairos_id; }
)");
    emit_supports(name, interface, stub + "::_kairos_id", out);
    // What adapters may look into by themselves, where that was asked for. Others say that there is
    // nothing: what a base has would not be all.
    const bool delayered = source.options.operation_demux == OperationDemux::delayered;
    out.put({'N', name}, "::kairos::poa::Skeleton $N::_kairos_skeleton() noexcept\n{");
    if (delayered)
        emit_delayered_table(interface, calls_in(source, all_operations(interface)), class_of, out,
                             diagnostics);
    out.put(delayered ? "return {&operations, this};\n}\n\n" : "return {};\n}\n\n");
    emit_dispatch(source, interface, class_of, out, diagnostics);
    out.blank();
}

void emit_servant_class(const Interface& interface, Text& out)
{
    out.put({'N', qualified(interface)}, R"(
$N_ptr _this();
void _kairos_dispatch(::kairos::orb::Upcall& upcall) override;
bool _kairos_supports(std::string_view repository_id) const override;
const char* _kairos_id() const override;
::kairos::poa::Skeleton _kairos_skeleton() noexcept override;
)");
}

std::string emit_in_argument(const Parameter& parameter, const std::string& name, Text& out)
{
    return emit_in(*parameter.type, name, out).argument;
}

std::string with_servant_prefix(std::string_view prefix, const Interface& interface)
{
    const std::string name = skeleton_name(interface);
    const std::size_t scope = name.rfind("::");
    return (scope == name.npos ? "POA_" : name.substr(0, scope + 2)) + std::string(prefix) +
           interface.name;
}

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
