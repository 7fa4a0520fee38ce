// SPDX-License-Identifier: Apache-2.0
//
// Insertion into Any and extraction, in the header: inline functions of one line, in the namespace
// of the type (C++ mapping 5.17), where every use of them finds them. What nobody uses costs no
// code.
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

class AnyEmitter {
  public:
    explicit AnyEmitter(Text& out) : out_(out) {}

    void emit(const Declarations& declarations)
    {
        for (const Declaration* declaration : declarations) {
            if (!declaration->generated) continue;
            if (as<Module>(declaration) == nullptr) emit(within(*declaration));
            visit(*declaration, [this](const auto& own) { emit_one(own); });
        }
    }

  private:
    void emit_one(const Declaration&) {}
    void emit_one(const Module& module)
    {
        in_namespace(identifier(module), module, out_,
                     [](const Declarations& inner, Text& out) { AnyEmitter(out).emit(inner); });
    }
    void emit_one(const Struct& composite) { emit_class(composite); }
    void emit_one(const Union& choice) { emit_class(choice); }
    void emit_one(const Exception& exception) { emit_class(exception); }
    void emit_one(const Alias& alias)
    {
        // Other typedefs are typedefs in C++, too: their operators are those of what they name.
        if (alias.type->kind == TypeKind::sequence) emit_class(alias);
        if (alias.type->kind == TypeKind::array) emit_array(alias);
    }
    void emit_one(const ValueBox& box) { emit_value(box); }
    void emit_one(const ValueType& value)
    {
        if (value.defined) emit_value(value);
    }
    void emit_one(const Interface& interface)
    {
        if (!interface.defined) return;
        if (!interface.is_abstract) return emit_object(interface);
        emit_pointer(interface, "_ptr", "corba::insert_abstract", "corba::insert_adopted_abstract",
                     "corba::extract_abstract");
    }
    void emit_one(const Enum& enumeration)
    {
        const std::string name = qualified(enumeration);
        insertion(name, call("types::insert_enum", enumeration));
        extraction(name + "&", call("types::extract_enum", enumeration));
    }

    /// Structs, unions, sequences, exceptions: by reference copied, by pointer taken over. Values
    /// of local ones never leave the process: there is no CDR to keep them in.
    void emit_class(const auto& declaration)
    {
        if (declaration.composition.local) return;
        const std::string name = qualified(declaration);
        insertion("const " + name + "&", call("types::insert_copy", declaration));
        insertion(name + "*", call("types::insert_adopted", declaration));
        extraction("const " + name + "*&", call("types::extract", declaration));
        extraction(name + "*&", call("types::extract", declaration));
    }

    void emit_array(const Alias& alias)
    {
        if (alias.composition.local) return;
        const std::string name = qualified(alias) + "_forany&";
        insertion("const " + name, call("types::insert_array", alias));
        extraction(name, call("types::extract_array", alias));
    }

    void emit_object(const Interface& interface)
    {
        const std::string name = qualified(interface);
        const std::string pointer = name + "_ptr";
        insertion(pointer, call("corba::insert_object", interface, name + "::_duplicate(_value)"));
        insertion(pointer + "*", call("corba::insert_object", interface, "*_value"));
        const std::string stubs = interface.is_local ? "local_class" : "stub_class";
        extraction(pointer + "&", call("corba::extract_object", interface,
                                       "::kairos::corba::" + stubs + "<" + name + ">, _value"));
    }

    void emit_value(const Declaration& value)
    {
        emit_pointer(value, "*", "values::insert_value", "values::insert_adopted_value",
                     "values::extract_value");
    }
    /// What is shared by pointers: inserted by one it is shared, by a pointer to one taken over.
    void emit_pointer(const Declaration& declaration, std::string_view pointer,
                      std::string_view insert, std::string_view adopt, std::string_view extract)
    {
        const std::string type = qualified(declaration) + std::string(pointer);
        insertion(type, call(insert, declaration));
        insertion(type + "*", call(adopt, declaration, "*_value"));
        extraction(type + "&", call(extract, declaration));
    }

    /// Whatever `value` is, `call` is what the function does with it.
    void insertion(std::string_view value, std::string_view call)
    {
        out_.line("inline void operator<<=(::CORBA::Any& _any, ", value, " _value) { ", call,
                  "; }");
    }
    void extraction(std::string_view value, std::string_view call)
    {
        out_.line("inline ::CORBA::Boolean operator>>=(const ::CORBA::Any& _any, ", value,
                  " _value) { return ", call, "; }");
    }
    static std::string call(std::string_view function, const Declaration& declaration,
                            std::string_view value = "_value")
    {
        const Declaration* scope = declaration.parent;
        std::string text = "::kairos::";
        text.append(function).append("(_any, ").append(scope ? qualified(*scope) : "");
        text.append("::_tc_").append(declaration.name).append(", ");
        return text.append(value).append(")");
    }

    Text& out_;
};

} // namespace

void emit_any_operators(const Source& source, Text& out)
{
    if (!source.options.any) return;
    Text body;
    AnyEmitter(body).emit(source.unit.declarations);
    if (body.text().empty()) return;
    out.blank();
    out.append(body);
}

} // namespace kairos::idlc
