// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/structure.h"

#include "kairos/dynany/input.h"
#include "kairos/dynany/output.h"

namespace kairos::dynany {

Structure::Structure(Tree& tree, const CORBA::TypeCode& type)
    : Node(tree, type), components_(make_components(tree, members_of(data())))
{
}

/// An exception's repository id is in front of its members (CORBA 3.3 part 2, 9.3.5.5).
void Structure::read(Input& in)
{
    if (kind() == CORBA::tk_except) (void)in.data().read_string();
    for (const Component& component : components_)
        component->read(in);
}

void Structure::write(Output& out)
{
    if (kind() == CORBA::tk_except) out.data().write_string(data().id);
    for (const Component& component : components_)
        component->write(out);
}

bool Structure::same(Node& other, Compared& compared)
{
    for (CORBA::ULong i = 0; i < count(); ++i)
        if (!at(i).same(other.at(i), compared)) return false;
    return true;
}

CORBA::ULong Structure::count() { return static_cast<CORBA::ULong>(components_.size()); }

char* Structure::current_member_name()
{
    (void)current();
    return CORBA::string_dup(data().members[position()].name);
}

CORBA::TCKind Structure::current_member_kind() { return current().kind(); }

DynamicAny::NameValuePairSeq* Structure::get_members()
{
    (void)tree();
    return values_of(members_of(data()), components_);
}

void Structure::set_members(const DynamicAny::NameValuePairSeq& value)
{
    (void)tree();
    set_values(members_of(data()), components_, value);
    rewind();
}

DynamicAny::NameDynAnyPairSeq* Structure::get_members_as_dyn_any()
{
    (void)tree();
    return nodes_of(members_of(data()), components_);
}

void Structure::set_members_as_dyn_any(const DynamicAny::NameDynAnyPairSeq& value)
{
    (void)tree();
    set_values(members_of(data()), components_, value);
    rewind();
}

} // namespace kairos::dynany
