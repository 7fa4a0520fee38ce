// SPDX-License-Identifier: Apache-2.0
//
// Object references in CORBA::Any: what generated operators call, one line each. An Any holds every
// reference as a CORBA::Object and makes a stub of the interface that is asked for. Threads as with
// Any.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"
#include "kairos/types/any.h"

namespace kairos::corba {

/// Inserts a reference and takes over the caller's count. Nil is a value like any other.
KAIROS_API void insert_object(CORBA::Any& any, CORBA::TypeCode_ptr type, CORBA::Object* adopted);

/// What extraction needs of an interface.
struct KAIROS_API StubClass {
    void* (*cast)(CORBA::Object* object);           ///< to the interface's class, or null
    CORBA::Object* (*make)(StubArgument reference); ///< a stub; null for local interfaces
};
/// Extracts a reference into `value`, which stays the Any's. False if the Any holds none of an
/// equivalent type.
[[nodiscard]] KAIROS_API bool extract_object(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                             const StubClass& stubs, void*& value);

template <typename T>
inline constexpr StubClass stub_class{
    [](CORBA::Object* object) -> void* { return dynamic_cast<T*>(object); },
    [](StubArgument reference) -> CORBA::Object* { return StubFactory::make<T>(reference); }};
template <typename T>
inline constexpr StubClass local_class{
    [](CORBA::Object* object) -> void* { return dynamic_cast<T*>(object); }, nullptr};

template <typename T>
[[nodiscard]] bool extract_object(const CORBA::Any& any, CORBA::TypeCode_ptr type,
                                  const StubClass& stubs, T*& value)
{
    void* found = nullptr;
    if (!extract_object(any, type, stubs, found)) return false;
    value = static_cast<T*>(found);
    return true;
}

} // namespace kairos::corba
