// SPDX-License-Identifier: Apache-2.0
//
// What values that hold object references need to know about them: how to share, give back, write
// and read one. The façade (kairos/corba) defines it all; this module never sees an object.
#pragma once

#include "kairos/base/export.h"

namespace kairos::cdr {
class Reader;
class Writer;
} // namespace kairos::cdr

namespace CORBA {
class Object;
KAIROS_API void release(Object* object);
class TypeCode;
} // namespace CORBA

namespace kairos::corba {

/// A new reference of interface T, owned by the caller; null for nil or when `in` has failed.
template <typename T>
[[nodiscard]] KAIROS_API T* decode_reference(cdr::Reader& in);

} // namespace kairos::corba

namespace kairos::mapping {

/// Writes the IOR; that of nil for null. Throws what an unwritable (local) object calls for.
KAIROS_API void encode_object(cdr::Writer& out, CORBA::Object* object);
/// Writes a TypeCode. Throws BAD_PARAM for nil. Module types defines it (types/typecode_wire.h).
KAIROS_API void encode_object(cdr::Writer& out, const CORBA::TypeCode* type);

/// Somebody has called through a T_var that holds nothing: INV_OBJREF, BAD_PARAM for a value. Out
/// of line and cold, so that what calls pay for the look is one branch that is never taken.
[[noreturn, gnu::cold]] KAIROS_API void raise_nil_reference();
[[noreturn, gnu::cold]] KAIROS_API void raise_null_value();

/// How references of type T are shared. T may be incomplete where this is named. Specialised for
/// pseudo objects that are not CORBA::Objects, or found by argument-dependent lookup of `release`.
template <typename T>
struct KAIROS_API ObjectTraits {
    [[nodiscard]] static T* duplicate(T* object) { return T::_duplicate(object); }
    static void release(T* object)
    {
        if (object == nullptr) return;
        using CORBA::release;
        release(object);
    }
    [[noreturn]] static void raise_nil() { raise_nil_reference(); }
};

template <typename T, typename Traits = ObjectTraits<T>>
class ObjectVar;
template <typename T, typename Traits = ObjectTraits<T>>
class ObjectOut;
template <typename Elements>
class PointerElement;
template <typename Elements>
class ConstPointerElement;

} // namespace kairos::mapping
