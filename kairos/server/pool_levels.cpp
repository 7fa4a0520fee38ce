// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/pool_levels.h"

#include <algorithm>
#include <utility>

namespace kairos::orb {

void PoolLevel::push(LocalCall& call) noexcept
{
    (last_call == nullptr ? first_call : last_call->next) = &call;
    last_call = &call;
    ++calls;
}

LocalCall* PoolLevel::pop_call() noexcept
{
    LocalCall* call = first_call;
    if (call == nullptr) return nullptr;
    first_call = call->next;
    if (first_call == nullptr) last_call = nullptr;
    --calls;
    return call;
}

PoolLevels::PoolLevels(const PoolSettings& settings, Dispatching dispatching,
                       std::size_t buffered_max)
    : settings_(settings),
      buffered_max_(settings.buffered_max != 0 ? settings.buffered_max : buffered_max)
{
    for (const PoolLane& lane : settings_.lanes) {
        levels_.emplace_back();
        levels_.back().lane = lane;
        levels_.back().requests.order_by(dispatching);
    }
}

PoolLevel& PoolLevels::level_for(std::optional<Priority> priority) noexcept
{
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
        if (priority && level->lane.priority <= *priority) return *level;
    return levels_.front();
}

bool PoolLevels::serves(const PoolLevel& level, const PoolLevel& queue) const noexcept
{
    return &level == &queue || (settings_.borrows && level.lane.priority < queue.lane.priority);
}

bool PoolLevels::is_served(const PoolLevel& level) const noexcept
{
    return std::ranges::any_of(levels_, [&](const PoolLevel& other) {
        return serves(other, level) && other.has_threads();
    });
}

PoolLevel* PoolLevels::lender_for(const PoolLevel& level) noexcept
{
    if (!settings_.borrows) return nullptr;
    for (auto lower = levels_.rbegin(); lower != levels_.rend(); ++lower)
        if (lower->lane.priority < level.lane.priority && lower->idle > lower->queued())
            return &*lower;
    return nullptr;
}

PoolLevels::Room PoolLevels::room_for(const PoolLevel& level, std::size_t bytes) noexcept
{
    if (settings_.blocks) return level.queued() < buffered_max_ ? Room::found : Room::none;
    if (finds_thread(level)) return Room::found;
    if (!settings_.buffers) return Room::none;
    if (buffered() >= buffered_max_) return Room::refused;
    const std::size_t bytes_max = settings_.buffered_bytes_max;
    if (bytes_max != 0 && (bytes > bytes_max || queued_bytes_ > bytes_max - bytes))
        return Room::refused;
    return Room::found;
}

bool PoolLevels::finds_thread(const PoolLevel& level) noexcept
{
    return level.idle + level.starting > level.queued() || level.may_start() ||
           lender_for(level) != nullptr;
}

/// What waits and for which there is no thread yet.
std::size_t PoolLevels::buffered() const noexcept
{
    std::size_t count = 0;
    for (const PoolLevel& level : levels_)
        count += level.queued() - std::min(level.queued(), level.idle + level.starting);
    return count;
}

void PoolLevels::push(PoolLevel& level, QueuedRequestPtr request) noexcept
{
    queued_bytes_ += request->message_bytes();
    level.requests.push(std::move(request));
}

QueuedRequestPtr PoolLevels::pop(PoolLevel& level) noexcept
{
    QueuedRequestPtr request = level.requests.pop();
    queued_bytes_ -= request->message_bytes();
    return request;
}

bool PoolLevels::put_back_held(PoolLevel& level) noexcept
{
    RequestList again;
    while (QueuedRequestPtr request = level.held.list().pop_front()) {
        queued_bytes_ += request->message_bytes();
        again.push_back(std::move(request));
    }
    if (again.empty()) return false;
    level.requests.put_back(again);
    return true;
}

PoolLevel* PoolLevels::next_for(PoolLevel& level) noexcept
{
    for (auto higher = levels_.rbegin(); higher != levels_.rend(); ++higher) {
        if (&*higher == &level) break;
        if (settings_.borrows && higher->queued() > higher->idle + higher->starting)
            return &*higher;
    }
    return level.queued() != 0 && level.serving < level.threads_max() ? &level : nullptr;
}

} // namespace kairos::orb
