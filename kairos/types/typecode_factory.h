// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes made at run time, checked as CORBA 3.3 part 1, 8.11.3 wants it: what ORB::create_…_tc
// and the TypeCodeFactory do. Each result is owned by the caller and holds what it refers to. Any
// thread.
#pragma once

#include "kairos/types/typecode.h"

#include <span>

namespace kairos::types {

/// A member of a type to be made; borrowed. `number` is a label or a Visibility, where it has one.
struct NewMember {
    const char* name;
    CORBA::TypeCode_ptr type = nullptr;
    std::int64_t number = 0;
};

// BAD_PARAM 15 for a name that is no identifier, 16 for an id that is no repository id, 17 for a
// member's name that is none or occurs twice, plain for nil; BAD_TYPECODE 2 for a type that cannot
// be there. An empty name is allowed: TypeCodes need none.

/// Makes a struct or an exception: `kind` is tk_struct or tk_except.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_struct(CORBA::TCKind kind, const char* id,
                                                         const char* name,
                                                         std::span<const NewMember> members);
/// Makes a union. Members of several labels come once a label. `default_index` is -1 for none.
/// BAD_PARAM 18 for a label that occurs twice, 20 for a discriminator's type that is none.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_union(const char* id, const char* name,
                                                        CORBA::TypeCode_ptr discriminator,
                                                        std::span<const NewMember> members,
                                                        CORBA::Long default_index);
/// Makes an enum; its members have no types.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_enum(const char* id, const char* name,
                                                       std::span<const NewMember> members);
/// Makes an alias or a value box: `kind` is tk_alias or tk_value_box.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr
make_alias(CORBA::TCKind kind, const char* id, const char* name, CORBA::TypeCode_ptr original);
/// Makes a value type; `base`, the concrete one, is nil for none.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr
make_value(CORBA::TCKind kind, const char* id, const char* name, CORBA::ValueModifier modifier,
           CORBA::TypeCode_ptr base, std::span<const NewMember> members);
/// Makes a type that has nothing but id and name: object references, abstract and local interfaces,
/// natives, components, homes.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_named(CORBA::TCKind kind, const char* id,
                                                        const char* name);
/// Makes the type of strings: `kind` is tk_string or tk_wstring. A bound of 0 means none.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_text(CORBA::TCKind kind, CORBA::ULong bound);
/// Makes a fixed-point type. Throws BAD_PARAM for digits and scales that IDL has not.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_fixed(CORBA::UShort digits, CORBA::Short scale);
/// Makes a sequence, where a length of 0 is no bound, or an array: `kind` is tk_sequence or
/// tk_array.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_elements(CORBA::TCKind kind, CORBA::ULong length,
                                                           CORBA::TypeCode_ptr element);
/// A place holder for the struct, union or value of this id, within which it is going to be. Until
/// then every operation on it throws BAD_TYPECODE 1.
[[nodiscard]] KAIROS_API CORBA::TypeCode_ptr make_recursive(const char* id);

} // namespace kairos::types
