// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynamic/parameters.h"

#include "kairos/values/any.h"

#include <string_view>

namespace kairos::dynamic {

using types::AnyAccess;

const CORBA::TypeCode& parameter_type(const CORBA::Any& value)
{
    const CORBA::TypeCode& type = types::type_of(value);
    const CORBA::TCKind kind = types::resolved(type).kind();
    if (kind == CORBA::tk_null || kind == CORBA::tk_void || kind == CORBA::tk_except)
        throw CORBA::BAD_TYPECODE(mapping::omg_minor(3), CORBA::COMPLETED_NO,
                                  "an argument has no type");
    return type;
}

bool has_value(const CORBA::TypeCode& type)
{
    const CORBA::TCKind kind = types::resolved(type).kind();
    return kind != CORBA::tk_null && kind != CORBA::tk_void;
}

void encode_parameter(cdr::Writer& out, const CORBA::Any& argument, const CORBA::TypeCode& type)
{
    const CORBA::TypeCode& formal_type = types::resolved(type);
    const CORBA::TypeCode& own_type = types::type_of(argument);
    const CORBA::TCKind kind = types::resolved(own_type).kind();
    const bool is_value = kind == CORBA::tk_value || kind == CORBA::tk_value_box;
    CORBA::ValueBase* value = nullptr;
    // What nobody here makes values of is kept as it came, and says its type.
    if (!is_value || types::AnyAccess::bytes(argument) != nullptr ||
        !values::extract_base(argument, const_cast<CORBA::TypeCode_ptr>(&own_type), value))
        return AnyAccess::encode_parameter(out, argument);
    const values::Type* formal = nullptr;
    if (value != nullptr && std::string_view(value->_kairos_type().id) == formal_type.id())
        formal = &value->_kairos_type();
    values::encode(out, value, formal);
}

} // namespace kairos::dynamic
