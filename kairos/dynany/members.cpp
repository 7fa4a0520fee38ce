// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/members.h"

#include "kairos/base/limits.h"
#include "kairos/types/any_access.h"

#include <string_view>

namespace kairos::dynany {

MemberList members_of(const types::TypeCodeData& type)
{
    std::vector<const types::TypeCodeData*> types{&type};
    while (types.back()->content != nullptr) {
        if (types.size() == limits::nesting_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a valuetype of too many bases");
        types.push_back(&types::resolved(*types.back()->content)._kairos_data());
    }
    MemberList members;
    for (auto each = types.rbegin(); each != types.rend(); ++each)
        for (CORBA::ULong i = 0; i < (*each)->count; ++i)
            members.push_back(&(*each)->members[i]);
    return members;
}

Components make_components(Tree& tree, const MemberList& members)
{
    Components components;
    components.reserve(members.size());
    for (const types::TypeCodeMember* member : members)
        components.emplace_back(make_node(tree, *member->type));
    return components;
}

namespace {

template <typename Sequence, typename Set>
Sequence* pairs(const MemberList& members, const Components& components, Set&& set)
{
    CORBA::ULong i = 0;
    typename Sequence::_var_type list = new Sequence;
    list->length(static_cast<CORBA::ULong>(components.size()));
    for (const Component& component : components) {
        list[i].id = members[i]->name;
        set(list[i], *component);
        ++i;
    }
    return list._retn();
}

CORBA::TypeCode& type_of(const DynamicAny::NameValuePair& pair)
{
    return *types::pointer(types::AnyAccess::type(pair.value));
}
CORBA::TypeCode& type_of(const DynamicAny::NameDynAnyPair& pair)
{
    return node_of(pair.value.in()).declared_type();
}
void set_value(Node& node, const DynamicAny::NameValuePair& pair) { node.load(pair.value); }
void set_value(Node& node, const DynamicAny::NameDynAnyPair& pair)
{
    if (Node& from = node_of(pair.value.in()); &from != &node) node.take(from);
}

template <typename Sequence>
void set_all(const MemberList& members, const Components& components, const Sequence& values)
{
    if (values.length() != components.size()) raise_invalid_value();
    for (CORBA::ULong i = 0; i < values.length(); ++i) {
        const std::string_view name = members[i]->name;
        const std::string_view given = values[i].id.in();
        if (!name.empty() && !given.empty() && name != given) raise_type_mismatch();
        components[i]->require_type(&type_of(values[i]));
    }
    for (CORBA::ULong i = 0; i < values.length(); ++i)
        set_value(*components[i], values[i]);
}

} // namespace

DynamicAny::NameValuePairSeq* values_of(const MemberList& members, const Components& components)
{
    return pairs<DynamicAny::NameValuePairSeq>(
        members, components, [](auto& pair, Node& node) { pair.value = node.store(); });
}

DynamicAny::NameDynAnyPairSeq* nodes_of(const MemberList& members, const Components& components)
{
    return pairs<DynamicAny::NameDynAnyPairSeq>(members, components, [](auto& pair, Node& node) {
        pair.value = DynAny::_duplicate(&node);
    });
}

void set_values(const MemberList& members, const Components& components,
                const DynamicAny::NameValuePairSeq& values)
{
    set_all(members, components, values);
}

void set_values(const MemberList& members, const Components& components,
                const DynamicAny::NameDynAnyPairSeq& values)
{
    set_all(members, components, values);
}

} // namespace kairos::dynany
