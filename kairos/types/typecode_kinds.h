// SPDX-License-Identifier: Apache-2.0
//
// Which parameters the kinds of TypeCodes have (CORBA 3.3 part 1, 8.11.1, and part 2, table 9.2).
// Private to module types.
#pragma once

#include "kairos/types/typecode_data.h"

#include <cstdint>

namespace kairos::types {

/// How a kind's parameters travel.
enum class Parameters : std::uint8_t {
    none,
    bound,        ///< an unsigned long
    fixed,        ///< digits and scale
    encapsulated, ///< whatever they are
    unknown,      ///< there is no such kind
};

[[nodiscard]] constexpr Parameters parameters_of(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_string:
    case CORBA::tk_wstring:
        return Parameters::bound;
    case CORBA::tk_fixed:
        return Parameters::fixed;
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_longdouble:
    case CORBA::tk_wchar:
        return Parameters::none;
    default:
        if (kind <= CORBA::tk_Principal) return Parameters::none;
        return kind <= CORBA::tk_event ? Parameters::encapsulated : Parameters::unknown;
    }
}

[[nodiscard]] constexpr bool has_id(CORBA::TCKind kind) noexcept
{
    return parameters_of(kind) == Parameters::encapsulated && kind != CORBA::tk_sequence &&
           kind != CORBA::tk_array;
}

[[nodiscard]] constexpr bool is_value(CORBA::TCKind kind) noexcept
{
    return kind == CORBA::tk_value || kind == CORBA::tk_event;
}

/// Kinds whose members have types.
[[nodiscard]] constexpr bool is_aggregate(CORBA::TCKind kind) noexcept
{
    return kind == CORBA::tk_struct || kind == CORBA::tk_union || kind == CORBA::tk_except ||
           is_value(kind);
}

[[nodiscard]] constexpr bool has_members(CORBA::TCKind kind) noexcept
{
    return is_aggregate(kind) || kind == CORBA::tk_enum;
}

[[nodiscard]] constexpr bool has_content(CORBA::TCKind kind) noexcept
{
    return kind == CORBA::tk_sequence || kind == CORBA::tk_array || kind == CORBA::tk_alias ||
           kind == CORBA::tk_value_box;
}

/// What a member, element or aliased type may be: anything that has values of its own.
[[nodiscard]] constexpr bool has_values(CORBA::TCKind kind) noexcept
{
    return kind != CORBA::tk_null && kind != CORBA::tk_void && kind != CORBA::tk_except;
}

/// IDL's limits of fixed<digits, scale>.
[[nodiscard]] constexpr bool is_fixed(CORBA::UShort digits, CORBA::Short scale) noexcept
{
    return digits >= 1 && digits <= 31 && scale >= 0 && scale <= digits;
}

/// What may select the members of a union, behind aliases. IDL 4 adds octet and wchar.
[[nodiscard]] constexpr bool is_discriminator(CORBA::TCKind kind) noexcept
{
    switch (kind) {
    case CORBA::tk_short:
    case CORBA::tk_long:
    case CORBA::tk_ushort:
    case CORBA::tk_ulong:
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_wchar:
    case CORBA::tk_octet:
    case CORBA::tk_enum:
        return true;
    default:
        return false;
    }
}

} // namespace kairos::types
