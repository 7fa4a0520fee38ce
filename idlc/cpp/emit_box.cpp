// SPDX-License-Identifier: Apache-2.0
//
// Value boxes of the C++ mapping (1.3, 1.17.7): one class for each, whose form depends on what is
// in it.
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

class BoxEmitter {
  public:
    BoxEmitter(const ValueBox& box, Text& out)
        : name_(identifier(box)), type_(*box.type), boxed_(value_type(type_)), out_(out)
    {
    }

    void emit()
    {
        const Form form = form_of(type_);
        const Access access = access_to(type_, boxed_);
        for (const Setter& each : access.setters)
            setter(each.given, assignment(type_, boxed_, "_kairos_boxed", each.taken));
        if (form == Form::string) // members and elements convert to more than one of the above
            setter(is_wide(type_) ? "const ::kairos::mapping::HoldsText<wchar_t> auto&"
                                  : "const ::kairos::mapping::HoldsText<char> auto&",
                   "_kairos_boxed = _value.in()");
        const bool aggregate = is_aggregate(form);
        const bool owned = aggregate || passing(form).kept == Kept::shared;
        const std::string in = owned ? "_kairos_boxed.in()" : "_kairos_boxed";
        const std::string inout = owned ? "_kairos_boxed.inout()" : "_kairos_boxed";
        accessor(access.read, "_value", " const", in);
        if (!access.write.empty()) accessor(access.write, "_value", "", inout);
        if (form == Form::string)
            out_.put(R"(
auto& operator[](::CORBA::ULong _index) { return _kairos_boxed[_index]; }
auto operator[](::CORBA::ULong _index) const { return _kairos_boxed[_index]; }
)");
        if (is_array(form))
            out_.put(R"(
const auto& operator[](::CORBA::ULong _index) const { return _kairos_boxed[_index]; }
auto& operator[](::CORBA::ULong _index) { return _kairos_boxed[_index]; }
)");
        accessor(access.read, "_boxed_in", " const", in);
        accessor(is_array(form) ? access.write : parameter_type(type_, Direction::inout),
                 "_boxed_inout", "", inout);
        accessor(result_type(type_) + (is_array(form) ? "" : "&"), "_boxed_out", "",
                 owned ? "_kairos_boxed.out()" : "_kairos_boxed");
        if (aggregate) emit_parts();
        out_.blank();
        const std::string var = form == Form::fixed_struct ? "FixedVar" : "VariableVar";
        const std::string type = aggregate ? "::kairos::mapping::" + var + "<" + boxed_ + ">"
                                 : owned   ? storage_type(type_).type
                                           : boxed_;
        out_.label("private:");
        out_.line(type, " _kairos_boxed",
                  aggregate ? " = new " + boxed_ + "();"
                  : owned   ? ";"
                            : "{};");
    }

  private:
    /// A constructor, an assignment and a modifier.
    void setter(const std::string& parameter, const std::string& statement)
    {
        out_.put({'N', name_, 'P', parameter, 'S', statement}, R"(
$N($P _value) { $S; }
$N& operator=($P _value)
{
    $S;
    return *this;
}
void _value($P _value) { $S; }
)");
    }
    void accessor(const std::string& result, std::string_view function, std::string_view qualifier,
                  const std::string& value)
    {
        out_.line(result, " ", function, "()", qualifier, " { return ", value, "; }");
    }
    /// Of structs and sequences: their members and elements.
    void emit_parts()
    {
        const Type& actual = resolved(type_);
        if (actual.kind == TypeKind::sequence) emit_sequence_functions(actual);
        const auto* composite = as<Struct>(actual.declaration);
        if (composite == nullptr) return;
        for (const Member& member : composite->members)
            emit_accessors(member,
                           {.stored = "_kairos_boxed->" + identifier(member.name),
                            .scope = qualified(*composite) + "::"},
                           out_);
    }
    void emit_sequence_functions(const Type& sequence)
    {
        if (sequence.bound == 0)
            out_.put({'N', name_, 'B', boxed_},
                     "explicit $N(::CORBA::ULong _maximum) : _kairos_boxed(new $B(_maximum)) {}");
        out_.put(R"(
::CORBA::ULong maximum() const { return _kairos_boxed->maximum(); }
::CORBA::ULong length() const { return _kairos_boxed->length(); }
void length(::CORBA::ULong _length) { _kairos_boxed->length(_length); }
decltype(auto) operator[](::CORBA::ULong _index) { return _kairos_boxed.inout()[_index]; }
decltype(auto) operator[](::CORBA::ULong _index) const { return _kairos_boxed.in()[_index]; }
)");
    }

    std::string name_;
    const Type& type_;
    std::string boxed_;
    Text& out_;
};

} // namespace

void emit_box_class(const Source& source, const ValueBox& box, const EmitNested& nested, Text& out)
{
    const std::string name = identifier(box);
    out.put({'E', exported(source), 'N', name, 'I', string_literal(box.repository_id)}, R"(
class $E$N : public ::CORBA::DefaultValueRefCountBase {
  public:
    typedef $N_var _var_type;
    static constexpr const char* _kairos_id = $I;
    static const ::kairos::values::Type _kairos_value_type;
    static const ::kairos::values::KnownBox _kairos_known;
    static $N* _downcast(::CORBA::ValueBase* value);
    ::CORBA::ValueBase* _copy_value() override;

)");
    nested(box.declarations);
    // ValueBase is not assignable, so neither is the copy constructor's counterpart generated.
    out.put({'N', name, 'C', holds_values(*box.type) ? "void _kairos_clear() override;" : ""}, R"(
const ::kairos::values::Type& _kairos_type() const override;
void _kairos_encode(::kairos::cdr::Writer& out) const override;
void _kairos_decode(::kairos::cdr::Reader& in) override;
$C

$N() = default;
$N(const $N&) = default;
~$N() override = default;
)");
    BoxEmitter(box, out).emit();
    out.close("};");
    out.blank();
}

void emit_box_functions(const Source& source, const ValueBox& box, Text& out)
{
    const std::string name = defined_name(box);
    const std::string type = qualified(box);
    const bool aggregate = is_aggregate(form_of(*box.type));
    const std::string in = aggregate ? "_kairos_boxed.in()" : "_kairos_boxed";
    const std::string inout = aggregate ? "_kairos_boxed.inout()" : "_kairos_boxed";
    out.put({'N', name, 'T', type}, R"(
constinit const ::kairos::values::Type $N::_kairos_value_type{
    .id = _kairos_id,
    .create = []() -> ::CORBA::ValueBase* { return new $T(); },
};
const ::kairos::values::KnownBox $N::_kairos_known($T::_kairos_value_type);
$T* $N::_downcast(::CORBA::ValueBase* value) { return dynamic_cast<$T*>(value); }
::CORBA::ValueBase* $N::_copy_value() { return new $T(*this); }
const ::kairos::values::Type& $N::_kairos_type() const { return _kairos_value_type; }
)");
    out.open("void ", name, "::_kairos_encode(::kairos::cdr::Writer& out) const\n{");
    emit_type_probe(source, box, "encode", out);
    out.put({'V', in}, "::kairos::mapping::encode(out, $V);\n}");
    out.open("void ", name, "::_kairos_decode(::kairos::cdr::Reader& in)\n{");
    emit_type_probe(source, box, "decode", out);
    out.put({'V', inout}, "::kairos::mapping::decode(in, $V);\n}");
    if (holds_values(*box.type))
        out.line("void ", name, "::_kairos_clear() { ::kairos::values::reset(", inout, "); }");
    out.blank();
}

} // namespace kairos::idlc
