// SPDX-License-Identifier: Apache-2.0
//
// The emitters of the back end, one per generated text, and what they share. backend.cpp puts their
// texts into files as the chosen style wants them.
#pragma once

#include "idlc/cpp/cpp_names.h"
#include "idlc/cpp/forms.h"
#include "idlc/cpp/options.h"
#include "idlc/diagnostics.h"
#include "idlc/layout.h"
#include "idlc/marshal_choice.h"
#include "idlc/model.h"
#include "idlc/outputs.h"
#include "idlc/request.h"
#include "idlc/text.h"
#include "idlc/timing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kairos::idlc {

/// What the emitters read.
struct Source {
    const Unit& unit;
    const CppOptions& options;
    const Outputs& outputs;
    /// Every name that the unit declares: what a local variable would hide.
    std::unordered_set<std::string> declared_names{};
    /// The namespace that describes each interface's operations in the generated source file:
    /// "Demo_Echo_operations", with a number where two interfaces would share it; of skeletons in a
    /// file of their own "Demo_Echo_operations_served", for a program may compile both as one.
    std::unordered_map<const Interface*, std::string> operation_scopes{};
    /// What --profile chose, by declaration and name on the wire; that of a type is empty.
    std::map<std::pair<const Declaration*, std::string>, Engine> chosen{};
    /// Of the operations that the IDL says any of.
    std::unordered_map<const Declaration*, const Timing*> timings{};
};

/// emit_check.cpp: reports everything in the main file, or used by it, that there is no code
/// generation for yet.
[[nodiscard]] bool check_supported(const Unit& unit, Diagnostics& diagnostics);
/// emit_types.cpp: types, constants, stub classes and their Marshal specialisations.
void emit_types(const Source& source, Text& out);
/// What the IDL declares forward in front of an #include, in front of the C++'s: files that include
/// each other need it.
void emit_early_forwards(const Source& source, Text& out);
/// emit_stub.cpp: constants that describe the operations: what skeletons need of them, or stubs,
/// which need all of it.
void emit_operations(const Source& source, bool stubs, Text& out);
/// emit_stub.cpp: what emit_types declared.
void emit_stubs(const Source& source, Text& out);
/// emit_union.cpp: what stands between the braces of a union's class, behind the types within.
void emit_union_body(const Union& type, Text& out);
/// emit_skel.cpp: skeleton and TIE classes.
void emit_skeleton_classes(const Source& source, Text& out);
/// emit_skel.cpp: what emit_skeleton_classes declared.
void emit_skeletons(const Source& source, Text& out, Diagnostics& diagnostics);

/// What the class of an interface's servants of some kind is called: "POA_Demo::Echo".
using ServantName = std::string (*)(const Interface& interface);
/// emit_servant.cpp: the name of a kind, "POA_Demo::AMH_Echo" or "POA_AMH_Echo".
[[nodiscard]] std::string with_servant_prefix(std::string_view prefix, const Interface& interface);
/// emit_servant.cpp: what servants of all kinds have beside the functions that serve requests: in
/// the class, and their definitions.
void emit_servant_class(const Interface& interface, Text& out);
void emit_servant_functions(const Source& source, const Interface& interface, ServantName class_of,
                            Text& out, Diagnostics& diagnostics);
/// What an argument is within the function that serves a request.
struct ServantArgument {
    std::string value;    ///< the C++ expression that encodes or decodes it
    std::string argument; ///< the C++ expression that the servant is given
};
/// emit_servant.cpp: decodes an argument from `_upcall.in()`, which lasts as long as the function.
[[nodiscard]] ServantArgument emit_in(const Type& type, const std::string& name, Text& out);
/// emit_servant.cpp: declares what owns an argument; decodes it, or leaves it empty.
[[nodiscard]] ServantArgument emit_owner(const Type& type, const std::string& name, bool decoded,
                                         Text& out);

/// emit_timing.cpp: what the IDL says about the timing of an interface's operations, as constant
/// data of its skeleton: declaration and definition; nothing where it says nothing.
void emit_timings_declaration(const Source& source, const Interface& interface, Text& out);
void emit_timings(const Source& source, const Interface& interface, Text& out);
/// emit_timing.cpp: the same of all operations that the interface has, for servers that order
/// requests. Of an interface that is not abstract.
void emit_timed_operations(const Source& source, const Interface& interface, Text& out);

/// How emit_types emits what is declared within a class.
using EmitNested = std::function<void(const Declarations&)>;
/// emit_local.cpp: the class of a local interface, announced before.
void emit_local_class(const Source& source, const Interface& interface, const EmitNested& nested,
                      Text& out);
/// emit_local.cpp: the functions of other interfaces' classes, but for the calls.
void emit_stub_functions(const Source& source, const Interface& interface, Text& out);
/// emit_local.cpp: the class's functions.
void emit_local_functions(const Interface& interface, Text& out);
/// emit_typecode.cpp: _tc_X of a declared type, in the header behind the type.
void emit_type_code_declaration(const Source& source, const Declaration& declaration, Text& out);
/// emit_typecode.cpp: what that declared, for all types of the file.
void emit_type_codes(const Source& source, Text& out);

