// SPDX-License-Identifier: Apache-2.0
//
// CORBA::TypeCode as users see it (CORBA 3.3 part 1, 8.11; C++ mapping 5.32). Those of IDL types
// are constant data: generated code initialises them without code, nobody counts them. Those made
// at run time belong to a graph, which counts the owners of all its TypeCodes together. Immutable;
// any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/user_exception.h"
#include "kairos/mapping/var.h"
#include "kairos/types/typecode_data.h"

namespace CORBA {

class Any;

typedef TypeCode* TypeCode_ptr;
typedef kairos::mapping::ObjectVar<TypeCode> TypeCode_var;
typedef kairos::mapping::ObjectOut<TypeCode> TypeCode_out;

class KAIROS_API TypeCode {
  public:
    typedef TypeCode_ptr _ptr_type;
    typedef TypeCode_var _var_type;
    KAIROS_EMPTY_EXCEPTION("CORBA/TypeCode", Bounds)
    KAIROS_EMPTY_EXCEPTION("CORBA/TypeCode", BadKind)

    constexpr explicit TypeCode(const kairos::types::TypeCodeData& data) : data_(data) {}
    TypeCode(const TypeCode&) = delete;
    TypeCode& operator=(const TypeCode&) = delete;

    static TypeCode_ptr _duplicate(TypeCode_ptr type);
    static TypeCode_ptr _nil() { return nullptr; }

    // Every operation throws BAD_TYPECODE on a recursive TypeCode that no type encloses yet, and
    // BadKind where the kind has no such parameter. Strings are the TypeCode's.

    /// Whether every operation answers the same for this TypeCode and `other`.
    Boolean equal(TypeCode_ptr other) const;
    /// Whether values of this type may be taken for values of `other`: aliases are looked through,
    /// repository ids decide where both have one, names do not matter.
    Boolean equivalent(TypeCode_ptr other) const;
    /// This type without the names of types and members. Owned by the caller.
    TypeCode_ptr get_compact_typecode() const;
    TCKind kind() const { return _kairos_data().kind; }

    const char* id() const;
    const char* name() const;

    ULong member_count() const;
    /// The name of a member, the TypeCode's own. Throws Bounds.
    const char* member_name(ULong index) const;
    /// The type of a member, owned by the caller. Throws Bounds.
    TypeCode_ptr member_type(ULong index) const;
    Visibility member_visibility(ULong index) const;
    /// The label of a union's member as a value of the discriminator; for the default member the
    /// octet 0. Owned by the caller. Throws Bounds.
    Any* member_label(ULong index) const;

    TypeCode_ptr discriminator_type() const;
    /// The index of a union's default member; -1 for none.
    Long default_index() const;

    /// The bound of a string or sequence, 0 for none; the length of an array.
    ULong length() const;
    TypeCode_ptr content_type() const;

    UShort fixed_digits() const;
    Short fixed_scale() const;

    ValueModifier type_modifier() const;
    /// The type of a value's concrete base, owned by the caller; nil for none.
    TypeCode_ptr concrete_base_type() const;

    /// The label of a union's member as a number: of an enum its ordinal, of a char its code. That
    /// of the default member means nothing. Throws Bounds.
    [[nodiscard]] LongLong _kairos_label(ULong index) const;
    /// What the TypeCode, or the one that a recursive TypeCode stands for, consists of.
    [[nodiscard]] const kairos::types::TypeCodeData& _kairos_data() const
    {
        return _kairos_is_recursive() ? _kairos_bound()._kairos_raw() : data_;
    }
    /// Whether this is only a place holder, made by create_recursive_tc.
    [[nodiscard]] constexpr bool _kairos_is_recursive() const noexcept
    {
        return data_.kind == recursive;
    }
    /// What a place holder stands for. Throws BAD_TYPECODE if that is nothing yet.
    [[nodiscard]] const TypeCode& _kairos_bound() const;
    [[nodiscard]] constexpr const kairos::types::TypeCodeData& _kairos_raw() const noexcept
    {
        return data_;
    }

    /// The kind of place holders; on the wire it marks an indirection.
    static constexpr TCKind recursive{0xFFFF'FFFF};

  private:
    [[nodiscard]] const kairos::types::TypeCodeMember& member(ULong index) const;

    kairos::types::TypeCodeData data_;
};

inline Boolean is_nil(TypeCode_ptr type) { return type == nullptr; }
KAIROS_API void release(TypeCode_ptr type);

} // namespace CORBA

namespace kairos::types {

/// A TypeCode in the type that users are given; nobody changes one.
[[nodiscard]] constexpr CORBA::TypeCode_ptr pointer(const CORBA::TypeCode& type) noexcept
{
    return const_cast<CORBA::TypeCode_ptr>(&type);
}

/// The type behind all aliases, and what a recursive TypeCode stands for. Borrowed.
[[nodiscard]] KAIROS_API const CORBA::TypeCode& resolved(const CORBA::TypeCode& type);

/// Whether the union's member is the one of `default:`.
[[nodiscard]] inline bool is_default_member(const TypeCodeData& data, CORBA::ULong index) noexcept
{
    return data.detail >= 0 && static_cast<CORBA::ULong>(data.detail) == index;
}

} // namespace kairos::types

// clang-format off
/// The kinds that are a whole type, and their names in IDL and in _tc_… constants.
#define KAIROS_BASIC_TYPES(apply)                                                                  \
    apply(tk_null, null) apply(tk_void, void) apply(tk_short, short) apply(tk_long, long)          \
    apply(tk_ushort, ushort) apply(tk_ulong, ulong) apply(tk_float, float)                         \
    apply(tk_double, double) apply(tk_boolean, boolean) apply(tk_char, char)                       \
    apply(tk_octet, octet) apply(tk_any, any) apply(tk_TypeCode, TypeCode)                         \
    apply(tk_Principal, Principal) apply(tk_longlong, longlong) apply(tk_ulonglong, ulonglong)     \
    apply(tk_longdouble, longdouble) apply(tk_wchar, wchar)
// clang-format on

/// Declares a predefined TypeCode: the object, for constant initialisers, and users' pointer to it.
#define KAIROS_DECLARE_TYPE(name)                                                                  \
    extern KAIROS_API const TypeCode _kairos_tc_##name;                                            \
    extern KAIROS_API const TypeCode_ptr _tc_##name;
#define KAIROS_DECLARE_BASIC_TYPE(kind, name) KAIROS_DECLARE_TYPE(name)

namespace CORBA {
KAIROS_BASIC_TYPES(KAIROS_DECLARE_BASIC_TYPE)
KAIROS_DECLARE_TYPE(string)
KAIROS_DECLARE_TYPE(wstring)
KAIROS_DECLARE_TYPE(Object)
KAIROS_DECLARE_TYPE(ValueBase)
KAIROS_DECLARE_TYPE(AbstractBase)
KAIROS_DECLARE_TYPE(completion_status)
KAIROS_SYSTEM_EXCEPTIONS(KAIROS_DECLARE_TYPE)
} // namespace CORBA

#undef KAIROS_DECLARE_BASIC_TYPE
#undef KAIROS_DECLARE_TYPE
