// SPDX-License-Identifier: Apache-2.0
//
// What kairos-bench-demux and kairos-bench-many are asked and how answers are called: paper 000's
// patterns of requests (§3.7) and ways of finding operations (§5.3). Shared by the programs and the
// orchestrator.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::bench {

enum class Pattern { train, round_robin, random, worst };
enum class OperationStrategy { linear, hash, perfect, delayered };

inline constexpr std::array all_patterns{Pattern::train, Pattern::round_robin, Pattern::random,
                                         Pattern::worst};
inline constexpr std::array all_operation_strategies{
    OperationStrategy::linear, OperationStrategy::hash, OperationStrategy::perfect,
    OperationStrategy::delayered};
/// Those that are a step of their own, after that of the object, whatever way that took. The other
/// is one step with active demultiplexing of objects.
inline constexpr std::array layered_operation_strategies{
    OperationStrategy::linear, OperationStrategy::hash, OperationStrategy::perfect};
inline constexpr std::array<std::uint32_t, 3> operation_counts{1, 10, 100};

[[nodiscard]] constexpr std::string_view name_of(Pattern pattern)
{
    constexpr std::string_view names[] = {"request train", "round robin", "random", "worst case"};
    return names[static_cast<std::size_t>(pattern)];
}

[[nodiscard]] constexpr std::string_view name_of(OperationStrategy strategy)
{
    constexpr std::string_view names[] = {"linear", "hash", "perfect", "de-layered"};
    return names[static_cast<std::size_t>(strategy)];
}

[[nodiscard]] inline Pattern pattern_numbered(std::uint32_t number)
{
    if (number >= all_patterns.size()) throw std::invalid_argument("there is no such pattern");
    return all_patterns[number];
}

/// Which servants a pattern calls; of a train for each servant, as many as there are requests for,
/// evenly spread.
[[nodiscard]] inline std::vector<std::uint32_t> servants_of(Pattern pattern, std::uint32_t servants,
                                                            std::size_t requests)
{
    constexpr std::uint32_t train_length = 100; // MAXITER of the paper
    const std::uint64_t trains = std::min<std::uint64_t>(servants, requests / train_length + 1);
    std::mt19937 random(7);
    std::vector<std::uint32_t> called(requests);
    for (std::uint32_t i = 0; i < called.size(); ++i) {
        switch (pattern) {
        case Pattern::train:
            called[i] = static_cast<std::uint32_t>(i / train_length % trains * servants / trains);
            break;
        case Pattern::round_robin:
            called[i] = i % servants;
            break;
        case Pattern::random:
            called[i] = static_cast<std::uint32_t>(random() % servants);
            break;
        case Pattern::worst:
            called[i] = servants - 1;
            break;
        }
    }
    return called;
}

/// Which operations it calls.
[[nodiscard]] inline std::vector<std::uint32_t>
operations_of(Pattern pattern, std::uint32_t operations, std::size_t requests)
{
    std::mt19937 random(8);
    std::vector<std::uint32_t> called(requests);
    for (std::uint32_t i = 0; i < called.size(); ++i) {
        if (pattern == Pattern::worst)
            called[i] = operations - 1;
        else
            called[i] = static_cast<std::uint32_t>((pattern == Pattern::random ? random() : i) %
                                                   operations);
    }
    return called;
}

/// Nanoseconds from key and name to function.
[[nodiscard]] inline std::string figure_name(Pattern pattern, OperationStrategy strategy,
                                             std::uint32_t operations)
{
    return std::string(name_of(pattern)) + "/" + std::string(name_of(strategy)) + "/" +
           std::to_string(operations);
}

/// What an order's request_bytes say when one point is to be executed and not timed; 0 for all.
[[nodiscard]] constexpr std::uint32_t point_number(Pattern pattern, OperationStrategy strategy,
                                                   std::uint32_t operations)
{
    std::uint32_t of_operations = 0;
    while (operation_counts[of_operations] != operations)
        ++of_operations;
    const auto of_strategy = static_cast<std::uint32_t>(strategy);
    const auto count = static_cast<std::uint32_t>(operation_counts.size());
    return 1 + static_cast<std::uint32_t>(pattern) +
           static_cast<std::uint32_t>(all_patterns.size()) * (of_operations + count * of_strategy);
}

/// Nanoseconds from name to index.
[[nodiscard]] inline std::string lookup_name(OperationStrategy strategy, std::uint32_t operations)
{
    return "lookup/" + std::string(name_of(strategy)) + "/" + std::to_string(operations);
}

} // namespace kairos::bench
