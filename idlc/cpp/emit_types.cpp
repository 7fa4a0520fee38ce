// SPDX-License-Identifier: Apache-2.0
//
// The header: types and constants in the order of the IDL, stub classes, and behind them the
// Marshal specialisations of what was declared.
#include "idlc/cpp/asynchronous_emitters.h"
#include "idlc/provider.h"

#include <algorithm>

namespace kairos::idlc {
namespace {

class TypesEmitter {
  public:
    TypesEmitter(const Source& source, Text& out) : source_(source), out_(out) {}

    void emit(const Declarations& declarations)
    {
        for (const Declaration* declaration : declarations) {
            const auto* module = as<Module>(declaration);
            if (!declaration->generated && module == nullptr) continue;
            visit(*declaration, [this](const auto& own) { emit_one(own); });
            if (module == nullptr) emit_type_code_declaration(source_, *declaration, out_);
        }
    }

    /// Forward declarations in front of an #include of IDL.
    void emit_early(const Declarations& declarations)
    {
        const auto early = [this](const Location& location) {
            return std::ranges::any_of(source_.unit.direct_includes, [&](std::uint32_t index) {
                const auto& includer = source_.unit.files[index].includer;
                return includer && includer->line > location.line;
            });
        };
        for (const Declaration* declaration : declarations) {
            if (!declaration->generated || !early(declaration->location)) continue;
            if (const auto* forward = as<Forward>(declaration)) emit_one(*forward);
            const auto* module = as<Module>(declaration);
            if (module == nullptr) continue;
            in_namespace(identifier(*module), *module, out_,
                         [this](const Declarations& inner, Text& out) {
                             TypesEmitter(source_, out).emit_early(inner);
                         });
        }
    }

  private:
    /// Operations and attributes.
    void emit_one(const Declaration& declaration)
    {
        const auto* interface = as<Interface>(declaration.parent);
        const bool pure = interface == nullptr || interface->is_local || interface->is_abstract;
        for (const Call& call : calls_of(source_, declaration))
            declare(call, "virtual ", pure ? " = 0" : "", out_);
    }

    void emit_one(const Module& module)
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

    void emit_one(const Forward& forward)
    {
        if (forward.definition != nullptr) announce(*forward.definition);
    }

    void emit_one(const Constant& constant)
    {
        const Type& type = resolved(*constant.type);
        std::string declared = value_type(type.kind == TypeKind::wchar ? type : *constant.type);
        if (form_of(type) == Form::string) declared = "const " + value_type(type);
        out_.line(in_class(constant) ? "static" : "inline", " constexpr ", declared, " ",
                  identifier(constant), " = ", literal(constant.value, *constant.type), ";");
    }

    void emit_one(const Enum& enumeration)
    {
        if (is_declared_by_hand(enumeration)) return;
        const std::string enumerators = listed(
            enumeration.enumerators, [](const Enumerator* each) { return identifier(*each); });
        out_.put({'N', identifier(enumeration), 'L', enumerators}, R"(
enum $N : ::CORBA::ULong { $L };
typedef $N& $N_out;

)");
    }

    /// Declares a class before it is defined, with the names that go with it.
    void announce(const Declaration& declaration)
    {
        if (!announced_.insert(&declaration).second) return;
        const std::string name = identifier(declaration);
        const Form form = form_of(declaration);
        out_.line(as<Struct>(&declaration) ? "struct " : "class ", name, ";");
        out_.put({'N', name}, passing(form).typedefs);
        if (has_traits(form)) out_.blank();
    }

    /// In omniORB's style, what stands in this place in omniidl's code: the line behind which
    /// programs have sed put members of their own.
    void emit_mark(const Declaration& type)
    {
        if (!source_.options.skel_header_suffix.empty()) return;
        const bool is_fixed = form_of(type) == Form::fixed_struct;
        out_.put({'N', identifier(type), 'K', is_fixed ? "Fix" : "Variable"},
                 "// typedef _CORBA_ConstrType_$K_Var<$N> _var_type;\n");
    }

    /// In omniORB's style, what classes that derive from a type call by name: the functions that
    /// write it to a stream and read it. Templates, which cost nothing where nobody calls them.
    void emit_stream_functions()
    {
        if (!source_.options.skel_header_suffix.empty()) return;
        out_.put(R"(
template <typename _Stream>
void operator>>=(_Stream& _stream) const { _stream._kairos_put(*this); }
template <typename _Stream>
void operator<<=(_Stream& _stream) { _stream._kairos_get(*this); }
)");
    }

    void emit_one(const Struct& composite)
    {
        announce(composite);
        out_.put({'N', identifier(composite)}, "struct $N {\n    typedef $N_var _var_type;\n");
        emit_mark(composite);
        emit_stream_functions();
        emit(composite.declarations);
        emit_members(composite.members, "");
        out_.close("};");
        out_.blank();
    }

