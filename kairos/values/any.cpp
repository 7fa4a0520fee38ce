// SPDX-License-Identifier: Apache-2.0
#include "kairos/values/any.h"

#include "kairos/values/registry.h"

namespace kairos::values {

using Held = Var<CORBA::ValueBase>;

void insert_value(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::ValueBase* value)
{
    CORBA::add_ref(value);
    insert_adopted_value(any, type, value);
}

void insert_adopted_value(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::ValueBase* value)
{
    const Held held = value;
    types::insert_copy(any, type, held);
}

bool extract_base(const CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::ValueBase*& value)
{
    const Held* held = nullptr;
    if (!types::extract(any, type, held)) return false;
    value = held->in();
    return true;
}

bool Registry::is_described_only(const CORBA::TypeCode& type) const
{
    const std::string_view id = type.id();
    // What ValueBase, abstract and custom values hold, and where TAO's chunks end, no TypeCode
    // tells.
    if (tao_chunks_ || id == CORBA::_kairos_tc_ValueBase.id() || known_box(id) != nullptr)
        return false;
    if (type.kind() != CORBA::tk_value_box) {
        const CORBA::ValueModifier modifier = type.type_modifier();
        if (modifier == CORBA::VM_CUSTOM || modifier == CORBA::VM_ABSTRACT) return false;
    }
    const CORBA::ValueFactoryBase_var known = find(id);
    return known.in() == nullptr;
}

bool Registry::read_value(cdr::Reader& in, CORBA::TypeCode_ptr type, CORBA::Any& any)
{
    const CORBA::TypeCode& actual = types::resolved(*type);
    if (is_described_only(actual)) return false;
    const Type formal{.id = actual.id()};
    const Held value = static_cast<CORBA::ValueBase*>(
        decode(in, &formal, [](CORBA::ValueBase* read) -> void* { return read; }));
    if (in.ok()) types::insert_copy(any, type, value);
    return true;
}

} // namespace kairos::values
