// SPDX-License-Identifier: Apache-2.0
//
// What kairos-bench-demux is asked and how its answers are called: paper 000's patterns of requests
// (§3.7) and ways of finding operations (§5.3). An order's units are servants, its calls requests.
// Shared by the program and the orchestrator.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kairos::bench {

enum class Pattern { train, round_robin, random, worst };
enum class OperationStrategy { linear, hash, perfect };

inline constexpr std::array all_patterns{Pattern::train, Pattern::round_robin, Pattern::random,
                                         Pattern::worst};
inline constexpr std::array all_operation_strategies{
    OperationStrategy::linear, OperationStrategy::hash, OperationStrategy::perfect};
inline constexpr std::array<std::uint32_t, 3> operation_counts{1, 10, 100};

[[nodiscard]] constexpr std::string_view name_of(Pattern pattern)
{
    constexpr std::string_view names[] = {"request train", "round robin", "random", "worst case"};
    return names[static_cast<std::size_t>(pattern)];
}

[[nodiscard]] constexpr std::string_view name_of(OperationStrategy strategy)
{
    constexpr std::string_view names[] = {"linear", "hash", "perfect"};
    return names[static_cast<std::size_t>(strategy)];
}

/// Nanoseconds from key and name to function.
[[nodiscard]] inline std::string figure_name(Pattern pattern, OperationStrategy strategy,
                                             std::uint32_t operations)
{
    return std::string(name_of(pattern)) + "/" + std::string(name_of(strategy)) + "/" +
           std::to_string(operations);
}

/// Nanoseconds from name to index.
[[nodiscard]] inline std::string lookup_name(OperationStrategy strategy, std::uint32_t operations)
{
    return "lookup/" + std::string(name_of(strategy)) + "/" + std::to_string(operations);
}

} // namespace kairos::bench
