// SPDX-License-Identifier: Apache-2.0
//
// The header: types and constants in the order of the IDL, stub classes, and behind them the
// Marshal specialisations of what was declared.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

class TypesEmitter {
  public:
    TypesEmitter(const Source& source, Text& out) : source_(source), out_(out) {}

    void emit(const Declarations& declarations)
    {
        for (const Declaration* declaration : declarations)
            emit(*declaration);
    }
    void emit_marshals();
    /// Forward declarations in front of an #include of IDL.
    void emit_early(const Declarations& declarations);

  private:
    void emit(const Declaration& declaration);
    void emit_forward(const Forward& forward);
    void emit_module(const Module& module);
    void emit_constant(const Constant& constant);
    void emit_enum(const Enum& enumeration);
    void announce(const Declaration& declaration, std::string_view key, bool variable);
    void announce_struct(const Struct& composite);
    void emit_union(const Union& type);
    void emit_struct(const Struct& composite);
    void emit_members(const std::vector<Member>& members, std::string_view initialiser);
    void emit_exception(const Exception& exception);
    void announce_interface(const Interface& interface);
    void emit_interface(const Interface& interface);
    void announce_value(const Declaration& value);
    void emit_value(const Declaration& value);
    void emit_call(const Call& call);
    void emit_alias(const Alias& alias);
    void emit_sequence(const std::string& name, const Type& type);
    void emit_array(const std::string& name, const Type& type);
    void emit_alias_of(const std::string& name, const Type& type);
    void emit_array_functions(const std::string& name, const std::string& call_prefix);
    void emit_marshal_fixed(const Struct& composite);
    void emit_marshal_members(const Declaration& declaration, const std::vector<Member>& members,
                              bool viewable);
    void emit_marshal_functions(const Declaration& declaration, std::uint64_t wire_bytes,
                                bool viewable);

    [[nodiscard]] static bool is_value(const Declaration& declaration)
    {
        return as<ValueType>(&declaration) != nullptr || as<ValueBox>(&declaration) != nullptr;
    }
    /// Constants and functions belong to a class within one, and are inline elsewhere.
    [[nodiscard]] static bool in_class(const Declaration& declaration)
    {
        return declaration.parent != nullptr && as<Module>(declaration.parent) == nullptr;
    }

    const Source& source_;
    Text& out_;
    std::unordered_set<const Declaration*> announced_;
};

void TypesEmitter::emit(const Declaration& declaration)
{
    if (const auto* module = as<Module>(&declaration)) return emit_module(*module);
    if (!declaration.generated) return;
    if (const auto* forward = as<Forward>(&declaration)) {
        emit_forward(*forward);
    } else if (const auto* constant = as<Constant>(&declaration)) {
        emit_constant(*constant);
    } else if (const auto* enumeration = as<Enum>(&declaration)) {
        emit_enum(*enumeration);
    } else if (const auto* composite = as<Struct>(&declaration)) {
        emit_struct(*composite);
    } else if (const auto* united = as<Union>(&declaration)) {
        emit_union(*united);
    } else if (const auto* exception = as<Exception>(&declaration)) {
        emit_exception(*exception);
    } else if (const auto* interface = as<Interface>(&declaration)) {
        emit_interface(*interface);
    } else if (is_value(declaration)) {
        emit_value(declaration);
    } else if (const auto* alias = as<Alias>(&declaration)) {
        emit_alias(*alias);
    } else {
        for (const Call& call : calls_of(source_, declaration))
            emit_call(call);
    }
    emit_type_code_declaration(source_, declaration, out_);
}

void TypesEmitter::emit_forward(const Forward& forward)
{
    if (const auto* composite = as<Struct>(forward.definition)) announce_struct(*composite);
    if (const auto* united = as<Union>(forward.definition))
        announce(*united, "class", is_variable_length(*united));
    if (const auto* interface = as<Interface>(forward.definition)) announce_interface(*interface);
    if (forward.definition != nullptr && is_value(*forward.definition))
        announce_value(*forward.definition);
}

