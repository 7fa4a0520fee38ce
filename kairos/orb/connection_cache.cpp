// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/connection_cache.h"

#include "kairos/orb/lane.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/shared_connections.h"

#include <algorithm>

namespace kairos::orb {

void ConnectionCache::Place::give_back() noexcept
{
    if (cache_ == nullptr) return;
    ConnectionCache& cache = *std::exchange(cache_, nullptr);
    const std::lock_guard lock(cache.mutex_);
    --cache.taken_;
}

Result<ConnectionCache::Place> ConnectionCache::take_place()
{
    const std::size_t most = orb_.options().client_connections_max;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (taken_ < most) {
                if (auto started = start_watching(); !started) return started.error();
                if (++taken_ == 1) changed_.notify_one();
                return Place(*this);
            }
        }
        if (!close_one())
            return Error{ErrorCode::unreachable,
                         "all " + std::to_string(most) +
                             " connections of -ORBMaxClientConnections are in use"};
    }
}

/// Those of other threads can be closed only if it was said from the beginning that they may be.
bool ConnectionCache::close_one()
{
    if (!orb_.options().closes_idle_connections) return Lane::current().drop_connections(orb_);
    if (orb_.client_connections().close_least_recently_used()) return true;
    return orb_.shared_connections().close_least_recently_used();
}

/// With the first connection.
Result<void> ConnectionCache::start_watching()
{
    if (watching_ || stopping_ || orb_.options().client_idle.count() == 0) return {};
    auto started = net::Thread::start({.name = "kairos-idle"}, [this] { watch(); });
    if (!started) return started.error();
    thread_ = std::move(started).value();
    watching_ = true;
    return {};
}

void ConnectionCache::watch() noexcept
{
    // So an idle connection is closed after one and a half times its time at the latest.
    const std::chrono::nanoseconds idle = orb_.options().client_idle;
    const auto between = std::max<std::chrono::nanoseconds>(idle / 2, std::chrono::milliseconds(4));
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (taken_ == 0) {
            changed_.wait(lock);
            continue;
        }
        if (changed_.wait_for(lock, between) != std::cv_status::timeout) continue;
        lock.unlock();
        const auto before = ClientConnection::now() - idle;
        orb_.client_connections().close_idle(before);
        orb_.shared_connections().close_idle(before);
        lock.lock();
    }
}

void ConnectionCache::stop() noexcept
{
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_one();
    }
    const std::lock_guard lock(join_mutex_);
    thread_.join();
}

} // namespace kairos::orb
