// SPDX-License-Identifier: Apache-2.0
//
// Constant tables that describe C++ values of IDL types to the interpreter (interpreter.h): what is
// where in the value and how it travels. One Table a type, made at compile time; never changed, so
// any thread may read it.
#pragma once

#include "kairos/mapping/marshal.h"

#include <cstdint>

namespace kairos::types {

/// What the interpreter does with a value.
enum class Op : std::uint8_t {
    functions, ///< calls the type's own code
};

/// The code of a type that is compiled, for tables that contain it.
struct Functions {
    void (*encode)(cdr::Writer& out, const void* value);
    void (*decode)(cdr::Reader& in, void* value);
};

struct Table {
    Op op;
    std::uint32_t size; ///< of the C++ value
    const Functions* functions;
};

template <typename T>
inline constexpr Functions functions_of{
    [](cdr::Writer& out, const void* value) {
        mapping::Marshal<T>::encode(out, *static_cast<const T*>(value));
    },
    [](cdr::Reader& in, void* value) { mapping::Marshal<T>::decode(in, *static_cast<T*>(value)); },
};

/// The table of T. Types that are interpreted specialise it.
template <typename T>
struct TableOf {
    static constexpr Table table{Op::functions, sizeof(T), &functions_of<T>};
};

} // namespace kairos::types