    void emit_one(const Union& type)
    {
        announce(type);
        out_.put({'N', identifier(type)}, "class $N {\n  public:\n    typedef $N_var _var_type;\n");
        emit_mark(type);
        emit_stream_functions();
        emit(type.declarations);
        emit_union_body(type, out_);
        out_.close("};");
        out_.blank();
    }

    /// Members whose type has no name of its own get typedefs as the mapping wants them.
    void emit_members(const std::vector<Member>& members, std::string_view initialiser)
    {
        for (const Member& member : members) {
            emit_anonymous_types(member, out_);
            const bool initialised = member.type->kind == TypeKind::array ||
                                     passing(*member.type).kept == Kept::in_place;
            out_.line(stored_type(member), " ", identifier(member.name),
                      initialised ? initialiser : "", ";");
        }
    }

    void emit_one(const Exception& exception)
    {
        const std::string name = identifier(exception);
        out_.put({'E', exported(source_), 'N', name, 'I', string_literal(exception.repository_id)},
                 R"(
class $E$N : public ::CORBA::UserException {
  public:
    static constexpr std::string_view _kairos_id = $I;

)");
        emit(exception.declarations);
        emit_members(exception.members, "{}");
        const std::string parameters = listed(exception.members, member_parameter);
        out_.put({'N', name, 'C', parameters.empty() ? "" : name + "(" + parameters + ");"}, R"(

$N() = default;
$C
static $N* _downcast(::CORBA::Exception* exception);
static const $N* _downcast(const ::CORBA::Exception* exception);
[[noreturn]] void _raise() const override;
const char* _name() const noexcept override;
const char* _rep_id() const noexcept override;
::CORBA::Exception* _duplicate() const override;
void _marshal(::kairos::cdr::Writer& out) const override;
};

)");
    }

    void emit_one(const Interface& interface)
    {
        announce(interface);
        if (interface.is_local) return emit_local_class(source_, interface, nested_, out_);
        if (interface.is_abstract) return emit_abstract_class(source_, interface, nested_, out_);
        std::string bases = listed(interface.bases, [](const Interface* base) {
            return "public virtual " + stub_class(*base);
        });
        if (bases.empty()) bases = "public virtual ::CORBA::Object";
        out_.open("class ", exported(source_), identifier(interface), " : ", bases, " {");
        emit_reference_functions(interface, out_);
        emit(interface.declarations);
        emit_asynchronous_declarations(source_, interface, out_);
        emit_async_declarations(source_, interface, out_);
        out_.blank();
        emit_object_functions(interface, out_);
        out_.put({'N', identifier(interface)}, R"(
protected:
friend class ::kairos::corba::StubFactory;
explicit $N(::kairos::corba::StubArgument argument);
$N() = default;
};

)");
        emit_direct_class(source_, interface, out_);
        emit_smart_proxy_classes(source_, interface, out_);
    }

    void emit_one(const ValueBox& box)
    {
        announce(box);
        emit_box_class(source_, box, nested_, out_);
    }
    void emit_one(const ValueType& value)
    {
        announce(value);
        emit_value_class(source_, value, nested_, out_);
        emit_value_factory(source_, value, out_);
    }

    void emit_one(const Alias& alias)
    {
        const std::string name = identifier(alias);
        const Type& type = *alias.type;
        const Form form = form_of(type);
        if (type.kind == TypeKind::sequence) return emit_sequence(name, type);
        if (type.kind == TypeKind::array) {
            emit_array(name, type);
        } else if (type.kind == TypeKind::fixed) {
            out_.line("typedef ", value_type(type), " ", name, ";");
            out_.put({'N', name}, passing(form).typedefs);
        } else if (form == Form::native) {
            return out_.line("typedef ", value_type(type), " ", name, ";");
        } else {
            emit_alias_of(name, type);
        }
        if (is_array(form)) emit_array_functions(name, in_class(alias) ? "static" : "inline");
        out_.blank();
    }

