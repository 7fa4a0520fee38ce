// SPDX-License-Identifier: Apache-2.0
#include "idlc/uses.h"

#include "idlc/diagnostics.h"

#include <string>

namespace kairos::idlc {
namespace {

using As = TypeUse::As;

void add(const std::vector<Member>& members, std::vector<TypeUse>& uses)
{
    for (const Member& member : members)
        uses.push_back({member.type, member.location, As::part});
}

void add(const std::vector<Parameter>& parameters, std::vector<TypeUse>& uses)
{
    for (const Parameter& parameter : parameters)
        uses.push_back({parameter.type, parameter.location, As::argument});
}

bool is_native(const Type& type)
{
    const Type& actual = resolved(type);
    return actual.kind == TypeKind::declared && as<Native>(actual.declaration) != nullptr;
}

/// "the native type 'Handle'".
std::string described(const Type& type)
{
    return std::string("the ") + (is_pseudo_object(type) ? "pseudo object" : "native type") + " '" +
           to_string(type) + "'";
}

void check_part(const TypeUse& use, Diagnostics& diagnostics)
{
    const Type* part = &resolved(*use.type);
    if (use.as == As::name && part->element == nullptr) return;
    while (part->element != nullptr)
        part = &resolved(*part->element);
    if (is_native(*part))
        diagnostics.error(use.location, described(*part) + " cannot be part of another type");
}

void check_argument(const TypeUse& use, Diagnostics& diagnostics)
{
    if (!is_native(*use.type)) return;
    // Old IDL of the OMG's, CosTSPortability, has it where "local" was not known yet.
    if (is_pseudo_object(*use.type) && resolved(*use.type).declaration->name == "Environment")
        return diagnostics.warning(use.location, "'" + to_string(*use.type) +
                                                     "' cannot be sent: calls of remote objects "
                                                     "will raise MARSHAL");
    diagnostics.error(use.location, described(*use.type) +
                                        " cannot be sent: the interface would have to be local");
}

} // namespace

std::vector<TypeUse> uses_of(const Declaration& declaration)
{
    std::vector<TypeUse> uses;
    if (const auto* alias = as<Alias>(&declaration)) {
        uses.push_back({alias->type, alias->location, As::name});
    } else if (const auto* composite = as<Struct>(&declaration)) {
        add(composite->members, uses);
    } else if (const auto* exception = as<Exception>(&declaration)) {
        add(exception->members, uses);
    } else if (const auto* choice = as<Union>(&declaration)) {
        uses.push_back({choice->discriminator, choice->location, As::part});
        for (const UnionCase& one : choice->cases)
            add({one.member}, uses);
    } else if (const auto* box = as<ValueBox>(&declaration)) {
        uses.push_back({box->type, box->location, As::part});
    } else if (const auto* value = as<ValueType>(&declaration)) {
        for (const StateMember& member : value->members)
            add({member.member}, uses);
        for (const Factory& factory : value->factories)
            add(factory.parameters, uses);
    } else if (const auto* operation = as<Operation>(&declaration)) {
        uses.push_back({operation->result, operation->location, As::argument});
        add(operation->parameters, uses);
    } else if (const auto* attribute = as<Attribute>(&declaration)) {
        uses.push_back({attribute->type, attribute->location, As::argument});
    }
    return uses;
}

Declarations raised_by(const Declaration& declaration)
{
    Declarations raised;
    const auto add = [&raised](const Declarations& more) {
        raised.insert(raised.end(), more.begin(), more.end());
    };
    if (const auto* operation = as<Operation>(&declaration)) add(operation->raises);
    if (const auto* attribute = as<Attribute>(&declaration)) {
        add(attribute->get_raises);
        add(attribute->set_raises);
    }
    if (const auto* value = as<ValueType>(&declaration))
        for (const Factory& factory : value->factories)
            add(factory.raises);
    return raised;
}

void check_locality(const Unit& unit, Diagnostics& diagnostics)
{
    for_each(unit.declarations, [&](const Declaration& declaration) {
        if (!declaration.generated) return;
        const auto* interface = as<Interface>(declaration.parent);
        const bool is_remote = interface != nullptr && !interface->is_local;
        for (const TypeUse& use : uses_of(declaration)) {
            if (use.as != As::argument)
                check_part(use, diagnostics);
            else if (is_remote)
                check_argument(use, diagnostics);
        }
    });
}

} // namespace kairos::idlc