void TypesEmitter::emit_early(const Declarations& declarations)
{
    const auto early = [this](const Location& location) {
        return std::ranges::any_of(source_.unit.direct_includes, [&](std::uint32_t index) {
            const auto& includer = source_.unit.files[index].includer;
            return includer && includer->line > location.line;
        });
    };
    for (const Declaration* declaration : declarations) {
        if (!declaration->generated || !early(declaration->location)) continue;
        if (const auto* forward = as<Forward>(declaration)) emit_forward(*forward);
        const auto* module = as<Module>(declaration);
        if (module == nullptr) continue;
        in_namespace(identifier(*module), *module, out_,
                     [this](const Declarations& inner, Text& out) {
                         TypesEmitter(source_, out).emit_early(inner);
                     });
    }
}

void TypesEmitter::emit_module(const Module& module)
{
    if (!module.generated) return;
    const std::string name = identifier(module);
    out_.blank();
    out_.line("namespace ", name, " {");
    out_.blank();
    emit(module.declarations);
    out_.blank();
    out_.line("} // namespace ", name);
    out_.blank();
}

void TypesEmitter::emit_constant(const Constant& constant)
{
    const Type& type = resolved(*constant.type);
    std::string declared;
    if (type.kind == TypeKind::string) {
        declared = "const char*";
    } else if (type.kind == TypeKind::wstring) {
        declared = "const ::CORBA::WChar*";
    } else {
        declared = value_type(type.kind == TypeKind::wchar ? type : *constant.type);
    }
    out_.line(in_class(constant) ? "static" : "inline", " constexpr ", declared, " ",
              identifier(constant), " = ", literal(constant.value, *constant.type), ";");
}

void TypesEmitter::emit_enum(const Enum& enumeration)
{
    const std::string name = identifier(enumeration);
    const std::string enumerators =
        listed(enumeration.enumerators, [](const Enumerator* each) { return identifier(*each); });
    out_.line("enum ", name, " : ::CORBA::ULong { ", enumerators, " };");
    out_.line("typedef ", name, "& ", name, "_out;");
    out_.blank();
}

void TypesEmitter::announce_struct(const Struct& composite)
{
    announce(composite, "struct", is_variable_length(composite));
}

/// The declaration of a struct or union, and the names that go with it.
void TypesEmitter::announce(const Declaration& declaration, std::string_view key, bool variable)
{
    if (!announced_.insert(&declaration).second) return;
    const std::string name = identifier(declaration);
    out_.line(key, " ", name, ";");
    if (variable) {
        out_.line("typedef ::kairos::mapping::VariableVar<", name, "> ", name, "_var;");
        out_.line("typedef ::kairos::mapping::VariableOut<", name, "> ", name, "_out;");
    } else {
        out_.line("typedef ::kairos::mapping::FixedVar<", name, "> ", name, "_var;");
        out_.line("typedef ", name, "& ", name, "_out;");
    }
}

void TypesEmitter::emit_struct(const Struct& composite)
{
    announce_struct(composite);
    const std::string name = identifier(composite);
    out_.open("struct ", name, " {");
    out_.line("typedef ", name, "_var _var_type;");
    emit(composite.declarations);
    emit_members(composite.members, "");
    out_.close("};");
    out_.blank();
}

void TypesEmitter::emit_union(const Union& type)
{
    announce(type, "class", is_variable_length(type));
    const std::string name = identifier(type);
    out_.open("class ", name, " {");
    out_.label("public:");
    out_.line("typedef ", name, "_var _var_type;");
    emit(type.declarations);
    emit_union_body(type, out_);
    out_.close("};");
    out_.blank();
}

/// Members whose type has no name of its own get typedefs as the mapping wants them.
void TypesEmitter::emit_members(const std::vector<Member>& members, std::string_view initialiser)
{
    for (const Member& member : members) {
        emit_anonymous_types(member, out_);
        const bool initialised =
            member.type->kind == TypeKind::array || passing(*member.type).kept == Kept::in_place;
        out_.line(stored_type(member), " ", identifier(member.name), initialised ? initialiser : "",
                  ";");
    }
}

