// SPDX-License-Identifier: Apache-2.0
//
// Interfaces whose classes have pure virtual functions. Local ones, which programs implement and
// nobody calls from elsewhere: no stub, no skeleton, nothing on the wire. Abstract ones, behind
// which there is an object, called by a stub class of its own, or a value.
#include "idlc/cpp/emitters.h"

#include <algorithm>

namespace kairos::idlc {

void emit_reference_functions(const Interface& interface, Text& out)
{
    const std::string name = identifier(interface);
    const std::string_view base = interface.is_abstract ? "AbstractBase" : "Object";
    out.put({'N', name, 'B', base, 'I', string_literal(interface.repository_id), 'A',
             interface.is_abstract ? "typedef " + name + "_kairos_stub _kairos_stub_type;" : "",
             'U',
             interface.is_local ? ""
                                : "static " + name + "_ptr _unchecked_narrow(::CORBA::" +
                                      std::string(base) + "_ptr object);"},
            R"(
public:
typedef $N_ptr _ptr_type;
typedef $N_var _var_type;
$A
static constexpr const char* _kairos_id = $I;

static $N_ptr _duplicate($N_ptr object);
static $N_ptr _narrow(::CORBA::$B_ptr object);
$U
static $N_ptr _nil() { return nullptr; }

)");
}

void emit_object_functions(const Interface& interface, Text& out)
{
    out.line("bool _kairos_supports(std::string_view repository_id) const override;");
    if (derives_from_abstract(interface))
        out.line("::CORBA::Object* _kairos_object() override { return this; }");
    out.blank();
}

namespace {

/// How a class ends that nobody constructs but what derives from it.
void end_class(const std::string& name, Text& out)
{
    out.put({'N', name}, R"(

protected:
$N() = default;
};

)");
}

/// What a reference is duplicated by, and narrowed by each of the functions. `through` is a
/// function that what was narrowed goes through; it may be empty.
void emit_conversions(const Interface& interface, std::string_view duplicate,
                      std::initializer_list<std::string_view> narrow, std::string_view suffix,
                      std::string_view through, Text& out)
{
    const std::string name = defined_name(interface);
    const std::string type = qualified(interface);
    const std::string_view base = interface.is_abstract ? "AbstractBase" : "Object";
    out.put({'T', type, 'N', name, 'D', duplicate},
            "$T_ptr $N::_duplicate($T_ptr object) { return ::kairos::corba::$D(object); }");
    for (const std::string_view function : narrow)
        out.put({'T', type, 'N', name, 'B', base, 'F', function, 'S', suffix, 'G', through, 'E',
                 through.empty() ? "" : ")"},
                "$T_ptr $N::_$F(::CORBA::$B_ptr object) "
                "{ return $G::kairos::corba::$F$S<$T>(object)$E; }");
}

} // namespace

void emit_stub_functions(const Source& source, const Interface& interface, Text& out)
{
    const std::string name = defined_name(interface);
    std::string through;
    if (has_smart_proxy(source, interface))
        through = smart_proxy_factories(interface) + "::instance()->create_proxy(";
    emit_conversions(interface, "duplicate", {"narrow", "unchecked_narrow"}, "", through, out);
    std::string bases = "::CORBA::Object(argument)";
    for (const Interface* ancestor : interface.ancestors)
        if (!ancestor->is_abstract) bases += ", " + qualified(*ancestor) + "(argument)";
    out.put({'N', name, 'I', identifier(interface), 'B', bases},
            "$N::$I(::kairos::corba::StubArgument argument) : $B {}\n\n");
    emit_supports(name, interface, "_kairos_id", out);
}

void emit_local_class(const Source& source, const Interface& interface, const EmitNested& nested,
                      Text& out)
{
    std::string bases;
    for (const Interface* base : interface.bases)
        bases += "public virtual " + qualified(*base) + ", ";
    out.open("class ", exported(source), identifier(interface), " : ", bases,
             "public virtual ::CORBA::LocalObject {");
    emit_reference_functions(interface, out);
    nested(interface.declarations);
    // An interface that is not local has stubs, which would do here only for a remote object.
    for (const Interface* ancestor : interface.ancestors) {
        if (ancestor->is_local) continue;
        for (const Call& call : calls_in(source, ancestor->declarations))
            declare(call, "", " override = 0", out);
    }
    out.blank();
    emit_object_functions(interface, out);
    end_class(identifier(interface), out);
}

void emit_local_functions(const Interface& interface, Text& out)
{
    emit_conversions(interface, "duplicate", {"narrow"}, "_local", "", out);
    emit_supports(defined_name(interface), interface, "_kairos_id", out);
}

// --- Abstract interfaces -----------------------------------------------------------------------

bool derives_from_abstract(const Interface& interface)
{
    return std::ranges::any_of(interface.ancestors, &Interface::is_abstract);
}

std::string stub_class(const Interface& interface)
{
    return qualified(interface) + (interface.is_abstract ? "_kairos_stub" : "");
}

namespace {

void emit_abstract_stub(const Source& source, const Interface& interface, Text& out)
{
    const std::string name = identifier(interface) + "_kairos_stub";
    std::string bases = "public virtual " + qualified(interface);
    for (const Interface* base : interface.bases)
        bases += ", public virtual " + stub_class(*base);
    out.put({'E', exported(source), 'N', name, 'B', bases, 'I',
             string_literal(interface.repository_id)},
            R"(
class $E$N : $B, public virtual ::CORBA::Object {
  public:
    static constexpr const char* _kairos_id = $I;
)");
    for (const Call& call : calls_in(source, interface.declarations))
        declare(call, "", " override", out);
    out.put({'N', name}, R"(
bool _kairos_supports(std::string_view repository_id) const override;
::CORBA::Object* _kairos_object() override { return this; }

protected:
friend class ::kairos::corba::StubFactory;
explicit $N(::kairos::corba::StubArgument argument) : ::CORBA::Object(argument) {}
$N() = default;
};

)");
}

} // namespace

void emit_abstract_class(const Source& source, const Interface& interface, const EmitNested& nested,
                         Text& out)
{
    const std::string name = identifier(interface);
    std::string bases = listed(interface.bases, [](const Interface* base) {
        return "public virtual " + qualified(*base);
    });
    if (bases.empty()) bases = "public virtual ::CORBA::AbstractBase";
    out.line("class ", name, "_kairos_stub;");
    out.open("class ", exported(source), name, " : ", bases, " {");
    emit_reference_functions(interface, out);
    nested(interface.declarations);
    end_class(name, out);
    emit_abstract_stub(source, interface, out);
}

void emit_abstract_functions(const Interface& interface, Text& out)
{
    emit_conversions(interface, "AbstractTraits<" + qualified(interface) + ">::duplicate",
                     {"narrow", "unchecked_narrow"}, "_abstract", "", out);
    emit_supports(defined_name(interface) + "_kairos_stub", interface, "_kairos_id", out);
}

} // namespace kairos::idlc
