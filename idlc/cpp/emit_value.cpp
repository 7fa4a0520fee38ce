// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes of the C++ mapping (1.3, 1.17): the abstract class with accessors for the state, OBV_
// classes that hold it, factories, and the functions that write and read it. What all valuetypes do
// alike is in kairos/values.
#include "idlc/cpp/asynchronous_emitters.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

// --- The class ---------------------------------------------------------------------------------

std::string bases_of(const ValueType& value)
{
    std::vector<std::string> bases;
    bases.reserve(value.bases.size());
    for (const ValueType* base : value.bases)
        bases.push_back(qualified(*base));
    for (const Interface* interface : abstract_supports(value))
        bases.push_back(qualified(*interface));
    if (value.is_custom) bases.emplace_back("::CORBA::CustomMarshal");
    if (value.bases.empty()) bases.emplace_back("::CORBA::ValueBase");
    return listed(bases, [](const std::string& base) { return "public virtual " + base; });
}

void emit_accessors_of(const ValueType& value, bool is_public, Text& out)
{
    for (const StateMember& member : value.members) {
        if (member.is_public != is_public) continue;
        emit_anonymous_types(member.member, out);
        emit_accessors(member.member, {}, out);
    }
}

/// A value's state lies in its OBV_ class; but what a member is called, the class says.
void emit_marshal_declarations(const ValueType& value, Text& out)
{
    out.put(R"(
const ::kairos::values::Type& _kairos_type() const override;
void _kairos_encode(::kairos::cdr::Writer& out) const override;
void _kairos_decode(::kairos::cdr::Reader& in) override;
void _kairos_clear() override;
)");
    if (supports_abstract(value))
        out.line("::CORBA::ValueBase* _kairos_value() override { return this; }");
}

} // namespace

void emit_accessors(const Member& member, const Accessors& how, Text& out)
{
    const Type& type = *member.type;
    const std::string name = identifier(member.name);
    const std::string base = anonymous_type(member, how.scope);
    const Access access = access_to(type, base);
    const auto emit = [&](std::string_view result, std::string_view parameter,
                          std::string_view qualifier, std::string_view body) {
        out.put(
            {'R', result, 'N', name, 'A', parameter, 'Q', qualifier, 'O', how.specifier, 'B', body},
            how.stored.empty() ? "virtual $R $N($A)$Q = 0;" : "$R $N($A)$Q$O { $B; }");
    };
    for (const Setter& each : access.setters)
        emit("void", each.given + " _value", "", assignment(type, base, how.stored, each.taken));
    emit(access.read, "", " const", "return " + how.stored + access.suffix);
    if (!access.write.empty()) emit(access.write, "", "", "return " + how.stored);
    // Not virtual: for members and elements, whose conversions would else be ambiguous.
    if (form_of(type) == Form::string)
        out.put({'N', name, 'C', is_wide(type) ? "wchar_t" : "char"},
                "void $N(const ::kairos::mapping::HoldsText<$C> auto& _value) "
                "{ $N(_value.in()); }");
}

std::string assignment(const Type& type, const std::string& base, const std::string& stored,
                       const std::string& value)
{
    return is_array(form_of(type))
               ? "::kairos::mapping::array_copy<" + base + ">(" + stored + ", " + value + ")"
               : stored + " = " + value;
}

Access access_to(const Type& type, const std::string& base)
{
    const Passing& row = passing(type);
    const Words words{.type = type, .name = "_value", .base = base};
    const std::string change = fill(row.change, words);
    const std::string given = fill(row.in, words);
    std::vector<Setter> setters{{given, fill(row.duplicate, words)}};
    if (form_of(type) == Form::string) { // one that is taken over, and one that is copied
        setters.insert(setters.begin(), {fill("$R", words), "_value"});
        setters.push_back({fill("const $S_var&", words), "_value.in()"});
    }
    return {.setters = setters,
            .read = is_array(form_of(type)) ? "const " + change : given,
            .write = change,
            .suffix = row.kept == Kept::shared ? ".in()" : ""};
}

void emit_value_class(const Source& source, const ValueType& value, const EmitNested& nested,
                      Text& out)
{
    if (emit_response_holder(source, value, out)) return;
    const std::string name = identifier(value);
    out.put({'E', exported(source), 'N', name, 'B', bases_of(value), 'I',
             string_literal(value.repository_id)},
            R"(
class $E$N : $B {
  public:
    typedef $N* _ptr_type;
    typedef $N_var _var_type;
    static constexpr const char* _kairos_id = $I;
    static const ::kairos::values::Type _kairos_value_type;
    static $N* _downcast(::CORBA::ValueBase* value);
    static const $N* _downcast(const ::CORBA::ValueBase* value);
)");
    if (!value.is_abstract) out.line("::CORBA::ValueBase* _copy_value() override;");
    out.blank();
    nested(value.declarations);
    for (const Interface* interface : newly_supported(value))
        for (const Call& call : calls_in(source, interface->declarations))
            declare(call, "virtual ", " = 0", out);
    out.blank();
    emit_accessors_of(value, true, out);
    out.blank();
    if (!value.is_abstract) emit_marshal_declarations(value, out);
    out.blank();
    out.label("protected:");
    emit_accessors_of(value, false, out);
    out.put({'N', name}, R"(
$N() = default;
$N(const $N&) = default;
~$N() override = default;
};

)");
}

