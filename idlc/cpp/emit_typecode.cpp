// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes as constant data: for every declared type an object, _kairos_tc_X, that constant
// initialisers of any file may refer to, and the user's pointer to it, _tc_X. Types without a name
// get objects that only their file sees, one for each distinct type.
#include "idlc/cpp/emitters.h"
#include "idlc/scan.h"

#include <algorithm>
#include <map>
#include <ranges>

namespace kairos::idlc {
namespace {

/// The namespace in which the source file keeps what has no name of its own: "_kairos_types_demo".
/// Files of a library have different ones, for a program may compile several at a time.
std::string file_scope(const Source& source)
{
    std::string name = "_kairos_types_" + source.outputs.name("");
    std::ranges::replace_if(
        name, [](char c) { return !pp::is_letter(c) && !pp::is_digit(c); }, '_');
    return name;
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
    return declares_type(declaration) || as<Exception>(&declaration);
}

/// Whether the declaration has an object in the file that declares it.
bool is_defined(const Declaration& declaration)
{
    if (const auto* interface = as<Interface>(&declaration)) return interface->defined;
    if (const auto* value = as<ValueType>(&declaration)) return value->defined;
    if (const auto* native = as<Native>(&declaration)) return !native->built_in;
    return true;
}

/// A label as TypeCodes hold it: unsigned long long ones beyond the signed range wrap around.
std::string label_number(const Value& value)
{
    const std::int64_t code = label_code(value).value_or(0); // 0: of default
    return code == INT64_MIN ? "INT64_MIN" : std::to_string(code);
}

class TypeCodeEmitter {
  public:
    TypeCodeEmitter(const Source& source, Text& out)
        : source_(source), file_scope_(file_scope(source)), out_(out)
    {
    }

    void emit()
    {
        emit(source_.unit.declarations);
        if (definitions_.text().empty()) return;
        if (!file_.text().empty()) {
            out_.line("namespace {");
            out_.line("namespace ", file_scope_, " {");
            out_.blank();
            out_.append(file_);
            out_.blank();
            out_.line("} // namespace ", file_scope_);
            out_.line("} // namespace");
            out_.blank();
        }
        out_.append(definitions_);
    }

  private:
    void emit(const Declarations& declarations)
    {
        for (const Declaration* declaration : declarations) {
            const bool is_module = as<Module>(declaration) != nullptr;
            const bool wanted = declaration->generated && has_type_code(*declaration);
            if (is_module || wanted) emit(within(*declaration));
            if (wanted) define(*declaration);
        }
    }
    void define(const Declaration& declaration)
    {
        definitions_.put({'T', scoped(declaration, "_kairos_tc_"), 'I', initialiser(declaration),
                          'P', scoped(declaration, "_tc_")},
                         R"(
constinit const ::CORBA::TypeCode $T{::kairos::types::$I};
constinit const ::CORBA::TypeCode_ptr $P = ::kairos::types::pointer(::$T);
)");
    }

    using Texts = std::vector<std::string>;

    std::string initialiser(const Declaration& declaration)
    {
        std::string text;
        visit(declaration, [&](const auto& own) { text = initialiser_of(own); });
        return text;
    }
    std::string initialiser_of(const Declaration& native) { return named("native", native); }
    std::string initialiser_of(const Struct& composite)
    {
        return with_members("struct", composite, each_member(composite.members));
    }
    std::string initialiser_of(const Exception& exception)
    {
        return with_members("except", exception, each_member(exception.members));
    }
    std::string initialiser_of(const Enum& enumeration)
    {
        return with_members("enum", enumeration, each_member(enumeration.enumerators));
    }
    std::string initialiser_of(const Alias& alias) { return with_content("alias_type", alias); }
    std::string initialiser_of(const ValueBox& box) { return with_content("box_type", box); }
    std::string initialiser_of(const Interface& interface)
    {
        if (interface.is_abstract) return named("abstract_interface", interface);
        return named(interface.is_local ? "local_interface" : "objref", interface);
    }

    /// A member for each label: several labels of one case are as many members of the same name.
    std::string initialiser_of(const Union& composite)
    {
        Texts members;
        Texts labels;
        std::string default_index = "-1";
        for (const UnionCase& each : composite.cases)
            for (const CaseLabel& label : each.labels) {
                if (label.is_default) default_index = std::to_string(members.size());
                members.push_back(member(each.member));
                labels.push_back(label_number(label.value));
            }
        const std::string label_array = array("std::int64_t", "labels", labels);
        const std::string member_array = array(member_type, "members", members);
        return call("union_type", {id_and_name(composite), object(*composite.discriminator),
                                   member_array, label_array, default_index});
    }

