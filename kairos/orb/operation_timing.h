// SPDX-License-Identifier: Apache-2.0
//
// What the IDL says about the timing of operations (docs/scheduling.md): constant data of
// skeletons, which are enforced (timed_upcall.h) and order those that wait (urgency.h). Values.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace kairos::orb {

/// What the IDL says about an operation. Times in nanoseconds; zero where nothing is said.
struct KAIROS_API OperationTiming {
    std::string_view operation; ///< "Aircraft::navigate"
    std::int64_t period = 0;
    std::int64_t deadline = 0; ///< after its release; where nothing is said, the period
    std::int64_t worst_case = 0;
    std::uint8_t criticality = 2; ///< 0 very low, 4 very high
    std::uint8_t importance = 2;
};

struct KAIROS_API TimedOperation {
    std::string_view name; ///< as on the wire
    OperationTiming timing;
};

/// All operations of a servant of whose timing the IDL says something, those that its interface
/// inherits as well.
struct KAIROS_API TimedOperations {
    std::span<const TimedOperation> entries;

    /// Returns the timing of the operation of this name; null if nothing is said of it.
    [[nodiscard]] const OperationTiming* find(std::string_view name) const noexcept
    {
        for (const TimedOperation& entry : entries)
            if (entry.name == name) return &entry.timing;
        return nullptr;
    }
};

} // namespace kairos::orb
