// SPDX-License-Identifier: Apache-2.0
//
// The pools of an ORB by their ids, as adapters and programs see them.
#include "kairos/server/thread_pools.h"

#include "kairos/server/thread_pool.h"

namespace kairos::orb {

ThreadPools::ThreadPools(Orb& orb) : orb_(orb) {}

ThreadPools::~ThreadPools() = default;

Result<std::uint32_t> ThreadPools::create(PoolSettings settings)
{
    auto pool = std::make_unique<ThreadPool>(orb_, std::move(settings));
    if (const auto started = pool->start(); !started) return started.error();
    const std::lock_guard lock(mutex_);
    if (ended_) return Error{ErrorCode::invalid_argument, "the ORB was shut down"};
    pools_.push_back(std::move(pool));
    return static_cast<std::uint32_t>(pools_.size());
}

/// Ids count from 1 and are never used again.
ThreadPool* ThreadPools::find(std::uint32_t id)
{
    const std::lock_guard lock(mutex_);
    if (id == 0 || id > pools_.size() || pools_[id - 1]->has_ended()) return nullptr;
    return pools_[id - 1].get();
}

ThreadPools::Destroyed ThreadPools::destroy(std::uint32_t id)
{
    ThreadPool* pool = find(id);
    if (pool == nullptr) return Destroyed::unknown;
    if (pool->is_used()) return Destroyed::in_use;
    if (pool->is_current()) return Destroyed::would_deadlock;
    pool->end();
    return Destroyed::yes;
}

std::vector<ThreadPool*> ThreadPools::all()
{
    std::vector<ThreadPool*> pools;
    const std::lock_guard lock(mutex_);
    pools.reserve(pools_.size());
    for (const auto& pool : pools_)
        pools.push_back(pool.get());
    return pools;
}

void ThreadPools::resume() noexcept
{
    for (ThreadPool* pool : all())
        pool->resume();
}

void ThreadPools::begin_to_end() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    for (ThreadPool* pool : all())
        pool->begin_to_end();
}

void ThreadPools::end() noexcept
{
    begin_to_end();
    for (ThreadPool* pool : all())
        pool->end();
}

} // namespace kairos::orb
