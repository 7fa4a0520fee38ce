// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of the lives of elements in raw storage: what <memory> has under other
// names, for headers that generated code includes (docs/building.md).
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

template <typename T>
void destroy_elements(T* elements, std::size_t count) noexcept
{
    if constexpr (!std::is_trivially_destructible_v<T>) {
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (std::is_array_v<T>) {
                destroy_elements(elements[i], std::extent_v<T>);
            } else {
                elements[i].~T();
            }
        }
    }
}

/// Has `make(T* at, std::size_t index)` construct the elements one after the other. When one throws
/// the others are destroyed again.
template <typename T, typename Make>
void construct_elements(T* storage, std::size_t count, Make make)
{
    std::size_t made = 0;
    try {
        for (; made < count; ++made)
            make(storage + made, made);
    } catch (...) {
        destroy_elements(storage, made);
        throw;
    }
}

/// Elements of value 0, empty or nil.
template <typename T>
void construct_elements(T* storage,
                        std::size_t count) noexcept(std::is_nothrow_default_constructible_v<T>)
{
    if constexpr (std::is_array_v<T>) {
        using Element = std::remove_all_extents_t<T>;
        construct_elements(reinterpret_cast<Element*>(storage),
                           count * (sizeof(T) / sizeof(Element)));
    } else {
        construct_elements(storage, count, [](T* at, std::size_t) { ::new (at) T(); });
    }
}

template <typename T>
void copy_construct_elements(T* storage, const T* from, std::size_t count)
{
    construct_elements(storage, count, [from](T* at, std::size_t i) { ::new (at) T(from[i]); });
}

template <typename T>
void move_construct_elements(T* storage, T* from, std::size_t count) noexcept
{
    static_assert(std::is_nothrow_move_constructible_v<T>);
    for (std::size_t i = 0; i < count; ++i)
        ::new (storage + i) T(std::move(from[i]));
}

} // namespace kairos::mapping
