// SPDX-License-Identifier: Apache-2.0
//
// What a TypeCode consists of, and how generated code states it: constexpr functions, one a kind,
// whose results initialise `constinit const CORBA::TypeCode` objects without any code at run time.
// Constant data; any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/types.h"

#include <cstddef>
#include <cstdint>

namespace CORBA {

class TypeCode;

/// CORBA 3.3 part 1, 8.11.1. The numbers are those of the wire (part 2, 9.3.5.1.1).
enum TCKind : ULong {
    tk_null,
    tk_void,
    tk_short,
    tk_long,
    tk_ushort,
    tk_ulong,
    tk_float,
    tk_double,
    tk_boolean,
    tk_char,
    tk_octet,
    tk_any,
    tk_TypeCode,
    tk_Principal,
    tk_objref,
    tk_struct,
    tk_union,
    tk_enum,
    tk_string,
    tk_sequence,
    tk_array,
    tk_alias,
    tk_except,
    tk_longlong,
    tk_ulonglong,
    tk_longdouble,
    tk_wchar,
    tk_wstring,
    tk_fixed,
    tk_value,
    tk_value_box,
    tk_native,
    tk_abstract_interface,
    tk_local_interface,
    tk_component,
    tk_home,
    tk_event
};
typedef TCKind& TCKind_out;

typedef Short Visibility;
inline constexpr Visibility PRIVATE_MEMBER = 0;
inline constexpr Visibility PUBLIC_MEMBER = 1;

typedef Short ValueModifier;
inline constexpr ValueModifier VM_NONE = 0;
inline constexpr ValueModifier VM_CUSTOM = 1;
inline constexpr ValueModifier VM_ABSTRACT = 2;
inline constexpr ValueModifier VM_TRUNCATABLE = 3;

} // namespace CORBA

namespace kairos::types {

class TypeCodeGraph;

struct KAIROS_API TypeCodeMember {
    const char* name;
    const CORBA::TypeCode* type = nullptr; ///< null for enumerators
};

/// The parameters of every kind. What a kind has not is zero, null or "".
struct KAIROS_API TypeCodeData {
    CORBA::TCKind kind;
    /// Number of members; length of an array; bound of a string or sequence; digits of a fixed.
    CORBA::ULong count = 0;
    /// Index of the default member, or -1; scale of a fixed; ValueModifier.
    CORBA::Long detail = 0;
    const char* id = "";
    const char* name = "";
    /// Element; aliased or boxed type; discriminator; concrete base, which may be null.
    const CORBA::TypeCode* content = nullptr;
    const TypeCodeMember* members = nullptr;
    /// Labels of a union, signed or unsigned as its discriminator is; a value's Visibility of each.
    const std::int64_t* numbers = nullptr;
    /// The graph that the TypeCode was made in at run time; null for constant data.
    TypeCodeGraph* graph = nullptr;
};

constexpr TypeCodeData basic_type(CORBA::TCKind kind) { return {.kind = kind}; }
/// `kind` is tk_string or tk_wstring; a bound of 0 means none.
constexpr TypeCodeData text_type(CORBA::TCKind kind, CORBA::ULong bound)
{
    return {.kind = kind, .count = bound};
}
constexpr TypeCodeData fixed_type(CORBA::UShort digits, CORBA::Short scale)
{
    return {.kind = CORBA::tk_fixed, .count = digits, .detail = scale};
}
constexpr TypeCodeData sequence_type(const CORBA::TypeCode& element, CORBA::ULong bound)
{
    return {.kind = CORBA::tk_sequence, .count = bound, .content = &element};
}
constexpr TypeCodeData array_type(const CORBA::TypeCode& element, CORBA::ULong length)
{
    return {.kind = CORBA::tk_array, .count = length, .content = &element};
}
/// Object references, abstract and local interfaces, natives, components and homes.
constexpr TypeCodeData named_type(CORBA::TCKind kind, const char* id, const char* name)
{
    return {.kind = kind, .id = id, .name = name};
}
constexpr TypeCodeData alias_type(const char* id, const char* name, const CORBA::TypeCode& original)
{
    return {.kind = CORBA::tk_alias, .id = id, .name = name, .content = &original};
}
constexpr TypeCodeData box_type(const char* id, const char* name, const CORBA::TypeCode& boxed)
{
    return {.kind = CORBA::tk_value_box, .id = id, .name = name, .content = &boxed};
}
/// `kind` is tk_struct, tk_except or tk_enum.
template <std::size_t count>
constexpr TypeCodeData struct_type(CORBA::TCKind kind, const char* id, const char* name,
                                   const TypeCodeMember (&members)[count])
{
    return {.kind = kind, .count = count, .id = id, .name = name, .members = members};
}
/// `default_index` is -1 where the union has no default member.
template <std::size_t count>
constexpr TypeCodeData union_type(const char* id, const char* name,
                                  const CORBA::TypeCode& discriminator,
                                  const TypeCodeMember (&members)[count],
                                  const std::int64_t (&labels)[count], CORBA::Long default_index)
{
    return {.kind = CORBA::tk_union,
            .count = count,
            .detail = default_index,
            .id = id,
            .name = name,
            .content = &discriminator,
            .members = members,
            .numbers = labels};
}
/// `kind` is tk_value or tk_event; `base` is null for none.
template <std::size_t count>
constexpr TypeCodeData value_type(CORBA::TCKind kind, const char* id, const char* name,
                                  CORBA::ValueModifier modifier, const CORBA::TypeCode* base,
                                  const TypeCodeMember (&members)[count],
                                  const std::int64_t (&visibilities)[count])
{
    return {.kind = kind,
            .count = count,
            .detail = modifier,
            .id = id,
            .name = name,
            .content = base,
            .members = members,
            .numbers = visibilities};
}
/// A value type without members.
constexpr TypeCodeData value_type(CORBA::TCKind kind, const char* id, const char* name,
                                  CORBA::ValueModifier modifier, const CORBA::TypeCode* base)
{
    return {.kind = kind, .detail = modifier, .id = id, .name = name, .content = base};
}

} // namespace kairos::types
