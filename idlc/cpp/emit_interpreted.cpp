// SPDX-License-Identifier: Apache-2.0
//
// Stubs and skeletons of the interpretive kind (kairos/corba/interpreted.h): an operation's
// signature as constant data, a stub that gathers the addresses of its arguments, and a function
// that hands such addresses to the servant.
#include "idlc/cpp/emitters.h"

#include <optional>

namespace kairos::idlc {
namespace {

/// More would not fit into a signature.
constexpr std::size_t parameters_max = 254;

/// As Direction, and of results.
enum class Way { in, out, inout, result };

/// kairos::corba::Passing, or none for what has no interpreted form.
std::optional<std::string_view> passing_of(const Type& type, Way way)
{
    const Form form = form_of(type);
    if (is_pseudo_object(type) || form == Form::value || form == Form::abstract_object ||
        form == Form::native || form == Form::void_)
        return std::nullopt;
    const Kept kept = passing(form).kept;
    if (kept == Kept::shared) return "owned";
    const bool pointer =
        way == Way::result ? !is_given_by_value(form) : way == Way::out && kept == Kept::by_pointer;
    return pointer ? "pointer" : "value";
}

/// What a signature describes.
struct Argument {
    const Type* type;
    Way way;
};

/// The result, if there is one, comes first.
std::vector<Argument> arguments_of(const Request& request)
{
    std::vector<Argument> arguments;
    if (request.has_result()) arguments.push_back({request.result, Way::result});
    for (const Parameter& parameter : request.parameters)
        arguments.push_back({parameter.type, static_cast<Way>(parameter.direction)});
    return arguments;
}

} // namespace

bool can_interpret(const Request& request)
{
    if (request.parameters.size() > parameters_max || !request.context.empty()) return false;
    const auto* interface = as<Interface>(request.declaration->parent);
    if (interface == nullptr || interface->is_abstract) return false; // whose stub has another name
    return std::ranges::all_of(arguments_of(request), [](const Argument& each) {
        return passing_of(*each.type, each.way).has_value();
    });
}

namespace {

/// The address that the stub puts into the array for an argument.
std::string address_of(const Parameter& parameter, const std::string& name)
{
    const Way way = static_cast<Way>(parameter.direction);
    const std::string_view passed = *passing_of(*parameter.type, way);
    if (is_array(form_of(*parameter.type)) && passed == "value") return name;
    if (way == Way::out && passed != "value") return "&" + name + ".ptr()";
    return "&" + name;
}

/// The C++ type at the address of a parameter in a skeleton.
std::string type_at(const Type& type, Way way)
{
    const Form form = form_of(type);
    const bool in = way == Way::in;
    if (form == Form::object) return fill("$R*", {type});
    if (form == Form::string) return fill(in ? "const $C* const" : "$C*", {type});
    const bool pointer = *passing_of(type, way) == "pointer";
    return fill(pointer ? passing(form).result : in ? "const $B" : "$B", {type});
}

Engine engine_of(const Source& source, const Declaration& declaration, const std::string& wire_name)
{
    // What is measured must be comparable; what the IDL says counts again when it is chosen.
    if (source.options.instrument) return Engine::compiled;
    if (const auto engine = annotated_engine(declaration)) return *engine;
    const auto chosen = source.chosen.find({&declaration, wire_name});
    return chosen == source.chosen.end() ? source.options.marshal : chosen->second;
}

/// As many as kairos::corba::call takes one by one.
constexpr std::size_t arguments_in_registers_max = 4;

std::string in_registers(std::vector<std::string> addresses)
{
    addresses.resize(arguments_in_registers_max, "nullptr");
    return listed(addresses);
}

} // namespace

bool is_interpreted(const Source& source, const Declaration& declaration)
{
    return engine_of(source, declaration, "") == Engine::interpretive;
}

bool is_interpreted(const Source& source, const Call& call)
{
    return engine_of(source, *call.declaration, call.wire_name) == Engine::interpretive &&
           can_interpret(call);
}

void emit_signature(const Call& call, Text& out)
{
    const std::vector<Argument> arguments = arguments_of(call);
    out.line("constexpr ::kairos::corba::StoredSignature<", std::to_string(arguments.size()), "> ",
             operation_constant(call), "_signature{");
    out.line("    ", operation_initialiser(call), ", {");
    constexpr std::string_view ways[] = {"in", "out", "inout", "out"};
    for (const auto& [type, way] : arguments)
        out.put({'T', fill(passing(*type).described, {*type}), 'W',
                 ways[static_cast<std::size_t>(way)], 'P', *passing_of(*type, way)},
                R"(
    ::kairos::corba::ParameterForm{&::kairos::types::TableOf<$T>::table,
        ::kairos::corba::Way::$W, ::kairos::corba::Passing::$P},
)");
    out.line("}};");
}

void emit_interpreted_stub(const Source& source, const Call& call, Text& out)
{
    out.open(result_type(*call.result), " ", defined_name(call.interface()), "::", call.cpp_name(),
             "(", parameter_list(call), ")\n{");
    const std::string signature = operation_reference(source, call) + "_signature.signature";
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < call.parameters.size(); ++i)
        addresses.push_back(address_of(call.parameters[i], call.locals[i]));
    const bool has_result = call.has_result();
    const std::string deadline = timed_call_argument(source, call);
    const auto fit = [&] {
        return deadline.empty() && addresses.size() <= arguments_in_registers_max;
    };
    if (has_result && *passing_of(*call.result, Way::result) != "value" && fit()) {
        out.line("return static_cast<", result_type(*call.result),
                 ">(::kairos::corba::call_for_pointer(*this, ", in_registers(addresses), ", ",
                 signature, "));");
    } else {
        if (has_result) {
            out.line(result_type(*call.result), " _result{};");
            addresses.insert(addresses.begin(), "&_result");
        }
        if (fit()) {
            out.line("::kairos::corba::call(*this, ", in_registers(addresses), ", ", signature,
                     ");");
        } else {
            // An array has an element at least, also where there are no arguments.
            out.line("const void* const _arguments[] = {", listed(addresses),
                     addresses.empty() ? "nullptr};" : "};");
            out.line("::kairos::corba::call(*this, ", signature, ", _arguments",
                     deadline.empty() ? "" : ", ", deadline, ");");
        }
        if (has_result) out.line("return _result;");
    }
    out.close();
    out.blank();
}

void emit_interpreted_serve(const Source& source, const Call& call, Text& out)
{
    const std::string skeleton = skeleton_name(call.interface());
    std::vector<std::string> arguments;
    for (const auto& [type, way] : arguments_of(call))
        arguments.push_back("*static_cast<" + type_at(*type, way) + "*>(_at[" +
                            std::to_string(arguments.size()) + "])");
    const std::string at = arguments.empty() ? "" : " _at";
    out.open("void ", skeleton, "::_serve_", call.wire_name, "(::kairos::orb::Upcall& _upcall)\n{");
    begin_timed(source, call, out);
    out.open("constexpr auto _call = [](void* _servant, void* const*", at, ") {");
    std::string result;
    if (call.has_result()) {
        result = arguments.front() + " = ";
        arguments.erase(arguments.begin());
    }
    out.line(result, "static_cast<::", skeleton, "*>(_servant)->", call.cpp_name(), "(",
             listed(arguments), ");");
    out.close("};");
    out.line("::kairos::corba::serve(_upcall, ", operation_reference(source, call),
             "_signature.signature, _call, this);");
    end_timed(source, call, out);
    out.close();
    out.blank();
}

} // namespace kairos::idlc