void TypesEmitter::emit_exception(const Exception& exception)
{
    const std::string name = identifier(exception);
    out_.open("class ", exported(source_), name, " : public ::CORBA::UserException {");
    out_.label("public:");
    out_.line("static constexpr std::string_view _kairos_id = ",
              string_literal(exception.repository_id), ";");
    out_.blank();
    emit(exception.declarations);
    emit_members(exception.members, "{}");
    out_.blank();
    out_.line(name, "() = default;");
    if (!exception.members.empty())
        out_.line(name, "(", listed(exception.members, member_parameter), ");");
    out_.line("static ", name, "* _downcast(::CORBA::Exception* exception);");
    out_.line("static const ", name, "* _downcast(const ::CORBA::Exception* exception);");
    out_.line("[[noreturn]] void _raise() const override;");
    out_.line("const char* _name() const noexcept override;");
    out_.line("const char* _rep_id() const noexcept override;");
    out_.line("::CORBA::Exception* _duplicate() const override;");
    out_.line("void _marshal(::kairos::cdr::Writer& out) const override;");
    out_.close("};");
    out_.blank();
}

void TypesEmitter::announce_interface(const Interface& interface)
{
    if (!announced_.insert(&interface).second) return;
    const std::string name = identifier(interface);
    const char* kind = interface.is_abstract ? "corba::Abstract" : "mapping::Object";
    out_.line("class ", name, ";");
    out_.line("typedef ", name, "* ", name, "_ptr;");
    out_.line("typedef ::kairos::", kind, "Var<", name, "> ", name, "_var;");
    out_.line("typedef ::kairos::", kind, "Out<", name, "> ", name, "_out;");
    out_.blank();
}

void TypesEmitter::emit_interface(const Interface& interface)
{
    announce_interface(interface);
    const EmitNested nested = [this](const Declarations& declarations) { emit(declarations); };
    if (interface.is_local) return emit_local_class(source_, interface, nested, out_);
    if (interface.is_abstract) return emit_abstract_class(source_, interface, nested, out_);
    const std::string name = identifier(interface);
    std::string bases = listed(interface.bases, [](const Interface* base) {
        return "public virtual " + stub_class(*base);
    });
    if (bases.empty()) bases = "public virtual ::CORBA::Object";
    out_.open("class ", exported(source_), name, " : ", bases, " {");
    emit_reference_functions(interface, out_);
    emit(interface.declarations);
    out_.blank();
    out_.line("bool _kairos_supports(std::string_view repository_id) const override;");
    if (derives_from_abstract(interface))
        out_.line("::CORBA::Object* _kairos_object() override { return this; }");
    out_.blank();
    out_.label("protected:");
    out_.line("friend class ::kairos::corba::StubFactory;");
    out_.line("explicit ", name, "(::kairos::corba::StubArgument argument);");
    out_.line(name, "() = default;");
    out_.close("};");
    out_.blank();
    emit_direct_class(source_, interface, out_);
}

void TypesEmitter::announce_value(const Declaration& value)
{
    if (announced_.insert(&value).second) idlc::announce_value(value, out_);
}

void TypesEmitter::emit_value(const Declaration& declaration)
{
    announce_value(declaration);
    const EmitNested nested = [this](const Declarations& within) { emit(within); };
    if (const auto* box = as<ValueBox>(&declaration))
        return emit_box_class(source_, *box, nested, out_);
    const auto& value = *as<ValueType>(&declaration);
    emit_value_class(source_, value, nested, out_);
    emit_value_factory(source_, value, out_);
}

void TypesEmitter::emit_call(const Call& call)
{
    const auto* interface = as<Interface>(call.declaration->parent);
    const bool pure = interface == nullptr || interface->is_local || interface->is_abstract;
    out_.line("virtual ", result_type(*call.result), " ", call.cpp_name(), "(",
              parameter_list(call), pure ? ") = 0;" : ");");
}

