// SPDX-License-Identifier: Apache-2.0
//
// Values in CORBA::Any: what generated operators call, one line each. An Any holds every value as a
// ValueBase, so the class that is asked for need not be the one that was inserted. Threads as with
// Any.
#pragma once

#include "kairos/base/export.h"
#include "kairos/types/any_value.h"
#include "kairos/values/marshal.h"

namespace kairos::values {

/// Inserts the value, which may be null, with one more owner.
KAIROS_API void insert_value(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::ValueBase* value);
/// Inserts the value and takes over the caller's count, also when it throws.
KAIROS_API void insert_adopted_value(CORBA::Any& any, CORBA::TypeCode_ptr type,
                                     CORBA::ValueBase* value);
/// Whether the Any holds a value, or null, of an equivalent type; it keeps what `value` becomes.
[[nodiscard]] KAIROS_API bool extract_base(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                           CORBA::ValueBase*& value);

template <typename V>
[[nodiscard]] bool extract_value(const CORBA::Any& any, CORBA::TypeCode_ptr type, V*& value)
{
    CORBA::ValueBase* base = nullptr;
    if (!extract_base(any, type, base)) return false;
    V* found = dynamic_cast<V*>(base);
    if (found == nullptr && base != nullptr) return false;
    value = found;
    return true;
}

/// A factory of a complete class. Value boxes need none.
template <typename V>
class KAIROS_API FactoryOf : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new V(); }
};

} // namespace kairos::values
