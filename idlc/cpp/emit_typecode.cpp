// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes as constant data: for every declared type an object, _kairos_tc_X, that constant
// initialisers of any file may refer to, and the user's pointer to it, _tc_X. Types without a name
// get objects that only their file sees, one for each distinct type.
#include "idlc/cpp/emitters.h"

#include <map>

namespace kairos::idlc {
namespace {

/// Where the source file keeps what has no name of its own.
constexpr std::string_view file_scope = "_kairos_types";

std::string_view interface_kind(const Interface& interface)
{
    if (interface.is_abstract) return "abstract_interface";
    return interface.is_local ? "local_interface" : "objref";
}

/// "tk_struct": what the kind is in CORBA.
std::string kind_constant(std::string_view kind) { return "::CORBA::tk_" + std::string(kind); }

std::string id_and_name(const Declaration& declaration)
{
    return string_literal(declaration.repository_id) + ", " + string_literal(declaration.name);
}

/// "Demo::_tc_X", as a definition names it.
std::string scoped(const Declaration& declaration, std::string_view prefix)
{
    std::string name = std::string(prefix) + declaration.name;
    return declaration.parent == nullptr ? name : defined_name(*declaration.parent) + "::" + name;
}

bool has_type_code(const Declaration& declaration)
{
    return as<Interface>(&declaration) || as<ValueType>(&declaration) ||
           as<ValueBox>(&declaration) || as<Struct>(&declaration) || as<Union>(&declaration) ||
           as<Enum>(&declaration) || as<Alias>(&declaration) || as<Exception>(&declaration) ||
           as<Native>(&declaration);
}

/// Whether the declaration has an object in the file that declares it.
bool is_defined(const Declaration& declaration)
{
    if (const auto* interface = as<Interface>(&declaration)) return interface->defined;
    if (const auto* value = as<ValueType>(&declaration)) return value->defined;
    if (const auto* native = as<Native>(&declaration)) return !native->built_in;
    return true;
}

std::string number(std::int64_t value)
{
    if (value == INT64_MIN) return "INT64_MIN";
    return std::to_string(value);
}

/// A label as TypeCodes hold it: unsigned long long ones beyond the signed range wrap around.
std::string label_number(const Value& value)
{
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "1" : "0";
    if (const auto* character = std::get_if<char>(&value))
        return number(static_cast<unsigned char>(*character));
    if (const auto* wide = std::get_if<char32_t>(&value)) return number(*wide);
    if (const auto* signed_value = std::get_if<std::int64_t>(&value)) return number(*signed_value);
    if (const auto* unsigned_value = std::get_if<std::uint64_t>(&value))
        return number(static_cast<std::int64_t>(*unsigned_value));
    if (const auto* const* enumerator = std::get_if<const Enumerator*>(&value))
        return number((*enumerator)->ordinal);
    return "0"; // default
}

class TypeCodeEmitter {
  public:
    TypeCodeEmitter(const Source& source, Text& out) : source_(source), out_(out) {}
    void emit();

  private:
    void emit(const Declarations& declarations);
    void define(const Declaration& declaration);
    [[nodiscard]] std::string initialiser(const Declaration& declaration);
    [[nodiscard]] std::string struct_initialiser(std::string_view kind,
                                                 const Declaration& declaration,
                                                 const std::vector<Member>& members);
    [[nodiscard]] std::string enum_initialiser(const Enum& enumeration);
    [[nodiscard]] std::string union_initialiser(const Union& composite);
    [[nodiscard]] std::string value_initialiser(const ValueType& value);
    [[nodiscard]] std::string named(std::string_view kind, const Declaration& declaration) const;

    /// The object that describes the type: an lvalue.
    [[nodiscard]] std::string object(const Type& type);
    [[nodiscard]] std::string object(const Declaration& declaration);
    /// That of a type without a name, by what initialises it.
    [[nodiscard]] std::string unnamed(const std::string& initialiser);
    [[nodiscard]] std::string member(const Member& member)
    {
        return "{" + string_literal(member.name) + ", &" + object(*member.type) + "}";
    }
    /// An array of the file's own; returns its name.
    [[nodiscard]] std::string array(std::string_view type, std::string_view name,
                                    const std::vector<std::string>& elements);

