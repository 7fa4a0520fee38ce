// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/transfer.h"

#include "kairos/types/any_access.h"
#include "kairos/types/copy.h"

namespace kairos::dynany {

CORBA::Any Transfer::any(CORBA::TypeCode& type) const
{
    cdr::Reader in = reader();
    const types::Found found = types::inspect_value(in, type);
    if (!in.ok()) throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO, cdr::describe(in.fault()));
    types::AnyBytes* bytes = types::AnyAccess::bytes_of(out_, 0);
    bytes->has_characters = found.has_characters;
    bytes->has_wide = found.has_wide;
    bytes->orb = environment_.orb;
    bytes->orb_owner = environment_.orb_owner;
    bytes->orb_owner->add_ref();
    bytes->value_factories = environment_.value_factories;
    CORBA::Any any;
    types::AnyAccess::set_bytes(any, CORBA::TypeCode::_duplicate(&type), bytes);
    return any;
}

} // namespace kairos::dynany