/// emit_any.cpp: insertion into Any and extraction of the declared types; inline, in the header.
void emit_any_operators(const Source& source, Text& out);

/// emit_local.cpp: the class of an abstract interface, announced before, and that of its stub.
void emit_abstract_class(const Source& source, const Interface& interface, const EmitNested& nested,
                         Text& out);
/// emit_local.cpp: their functions but for the stub's operations.
void emit_abstract_functions(const Interface& interface, Text& out);
/// The class whose operations are remote calls: the interface's own or, of an abstract one,
/// "::Demo::Echo_kairos_stub".
[[nodiscard]] std::string stub_class(const Interface& interface);
[[nodiscard]] bool derives_from_abstract(const Interface& interface);

/// emit_smart_proxy.cpp: whether an interface has TAO's smart proxies; where their factories are
/// registered; the classes, behind the interface's, and their functions: nothing for others.
[[nodiscard]] bool has_smart_proxy(const Source& source, const Interface& interface);
[[nodiscard]] std::string smart_proxy_factories(const Interface& interface);
void emit_smart_proxy_classes(const Source& source, const Interface& interface, Text& out);
void emit_smart_proxy_functions(const Source& source, const Interface& interface, Text& out);

/// emit_value.cpp, emit_box.cpp: the classes, announced before.
void emit_value_class(const Source& source, const ValueType& value, const EmitNested& nested,
                      Text& out);
void emit_value_factory(const Source& source, const ValueType& value, Text& out);
void emit_box_class(const Source& source, const ValueBox& box, const EmitNested& nested, Text& out);
/// emit_value.cpp: the OBV_ classes of all valuetypes.
void emit_value_implementations(const Source& source, Text& out);
/// emit_value.cpp: the functions of all these classes.
void emit_values(const Source& source, Text& out);
void emit_box_functions(const Source& source, const ValueBox& box, Text& out);

/// Where accessors find what they give: pure virtual ones if nowhere.
struct Accessors {
    std::string stored{};    ///< "_kairos_name"
    std::string specifier{}; ///< " override", or empty
    std::string scope{};     ///< "::Demo::Point::", of types without a name; empty within
};
/// emit_value.cpp: the accessors and modifiers of a value's member, as the mapping wants them.
void emit_accessors(const Member& member, const Accessors& how, Text& out);
/// emit_value.cpp: the types of the functions that give access to a stored value, and what they do.
struct Setter {
    std::string given; ///< type of what a modifier is given: "const ::Demo::Numbers&"
    std::string taken; ///< what of that, `_value`, is kept
};
struct Access {
    std::vector<Setter> setters{};
    std::string read{};   ///< what an accessor returns
    std::string write{};  ///< what one returns that lets the value be changed; empty: there is none
    std::string suffix{}; ///< behind what is stored, to read it
};
/// `base` is the type's name if it has none of its own, else empty.
[[nodiscard]] Access access_to(const Type& type, const std::string& base = {});
/// "stored = value", or what does that with arrays.
[[nodiscard]] std::string assignment(const Type& type, const std::string& base,
                                     const std::string& stored, const std::string& value);
/// emit_types.cpp: typedefs, as the mapping wants them, of a member's type without a name.
void emit_anonymous_types(const Member& member, Text& out);
/// The member's type, "_name_seq" or "_name" in the scope if it has no name of its own.
[[nodiscard]] std::string anonymous_type(const Member& member, const std::string& scope);
/// What the member is stored as.
[[nodiscard]] std::string stored_type(const Member& member);

/// A request as a function of C++.
struct Call : Request {
    std::vector<std::string> locals{}; ///< names of the parameters that hide no declaration