void TypesEmitter::emit_alias(const Alias& alias)
{
    const std::string name = identifier(alias);
    const Type& type = *alias.type;
    if (type.kind == TypeKind::sequence) return emit_sequence(name, type);
    if (type.kind == TypeKind::array) {
        emit_array(name, type);
        return emit_array_functions(name, in_class(alias) ? "static" : "inline");
    }
    if (type.kind == TypeKind::fixed) {
        out_.line("typedef ", value_type(type), " ", name, ";");
        out_.line("typedef ::kairos::mapping::FixedVar<", name, "> ", name, "_var;");
        out_.line("typedef ", name, "& ", name, "_out;");
        return out_.blank();
    }
    const Form form = form_of(type);
    if (form == Form::native) return out_.line("typedef ", value_type(type), " ", name, ";");
    emit_alias_of(name, type);
    if (is_array(form)) emit_array_functions(name, in_class(alias) ? "static" : "inline");
    out_.blank();
}

void TypesEmitter::emit_sequence(const std::string& name, const Type& type)
{
    out_.line("class ", name, ";");
    out_.line("typedef ::kairos::mapping::VariableVar<", name, "> ", name, "_var;");
    out_.line("typedef ::kairos::mapping::VariableOut<", name, "> ", name, "_out;");
    out_.open("class ", name, " : public ", sequence_base(type), " {");
    out_.label("public:");
    out_.line("typedef ", name, "_var _var_type;");
    out_.line("using ", sequence_base(type), "::", type.bound == 0 ? "Unbounded" : "Bounded", ";");
    out_.close("};");
    out_.blank();
}

void TypesEmitter::emit_array(const std::string& name, const Type& type)
{
    const Declarator declarator = storage_type(type);
    const bool variable = is_variable_length(type);
    out_.line("typedef ", declarator.type, " ", name, declarator.dimensions, ";");
    out_.line("typedef ", declarator.type, " ", name, "_slice", dimensions_of(type, 1), ";");
    out_.line("typedef ::kairos::mapping::", variable ? "Variable" : "Fixed", "ArrayVar<", name,
              "> ", name, "_var;");
    if (variable) {
        out_.line("typedef ::kairos::mapping::VariableArrayOut<", name, "> ", name, "_out;");
    } else {
        out_.line("typedef ", name, " ", name, "_out;");
    }
    out_.line("struct ", name, "_tag;");
    out_.line("typedef ::kairos::mapping::ArrayForany<", name, ", ", name, "_tag> ", name,
              "_forany;");
}

void TypesEmitter::emit_array_functions(const std::string& name, const std::string& specifier)
{
    const std::string slices = name + "_slice*";
    out_.line(specifier, " ", slices, " ", name,
              "_alloc() { return ::kairos::mapping::array_alloc<", name, ">(); }");
    out_.line(specifier, " ", slices, " ", name, "_dup(const ", slices,
              " from) { return ::kairos::mapping::array_dup<", name, ">(from); }");
    out_.line(specifier, " void ", name, "_copy(", slices, " to, const ", slices,
              " from) { ::kairos::mapping::array_copy<", name, ">(to, from); }");
    out_.line(specifier, " void ", name, "_free(", slices,
              " slices) { ::kairos::mapping::array_free<", name, ">(slices); }");
    out_.blank();
}

/// A typedef of what has a name already: all the names that go with it.
void TypesEmitter::emit_alias_of(const std::string& name, const Type& type)
{
    const auto also = [&](std::string_view suffix) {
        const bool is_unnamed_string =
            type.kind == TypeKind::string || type.kind == TypeKind::wstring;
        const std::string base = is_unnamed_string ? string_class(type) : value_type(type);
        out_.line("typedef ", base, suffix, " ", name, suffix, ";");
    };
    out_.line("typedef ", value_type(type), " ", name, ";");
    std::string_view suffixes = passing(type).suffixes;
    for (std::size_t end = 0; end != suffixes.npos; suffixes.remove_prefix(end + 1)) {
        end = suffixes.find(' ');
        also(suffixes.substr(0, end));
        if (end == suffixes.npos) break;
    }
}

// --- Marshalling -------------------------------------------------------------------------------

