// SPDX-License-Identifier: Apache-2.0
//
// How values travel (CORBA 3.3 part 2, 9.3.4): tags, repository ids, chunks, and indirections for
// what occurs more than once in a message, so that graphs arrive as graphs. What has been met in a
// message is remembered in its cdr::Environment. Used by the thread that has the message.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/environment.h"
#include "kairos/mapping/marshal.h"
#include "kairos/values/value_base.h"

namespace kairos::values {

/// Minor codes of MARSHAL that the OMG assigns (CORBA 3.3 part 2, annex A).
inline constexpr CORBA::ULong no_factory = mapping::omg_minor(1);

/// Writes the value, or null, where IDL has the type `formal`: null for ValueBase and for abstract
/// interfaces. Throws MARSHAL where the message has no environment, IMP_LIMIT for values nested
/// deeper than limits::values_nesting_max.
KAIROS_API void encode(cdr::Writer& out, const CORBA::ValueBase* value, const Type* formal);

/// Returns the value as a pointer to the C++ class that a place in IDL asks for; null if it is
/// none.
using Fits = void* (*)(CORBA::ValueBase* value);

/// Reads a value, owned by the caller, and returns what `fits` says of it; null for null or when
/// `in` has failed. What does not fit fails `in`. Throws as ValueTraits::decode does.
[[nodiscard]] KAIROS_API void* decode(cdr::Reader& in, const Type* formal, Fits fits);

/// A deep copy: shared values are shared in it, too. Object references and factories are those of
/// the environment given. Throws MARSHAL.
[[nodiscard]] KAIROS_API CORBA::ValueBase* copy(const CORBA::ValueBase& value, orb::Orb* orb,
                                                cdr::Attachment* factories);

template <typename T>
[[nodiscard]] constexpr const Type* formal_type() noexcept
{
    if constexpr (requires { T::_kairos_value_type; }) {
        return &T::_kairos_value_type;
    } else {
        return nullptr;
    }
}

template <typename T>
void ValueTraits<T>::encode(cdr::Writer& out, T* value)
{
    values::encode(out, value, formal_type<T>());
}

template <typename T>
T* ValueTraits<T>::decode(cdr::Reader& in)
{
    return static_cast<T*>(
        values::decode(in, formal_type<T>(),
                       [](CORBA::ValueBase* read) -> void* { return dynamic_cast<T*>(read); }));
}

/// `_kairos_clear` of members that are made of values: leaves nothing in them.
template <typename T>
void reset(T& member)
{
    if constexpr (std::is_array_v<T>) {
        for (auto& element : member)
            reset(element);
    } else {
        member = T();
    }
}

} // namespace kairos::values