    void emit_sequence(const std::string& name, const Type& type)
    {
        out_.line("class ", name, ";");
        out_.put({'N', name}, passing(type).typedefs);
        out_.put(
            {'N', name, 'B', sequence_base(type), 'U', type.bound == 0 ? "Unbounded" : "Bounded"},
            R"(
class $N : public $B {
  public:
    typedef $N_var _var_type;
    using $B::$U;
)");
        emit_stream_functions();
        out_.close("};");
        out_.blank();
    }

    void emit_array(const std::string& name, const Type& type)
    {
        const Declarator declarator = storage_type(type);
        const bool variable = is_variable_length(type);
        out_.put({'N', name, 'T', declarator.type, 'D', declarator.dimensions, 'S',
                  dimensions_of(type, 1), 'V', variable ? "Variable" : "Fixed", 'O',
                  variable ? "::kairos::mapping::VariableArrayOut<" + name + ">" : name},
                 R"(
typedef $T $N$D;
typedef $T $N_slice$S;
typedef ::kairos::mapping::$VArrayVar<$N> $N_var;
typedef $O $N_out;
struct $N_tag;
typedef ::kairos::mapping::ArrayForany<$N, $N_tag> $N_forany;
)");
    }

    void emit_array_functions(const std::string& name, std::string_view specifier)
    {
        out_.put({'N', name, 'I', specifier}, R"(
$I $N_slice* $N_alloc() { return ::kairos::mapping::array_alloc<$N>(); }
$I $N_slice* $N_dup(const $N_slice* from) { return ::kairos::mapping::array_dup<$N>(from); }
$I void $N_copy($N_slice* to, const $N_slice* from) { ::kairos::mapping::array_copy<$N>(to, from); }
$I void $N_free($N_slice* slices) { ::kairos::mapping::array_free<$N>(slices); }
)");
    }

    /// A typedef of what has a name already: all the names that go with it.
    void emit_alias_of(const std::string& name, const Type& type)
    {
        const bool unnamed = type.kind == TypeKind::string || type.kind == TypeKind::wstring;
        const std::string base = unnamed ? string_class(type) : value_type(type);
        out_.line("typedef ", value_type(type), " ", name, ";");
        for (const std::string_view suffix : passing(type).suffixes)
            if (!suffix.empty()) out_.line("typedef ", base, suffix, " ", name, suffix, ";");
    }

    const Source& source_;
    Text& out_;
    const EmitNested nested_ = [this](const Declarations& declarations) { emit(declarations); };
    std::unordered_set<const Declaration*> announced_;
};

// --- Marshalling -------------------------------------------------------------------------------

/// A Marshal whose functions are in the source file.
void emit_marshal_functions(const Source& source, const Declaration& declaration,
                            std::uint64_t wire_bytes, bool viewable, Text& out)
{
    out.put({'E', exported(source), 'N', qualified(declaration), 'B', std::to_string(wire_bytes),
             'A', viewable ? ", Arena* arena = nullptr" : ""},
            R"(
template <>
struct $EMarshal<$N> {
    static constexpr std::size_t wire_bytes_min = $B;
    static void encode(cdr::Writer& out, const $N& value);
    static void decode(cdr::Reader& in, $N& value$A);
};

)");
}

std::uint64_t wire_bytes_of(const std::vector<Member>& members)
{
    std::uint64_t bytes = 0;
    for (const Member& member : members)
        bytes += wire_bytes_min(*member.type);
    return bytes;
}

void emit_marshal_fixed(const Struct& composite, Text& out)
{
    const std::string name = qualified(composite);
    std::string fields;
    for (const Member& member : composite.members) {
        const std::string field = identifier(member.name);
        fields.append(",\n                  Field<&").append(name).append("::").append(field);
        fields.append(", offsetof(").append(name).append(", ").append(field).append(")>");
    }
    out.lines("template <>\nstruct Marshal<" + name + ">\n    : FixedStruct<" + name + fields +
              "> {};");
    out.blank();
}

void emit_marshal_templates(const Source& source, Text& out)
{
    out.blank();
    out.line("namespace kairos::mapping {");
    out.blank();
    for (const Enum* enumeration : all_of<Enum>(source.unit))
        out.put(
            {'N', qualified(*enumeration), 'C', std::to_string(enumeration->enumerators.size())},
            R"(
template <>
struct Marshal<$N> : EnumMarshal<$N, $C> {};
)");
    out.blank();
    for (const Struct* composite : all_of<Struct>(source.unit)) {
        if (has_fixed_layout(*composite)) {
            emit_marshal_fixed(*composite, out);
        } else {
            emit_marshal_functions(source, *composite, wire_bytes_of(composite->members),
                                   is_viewable(*composite), out);
        }
    }
    for (const Union* united : all_of<Union>(source.unit))
        emit_marshal_functions(source, *united, wire_bytes_min(*united), false, out);
    for (const Exception* exception : all_of<Exception>(source.unit))
        emit_marshal_functions(source, *exception, wire_bytes_of(exception->members), false, out);
    out.line("} // namespace kairos::mapping");
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
    const Words words{.type = *member.type, .base = anonymous_type(member, "")};
    return fill(passing(words.type).in, words) + " _" + member.name + "_";
}

void emit_early_forwards(const Source& source, Text& out)
{
    TypesEmitter(source, out).emit_early(source.unit.declarations);
}

void emit_types(const Source& source, Text& out)
{
    TypesEmitter(source, out).emit(source.unit.declarations);
    emit_value_implementations(source, out);
    emit_marshal_templates(source, out);
    emit_table_declarations(source, out);
    emit_any_operators(source, out);
}

} // namespace kairos::idlc