    const Source& source_;
    Text& out_;
    Text file_; // what goes into file_scope
    Text definitions_;
    std::map<std::string, std::string> unnamed_;
    std::size_t arrays_ = 0;
};

void TypeCodeEmitter::emit()
{
    emit(source_.unit.declarations);
    if (definitions_.text().empty()) return;
    if (!file_.text().empty()) {
        out_.line("namespace {");
        out_.line("namespace ", file_scope, " {");
        out_.blank();
        out_.append(file_);
        out_.blank();
        out_.line("} // namespace ", file_scope);
        out_.line("} // namespace");
        out_.blank();
    }
    out_.append(definitions_);
}

void TypeCodeEmitter::emit(const Declarations& declarations)
{
    for (const Declaration* declaration : declarations) {
        if (const auto* module = as<Module>(declaration)) {
            emit(module->declarations);
            continue;
        }
        if (!declaration->generated || !has_type_code(*declaration)) continue;
        emit(within(*declaration));
        define(*declaration);
    }
}

void TypeCodeEmitter::define(const Declaration& declaration)
{
    const std::string name = scoped(declaration, "_kairos_tc_");
    definitions_.line("constinit const ::CORBA::TypeCode ", name,
                      "{::kairos::types::", initialiser(declaration), "};");
    definitions_.line("constinit const ::CORBA::TypeCode_ptr ", scoped(declaration, "_tc_"),
                      " = ::kairos::types::pointer(::", name, ");");
}

std::string TypeCodeEmitter::initialiser(const Declaration& declaration)
{
    const auto with_content = [&](std::string_view function, const Type& type) {
        return std::string(function) + "(" + id_and_name(declaration) + ", " + object(type) + ")";
    };
    if (const auto* composite = as<Struct>(&declaration))
        return struct_initialiser("struct", declaration, composite->members);
    if (const auto* exception = as<Exception>(&declaration))
        return struct_initialiser("except", declaration, exception->members);
    if (const auto* enumeration = as<Enum>(&declaration)) return enum_initialiser(*enumeration);
    if (const auto* composite = as<Union>(&declaration)) return union_initialiser(*composite);
    if (const auto* alias = as<Alias>(&declaration))
        return with_content("alias_type", *alias->type);
    if (const auto* box = as<ValueBox>(&declaration)) return with_content("box_type", *box->type);
    if (const auto* value = as<ValueType>(&declaration)) return value_initialiser(*value);
    if (const auto* interface = as<Interface>(&declaration))
        return named(interface_kind(*interface), declaration);
    return named("native", declaration);
}

std::string TypeCodeEmitter::named(std::string_view kind, const Declaration& declaration) const
{
    return "named_type(" + kind_constant(kind) + ", " + id_and_name(declaration) + ")";
}

std::string TypeCodeEmitter::struct_initialiser(std::string_view kind,
                                                const Declaration& declaration,
                                                const std::vector<Member>& members)
{
    if (members.empty()) return named(kind, declaration);
    std::vector<std::string> elements;
    elements.reserve(members.size());
    for (const Member& each : members)
        elements.push_back(member(each));
    return "struct_type(" + kind_constant(kind) + ", " + id_and_name(declaration) + ", " +
           array("::kairos::types::TypeCodeMember", "members", elements) + ")";
}

std::string TypeCodeEmitter::enum_initialiser(const Enum& enumeration)
{
    std::vector<std::string> elements;
    elements.reserve(enumeration.enumerators.size());
    for (const Enumerator* enumerator : enumeration.enumerators)
        elements.push_back("{" + string_literal(enumerator->name) + "}");
    return "struct_type(" + kind_constant("enum") + ", " + id_and_name(enumeration) + ", " +
           array("::kairos::types::TypeCodeMember", "members", elements) + ")";
}

/// A member for each label: several labels of one case are as many members of the same name.
std::string TypeCodeEmitter::union_initialiser(const Union& composite)
{
    std::vector<std::string> members;
    std::vector<std::string> labels;
    std::string default_index = "-1";
    for (const UnionCase& each : composite.cases)
        for (const CaseLabel& label : each.labels) {
            if (label.is_default) default_index = std::to_string(members.size());
            members.push_back(member(each.member));
            labels.push_back(label_number(label.value));
        }
    return "union_type(" + id_and_name(composite) + ", " + object(*composite.discriminator) + ", " +
           array("::kairos::types::TypeCodeMember", "members", members) + ", " +
           array("std::int64_t", "labels", labels) + ", " + default_index + ")";
}

std::string TypeCodeEmitter::value_initialiser(const ValueType& value)
{
    const bool has_base = !value.bases.empty() && !value.bases.front()->is_abstract;
    const char* const modifier = value.is_custom        ? "CUSTOM"
                                 : value.is_abstract    ? "ABSTRACT"
                                 : value.is_truncatable ? "TRUNCATABLE"
                                                        : "NONE";
    std::string text = "value_type(" + kind_constant("value") + ", " + id_and_name(value) +
                       ", ::CORBA::VM_" + modifier + ", " +
                       (has_base ? "&" + object(*value.bases.front()) : "nullptr");
    if (value.members.empty()) return text + ")";
    std::vector<std::string> members;
    std::vector<std::string> visibilities;
    for (const StateMember& each : value.members) {
        members.push_back(member(each.member));
        visibilities.emplace_back(each.is_public ? "::CORBA::PUBLIC_MEMBER"
                                                 : "::CORBA::PRIVATE_MEMBER");
    }
    return text + ", " + array("::kairos::types::TypeCodeMember", "members", members) + ", " +
           array("std::int64_t", "visibilities", visibilities) + ")";
}

std::string TypeCodeEmitter::object(const Type& type)
{
    switch (type.kind) {
    case TypeKind::declared:
        return object(*type.declaration);
    case TypeKind::string:
    case TypeKind::wstring:
        if (type.bound == 0) break;
        return unnamed("text_type(" + kind_constant(basic_type(type.kind).type_code) + ", " +
                       std::to_string(type.bound) + ")");
    case TypeKind::fixed:
        return unnamed("fixed_type(" + std::to_string(type.digits) + ", " +
                       std::to_string(type.scale) + ")");
    case TypeKind::sequence:
        return unnamed("sequence_type(" + object(*type.element) + ", " +
                       std::to_string(type.bound) + ")");
    case TypeKind::array: {
        std::string element = object(*type.element);
        for (auto length = type.dimensions.rbegin(); length != type.dimensions.rend(); ++length)
            element = unnamed(std::string("array_type(")
                                  .append(element)
                                  .append(", ")
                                  .append(std::to_string(*length)) +
                              ")");
        return element;
    }
    default:
        break;
    }
    return "::CORBA::_kairos_tc_" + std::string(basic_type(type.kind).type_code);
}

std::string TypeCodeEmitter::object(const Declaration& declaration)
{
    if (is_defined(declaration)) return "::" + scoped(declaration, "_kairos_tc_");
    return unnamed(initialiser(declaration));
}

std::string TypeCodeEmitter::unnamed(const std::string& initialiser)
{
    const auto [known, is_new] = unnamed_.try_emplace(initialiser);
    if (is_new) {
        const std::string name = "type_" + std::to_string(unnamed_.size());
        file_.line("constinit const ::CORBA::TypeCode ", name, "{::kairos::types::", initialiser,
                   "};");
        known->second = std::string(file_scope) + "::" + name;
    }
    return known->second;
}

std::string TypeCodeEmitter::array(std::string_view type, std::string_view name,
                                   const std::vector<std::string>& elements)
{
    const std::string own = std::string(name) + "_" + std::to_string(++arrays_);
    file_.open("constexpr ", type, " ", own, "[] = {");
    for (const std::string& element : elements)
        file_.line(element, ",");
    file_.close("};");
    return std::string(file_scope) + "::" + own;
}

} // namespace

void emit_type_code_declaration(const Source& source, const Declaration& declaration, Text& out)
{
    if (!source.options.any || !has_type_code(declaration)) return;
    const bool in_class =
        declaration.parent != nullptr && as<Module>(declaration.parent) == nullptr;
    const std::string head =
        (in_class ? "static " : "extern ") + exported(source) + "const ::CORBA::";
    out.line(head, "TypeCode _kairos_tc_", declaration.name, ";");
    out.line(head, "TypeCode_ptr _tc_", declaration.name, ";");
    out.blank();
}

void emit_type_codes(const Source& source, Text& out)
{
    if (source.options.any) TypeCodeEmitter(source, out).emit();
}

} // namespace kairos::idlc
