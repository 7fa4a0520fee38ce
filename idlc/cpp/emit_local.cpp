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
    out.label("public:");
    out.line("typedef ", name, "_ptr _ptr_type;");
    out.line("typedef ", name, "_var _var_type;");
    if (interface.is_abstract) out.line("typedef ", name, "_kairos_stub _kairos_stub_type;");
    out.line("static constexpr const char* _kairos_id = ", string_literal(interface.repository_id),
             ";");
    out.blank();
    out.line("static ", name, "_ptr _duplicate(", name, "_ptr object);");
    out.line("static ", name, "_ptr _narrow(::CORBA::", base, "_ptr object);");
    if (!interface.is_local)
        out.line("static ", name, "_ptr _unchecked_narrow(::CORBA::", base, "_ptr object);");
    out.line("static ", name, "_ptr _nil() { return nullptr; }");
    out.blank();
}

void emit_local_class(const Source& source, const Interface& interface, const EmitNested& nested,
                      Text& out)
{
    const std::string name = identifier(interface);
    std::string bases;
    for (const Interface* base : interface.bases)
        bases += "public virtual " + qualified(*base) + ", ";
    out.open("class ", exported(source), name, " : ", bases,
             "public virtual ::CORBA::LocalObject {");
    emit_reference_functions(interface, out);
    nested(interface.declarations);
    // An interface that is not local has stubs, which would do here only for a remote object.
    for (const Interface* ancestor : interface.ancestors) {
        if (ancestor->is_local) continue;
        for (const Call& call : calls_in(source, ancestor->declarations))
            out.line(result_type(*call.result), " ", call.cpp_name(), "(", parameter_list(call),
                     ") override = 0;");
    }
    out.blank();
    out.line("bool _kairos_supports(std::string_view repository_id) const override;");
    if (derives_from_abstract(interface))
        out.line("::CORBA::Object* _kairos_object() override { return this; }");
    out.blank();
    out.label("protected:");
    out.line(name, "() = default;");
    out.close("};");
    out.blank();
}

void emit_local_functions(const Interface& interface, Text& out)
{
    const std::string name = defined_name(interface);
    const std::string type = qualified(interface);
    out.line(type, "_ptr ", name, "::_duplicate(", type,
             "_ptr object) { return ::kairos::corba::duplicate(object); }");
    out.line(type, "_ptr ", name,
             "::_narrow(::CORBA::Object_ptr object) { return ::kairos::corba::narrow_local<", type,
             ">(object); }");
    emit_supports(name, interface, "_kairos_id", out);
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
    out.open("class ", exported(source), name, " : ", bases, ", public virtual ::CORBA::Object {");
    out.label("public:");
    out.line("static constexpr const char* _kairos_id = ", string_literal(interface.repository_id),
             ";");
    for (const Call& call : calls_in(source, interface.declarations))
        out.line(result_type(*call.result), " ", call.cpp_name(), "(", parameter_list(call),
                 ") override;");
    out.line("bool _kairos_supports(std::string_view repository_id) const override;");
    out.line("::CORBA::Object* _kairos_object() override { return this; }");
    out.blank();
    out.label("protected:");
    out.line("friend class ::kairos::corba::StubFactory;");
    out.line("explicit ", name,
             "(::kairos::corba::StubArgument argument) : ::CORBA::Object(argument) {}");
    out.line(name, "() = default;");
    out.close("};");
    out.blank();
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
    out.blank();
    out.label("protected:");
    out.line(name, "() = default;");
    out.close("};");
    out.blank();
    emit_abstract_stub(source, interface, out);
}

void emit_abstract_functions(const Interface& interface, Text& out)
{
    const std::string name = defined_name(interface);
    const std::string type = qualified(interface);
    out.line(type, "_ptr ", name, "::_duplicate(", type,
             "_ptr object) { return ::kairos::corba::AbstractTraits<", type,
             ">::duplicate(object); }");
    for (const std::string_view function : {"narrow", "unchecked_narrow"})
        out.line(type, "_ptr ", name, "::_", function,
                 "(::CORBA::AbstractBase_ptr object) { return ::kairos::corba::", function,
                 "_abstract<", type, ">(object); }");
    emit_supports(name + "_kairos_stub", interface, "_kairos_id", out);
}

} // namespace kairos::idlc
