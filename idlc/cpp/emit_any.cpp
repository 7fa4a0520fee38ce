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

    void emit(const Declarations& declarations);

  private:
    void emit(const Declaration& declaration);
    void emit_class(const Declaration& declaration);
    void emit_enum(const Enum& enumeration);
    void emit_array(const Alias& alias);
    void emit_interface(const Interface& interface);
    void emit_value(const Declaration& value)
    {
        emit_pointer(value, "*", "values::insert_value", "values::insert_adopted_value",
                     "values::extract_value");
    }
    /// What is shared by pointers: inserted by one it is shared, by a pointer to one taken over.
    void emit_pointer(const Declaration& declaration, std::string_view pointer,
                      std::string_view insert, std::string_view adopt, std::string_view extract);

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

    Text& out_;
};

std::string type_code(const Declaration& declaration)
{
    const std::string scope = declaration.parent == nullptr ? "" : qualified(*declaration.parent);
    return scope + "::_tc_" + declaration.name;
}

std::string call(std::string_view function, const Declaration& declaration,
                 std::string_view value = "_value")
{
    std::string text = "::kairos::";
    text.append(function).append("(_any, ").append(type_code(declaration)).append(", ");
    return text.append(value).append(")");
}

void AnyEmitter::emit(const Declarations& declarations)
{
    for (const Declaration* declaration : declarations) {
        const auto* module = as<Module>(declaration);
        if (module == nullptr) {
            emit(*declaration);
            continue;
        }
        if (module->generated)
            in_namespace(identifier(*module), *module, out_,
                         [](const Declarations& inner, Text& out) { AnyEmitter(out).emit(inner); });
    }
}

void AnyEmitter::emit(const Declaration& declaration)
{
    if (!declaration.generated) return;
    emit(within(declaration));
    if (const auto* interface = as<Interface>(&declaration)) {
        if (interface->defined && !interface->is_abstract) emit_interface(*interface);
        if (interface->defined && interface->is_abstract)
            emit_pointer(*interface, "_ptr", "corba::insert_abstract",
                         "corba::insert_adopted_abstract", "corba::extract_abstract");
    } else if (const auto* value = as<ValueType>(&declaration)) {
        if (value->defined) emit_value(declaration);
    } else if (const auto* enumeration = as<Enum>(&declaration)) {
        emit_enum(*enumeration);
    } else if (const auto* alias = as<Alias>(&declaration)) {
        // Other typedefs are typedefs in C++, too: their operators are those of what they name.
        if (alias->type->kind == TypeKind::sequence) emit_class(declaration);
        if (alias->type->kind == TypeKind::array) emit_array(*alias);
    } else if (as<ValueBox>(&declaration) != nullptr) {
        emit_value(declaration);
    } else if (as<Struct>(&declaration) || as<Union>(&declaration) || as<Exception>(&declaration)) {
        emit_class(declaration);
    }
}

/// Whether values of the type never leave the process: there is no CDR to keep them in.
bool is_local_composite(const Declaration& declaration)
{
    if (const auto* composite = as<Struct>(&declaration)) return composite->composition.local;
    if (const auto* choice = as<Union>(&declaration)) return choice->composition.local;
    if (const auto* exception = as<Exception>(&declaration)) return exception->composition.local;
    const auto* alias = as<Alias>(&declaration);
    return alias != nullptr && alias->composition.local;
}

/// Structs, unions, sequences, exceptions: by reference copied, by pointer taken over.
void AnyEmitter::emit_class(const Declaration& declaration)
{
    if (is_local_composite(declaration)) return;
    const std::string name = qualified(declaration);
    insertion("const " + name + "&", call("types::insert_copy", declaration));
    insertion(name + "*", call("types::insert_adopted", declaration));
    extraction("const " + name + "*&", call("types::extract", declaration));
    extraction(name + "*&", call("types::extract", declaration));
}

void AnyEmitter::emit_enum(const Enum& enumeration)
{
    const std::string name = qualified(enumeration);
    insertion(name, call("types::insert_enum", enumeration));
    extraction(name + "&", call("types::extract_enum", enumeration));
}

void AnyEmitter::emit_array(const Alias& alias)
{
    if (is_local_composite(alias)) return;
    const std::string name = qualified(alias) + "_forany&";
    insertion("const " + name, call("types::insert_array", alias));
    extraction(name, call("types::extract_array", alias));
}

void AnyEmitter::emit_interface(const Interface& interface)
{
    const std::string name = qualified(interface);
    const std::string pointer = name + "_ptr";
    insertion(pointer, call("corba::insert_object", interface, name + "::_duplicate(_value)"));
    insertion(pointer + "*", call("corba::insert_object", interface, "*_value"));
    const std::string stubs = interface.is_local ? "local_class" : "stub_class";
    extraction(pointer + "&", call("corba::extract_object", interface,
                                   "::kairos::corba::" + stubs + "<" + name + ">, _value"));
}

void AnyEmitter::emit_pointer(const Declaration& declaration, std::string_view pointer,
                              std::string_view insert, std::string_view adopt,
                              std::string_view extract)
{
    const std::string type = qualified(declaration) + std::string(pointer);
    insertion(type, call(insert, declaration));
    insertion(type + "*", call(adopt, declaration, "*_value"));
    extraction(type + "&", call(extract, declaration));
}

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
