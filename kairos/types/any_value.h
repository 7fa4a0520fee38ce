// SPDX-License-Identifier: Apache-2.0
//
// How values of C++ types get into an Any and out again: what generated operators call, one line
// each. The templates only say what an Any must know of the type; the work is in any.cpp.
#pragma once

#include "kairos/base/export.h"
#include "kairos/mapping/array.h"
#include "kairos/mapping/lifetime.h"
#include "kairos/types/any.h"
#include "kairos/types/table.h"

#include <new>

namespace kairos::types {

/// What an Any must know of the C++ type of a value that it holds. Types of the same class are the
/// same type; others may still fit the same TypeCode (two typedefs of one sequence).
struct KAIROS_API ValueClass {
    const Table* table; ///< how it travels, and its size
    void (*construct)(void* at);
    void (*copy)(void* at, const void* from);
    void (*destroy)(void* value) noexcept;
    void (*free)(void* adopted) noexcept; ///< what a user does to a value of their own
};

/// T may be an array.
template <typename T>
struct KAIROS_API ValueFunctions {
    using Element = std::remove_all_extents_t<T>;
    static constexpr std::size_t count = sizeof(T) / sizeof(Element);
    static_assert(alignof(T) <= 16);

    static void construct(void* at)
    {
        mapping::construct_elements(static_cast<Element*>(at), count);
    }
    static void copy(void* at, const void* from)
    {
        mapping::copy_construct_elements(static_cast<Element*>(at),
                                         static_cast<const Element*>(from), count);
    }
    static void destroy(void* value) noexcept
    {
        mapping::destroy_elements(static_cast<Element*>(value), count);
    }
    static void free(void* adopted) noexcept
    {
        if constexpr (std::is_array_v<T>) {
            mapping::array_free<T>(static_cast<mapping::ArraySlice<T>*>(adopted));
        } else {
            delete static_cast<T*>(adopted);
        }
    }
};

template <typename T>
inline constexpr ValueClass value_class{&TableOf<T>::table, &ValueFunctions<T>::construct,
                                        &ValueFunctions<T>::copy, &ValueFunctions<T>::destroy,
                                        &ValueFunctions<T>::free};

// --- Not of one type ---------------------------------------------------------------------------

/// Replaces what the Any holds. `type` gets one more count; null is BAD_TYPECODE. `size` is at most
/// 16: numbers and enums.
KAIROS_API void insert_scalar(CORBA::Any& any, CORBA::TypeCode_ptr type, const void* value,
                              std::size_t size);
/// Copies the Any's value to `value`. False, and `value` is as it was, if the Any holds no value of
/// an equivalent type.
[[nodiscard]] KAIROS_API bool extract_scalar(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                             void* value, std::size_t size);
/// Inserts a copy of `value`.
KAIROS_API void insert_copy(CORBA::Any& any, CORBA::TypeCode_ptr type, const ValueClass& of,
                            const void* value);
/// Inserts `value` and takes it over, also when it throws. Throws BAD_PARAM for null.
KAIROS_API void insert_adopted(CORBA::Any& any, CORBA::TypeCode_ptr type, const ValueClass& of,
                               void* value);
/// The value, which stays the Any's; null if the Any holds none of an equivalent type. Throws
/// MARSHAL if what was received cannot be made into this C++ type.
[[nodiscard]] KAIROS_API const void* extract(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                             const ValueClass& of);

/// The TypeCode inside: not counted, never null, behind all aliases if `resolved`.
[[nodiscard]] KAIROS_API const CORBA::TypeCode& type_of(const CORBA::Any& any) noexcept;

// --- What generated operators call -------------------------------------------------------------

template <typename T>
void insert_copy(CORBA::Any& any, CORBA::TypeCode_ptr type, const T& value)
{
    insert_copy(any, type, value_class<T>, &value);
}
template <typename T>
void insert_adopted(CORBA::Any& any, CORBA::TypeCode_ptr type, T* value)
{
    insert_adopted(any, type, value_class<T>, value);
}
template <typename T>
[[nodiscard]] bool extract(const CORBA::Any& any, CORBA::TypeCode_ptr type, const T*& value)
{
    const void* found = extract(any, type, value_class<T>);
    if (found == nullptr) return false;
    value = static_cast<const T*>(found);
    return true;
}
/// The deprecated form of extraction: what it gives is not to be changed either.
template <typename T>
[[nodiscard]] bool extract(const CORBA::Any& any, CORBA::TypeCode_ptr type, T*& value)
{
    const T* found = nullptr;
    if (!extract(any, type, found)) return false;
    value = const_cast<T*>(found);
    return true;
}

template <typename A, typename Tag>
void insert_array(CORBA::Any& any, CORBA::TypeCode_ptr type,
                  const mapping::ArrayForany<A, Tag>& array)
{
    if (array.nocopy()) {
        insert_adopted(any, type, value_class<A>, const_cast<mapping::ArraySlice<A>*>(array.in()));
    } else {
        insert_copy(any, type, value_class<A>, array.in());
    }
}
template <typename A, typename Tag>
[[nodiscard]] bool extract_array(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                 mapping::ArrayForany<A, Tag>& array)
{
    const void* found = extract(any, type, value_class<A>);
    if (found == nullptr) return false;
    array = mapping::ArrayForany<A, Tag>(
        static_cast<mapping::ArraySlice<A>*>(const_cast<void*>(found)), true);
    return true;
}

template <typename E>
void insert_enum(CORBA::Any& any, CORBA::TypeCode_ptr type, E value)
{
    insert_scalar(any, type, &value, sizeof value);
}
template <typename E>
[[nodiscard]] bool extract_enum(const CORBA::Any& any, CORBA::TypeCode_ptr type, E& value)
{
    return extract_scalar(any, type, &value, sizeof value);
}

} // namespace kairos::types
