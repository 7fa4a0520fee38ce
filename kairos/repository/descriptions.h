// SPDX-License-Identifier: Apache-2.0
//
// CORBA's description structs of what a model defines, and models of the structs that create it.
#pragma once

#include "kairos/repository/state.h"

namespace kairos::repository {

/// Fills what all descriptions have.
template <typename Description>
void fill_names(Description& description, const Definition& from, const Model& model)
{
    description.name = from.name.c_str();
    description.id = from.id.c_str();
    description.version = from.version.c_str();
    const Definition* const container = model.find(from.container);
    description.defined_in = container == nullptr ? "" : container->id.c_str();
}

[[nodiscard]] CORBA::DefinitionKind kind_of(Kind kind);
/// What CORBA's `describe` answers in its `value`.
[[nodiscard]] CORBA::Any description_of(const Definition& from, State::Access& access);

[[nodiscard]] CORBA::OperationDescription operation_of(const Definition& from,
                                                       State::Access& access);
[[nodiscard]] CORBA::AttributeDescription attribute_of(const Definition& from,
                                                       State::Access& access);
[[nodiscard]] CORBA::ExtAttributeDescription ext_attribute_of(const Definition& from,
                                                              State::Access& access);
[[nodiscard]] CORBA::ExcDescriptionSeq exceptions_of(const std::vector<Key>& from,
                                                     State::Access& access);
[[nodiscard]] CORBA::ParDescriptionSeq parameters_of(const Definition& from, State::Access& access);
[[nodiscard]] CORBA::ValueMember value_member_of(const Definition& from, State::Access& access);
[[nodiscard]] CORBA::StructMemberSeq members_of(const std::vector<Member>& from,
                                                State::Access& access);
[[nodiscard]] CORBA::InitializerSeq initializers_of(const Definition& from, State::Access& access);
[[nodiscard]] CORBA::ExtInitializerSeq ext_initializers_of(const Definition& from,
                                                           State::Access& access);
[[nodiscard]] CORBA::RepositoryIdSeq ids_of(const std::vector<Key>& keys, const Model& model);

template <typename Sequence>
[[nodiscard]] Sequence references_of(const std::vector<Key>& keys, State::Access& access)
{
    using Element = std::remove_pointer_t<typename Sequence::value_type>;
    Sequence references;
    references.length(static_cast<CORBA::ULong>(keys.size()));
    for (CORBA::ULong i = 0; i < references.length(); ++i)
        references[i] = access.reference_to<Element>(keys[i]);
    return references;
}

/// Members that were given, with the definitions of their types; labels are not read.
struct GivenMember {
    std::string name;
    Key type = nothing;
    CORBA::TypeCode_var code;
};
template <typename Sequence>
[[nodiscard]] std::vector<GivenMember> given_members(const Sequence& from, const State& state)
{
    std::vector<GivenMember> given;
    for (CORBA::ULong i = 0; i < from.length(); ++i)
        given.push_back({.name = from[i].name.in(),
                         .type = state.key_of(from[i].type_def.in()),
                         .code = CORBA::TypeCode::_duplicate(from[i].type.in())});
    return given;
}
[[nodiscard]] std::vector<Member> members_of(const std::vector<GivenMember>& given,
                                             State::Access& access);

template <typename Sequence>
[[nodiscard]] std::vector<Key> keys_of(const Sequence& references, const State& state)
{
    std::vector<Key> keys;
    for (CORBA::ULong i = 0; i < references.length(); ++i) {
        keys.push_back(state.key_of(references[i]));
        if (keys.back() == nothing) require(Refusal::wrong_reference);
    }
    return keys;
}

} // namespace kairos::repository
