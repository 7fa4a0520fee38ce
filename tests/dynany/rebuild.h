// SPDX-License-Identifier: Apache-2.0
//
// A DynAny built again from nothing, component by component.
#pragma once

#include <kairos/corba/CORBA.h>
#include <kairos/dynany/dynamic_any.h>

namespace dynany_test {

namespace da = DynamicAny;
using da::DynAny;

template <typename T>
typename T::_var_type as(DynAny* object)
{
    return T::_narrow(object);
}

inline CORBA::TCKind kind_of(DynAny* object)
{
    CORBA::TypeCode_var type = object->type();
    while (type->kind() == CORBA::tk_alias)
        type = type->content_type();
    return type->kind();
}

void rebuild(DynAny* from, DynAny* to);

/// Makes as many components as `from` has, and each what that one is.
inline void rebuild_components(DynAny* from, DynAny* to)
{
    if (const auto sequence = as<da::DynSequence>(from); !CORBA::is_nil(sequence))
        as<da::DynSequence>(to)->set_length(sequence->get_length());
    if (const auto selected = as<da::DynUnion>(from); !CORBA::is_nil(selected))
        as<da::DynUnion>(to)->set_discriminator(da::DynAny_var(selected->get_discriminator()));
    if (const auto value = as<da::DynValueCommon>(from); !CORBA::is_nil(value)) {
        if (value->is_null()) return as<da::DynValueCommon>(to)->set_to_null();
        as<da::DynValueCommon>(to)->set_to_value();
    }
    if (from->component_count() != to->component_count()) throw CORBA::INTERNAL();
    from->rewind();
    to->rewind();
    for (CORBA::ULong i = 0; i < from->component_count(); ++i) {
        rebuild(da::DynAny_var(from->current_component()), da::DynAny_var(to->current_component()));
        if (from->next() != to->next()) throw CORBA::INTERNAL();
    }
}

/// Gives `to`, of the same type, the value of `from`, by nothing but the operations of its kind.
inline void rebuild(DynAny* from, DynAny* to)
{
    switch (kind_of(from)) {
    case CORBA::tk_null:
    case CORBA::tk_void:
        return;
    case CORBA::tk_boolean:
        return to->insert_boolean(from->get_boolean());
    case CORBA::tk_char:
        return to->insert_char(from->get_char());
    case CORBA::tk_octet:
        return to->insert_octet(from->get_octet());
    case CORBA::tk_short:
        return to->insert_short(from->get_short());
    case CORBA::tk_ushort:
        return to->insert_ushort(from->get_ushort());
    case CORBA::tk_long:
        return to->insert_long(from->get_long());
    case CORBA::tk_ulong:
        return to->insert_ulong(from->get_ulong());
    case CORBA::tk_longlong:
        return to->insert_longlong(from->get_longlong());
    case CORBA::tk_ulonglong:
        return to->insert_ulonglong(from->get_ulonglong());
    case CORBA::tk_float:
        return to->insert_float(from->get_float());
    case CORBA::tk_double:
        return to->insert_double(from->get_double());
    case CORBA::tk_longdouble:
        return to->insert_longdouble(from->get_longdouble());
    case CORBA::tk_wchar:
        return to->insert_wchar(from->get_wchar());
    case CORBA::tk_string:
        return to->insert_string(CORBA::String_var(from->get_string()));
    case CORBA::tk_wstring:
        return to->insert_wstring(CORBA::WString_var(from->get_wstring()));
    case CORBA::tk_any:
        return to->insert_any(CORBA::Any_var(from->get_any()).in());
    case CORBA::tk_TypeCode:
        return to->insert_typecode(CORBA::TypeCode_var(from->get_typecode()));
    case CORBA::tk_objref:
        return to->insert_reference(CORBA::Object_var(from->get_reference()));
    case CORBA::tk_abstract_interface: {
        const CORBA::AbstractBase_ptr object = from->get_abstract();
        to->insert_abstract(object);
        return CORBA::release(object);
    }
    case CORBA::tk_fixed: {
        const CORBA::String_var text = as<da::DynFixed>(from)->get_value();
        if (!as<da::DynFixed>(to)->set_value(text)) throw CORBA::INTERNAL();
        return;
    }
    case CORBA::tk_enum: {
        const CORBA::String_var name = as<da::DynEnum>(from)->get_as_string();
        return as<da::DynEnum>(to)->set_as_string(name);
    }
    default:
        return rebuild_components(from, to);
    }
}

} // namespace dynany_test
