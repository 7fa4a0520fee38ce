// SPDX-License-Identifier: Apache-2.0
//
// Union classes of the C++ mapping (1.3, 1.12): the class with its accessors and modifiers. What
// all unions do alike is in kairos/mapping/union.h; a generated class says which label selects
// which member and how each is reached.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

constexpr std::string_view access = "::kairos::mapping::UnionAccess::";

/// The discriminator's value that goes with a case: its first label; for a mere `default` one that
/// no other case has.
std::string label_of(const Union& type, const UnionCase& one)
{
    for (const CaseLabel& label : one.labels)
        if (!label.is_default) return literal(label.value, *type.discriminator);
    const auto unlabelled = unlabelled_discriminator(type);
    return unlabelled ? literal(*unlabelled, *type.discriminator) : "{}";
}

bool is_default(const UnionCase& one)
{
    return std::ranges::any_of(one.labels, &CaseLabel::is_default);
}

// --- Accessors and modifiers -------------------------------------------------------------------

/// `number` counts the cases in the order of the IDL.
void emit_member(const Union& united, const UnionCase& one, const std::string& number, Text& out)
{
    const Type& type = *one.member.type;
    const Form form = form_of(type);
    const std::string name = identifier(one.member.name);
    const std::string stored = "_kairos_members." + name;
    const std::string label = label_of(united, one);
    const std::string base = anonymous_type(one.member, "");
    const Access types = access_to(type, base);
    const auto modifier = [&](std::string_view given, std::string_view value,
                              std::string_view function = "set") {
        out.put({'N', name, 'G', given, 'A', access, 'F', function, 'I', number, 'S', stored, 'L',
                 label, 'V', value},
                "void $N($G _value) { $A$F(*this, $I, $S, _kairos_discriminator{$L}, $V); }");
    };
    const auto accessor = [&](std::string_view result, std::string_view qualifier,
                              std::string_view value) {
        out.open(result, " ", name, "()", qualifier, "\n    {");
        out.put({'A', access, 'I', number, 'V', value}, "$Arequire(*this, $I);\nreturn $V;\n}");
    };
    const Setter& setter = types.setters.front();
    modifier(setter.given, setter.taken, is_array(form) ? "set_array" : "set");
    if (form == Form::string)
        out.put({'N', name, 'P', setter.given, 'C', is_wide(type) ? "wchar_t" : "char", 'D',
                 is_wide(type) ? "::CORBA::wstring_dup" : "::CORBA::string_dup"},
                R"(
void $N(const $P _value) { $N($D(_value)); }
void $N(const ::kairos::mapping::HoldsText<$C> auto& _value) { $N($D(_value.in())); }
)");
    if (is_aggregate(form) && form != Form::fixed_struct) // of which moving takes nothing
        modifier(base + "&&", "::std::move(_value)");
    // The mapping gives everybody the slices to write to.
    if (is_array(form))
        return accessor(types.write, " const", "const_cast<" + base + "&>(" + stored + ")");
    accessor(types.read, " const", stored + types.suffix);
    if (!types.write.empty()) accessor(types.write, "", stored);
}

// --- The parts of the class --------------------------------------------------------------------

void emit_special_functions(const Union& type, Text& out)
{
    out.put({'N', identifier(type), 'A', access}, is_variable_length(type)
                                                      ? R"(
$N() noexcept { $Acreate(*this); }
$N(const $N& other) { $Acopy(*this, other); }
$N($N&& other) noexcept { $Atake(*this, other); }
~$N() { $Adestroy(*this); }
$N& operator=(const $N& other) { return $Aassign(*this, other); }
$N& operator=($N&& other) noexcept { return $Aassign(*this, ::std::move(other)); }

)"
                                                      : "$N() noexcept { $Acreate(*this); }\n\n");
}

void emit_discriminator(const Union& type, Text& out)
{
    out.put({'A', access}, R"(
void _d(_kairos_discriminator _value) { $Arelabel(*this, _value); }
_kairos_discriminator _d() const { return _kairos_label; }
)");
    if (const auto label = unlabelled_discriminator(type); label && !type.has_default)
        out.put({'A', access, 'L', literal(*label, *type.discriminator)},
                "void _default() { $Aset_none(*this, _kairos_discriminator{$L}); }");
    out.blank();
}

/// Which label selects which member.
void emit_selection(const Union& type, Text& out)
{
    const bool boolean = resolved(*type.discriminator).kind == TypeKind::boolean;
    std::string otherwise = "-1";
    out.open("static constexpr int _kairos_member(_kairos_discriminator label) noexcept\n    {");
    out.line("switch (", boolean ? "static_cast<int>(label)" : "label", ") {");
    for (std::size_t i = 0; i < type.cases.size(); ++i) {
        if (is_default(type.cases[i])) {
            otherwise = std::to_string(i);
            continue;
        }
        for (const CaseLabel& label : type.cases[i].labels)
            out.line("case ", literal(label.value, *type.discriminator), ":");
        out.line("    return ", std::to_string(i), ";");
    }
    out.put({'O', otherwise}, "default:\n    return $O;");
    out.line("}");
    out.close();
    out.line("template <typename _Union, typename _Visitor>");
    out.open("static void _kairos_visit(_Union& value, const _Visitor& visitor)\n    {");
    out.line("switch (_kairos_member(value._kairos_label)) {");
    for (std::size_t i = 0; i < type.cases.size(); ++i) {
        out.line("case ", std::to_string(i), ":");
        out.line("    return visitor(value._kairos_members.", identifier(type.cases[i].member.name),
                 ");");
    }
    out.put("default:\n    return;");
    out.line("}");
    out.close();
}

void emit_storage(const Union& type, Text& out)
{
    // No member at first if that is possible, else the first one.
    const auto unlabelled = unlabelled_discriminator(type);
    const std::string initial = unlabelled && !type.has_default
                                    ? literal(*unlabelled, *type.discriminator)
                                    : label_of(type, type.cases.front());
    out.put("union _Members {\n    _Members() noexcept {}");
    if (is_variable_length(type))
        out.put(R"(
_Members(const _Members&) = delete;
_Members& operator=(const _Members&) = delete;
~_Members() {}
)");
    for (const UnionCase& one : type.cases)
        out.line(stored_type(one.member), " ", identifier(one.member.name), ";");
    out.close("} _kairos_members;");
    out.line("_kairos_discriminator _kairos_label{", initial, "};");
}

} // namespace

void emit_union_body(const Union& type, Text& out)
{
    out.line("typedef ", value_type(*type.discriminator), " _kairos_discriminator;");
    for (const UnionCase& one : type.cases)
        emit_anonymous_types(one.member, out);
    out.blank();
    emit_special_functions(type, out);
    emit_discriminator(type, out);
    for (std::size_t i = 0; i < type.cases.size(); ++i) {
        emit_member(type, type.cases[i], std::to_string(i), out);
        out.blank();
    }
    emit_selection(type, out);
    out.put("\n\nprivate:\nfriend struct ::kairos::mapping::UnionAccess;\n");
    emit_storage(type, out);
}

} // namespace kairos::idlc
