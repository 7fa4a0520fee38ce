// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes on the wire (CORBA 3.3 part 2, 9.3.5.1), and as members, elements and parameters of
// generated code, where they behave like object references. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/marshal.h"
#include "kairos/types/typecode.h"

namespace kairos::types {

/// Writes a TypeCode. A type that occurs again, and one that contains itself, is written as an
/// indirection to where it began. Throws BAD_TYPECODE for what contains a recursive TypeCode that
/// stands for nothing, IMP_LIMIT for types within types beyond any reason.
void encode_type_code(cdr::Writer& out, const CORBA::TypeCode& type);

/// Reads a TypeCode, owned by the caller; null when the reader has failed. Accepts indirections to
/// any earlier TypeCode. Refuses, with a fault, unknown kinds, parameters that no IDL type has,
/// types that contain themselves other than by a sequence or value, and nesting beyond
/// limits::nesting_max. Costs memory in proportion to the bytes read. Throws only std::bad_alloc.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr decode_type_code(cdr::Reader& in);

} // namespace kairos::types

namespace kairos::mapping {

template <>
struct Marshal<ObjectVar<CORBA::TypeCode>> {
    static constexpr std::size_t wire_bytes_min = sizeof(CORBA::ULong);

    static void encode_pointer(cdr::Writer& out, CORBA::TypeCode_ptr type)
    {
        encode_object(out, type);
    }
    static CORBA::TypeCode_ptr decode_pointer(cdr::Reader& in)
    {
        return types::decode_type_code(in);
    }
    static void encode(cdr::Writer& out, const ObjectVar<CORBA::TypeCode>& value)
    {
        encode_pointer(out, value.in());
    }
    static void decode(cdr::Reader& in, ObjectVar<CORBA::TypeCode>& value)
    {
        value = decode_pointer(in);
    }
};

} // namespace kairos::mapping

namespace kairos::corba {

/// What generated code calls for any reference type.
template <>
[[nodiscard]] inline CORBA::TypeCode* decode_reference<CORBA::TypeCode>(cdr::Reader& in)
{
    return types::decode_type_code(in);
}

} // namespace kairos::corba
