// SPDX-License-Identifier: Apache-2.0
//
// Calls within a process without a message (kairos/orb/direct_call.h). Beside its stub class, an
// interface has a class of pure virtual functions, which its skeleton's derives from; the stub
// calls those, once the ORB has found a servant that has them. Inheritance between interfaces needs
// no counterpart: each stub function asks for the class of the interface that declares it.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

/// Whether nobody can tell what consists of these types from a copy that was sent. Not so values
/// and what holds them, which are one object for both; references, which may be of local objects
/// and have policies; nor what may be refused when it is sent: what has a bound, and wide
/// characters.
bool can_share(std::vector<const Type*> types)
{
    return all_parts(std::move(types), [](const Type& part) {
        switch (part.kind) {
        case TypeKind::any:
        case TypeKind::object:
        case TypeKind::value_base:
        case TypeKind::type_code:
        case TypeKind::wchar:
        case TypeKind::wstring:
            return false;
        case TypeKind::declared:
            return passing(part).kept != Kept::shared || form_of(part) == Form::string;
        default:
            return part.bound == 0;
        }
    });
}

/// Whether the servant writes where the caller has a value already.
bool is_written_in_place(const Parameter& parameter)
{
    return parameter.direction == Direction::inout ||
           (parameter.direction == Direction::out &&
            passing(*parameter.type).kept == Kept::in_place);
}

std::vector<Call> direct_calls(const Source& source, const Interface& interface)
{
    std::vector<Call> calls;
    for (Call& call : calls_in(source, interface.declarations))
        if (is_called_directly(source, call)) calls.push_back(std::move(call));
    return calls;
}

} // namespace

bool can_share_arguments(const Request& request)
{
    const auto* interface = as<Interface>(request.declaration->parent);
    if (interface == nullptr || interface->is_local || interface->is_abstract) return false;
    if (!request.context.empty()) return false;
    std::vector<const Type*> types;
    bool given_by_address = false;
    bool written_in_place = false;
    for (const Parameter& parameter : request.parameters) {
        types.push_back(parameter.type);
        given_by_address |=
            parameter.direction == Direction::in && form_of(*parameter.type) != Form::basic;
        written_in_place |= is_written_in_place(parameter);
    }
    // Both may be one variable of the caller's, which would change while the servant reads it.
    if (given_by_address && written_in_place) return false;
    types.push_back(request.result);
    for (const Declaration* raised : request.raises)
        add_parts(*raised, types);
    return can_share(std::move(types));
}

bool is_called_directly(const Source& source, const Call& call)
{
    // The interpretive kind is chosen for its size; what is measured are messages.
    return can_share_arguments(call) && !is_interpreted(source, call) && !source.options.instrument;
}

std::string direct_class(const Interface& interface)
{
    return qualified(interface) + "_kairos_direct";
}

// --- Classes -----------------------------------------------------------------------------------

bool has_direct_class(const Source& source, const Interface& interface)
{
    return !direct_calls(source, interface).empty();
}

void emit_direct_class(const Source& source, const Interface& interface, Text& out)
{
    const std::vector<Call> calls = direct_calls(source, interface);
    if (calls.empty()) return;
    const std::string name = identifier(interface) + "_kairos_direct";
    out.open("class ", exported(source), name, " {");
    out.label("public:");
    for (const Call& call : calls)
        declare(call, "virtual ", " = 0", out);
    out.blank();
    out.put({'N', name}, "protected:\n~$N() = default;\n};\n\n");
}

// --- Stubs -------------------------------------------------------------------------------------

namespace {

/// Whether what a stub is passed is a number or pointer that it does not change.
bool is_captured_by_value(const Parameter& parameter)
{
    const Form form = form_of(*parameter.type);
    if (parameter.direction == Direction::in)
        return form == Form::basic || form == Form::string || is_array(form);
    return is_array(form) && (parameter.direction == Direction::inout || form == Form::fixed_array);
}

/// Refuses what encoding would refuse: the texts that the servant is given or gives, or whatever
/// else it gives.
void require(const Call& call, bool texts, Direction other_than, Text& out)
{
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const Parameter& parameter = call.parameters[i];
        const bool is_text = form_of(*parameter.type) == Form::string;
        if (is_text != texts || parameter.direction == other_than) continue;
        if (!is_text && is_decoded_in_place(parameter)) continue;
        const std::string pointer = parameter.direction == Direction::out ? ".ptr()" : "";
        out.line(
            fill(passing(*parameter.type).require, {*parameter.type, call.locals[i] + pointer}));
    }
}

void require_results(const Call& call, Text& out)
{
    const Passing& row = passing(*call.result);
    if (!row.require.empty())
        out.line(fill(row.require, {*call.result, "_result" + std::string(row.read)}));
    require(call, true, Direction::in, out);
    require(call, false, Direction::in, out);
}

} // namespace

bool emit_direct_call(const Source& source, const Call& call, Text& out)
{
    if (!is_called_directly(source, call)) return false;
    const bool has_result = call.has_result();
    out.line("::kairos::orb::Reference* _reference = &::kairos::corba::reference_of(*this);");
    out.open("if (this->_kairos_calls_directly()) [[unlikely]] {");
    require(call, true, Direction::out, out);
    const Passing& result = passing(*call.result);
    if (has_result)
        out.line(fill(result.owner, {*call.result}), " _result", result.give.empty() ? "{};" : ";");
    std::vector<std::string> captured;
    if (has_result) captured.emplace_back("&_result");
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
        captured.push_back((is_captured_by_value(call.parameters[i]) ? "" : "&") + call.locals[i]);
    out.put({'C', listed(captured), 'D', direct_class(call.interface()), 'R',
             has_result ? "_result = " : "", 'F', call.cpp_name(), 'A', listed(call.locals), 'I',
             qualified(call.interface()), 'O', operation_reference(source, call)},
            R"(
const auto _direct = [$C]($D& _servant) {
    $R_servant.$F($A);
};
_reference = ::kairos::corba::call_directly<$I, $D, $O>(*_reference, _direct);
if (_reference == nullptr) {
)");
    if (!call.oneway) require_results(call, out);
    out.line(has_result ? "return _result" : "return", result.give, ";");
    out.close();
    out.close();
    return true;
}

// --- Skeletons ---------------------------------------------------------------------------------

namespace {

std::vector<const Interface*> bases_with_skeletons(const Interface& interface)
{
    std::vector<const Interface*> bases = interface.bases;
    std::erase_if(bases, [](const Interface* base) { return base->is_abstract; });
    return bases;
}

} // namespace

/// Of several bases more than one may have the function: then there must be one here.
bool gives_direct_classes(const Source& source, const Interface& interface)
{
    if (interface.is_abstract) return false;
    return has_direct_class(source, interface) || bases_with_skeletons(interface).size() > 1;
}

void emit_direct_function(const Source& source, const Interface& interface, Text& out)
{
    if (!gives_direct_classes(source, interface)) return;
    out.open("void* ", skeleton_name(interface),
             "::_kairos_direct(const void* _interface) noexcept\n{");
    if (has_direct_class(source, interface))
        out.line("if (_interface == &", qualified(interface), "::_kairos_id) return static_cast<",
                 direct_class(interface), "*>(this);");
    for (const Interface* base : bases_with_skeletons(interface))
        out.line("if (void* _found = ::", skeleton_name(*base),
                 "::_kairos_direct(_interface)) return _found;");
    out.put("return nullptr;\n}\n\n");
}

} // namespace kairos::idlc
