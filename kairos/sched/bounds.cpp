// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kairos::sched {
namespace {

__extension__ using Wide = __int128;

/// Of a product no larger than time_max times any period.
std::optional<std::int64_t> common_multiple(std::int64_t a, std::int64_t b)
{
    const Wide multiple = Wide{a / std::gcd(a, b)} * b;
    if (multiple > time_max.count()) return std::nullopt;
    return static_cast<std::int64_t>(multiple);
}

long double share_of(const Task& task)
{
    return static_cast<long double>(task.execution.count()) /
           static_cast<long double>(task.period.count());
}

} // namespace

double utilisation(std::span<const Task> tasks)
{
    long double sum = 0;
    for (const Task& task : tasks)
        sum += share_of(task);
    return static_cast<double>(sum);
}

Load compare_with_processor(std::span<const Task* const> tasks)
{
    long double sum = 0;
    std::optional<std::int64_t> multiple = 1;
    for (const Task* task : tasks) {
        sum += share_of(*task);
        if (multiple) multiple = common_multiple(*multiple, task->period.count());
    }
    constexpr long double margin = 1e-15L;
    if (sum < 1 - margin) return Load::below;
    if (sum > 1 + margin) return Load::above;
    if (!multiple) return Load::equal;
    Wide demand = 0;
    for (const Task* task : tasks)
        demand += Wide{*multiple / task->period.count()} * task->execution.count();
    if (demand == *multiple) return Load::equal;
    return demand < *multiple ? Load::below : Load::above;
}

double liu_layland_bound(std::size_t tasks)
{
    if (tasks == 0) return 1;
    const auto n = static_cast<double>(tasks);
    return n * std::expm1(std::log(2.0) / n); // 2^(1/n) - 1 loses digits for large n
}

double hyperbolic_product(std::span<const Task> tasks)
{
    long double product = 1;
    for (const Task& task : tasks)
        product *= share_of(task) + 1;
    return static_cast<double>(product);
}

bool bounds_apply(std::span<const Task> tasks)
{
    return std::ranges::all_of(tasks, [](const Task& task) {
        return task.deadline >= task.period && task.blocking == Time(0);
    });
}

std::optional<Time> hyperperiod(std::span<const Task> tasks)
{
    std::optional<std::int64_t> multiple = 1;
    for (const Task& task : tasks) {
        multiple = common_multiple(*multiple, task.period.count());
        if (!multiple) return std::nullopt;
    }
    return Time(*multiple);
}

} // namespace kairos::sched