void TypesEmitter::emit_marshals()
{
    out_.blank();
    out_.line("namespace kairos::mapping {");
    out_.blank();
    for (const Enum* enumeration : all_of<Enum>(source_)) {
        const std::string name = qualified(*enumeration);
        out_.line("template <>");
        out_.line("struct Marshal<", name, "> : EnumMarshal<", name, ", ",
                  std::to_string(enumeration->enumerators.size()), "> {};");
    }
    out_.blank();
    for (const Struct* composite : all_of<Struct>(source_)) {
        if (has_fixed_layout(*composite)) {
            emit_marshal_fixed(*composite);
        } else {
            emit_marshal_members(*composite, composite->members, is_viewable(*composite));
        }
    }
    for (const Union* united : all_of<Union>(source_))
        emit_marshal_functions(*united, wire_bytes_min(*united), false);
    for (const Exception* exception : all_of<Exception>(source_))
        emit_marshal_members(*exception, exception->members, false);
    out_.line("} // namespace kairos::mapping");
}

void TypesEmitter::emit_marshal_fixed(const Struct& composite)
{
    const std::string name = qualified(composite);
    out_.line("template <>");
    out_.line("struct Marshal<", name, ">");
    std::string line = "    : FixedStruct<" + name;
    for (const Member& member : composite.members) {
        out_.line(line, ",");
        const std::string member_name = identifier(member.name);
        line = "                  Field<&";
        line.append(name).append("::").append(member_name);
        line.append(", offsetof(").append(name).append(", ").append(member_name).append(")>");
    }
    out_.line(line, "> {};");
    out_.blank();
}

void TypesEmitter::emit_marshal_members(const Declaration& declaration,
                                        const std::vector<Member>& members, bool viewable)
{
    std::uint64_t bytes = 0;
    for (const Member& member : members)
        bytes += wire_bytes_min(*member.type);
    emit_marshal_functions(declaration, bytes, viewable);
}

/// A Marshal whose functions are in the source file.
void TypesEmitter::emit_marshal_functions(const Declaration& declaration, std::uint64_t wire_bytes,
                                          bool viewable)
{
    const std::string name = qualified(declaration);
    out_.line("template <>");
    out_.open("struct ", exported(source_), "Marshal<", name, "> {");
    out_.line("static constexpr std::size_t wire_bytes_min = ", std::to_string(wire_bytes), ";");
    out_.line("static void encode(cdr::Writer& out, const ", name, "& value);");
    out_.line("static void decode(cdr::Reader& in, ", name, "& value",
              viewable ? ", Arena* arena = nullptr" : "", ");");
    out_.close("};");
    out_.blank();
}

} // namespace

void emit_anonymous_types(const Member& member, Text& out)
{
    const Type& type = *member.type;
    const Declarator declarator = storage_type(type);
    if (type.kind == TypeKind::sequence)
        out.line("typedef ", declarator.type, " _", member.name, "_seq;");
    if (type.kind != TypeKind::array) return;
    out.line("typedef ", declarator.type, " _", member.name, declarator.dimensions, ";");
    out.line("typedef ", declarator.type, " _", member.name, "_slice", dimensions_of(type, 1), ";");
}

std::string anonymous_type(const Member& member, const std::string& scope)
{
    if (member.type->kind == TypeKind::sequence) return scope + "_" + member.name + "_seq";
    if (member.type->kind == TypeKind::array) return scope + "_" + member.name;
    return value_type(*member.type);
}

std::string stored_type(const Member& member)
{
    return member.type->element != nullptr ? anonymous_type(member, "")
                                           : storage_type(*member.type).type;
}

std::string member_parameter(const Member& member)
{
    const Type& type = *member.type;
    const std::string name = "_" + member.name + "_";
    if (type.kind == TypeKind::array) return "const _" + member.name + " " + name;
    if (type.kind == TypeKind::sequence) return "const _" + member.name + "_seq& " + name;
    return parameter_type(type, Direction::in) + " " + name;
}

void emit_early_forwards(const Source& source, Text& out)
{
    TypesEmitter(source, out).emit_early(source.unit.declarations);
}

void emit_types(const Source& source, Text& out)
{
    TypesEmitter emitter(source, out);
    emitter.emit(source.unit.declarations);
    emit_value_implementations(source, out);
    emitter.emit_marshals();
    emit_table_declarations(source, out);
    emit_any_operators(source, out);
}

} // namespace kairos::idlc
