// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/interfaces.h"

#include "idlc/frontend.h"
#include "idlc/request.h"
#include "kairos/ir/ir.h"
#include "kairos/orb/reference.h"
#include "tools/kairos/idl_types.h"

#include <algorithm>
#include <utility>

namespace kairos::tools {
namespace {

KnownOperation operation_of(const idlc::Request& request, IdlTypes& types)
{
    KnownOperation operation;
    const auto* const attribute = idlc::as<idlc::Attribute>(request.declaration);
    operation.wire_name = request.wire_name;
    operation.name = request.declaration->name;
    operation.declared_in = request.declaration->parent->scoped_name;
    operation.result = types.of(*request.result);
    operation.contexts = request.context;
    operation.is_oneway = request.oneway;
    operation.is_attribute = attribute != nullptr;
    operation.is_readonly = attribute != nullptr && attribute->readonly;
    for (const idlc::Parameter& parameter : request.parameters) {
        using enum KnownParameter::Direction;
        operation.parameters.push_back({.direction = parameter.direction == idlc::Direction::in ? in
                                                     : parameter.direction == idlc::Direction::out
                                                         ? out
                                                         : inout,
                                        .name = parameter.name,
                                        .type = types.of(*parameter.type)});
    }
    for (const idlc::Declaration* raised : request.raises)
        if (raised->kind == idlc::DeclarationKind::exception)
            operation.raises.push_back(types.of(*raised));
    return operation;
}

KnownInterface interface_of(const idlc::Interface& interface, IdlTypes& types)
{
    KnownInterface known{.id = interface.repository_id, .name = interface.scoped_name};
    for (const idlc::Interface* base : interface.bases)
        known.bases.push_back(base->scoped_name);
    for (const idlc::Interface* ancestor : interface.ancestors)
        known.ancestors.push_back(ancestor->repository_id);
    for (const idlc::Declaration* declaration : idlc::all_operations(interface))
        for (const idlc::Request& request : idlc::requests_of(*declaration))
            known.operations.push_back(operation_of(request, types));
    return known;
}

/// "::Demo::Echo" of a repository, as IDL calls it elsewhere.
std::string relative(std::string_view name)
{
    if (name.starts_with("::")) name.remove_prefix(2);
    return std::string(name);
}

/// The IDL name in a repository id of OMG IDL; other ids as they are.
std::string name_in_id(std::string_view id)
{
    const std::size_t version = id.rfind(':');
    if (!id.starts_with("IDL:") || version <= 4) return std::string(id);
    std::string name;
    for (const char c : id.substr(4, version - 4))
        name.append(c == '/' ? "::" : std::string(1, c));
    return name;
}

KnownOperation operation_of(const CORBA::OperationDescription& described)
{
    KnownOperation operation;
    operation.wire_name = operation.name = described.name.in();
    operation.declared_in = name_in_id(described.defined_in.in());
    operation.result = described.result;
    operation.is_oneway = described.mode == CORBA::OP_ONEWAY;
    for (CORBA::ULong i = 0; i < described.contexts.length(); ++i)
        operation.contexts.emplace_back(described.contexts[i]);
    for (CORBA::ULong i = 0; i < described.parameters.length(); ++i) {
        using enum KnownParameter::Direction;
        const CORBA::ParameterDescription& parameter = described.parameters[i];
        operation.parameters.push_back({.direction = parameter.mode == CORBA::PARAM_IN    ? in
                                                     : parameter.mode == CORBA::PARAM_OUT ? out
                                                                                          : inout,
                                        .name = parameter.name.in(),
                                        .type = parameter.type});
    }
    for (CORBA::ULong i = 0; i < described.exceptions.length(); ++i)
        operation.raises.emplace_back(described.exceptions[i].type);
    return operation;
}

/// The one or two requests of an attribute.
void add_attribute(const CORBA::AttributeDescription& described,
                   std::vector<KnownOperation>& operations)
{
    KnownOperation get;
    get.name = described.name.in();
    get.wire_name = "_get_" + get.name;
    get.declared_in = name_in_id(described.defined_in.in());
    get.result = described.type;
    get.is_attribute = true;
    get.is_readonly = described.mode == CORBA::ATTR_READONLY;
    operations.push_back(get);
    if (get.is_readonly) return;
    KnownOperation set = get;
    set.wire_name = "_set_" + set.name;
    set.result = CORBA::TypeCode::_duplicate(CORBA::_tc_void);
    set.parameters.push_back({.name = "value", .type = described.type});
    operations.push_back(std::move(set));
}

} // namespace

const KnownOperation* KnownInterface::find(std::string_view wanted, std::size_t arguments) const
{
    const auto called = [&](const KnownOperation& operation) {
        if (operation.wire_name == wanted) return true;
        return operation.is_attribute && operation.name == wanted &&
               operation.parameters.size() == arguments;
    };
    const auto found = std::ranges::find_if(operations, called);
    return found == operations.end() ? nullptr : &*found;
}

bool Interfaces::add_idl(const std::string& path,
                         const std::vector<std::string>& include_directories, std::string& said)
{
    idlc::Options options;
    options.include_directories = include_directories;
    idlc::Compilation compilation(options);
    const bool good = compilation.compile_file(path);
    said += compilation.diagnostics().render(false);
    if (!good) return false;
    IdlTypes types;
    idlc::for_each(compilation.unit().declarations, [&](const idlc::Declaration& declaration) {
        if (const auto* interface = idlc::as<idlc::Interface>(&declaration);
            interface != nullptr && interface->defined)
            interfaces_.emplace(interface->repository_id, interface_of(*interface, types));
        if (!idlc::declares_type(declaration) &&
            declaration.kind != idlc::DeclarationKind::exception)
            return;
        try {
            const CORBA::TypeCode_var type = types.of(declaration);
            types_.emplace(declaration.repository_id, type);
            types_.emplace(declaration.scoped_name, type);
        } catch (const CORBA::SystemException&) { // a type that is never defined has no TypeCode
        }
    });
    return true;
}

const KnownInterface* Interfaces::add_interface_of(CORBA::Object_ptr object)
{
    const CORBA::InterfaceDef_var definition = object->_get_interface();
    return add_definition(definition.in());
}

const KnownInterface* Interfaces::add_interface(CORBA::Repository_ptr repository,
                                                const std::string& id)
{
    const CORBA::Contained_var found = repository->lookup_id(id.c_str());
    const CORBA::InterfaceDef_var definition = CORBA::InterfaceDef::_narrow(found.in());
    return add_definition(definition.in());
}

const KnownInterface* Interfaces::add_definition(CORBA::InterfaceDef_ptr definition)
{
    if (CORBA::is_nil(definition)) return nullptr;
    const CORBA::InterfaceDef::FullInterfaceDescription_var described =
        definition->describe_interface();
    const CORBA::String_var name = definition->absolute_name();
    KnownInterface known{.id = described->id.in(), .name = relative(name.in())};
    for (CORBA::ULong i = 0; i < described->base_interfaces.length(); ++i)
        known.bases.push_back(name_in_id(described->base_interfaces[i]));
    for (CORBA::ULong i = 0; i < described->operations.length(); ++i)
        known.operations.push_back(operation_of(described->operations[i]));
    for (CORBA::ULong i = 0; i < described->attributes.length(); ++i)
        add_attribute(described->attributes[i], known.operations);
    return &interfaces_.insert_or_assign(known.id, std::move(known)).first->second;
}

const KnownInterface* Interfaces::find(const std::string& id_or_name) const
{
    if (const auto found = interfaces_.find(id_or_name); found != interfaces_.end())
        return &found->second;
    const std::string name = relative(id_or_name);
    const auto found = std::ranges::find_if(
        interfaces_, [&](const auto& known) { return known.second.name == name; });
    return found == interfaces_.end() ? nullptr : &found->second;
}

const KnownInterface* Interfaces::find_of(CORBA::Object_ptr object) const
{
    if (const auto& reference = object->_kairos_reference(); reference)
        if (const KnownInterface* said = find(reference->ior().type_id)) return said;
    const KnownInterface* best = nullptr;
    for (const auto& [id, known] : interfaces_) {
        if (best != nullptr && best->ancestors.size() >= known.ancestors.size()) continue;
        if (object->_is_a(id.c_str())) best = &known;
    }
    return best;
}

bool Interfaces::declares(const std::string& name) const
{
    return types_.contains(name) || find(name) != nullptr;
}

CORBA::TypeCode_var Interfaces::type(const std::string& id_or_name) const
{
    const auto found = types_.find(id_or_name);
    return found == types_.end() ? CORBA::TypeCode_var() : found->second;
}

} // namespace kairos::tools
