// SPDX-License-Identifier: Apache-2.0
//
// Local interfaces: classes of pure virtual functions that programs implement and nobody calls
// from elsewhere. No stub, no skeleton, nothing on the wire.
#include "idlc/emitters.h"

namespace kairos::idlc {

void emit_local_class(const Source& source, const Interface& interface, const EmitNested& nested,
                      Text& out)
{
    const std::string name = identifier(interface.name);
    std::string bases;
    for (const Interface* base : interface.bases)
        bases += "public virtual " + qualified(*base) + ", ";
    out.open("class ", exported(source), name, " : ", bases,
             "public virtual ::CORBA::LocalObject {");
    out.label("public:");
    out.line("typedef ", name, "_ptr _ptr_type;");
    out.line("typedef ", name, "_var _var_type;");
    out.line("static constexpr const char* _kairos_id = ", string_literal(interface.repository_id),
             ";");
    out.blank();
    out.line("static ", name, "_ptr _duplicate(", name, "_ptr object);");
    out.line("static ", name, "_ptr _narrow(::CORBA::Object_ptr object);");
    out.line("static ", name, "_ptr _nil() { return nullptr; }");
    out.blank();
    nested(interface.declarations);
    // An interface that is not local has stubs, which would do here only for a remote object.
    for (const Interface* ancestor : interface.ancestors) {
        if (ancestor->is_local) continue;
        for (const Declaration* declaration : ancestor->declarations)
            for (const Call& call : calls_of(source, *declaration))
                out.line(result_type(*call.result), " ", call.cpp_name(), "(", parameter_list(call),
                         ") override = 0;");
    }
    out.blank();
    out.line("bool _kairos_supports(std::string_view repository_id) const override;");
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
    out.open("bool ", name, "::_kairos_supports(std::string_view repository_id) const\n{");
    out.line("return ", supports_test(interface),
             " || repository_id == ::CORBA::Object::_kairos_id;");
    out.close();
    out.blank();
}

} // namespace kairos::idlc