namespace {

/// Of a value that needs no implementation: its factory makes OBV_ objects by itself.
bool is_made_automatically(const ValueType& value)
{
    return !value.is_abstract && !needs_implementation(value) && value.factories.empty();
}

bool has_factory(const ValueType& value)
{
    return is_made_automatically(value) || (!value.is_abstract && !value.factories.empty());
}

} // namespace

void emit_value_factory(const Source& source, const ValueType& value, Text& out)
{
    if (!has_factory(value)) return;
    const std::string name = identifier(value);
    const std::string id = string_literal(value.repository_id);
    out.put(
        {'E', exported(source), 'N', name, 'T',
         source.options.tao ? "static const char* tao_repository_id() { return " + id + "; }" : ""},
        R"(
class $E$N_init : public ::CORBA::ValueFactoryBase {
  public:
    static $N_init* _downcast(::CORBA::ValueFactory factory);
    $T
)");
    for (const Factory& factory : value.factories) {
        const std::string parameters = listed(factory.parameters, [](const Parameter& each) {
            return parameter_type(*each.type, Direction::in) + " _" + each.name;
        });
        out.line("virtual ", name, "* ", identifier(factory.name), "(", parameters, ") = 0;");
    }
    out.put({'N', name}, is_made_automatically(value) ? R"(

$N_init() = default;
~$N_init() override = default;

private:
::CORBA::ValueBase* create_for_unmarshal() override;
};

)"
                                                      : R"(

protected:
$N_init() = default;
~$N_init() override = default;
};

)");
}

// --- OBV_ classes ------------------------------------------------------------------------------

