// SPDX-License-Identifier: Apache-2.0
//
// What servants of all kinds have: those whose functions return the answer (emit_skel.cpp), those
// that give it later (emit_amh.cpp) and coroutines (emit_async_servant.cpp). How they find the
// operation, and how arguments are kept while it runs.
#include "idlc/cpp/emitters.h"
#include "idlc/operation_search.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace kairos::idlc {
namespace {

/// Larger arguments live on the heap, not on the stack of the thread that serves.
constexpr std::uint64_t stack_bytes_max = 16 << 10;

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

ServantArgument emit_owner(const Type& type, const std::string& name, bool decoded, Text& out)
{
    const Passing& row = passing(form_of_owner(type));
    // The first line of what decodes declares it.
    const std::size_t end = decoded ? row.receive.npos : row.receive.find('\n');
    out.lines(fill(row.receive.substr(0, end), {type, name, "_upcall.in()"}));
    return {fill(row.held, {type, name}), row.held == "$N" ? name : name + ".inout()"};
}

ServantArgument emit_in(const Type& type, const std::string& name, Text& out)
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

std::string with_servant_prefix(std::string_view prefix, const Interface& interface)
{
    const std::string name = skeleton_name(interface);
    const std::size_t scope = name.rfind("::");
    return (scope == name.npos ? "POA_" : name.substr(0, scope + 2)) + std::string(prefix) +
           interface.name;
}

} // namespace kairos::idlc
