// SPDX-License-Identifier: Apache-2.0
//
// What a property service gives its clients at most, so that none of them costs more than it may.
#pragma once

#include <chrono>
#include <cstddef>

namespace kairos::properties {

struct ServiceLimits {
    /// Sets at the same time. Beyond, a set that is empty and was not used for `idle_max` makes
    /// room, unless it has a name.
    std::size_t sets_max = 10'000;
    /// Properties of one set; octets of a name.
    std::size_t properties_max = 10'000;
    std::size_t name_octets_max = 255;
    /// Octets of one value, as it is encoded with its type.
    std::size_t value_octets_max = std::size_t{1} << 20;
    /// Octets, about, of all values, names and constraints of all sets together.
    std::size_t octets_of_all_max = std::size_t{256} << 20;
    /// Types, and properties, that a constrained set allows.
    std::size_t allowed_types_max = 100;
    std::size_t allowed_properties_max = 1000;
    /// Iterators that clients have begun and not destroyed. The one that was not used for the
    /// longest time makes room for another; so does each that nobody has used for `idle_max`.
    std::size_t iterators_max = 250;
    std::chrono::milliseconds idle_max{600'000};
    /// Properties or names in one reply, however many the client wants; the rest is the iterator's.
    std::size_t reply_count_max = 10'000;
    /// Octets of them, unless one alone has more.
    std::size_t reply_octets_max = std::size_t{4} << 20;
};

} // namespace kairos::properties
