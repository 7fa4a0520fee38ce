// SPDX-License-Identifier: Apache-2.0
#include "idlc/implied.h"

#include <algorithm>
#include <utility>

namespace kairos::idlc {
namespace {

/// "IDL:Demo/Echo:1.0" of "Echo" is "IDL:Demo/NAME:1.0"; where an id is of another form, the
/// default one.
std::string id_beside(const Declaration& declaration, const std::string& name,
                      const std::string& scoped_name)
{
    const std::string& id = declaration.repository_id;
    const std::size_t version = id.rfind(':');
    const std::string end = declaration.name + id.substr(std::min(version, id.size()));
    if (id.starts_with("IDL:") && id.ends_with(end) && id.size() > end.size() + 3)
        return id.substr(0, id.size() - end.size()) + name + id.substr(version);
    std::string path = "IDL:";
    for (std::size_t i = 0; i < scoped_name.size(); ++i) {
        path += scoped_name[i] == ':' ? '/' : scoped_name[i];
        if (scoped_name[i] == ':') ++i;
    }
    return path + ":1.0";
}

/// "IDL:Demo/Echo:1.0" and "add" are "IDL:Demo/Echo/add:1.0".
std::string id_within(const Declaration& scope, const std::string& name)
{
    const std::string& id = scope.repository_id;
    const std::size_t version = id.rfind(':');
    return id.substr(0, version) + "/" + name + id.substr(version);
}

void add_ancestor(Interface& interface, const Interface& ancestor)
{
    if (std::ranges::find(interface.ancestors, &ancestor) == interface.ancestors.end())
        interface.ancestors.push_back(&ancestor);
}

} // namespace

std::unordered_set<std::string> names_in_scope(const Declarations& declarations)
{
    std::unordered_set<std::string> names;
    for (const Declaration* declaration : declarations)
        names.insert(declaration->name);
    return names;
}

bool may_imply(const Unit& unit, const Interface& interface)
{
    const std::uint32_t file = interface.location.file;
    const bool is_installed =
        file != 0 && file < unit.files.size() && !unit.files[file].headers.empty();
    return interface.defined && !interface.is_local && !interface.is_abstract && !is_installed &&
           (file != 0 || interface.generated);
}

void describe_beside(Declaration& implied, const Declaration& by, const std::string& name)
{
    implied.name = name;
    const std::size_t scope = by.scoped_name.size() - by.name.size();
    implied.scoped_name = by.scoped_name.substr(0, scope) + name;
    implied.repository_id = id_beside(by, name, implied.scoped_name);
    implied.parent = by.parent;
    implied.location = by.location;
    implied.in_main_file = by.in_main_file;
    implied.generated = by.generated;
}

const Forward& forward_to(Unit& unit, const Declaration& implied)
{
    auto& forward = unit.add<Forward>();
    describe_beside(forward, implied, implied.name);
    forward.definition = &implied;
    return forward;
}

void find_ancestors(Interface& implied)
{
    for (const Interface* base : implied.bases) {
        for (const Interface* ancestor : base->ancestors)
            add_ancestor(implied, *ancestor);
        add_ancestor(implied, *base);
    }
}

void add_implied_operation(Unit& unit, const Declaration& scope, Declarations& declarations,
                           const Request& request, const std::string& name,
                           std::vector<Parameter> parameters)
{
    auto& operation = unit.add<Operation>();
    operation.name = name;
    operation.scoped_name = scope.scoped_name + "::" + name;
    operation.repository_id = id_within(scope, name);
    operation.parent = &scope;
    operation.location = request.declaration->location;
    operation.in_main_file = scope.in_main_file;
    operation.generated = scope.generated;
    operation.result = &unit.add_type({.kind = TypeKind::void_});
    operation.parameters = std::move(parameters);
    declarations.push_back(&operation);
}

} // namespace kairos::idlc