    [[nodiscard]] std::string cpp_name() const { return identifier(*declaration); }
};
/// emit_timing.cpp: around what serves a request of an operation with a deadline.
void begin_timed(const Source& source, const Call& call, Text& out);
void end_timed(const Source& source, const Call& call, Text& out);
/// What a stub says when it calls such an operation: "std::chrono::nanoseconds(50000000)"; empty
/// for others.
[[nodiscard]] std::string timed_call_argument(const Source& source, const Call& call);
/// emit_interpreted.cpp: whether a type or an operation is of the interpretive kind.
[[nodiscard]] bool is_interpreted(const Source& source, const Declaration& declaration);
[[nodiscard]] bool is_interpreted(const Source& source, const Call& call);
/// emit_interpreted.cpp: whether there is an interpreted form of an operation.
[[nodiscard]] bool can_interpret(const Request& request);
/// emit_direct.cpp: whether a servant in the same process can be given the caller's own arguments,
/// so that neither sees a difference to copies.
[[nodiscard]] bool can_share_arguments(const Request& request);
/// emit_direct.cpp: whether stubs call such a servant without a message: then the operation's
/// function is declared by the direct class, and the skeleton's overrides it.
[[nodiscard]] bool is_called_directly(const Source& source, const Call& call);
/// emit_direct.cpp: the class behind a stub class whose functions are those that stubs call of a
/// servant in their process, if there are any.
[[nodiscard]] bool has_direct_class(const Source& source, const Interface& interface);
[[nodiscard]] std::string direct_class(const Interface& interface);
void emit_direct_class(const Source& source, const Interface& interface, Text& out);
/// emit_direct.cpp: the part of the stub that calls such a servant; nothing for other operations.
/// True if it has declared `_reference`.
[[nodiscard]] bool emit_direct_call(const Source& source, const Call& call, Text& out);
/// emit_direct.cpp: how a skeleton's class gives its direct classes: declaration and definition.
[[nodiscard]] bool gives_direct_classes(const Source& source, const Interface& interface);
void emit_direct_function(const Source& source, const Interface& interface, Text& out);
/// emit_table.cpp: the tables of interpreted structs.
void emit_table_declarations(const Source& source, Text& out);
void emit_tables(const Source& source, Text& out);
/// emit_interpreted.cpp: an interpreted operation as data; its stub; its part of the skeleton.
void emit_signature(const Call& call, Text& out);
void emit_interpreted_stub(const Source& source, const Call& call, Text& out);
void emit_interpreted_serve(const Source& source, const Call& call, Text& out);

/// emit_probe.cpp: what --instrument adds, and nothing without it: from here to the end of the
/// block, "encode" or "decode" of a type is measured; or "client-encode" and so on of an operation,
/// until end_call_probe() with the same name of a variable.
void emit_type_probe(const Source& source, const Declaration& type, std::string_view function,
                     Text& out);
void emit_call_probe(const Source& source, const Call& call, std::string_view side,
                     std::string_view variable, Text& out);
void end_call_probe(const Source& source, std::string_view variable, Text& out);

/// The requests of an operation or attribute; none of any other declaration.
[[nodiscard]] std::vector<Call> calls_of(const Source& source, const Declaration& declaration);
/// Those of all the declarations, in their order.
[[nodiscard]] std::vector<Call> calls_in(const Source& source, const Declarations& declarations);
/// "add_op" or "size_getter", in the interface's operation scope.
[[nodiscard]] std::string operation_constant(const Call& call);
/// The braces behind the name of its kairos::orb::Operation.
[[nodiscard]] std::string operation_initialiser(const Call& call);
/// "Demo_Echo_operations::add_op".
[[nodiscard]] std::string operation_reference(const Source& source, const Call& call);
/// "::CORBA::Long a, const ::Demo::Numbers& b".
[[nodiscard]] std::string parameter_list(const Call& call);
/// Calls `emit` with what a module declares and a text of its own; what that got is put between the
/// braces of namespace `name`, and nothing where it got nothing.
template <typename Emit>
void in_namespace(const std::string& name, const Module& module, Text& out, const Emit& emit)
{
    Text body;
    emit(module.declarations, body);
    if (body.text().empty()) return;
    out.line("namespace ", name, " {");
    out.append(body);
    out.line("} // namespace ", name);
}
/// Calls `emit` for each declaration of a module or of file scope; what is in a module goes into a
/// namespace of its own, "POA_Demo" at file scope, if a declaration in it, at any depth, is wanted.
template <typename T, typename Wanted, typename Emit>
void in_own_namespaces(std::string_view prefix, const Declarations& declarations, Text& out,
                       const Wanted& is_wanted, const Emit& emit)
{
    for (const Declaration* declaration : declarations) {
        const auto* one = as<T>(declaration);
        if (one != nullptr && one->generated) emit(*one);
        const auto* module = as<Module>(declaration);
        if (module == nullptr || !module->generated) continue;
        std::vector<const T*> found;
        collect(module->declarations, found);
        if (std::ranges::none_of(found, is_wanted)) continue;
        const std::string name = prefixed_identifier(prefix, *module);
        out.blank();
        out.line("namespace ", name, " {");
        out.blank();
        in_own_namespaces<T>(prefix, module->declarations, out, is_wanted, emit);
        out.line("} // namespace ", name);
        out.blank();
    }
}

/// The declaration of a call's function, "virtual ::CORBA::Long add() = 0;", with what stands in
/// front and behind.
void declare(const Call& call, std::string_view front, std::string_view behind, Text& out);
/// The function _kairos_supports of the class `scope`: true for its own id, for those of its
/// ancestors and, of references, for Object's.
void emit_supports(const std::string& scope, const Interface& interface, const std::string& own_id,
                   Text& out);
/// emit_local.cpp: how the class of any interface begins: its names and the functions of
/// references.
void emit_reference_functions(const Interface& interface, Text& out);
/// How such a class says what it supports, and that it is an object where it may be a value.
void emit_object_functions(const Interface& interface, Text& out);
/// The parameter of an exception's constructor for one of its members: "const char* _name_".
[[nodiscard]] std::string member_parameter(const Member& member);
/// "NAME " where an export macro was asked for.
[[nodiscard]] std::string exported(const Source& source);

} // namespace kairos::idlc
