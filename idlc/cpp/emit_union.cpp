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

/// One case as its accessors need it.
struct Case {
    const Member& member;
    std::string name;   ///< the C++ identifier of accessors and of the stored member
    std::string number; ///< in the order of the IDL
    std::string label;  ///< the first, as C++ writes it
    std::string stored; ///< "_kairos_members.name"
};

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

class MemberEmitter {
  public:
    MemberEmitter(const Case& one, Text& out) : one_(one), type_(*one.member.type), out_(out) {}

    void emit()
    {
        const Form form = form_of(type_);
        const bool anonymous = type_.element != nullptr;
        const std::string base = anonymous ? anonymous_type(one_.member, "") : value_type(type_);
        const Access types = access_to(type_, base);
        if (form == Form::string) {
            emit_string_modifiers();
        } else {
            const Setter& setter = types.setters.front();
            modifier(setter.given + " _value", setter.taken, is_array(form) ? "set_array" : "set");
        }
        if (is_aggregate(form)) modifier(base + "&& _value", "::std::move(_value)");
        // The mapping gives everybody the slices to write to.
        if (is_array(form))
            return accessor(types.write, " const",
                            "const_cast<" + base + "&>(" + one_.stored + ")");
        accessor(types.read, " const", one_.stored + types.suffix);
        if (!types.write.empty()) accessor(types.write, "", one_.stored);
    }

  private:
    /// "{ …set(*this, 2, _kairos_members.name, 7, VALUE); }" behind the head of a modifier.
    void modifier(const std::string& parameter, const std::string& value,
                  std::string_view function = "set")
    {
        out_.line("void ", one_.name, "(", parameter, ") { ", access, function, "(*this, ",
                  one_.number, ", ", one_.stored, ", ", label(), ", ", value, "); }");
    }
    void accessor(const std::string& result, std::string_view qualifier, const std::string& value)
    {
        out_.open(result, " ", one_.name, "()", qualifier, "\n    {");
        out_.line(access, "require(*this, ", one_.number, ");");
        out_.line("return ", value, ";");
        out_.close();
    }
    [[nodiscard]] std::string label() const { return "_kairos_discriminator{" + one_.label + "}"; }

    void emit_string_modifiers()
    {
        const bool wide = is_wide(type_);
        const std::string pointer = value_type(resolved(type_));
        modifier(pointer + " _value", "_value");
        out_.put({'N', one_.name, 'P', pointer, 'S', string_class(type_), 'M', wide ? "W" : "", 'D',
                  wide ? "::CORBA::wstring_dup" : "::CORBA::string_dup"},
                 R"(
void $N(const $P _value) { $N($D(_value)); }
void $N(const $S_var& _value) { $N($D(_value.in())); }
void $N(const ::kairos::mapping::$MStringMember& _value) { $N($D(_value.in())); }
template <typename _Elements>
void $N(const ::kairos::mapping::PointerElement<_Elements>& _value) { $N($D(_value.in())); }
)");
    }

    const Case& one_;
    const Type& type_;
    Text& out_;
};

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
    out.line("default:");
    out.line("    return ", otherwise, ";");
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
        const UnionCase& one = type.cases[i];
        const std::string name = identifier(one.member.name);
        MemberEmitter(
            {one.member, name, std::to_string(i), label_of(type, one), "_kairos_members." + name},
            out)
            .emit();
        out.blank();
    }
    emit_selection(type, out);
    out.blank();
    out.label("private:");
    out.line("friend struct ::kairos::mapping::UnionAccess;");
    emit_storage(type, out);
}

} // namespace kairos::idlc