    std::string initialiser_of(const ValueType& value)
    {
        const ValueType* base = concrete_base(value);
        const char* const modifier = value.is_custom        ? "::CORBA::VM_CUSTOM"
                                     : value.is_abstract    ? "::CORBA::VM_ABSTRACT"
                                     : value.is_truncatable ? "::CORBA::VM_TRUNCATABLE"
                                                            : "::CORBA::VM_NONE";
        Texts arguments{kind_constant("value"), id_and_name(value), modifier,
                        base != nullptr ? "&" + object(*base) : "nullptr"};
        Texts members;
        Texts visibilities;
        for (const StateMember& each : value.members) {
            members.push_back(member(each.member));
            visibilities.emplace_back(each.is_public ? "::CORBA::PUBLIC_MEMBER"
                                                     : "::CORBA::PRIVATE_MEMBER");
        }
        if (!members.empty()) {
            const std::string seen = array("std::int64_t", "visibilities", visibilities);
            arguments.insert(arguments.end(), {array(member_type, "members", members), seen});
        }
        return call("value_type", arguments);
    }

    static std::string call(std::string_view function, const Texts& arguments)
    {
        return std::string(function) + "(" + listed(arguments) + ")";
    }
    static std::string named(std::string_view kind, const Declaration& declaration)
    {
        return call("named_type", {kind_constant(kind), id_and_name(declaration)});
    }
    std::string with_content(std::string_view function, const auto& declaration)
    {
        return call(function, {id_and_name(declaration), object(*declaration.type)});
    }
    std::string with_members(std::string_view kind, const Declaration& declaration,
                             const Texts& elements)
    {
        if (elements.empty()) return named(kind, declaration);
        return call("struct_type", {kind_constant(kind), id_and_name(declaration),
                                    array(member_type, "members", elements)});
    }
    std::string member(const Member& member)
    {
        return "{" + string_literal(member.name) + ", &" + object(*member.type) + "}";
    }
    static std::string member(const Enumerator* enumerator)
    {
        return "{" + string_literal(enumerator->name) + "}";
    }
    Texts each_member(const auto& members)
    {
        Texts elements;
        for (const auto& each : members)
            elements.push_back(member(each));
        return elements;
    }

    /// The object that describes the type: an lvalue.
    std::string object(const Type& type)
    {
        switch (type.kind) {
        case TypeKind::declared:
            return object(*type.declaration);
        case TypeKind::string:
        case TypeKind::wstring:
            if (type.bound == 0) break;
            return unnamed(call("text_type", {kind_constant(basic_type(type.kind).type_code),
                                              std::to_string(type.bound)}));
        case TypeKind::fixed:
            return unnamed(
                call("fixed_type", {std::to_string(type.digits), std::to_string(type.scale)}));
        case TypeKind::sequence:
            return unnamed(
                call("sequence_type", {object(*type.element), std::to_string(type.bound)}));
        case TypeKind::array: {
            std::string element = object(*type.element);
            for (const std::uint64_t length : std::views::reverse(type.dimensions))
                element = unnamed(call("array_type", {element, std::to_string(length)}));
            return element;
        }
        default:
            break;
        }
        return "::CORBA::_kairos_tc_" + std::string(basic_type(type.kind).type_code);
    }
    std::string object(const Declaration& declaration)
    {
        if (is_defined(declaration)) return "::" + scoped(declaration, "_kairos_tc_");
        return unnamed(initialiser(declaration));
    }
    /// That of a type without a name, by what initialises it.
    std::string unnamed(const std::string& initialiser)
    {
        const auto [known, is_new] = unnamed_.try_emplace(initialiser);
        if (is_new) {
            const std::string name = "type_" + std::to_string(unnamed_.size());
            file_.line("constinit const ::CORBA::TypeCode ", name,
                       "{::kairos::types::", initialiser, "};");
            known->second = file_scope_ + "::" + name;
        }
        return known->second;
    }
    /// An array of the file's own; returns its name.
    std::string array(std::string_view type, std::string_view name, const Texts& elements)
    {
        const std::string own = std::string(name) + "_" + std::to_string(++arrays_);
        file_.open("constexpr ", type, " ", own, "[] = {");
        for (const std::string& element : elements)
            file_.line(element, ",");
        file_.close("};");
        return file_scope_ + "::" + own;
    }

    static constexpr std::string_view member_type = "::kairos::types::TypeCodeMember";

    const Source& source_;
    const std::string file_scope_;
    Text& out_;
    Text file_; // what goes into the file's scope
    Text definitions_;
    std::map<std::string, std::string> unnamed_;
    std::size_t arrays_ = 0;
};

} // namespace

void emit_type_code_declaration(const Source& source, const Declaration& declaration, Text& out)
{
    if (!source.options.any || !has_type_code(declaration)) return;
    const std::string head =
        (in_class(declaration) ? "static " : "extern ") + exported(source) + "const ::CORBA::";
    out.line(head, "TypeCode _kairos_tc_", declaration.name, ";");
    out.line(head, "TypeCode_ptr _tc_", declaration.name, ";");
    out.blank();
}

void emit_type_codes(const Source& source, Text& out)
{
    if (source.options.any) TypeCodeEmitter(source, out).emit();
}

} // namespace kairos::idlc
