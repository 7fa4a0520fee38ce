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

void Registry::read_value(cdr::Reader& in, CORBA::TypeCode_ptr type, CORBA::Any& any)
{
    const Type formal{.id = types::resolved(*type).id()};
    const Held value = static_cast<CORBA::ValueBase*>(
        decode(in, &formal, [](CORBA::ValueBase* read) -> void* { return read; }));
    if (in.ok()) types::insert_copy(any, type, value);
}

} // namespace kairos::values
