// SPDX-License-Identifier: Apache-2.0
//
// Task sets for tests: given as tables, or made up from a seed. Milliseconds throughout, as the
// books have small whole numbers.
#pragma once

#include "kairos/sched/analysis.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace kairos::sched::testing {

inline Time ms(std::int64_t count) { return std::chrono::milliseconds(count); }

struct Row {
    std::int64_t period = 0;
    std::int64_t time = 0;
    std::int64_t deadline = 0; ///< 0: the period
    std::int64_t blocking = 0;
    Criticality criticality = Criticality::medium;
};

/// The operations are called "1", "2", …
inline OperationSet make_set(const std::vector<Row>& rows)
{
    OperationSet set;
    for (const Row& row : rows) {
        const auto added = set.add({.name = std::to_string(set.size() + 1),
                                    .worst_case_time = ms(row.time),
                                    .period = ms(row.period),
                                    .deadline = ms(row.deadline),
                                    .blocking = ms(row.blocking),
                                    .criticality = row.criticality});
        EXPECT_TRUE(added.ok());
    }
    return set;
}

inline Analysis analyse(const std::vector<Row>& rows, Policy policy = Policy::rms,
                        PriorityRange range = {})
{
    auto analysis = sched::analyse(make_set(rows), {.policy = policy, .range = range});
    EXPECT_TRUE(analysis.ok()) << (analysis ? "" : analysis.error().reason);
    return analysis ? std::move(analysis).value() : Analysis{};
}

/// The worst response of each row in milliseconds; -1 where there is none.
inline std::vector<std::int64_t> responses(const Analysis& analysis)
{
    std::vector<std::int64_t> result(analysis.operations.size(), -1);
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i)
        if (const auto worst = analysis.responses[i].worst; worst && *worst % ms(1) == Time(0))
            result[analysis.tasks[i].operation] = *worst / ms(1);
    return result;
}

inline Verdict verdict_of(const Analysis& analysis, OperationIndex operation)
{
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i)
        if (analysis.tasks[i].operation == operation) return analysis.responses[i].verdict;
    return Verdict::undecided;
}

/// Two to seven tasks whose periods divide 2520, of the utilisation `load` or a little above.
inline std::vector<Row> random_rows(std::mt19937_64& random, double load)
{
    static constexpr std::int64_t periods[] = {
        8,  9,  10, 12, 14, 15,  18,  20,  21,  24,  28,  30,  35,  36,  40,  42,  45,
        60, 70, 72, 84, 90, 105, 120, 126, 140, 168, 180, 210, 252, 280, 315, 360, 420};
    const std::size_t count = 2 + random() % 6;
    std::vector<Row> rows;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t period = periods[random() % std::size(periods)];
        const double share =
            load / static_cast<double>(count) * (0.5 + static_cast<double>(random() % 1000) / 1000);
        const auto time = static_cast<std::int64_t>(share * static_cast<double>(period));
        rows.push_back({period, std::max<std::int64_t>(1, time)});
    }
    return rows;
}

} // namespace kairos::sched::testing
