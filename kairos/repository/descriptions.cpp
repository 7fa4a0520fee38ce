// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/descriptions.h"

#include <utility>

namespace kairos::repository {

static_assert(static_cast<int>(Kind::local_interface) == CORBA::dk_LocalInterface &&
              static_cast<int>(Kind::value_member) == CORBA::dk_ValueMember &&
              static_cast<int>(Kind::repository) == CORBA::dk_Repository &&
              static_cast<int>(Kind::alias) == CORBA::dk_Alias);
static_assert(CORBA::pk_value_base + 1 == primitives);

CORBA::DefinitionKind kind_of(Kind kind) { return static_cast<CORBA::DefinitionKind>(kind); }

CORBA::RepositoryIdSeq ids_of(const std::vector<Key>& keys, const Model& model)
{
    CORBA::RepositoryIdSeq ids;
    ids.length(static_cast<CORBA::ULong>(keys.size()));
    for (CORBA::ULong i = 0; i < ids.length(); ++i)
        ids[i] = model.find(keys[i])->id.c_str();
    return ids;
}

CORBA::ExcDescriptionSeq exceptions_of(const std::vector<Key>& from, State::Access& access)
{
    CORBA::ExcDescriptionSeq exceptions;
    exceptions.length(static_cast<CORBA::ULong>(from.size()));
    for (CORBA::ULong i = 0; i < exceptions.length(); ++i) {
        fill_names(exceptions[i], *access.model().find(from[i]), access.model());
        exceptions[i].type = access.type_code(from[i]);
    }
    return exceptions;
}

CORBA::ParDescriptionSeq parameters_of(const Definition& from, State::Access& access)
{
    CORBA::ParDescriptionSeq parameters;
    parameters.length(static_cast<CORBA::ULong>(from.parameters.size()));
    for (CORBA::ULong i = 0; i < parameters.length(); ++i) {
        const Parameter& parameter = from.parameters[i];
        parameters[i].name = parameter.name.c_str();
        parameters[i].type = access.type_code(parameter.type);
        parameters[i].type_def = access.reference_to<CORBA::IDLType>(parameter.type);
        parameters[i].mode = parameter.direction == Direction::in    ? CORBA::PARAM_IN
                             : parameter.direction == Direction::out ? CORBA::PARAM_OUT
                                                                     : CORBA::PARAM_INOUT;
    }
    return parameters;
}

CORBA::OperationDescription operation_of(const Definition& from, State::Access& access)
{
    CORBA::OperationDescription description;
    fill_names(description, from, access.model());
    description.result = access.type_code(from.type);
    description.mode = from.is_oneway ? CORBA::OP_ONEWAY : CORBA::OP_NORMAL;
    description.contexts.length(static_cast<CORBA::ULong>(from.contexts.size()));
    for (CORBA::ULong i = 0; i < description.contexts.length(); ++i)
        description.contexts[i] = from.contexts[i].c_str();
    description.parameters = parameters_of(from, access);
    description.exceptions = exceptions_of(from.exceptions, access);
    return description;
}

namespace {

template <typename Description>
void fill_attribute(Description& description, const Definition& from, State::Access& access)
{
    fill_names(description, from, access.model());
    description.type = access.type_code(from.type);
    description.mode = from.is_readonly ? CORBA::ATTR_READONLY : CORBA::ATTR_NORMAL;
}

} // namespace

CORBA::AttributeDescription attribute_of(const Definition& from, State::Access& access)
{
    CORBA::AttributeDescription description;
    fill_attribute(description, from, access);
    return description;
}

CORBA::ExtAttributeDescription ext_attribute_of(const Definition& from, State::Access& access)
{
    CORBA::ExtAttributeDescription description;
    fill_attribute(description, from, access);
    description.get_exceptions = exceptions_of(from.exceptions, access);
    description.put_exceptions = exceptions_of(from.set_exceptions, access);
    return description;
}

CORBA::ValueMember value_member_of(const Definition& from, State::Access& access)
{
    CORBA::ValueMember member;
    fill_names(member, from, access.model());
    member.type = access.type_code(from.type);
    member.type_def = access.reference_to<CORBA::IDLType>(from.type);
    member.access = from.is_public ? CORBA::PUBLIC_MEMBER : CORBA::PRIVATE_MEMBER;
    return member;
}

CORBA::StructMemberSeq members_of(const std::vector<Member>& from, State::Access& access)
{
    CORBA::StructMemberSeq members;
    members.length(static_cast<CORBA::ULong>(from.size()));
    for (CORBA::ULong i = 0; i < members.length(); ++i) {
        members[i].name = from[i].name.c_str();
        members[i].type = access.type_code(from[i].type);
        members[i].type_def = access.reference_to<CORBA::IDLType>(from[i].type);
    }
    return members;
}

CORBA::InitializerSeq initializers_of(const Definition& from, State::Access& access)
{
    CORBA::InitializerSeq initializers;
    initializers.length(static_cast<CORBA::ULong>(from.initializers.size()));
    for (CORBA::ULong i = 0; i < initializers.length(); ++i) {
        initializers[i].name = from.initializers[i].name.c_str();
        initializers[i].members = members_of(from.initializers[i].members, access);
    }
    return initializers;
}

CORBA::ExtInitializerSeq ext_initializers_of(const Definition& from, State::Access& access)
{
    CORBA::ExtInitializerSeq initializers;
    initializers.length(static_cast<CORBA::ULong>(from.initializers.size()));
    for (CORBA::ULong i = 0; i < initializers.length(); ++i) {
        initializers[i].name = from.initializers[i].name.c_str();
        initializers[i].members = members_of(from.initializers[i].members, access);
        initializers[i].exceptions = exceptions_of(from.initializers[i].exceptions, access);
    }
    return initializers;
}

std::vector<Member> members_of(const std::vector<GivenMember>& given, State::Access& access)
{
    std::vector<Member> members;
    members.reserve(given.size());
    for (const GivenMember& each : given)
        members.push_back({.name = each.name, .type = access.type_of(each.type, each.code.in())});
    return members;
}

CORBA::Any description_of(const Definition& from, State::Access& access)
{
    CORBA::Any value;
    const auto with_names = [&](auto description) {
        fill_names(description, from, access.model());
        return description;
    };
    const auto with_type = [&](auto description) {
        fill_names(description, from, access.model());
        description.type = access.type_code(from.key);
        return description;
    };
    switch (from.kind) {
    case Kind::module:
        value <<= with_names(CORBA::ModuleDescription());
        break;
    case Kind::constant: {
        CORBA::ConstantDescription constant = with_type(CORBA::ConstantDescription());
        constant.value = access.decoded(from.value, constant.type.in());
        value <<= constant;
        break;
    }
    case Kind::exception:
        value <<= with_type(CORBA::ExceptionDescription());
        break;
    case Kind::attribute:
        value <<= attribute_of(from, access);
        break;
    case Kind::operation:
        value <<= operation_of(from, access);
        break;
    case Kind::value_member:
        value <<= value_member_of(from, access);
        break;
    case Kind::interface:
    case Kind::abstract_interface:
    case Kind::local_interface: {
        CORBA::InterfaceDescription interface = with_names(CORBA::InterfaceDescription());
        interface.base_interfaces = ids_of(from.bases, access.model());
        value <<= interface;
        break;
    }
    case Kind::value: {
        CORBA::ValueDescription description = with_names(CORBA::ValueDescription());
        description.is_abstract = from.is_abstract;
        description.is_custom = from.is_custom;
        description.is_truncatable = from.is_truncatable;
        description.supported_interfaces = ids_of(from.supported, access.model());
        description.abstract_base_values = ids_of(from.bases, access.model());
        if (const Definition* const base = access.model().find(from.base_value))
            description.base_value = base->id.c_str();
        value <<= description;
        break;
    }
    default:
        value <<= with_type(CORBA::TypeDescription());
    }
    return value;
}

} // namespace kairos::repository