namespace {

std::string obv_name(const ValueType& value) { return "::" + prefixed_name("OBV_", value); }

std::string stored_name(const Member& member) { return "_kairos_" + member.name; }

/// One that sets nothing, and one that sets all members, those of the bases first, as `in`
/// parameters are given.
void emit_obv_constructors(const ValueType& value, const std::string& name, Text& out)
{
    out.line(name, "() = default;");
    const std::vector<const StateMember*> members = all_members(value);
    if (members.empty()) return;
    const std::string parameters =
        listed(members, [](const StateMember* member) { return member_parameter(member->member); });
    // Bases are virtual: whoever derives from this class constructs them. So all is assigned here.
    out.open(name, "(", parameters, ")\n    {");
    for (const StateMember* member : members)
        out.line("this->", identifier(member->member.name), "(_", member->member.name, "_);");
    out.close();
}

void emit_obv_accessors(const ValueType& value, bool is_public, Text& out)
{
    for (const StateMember& member : value.members) {
        if (member.is_public != is_public) continue;
        if (form_of(*member.member.type) == Form::string)
            out.line("using ", qualified(value), "::", identifier(member.member.name), ";");
        emit_accessors(member.member,
                       {.stored = stored_name(member.member), .specifier = " override"}, out);
    }
}

void emit_obv_class(const Source& source, const ValueType& value, Text& out)
{
    const std::string name = prefixed_identifier("OBV_", value);
    const std::string type = qualified(value);
    const ValueType* base = concrete_base(value);
    const bool complete = !needs_implementation(value);
    std::string bases = "public virtual " + type;
    if (base != nullptr) bases += ", public virtual " + obv_name(*base);
    if (complete) bases += ", public virtual ::CORBA::DefaultValueRefCountBase";
    out.open("class ", exported(source), name, " : ", bases, " {");
    if (complete) {
        out.label("public:");
        emit_obv_constructors(value, name, out);
        out.blank();
    }
    out.label("public:");
    emit_obv_accessors(value, true, out);
    out.blank();
    out.label("protected:");
    emit_obv_accessors(value, false, out);
    if (!complete) emit_obv_constructors(value, name, out);
    out.put({'N', name}, "$N(const $N&) = default;\n~$N() override = default;\n\nprivate:\n");
    for (const StateMember& member : value.members)
        out.line(stored_type(member.member), " ", stored_name(member.member), "{};");
    out.put("};\n\n");
}

// --- Functions ---------------------------------------------------------------------------------

void emit_encode_member(const Member& member, Text& out)
{
    out.line(
        fill(passing(*member.type).encode, {*member.type, "this->" + identifier(member.name) + "()",
                                            "out", anonymous_type(member, "")}));
}

void emit_decode_member(const Member& member, Text& out)
{
    const Type& type = *member.type;
    const Form form = form_of(type);
    const Passing& row = passing(form);
    const std::string name = "this->" + identifier(member.name);
    if (form != Form::basic && row.kept != Kept::shared)
        return out.line(fill(row.decode, {type, name + "()", "in", anonymous_type(member, "")}));
    const std::string local = "_" + member.name + "_";
    std::string receive = fill(row.receive, {type, local, "in"});
    if (has_traits(form)) { // by its own name, which a _var need not go with
        const std::string owner =
            form == Form::object ? "::kairos::mapping::ObjectVar<$R>" : std::string(row.storage);
        receive = "const " + fill(owner, {type}) + receive.substr(receive.find(' '));
    }
    out.lines(receive);
    const char* const given = has_traits(form) ? ".in()" : form == Form::string ? "._retn()" : "";
    out.line(name, "(", local, given, ");");
}

void emit_clear_member(const Member& member, Text& out)
{
    if (!holds_values(*member.type)) return;
    const Form form = form_of(*member.type);
    const std::string name = "this->" + identifier(member.name);
    if (has_traits(form)) return out.line(name, "(nullptr);");
    out.line(fill(is_array(form) ? "::kairos::values::reset(::kairos::mapping::as_array<$B>($N()));"
                                 : "::kairos::values::reset($N());",
                  {.type = *member.type, .name = name, .base = anonymous_type(member, "")}));
}

using EmitMember = void (*)(const Member&, Text&);

/// One of _kairos_encode, _kairos_decode, _kairos_clear: that of the concrete base first.
void emit_state_function(const Source& source, const ValueType& value, std::string_view function,
                         std::string_view parameter, std::string_view argument,
                         std::string_view qualifier, EmitMember emit, Text& out)
{
    Text body;
    for (const StateMember& member : value.members)
        emit(member.member, body);
    const ValueType* base = concrete_base(value);
    const bool named = base != nullptr || !body.text().empty();
    out.open("void ", defined_name(value), "::_kairos_", function, "(", parameter,
             named || argument.empty() ? "" : " ", named ? argument : "", ")", qualifier, "\n{");
    if (!argument.empty()) emit_type_probe(source, value, function, out);
    if (base != nullptr) out.line(qualified(*base), "::_kairos_", function, "(", argument, ");");
    for (const StateMember& member : value.members)
        emit(member.member, out);
    out.close();
    out.blank();
}

void emit_functions(const Source& source, const ValueType& value, Text& out)
{
    const std::string name = defined_name(value);
    const std::string type = qualified(value);
    const ValueType* base = concrete_base(value);
    const std::string truncated =
        value.is_truncatable && base != nullptr
            ? ".truncated = &" + qualified(*base) + "::_kairos_value_type,"
            : "";
    out.put(
        {'T', type, 'N', name, 'B', truncated, 'C', value.is_custom ? ".is_custom = true," : ""},
        R"(
constinit const ::kairos::values::Type $N::_kairos_value_type{
    .id = _kairos_id,
    $B
    $C
};
$T* $N::_downcast(::CORBA::ValueBase* value) { return dynamic_cast<$T*>(value); }
const $T* $N::_downcast(const ::CORBA::ValueBase* value) { return dynamic_cast<const $T*>(value); }

)");
    if (value.is_abstract) return;
    out.put({'N', name}, R"(
::CORBA::ValueBase* $N::_copy_value() { return ::kairos::corba::copy_value(*this); }
const ::kairos::values::Type& $N::_kairos_type() const { return _kairos_value_type; }

)");
    if (value.is_custom) {
        out.put({'N', name, 'K', "::kairos::"}, R"(
void $N::_kairos_encode($Kcdr::Writer& out) const { $Kcorba::encode_custom(out, *this); }
void $N::_kairos_decode($Kcdr::Reader& in) { $Kcorba::decode_custom(in, *this); }

)");
    } else {
        emit_state_function(source, value, "encode", "::kairos::cdr::Writer&", "out", " const",
                            emit_encode_member, out);
        emit_state_function(source, value, "decode", "::kairos::cdr::Reader&", "in", "",
                            emit_decode_member, out);
    }
    emit_state_function(source, value, "clear", "", "", "", emit_clear_member, out);
}

void emit_factory_functions(const ValueType& value, Text& out)
{
    if (!has_factory(value)) return;
    const std::string made = is_made_automatically(value) ? obv_name(value) : "";
    out.put({'T', qualified(value) + "_init", 'N', defined_name(value) + "_init"},
            "$T* $N::_downcast(::CORBA::ValueFactory factory) "
            "{ return dynamic_cast<$T*>(factory); }");
    if (!made.empty())
        out.put({'N', defined_name(value) + "_init", 'M', made},
                "::CORBA::ValueBase* $N::create_for_unmarshal() { return new $M(); }");
    out.blank();
}

} // namespace

void emit_value_implementations(const Source& source, Text& out)
{
    in_own_namespaces<ValueType>(
        "OBV_", source.unit.declarations, out,
        [](const ValueType* value) { return !value->is_abstract; },
        [&](const ValueType& value) {
            if (!value.is_abstract) emit_obv_class(source, value, out);
        });
}

void emit_values(const Source& source, Text& out)
{
    for (const ValueType* value : all_of<ValueType>(source.unit)) {
        emit_functions(source, *value, out);
        emit_factory_functions(*value, out);
    }
    for (const ValueBox* box : all_of<ValueBox>(source.unit))
        emit_box_functions(source, *box, out);
}

} // namespace kairos::idlc
