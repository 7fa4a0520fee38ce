// SPDX-License-Identifier: Apache-2.0
//
// How a skeleton finds an operation: the perfect hash that kairos-idl computed with
// base/operation_hash.h, as constant data. Station 10 of the request walk (docs/TOUR.md): one
// multiplication, one comparison of names, whatever the number of operations. Immutable. And linear
// search, to compare it with (`kairos-idl --operation-demux=linear`). Those that adapters look
// into by themselves are poa/operations.h's.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/operation_hash.h"
#include "kairos/poa/operations.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kairos::corba {

/// Whether two names are equal; in place of ==, the code of which compilers that optimise for size
/// put into each object file.
[[nodiscard]] constexpr bool is_name(std::string_view one, std::string_view other) noexcept
{
    bool compiling = false;
    compiling = std::is_constant_evaluated(); // an initialiser would count as such itself
    if (!compiling) return same_operation(one, other);
    return one.size() == other.size() &&
           std::char_traits<char>::compare(one.data(), other.data(), one.size()) == 0;
}

template <std::size_t count, unsigned bits>
struct KAIROS_API OperationTable {
    std::uint64_t multiplier;
    std::string_view names[count];
    /// The index in `names` of the only name that may fall into a slot; `count` where none does.
    std::uint16_t slots[std::size_t{1} << bits];

    /// The index of `name` among the names, or `count`.
    [[nodiscard]] constexpr std::size_t find(std::string_view name) const noexcept
    {
        const std::size_t index = slots[operation_slot(operation_digest(name), multiplier, bits)];
        return index < count && is_name(names[index], name) ? index : count;
    }
};

template <std::size_t count>
struct KAIROS_API LinearOperations {
    std::string_view names[count];

    /// The index of `name` among the names, or `count`.
    [[nodiscard]] constexpr std::size_t find(std::string_view name) const noexcept
    {
        std::size_t index = 0;
        while (index < count && names[index] != name)
            ++index;
        return index;
    }
};

/// An entry of poa::Operations: calls a function of the skeleton, or of one that it inherits.
template <typename Skeleton, auto function>
void serve(void* skeleton, orb::Upcall& upcall)
{
    (static_cast<Skeleton*>(skeleton)->*function)(upcall);
}

} // namespace kairos::corba
