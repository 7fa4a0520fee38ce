// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/priorities.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace kairos::sched {
namespace {

constexpr std::array<std::string_view, 5> policies{"rms", "dms", "edf", "muf", "llf"};

/// Tasks of equal rank belong to one level; the lowest is the most urgent.
std::int64_t rank_of(const Task& task, Policy policy)
{
    switch (policy) {
    case Policy::rms:
        return task.urgency_period.count();
    case Policy::dms:
        return task.urgency_deadline.count();
    case Policy::muf:
        return -static_cast<std::int64_t>(task.criticality);
    case Policy::edf:
    case Policy::llf:
        return 0;
    }
    return 0;
}

/// Most urgent first.
std::vector<std::size_t> sorted_by_urgency(std::span<const Task> tasks, Policy policy)
{
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
        const Task& task = tasks[i];
        return std::tuple(rank_of(task, policy), -static_cast<int>(task.importance), task.order, i);
    });
    return order;
}

struct Level {
    std::int64_t lowest_rank = 0;
    std::int64_t highest_rank = 0;
    std::vector<std::size_t> tasks{};
    bool shared = false;
};

std::vector<Level> make_levels(std::span<const Task> tasks, Policy policy)
{
    std::vector<Level> levels;
    for (const std::size_t i : sorted_by_urgency(tasks, policy)) {
        const std::int64_t rank = rank_of(tasks[i], policy);
        if (levels.empty() || levels.back().lowest_rank != rank)
            levels.push_back({.lowest_rank = rank, .highest_rank = rank});
        levels.back().tasks.push_back(i);
    }
    return levels;
}

/// The first of the two neighbours that lose least by sharing a level.
std::size_t best_merged(const std::vector<Level>& levels, Policy policy)
{
    if (policy == Policy::muf) return levels.size() - 2;
    const auto spread = [&](std::size_t i) {
        return static_cast<long double>(levels[i + 1].highest_rank) /
               static_cast<long double>(levels[i].lowest_rank);
    };
    std::size_t best = levels.size() - 2; // of equal ones the least urgent
    for (std::size_t i = levels.size() - 2; i-- > 0;)
        if (spread(i) < spread(best)) best = i;
    return best;
}

void merge(std::vector<Level>& levels, std::size_t first)
{
    Level& into = levels[first];
    const Level& from = levels[first + 1];
    into.highest_rank = from.highest_rank;
    into.tasks.insert(into.tasks.end(), from.tasks.begin(), from.tasks.end());
    into.shared = true;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

} // namespace

std::string_view name_of(Policy policy) noexcept
{
    return policies[static_cast<std::size_t>(policy)];
}

std::optional<Policy> policy_named(std::string_view name) noexcept
{
    for (std::size_t i = 0; i < policies.size(); ++i)
        if (policies[i] == name) return static_cast<Policy>(i);
    return std::nullopt;
}

Result<std::vector<Collapse>> assign_priorities(std::span<Task> tasks, Policy policy,
                                                PriorityRange range)
{
    if (range.lowest > range.highest)
        return Error{.code = ErrorCode::invalid_argument,
                     .reason = "the lowest priority, " + std::to_string(range.lowest) +
                               ", is above the highest, " + std::to_string(range.highest)};
    std::vector<Level> levels = make_levels(tasks, policy);
    const auto available =
        static_cast<std::size_t>(static_cast<std::int64_t>(range.highest) - range.lowest + 1);
    while (levels.size() > available)
        merge(levels, best_merged(levels, policy));

    std::vector<Collapse> collapses;
    for (std::uint32_t number = 0; number < levels.size(); ++number) {
        const Level& level = levels[number];
        const int os_priority = range.highest - static_cast<int>(number);
        for (std::uint32_t sub = 0; sub < level.tasks.size(); ++sub)
            tasks[level.tasks[sub]].priority = {
                .level = number, .sub = sub, .os_priority = os_priority};
        if (level.shared)
            collapses.push_back(
                {.level = number, .os_priority = os_priority, .tasks = level.tasks});
    }
    return collapses;
}

} // namespace kairos::sched
