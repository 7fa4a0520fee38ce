// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/connection_cache.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/client/client.h"
#include "kairos/client/shared_connections.h"
#include "kairos/client/thread_connections.h"
#include "kairos/net/inherited.h"
#include "kairos/orb/endpoint.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>

namespace kairos::orb {

ConnectionCache::Place::Place(ConnectionCache& cache, Endpoint& endpoint) noexcept
    : cache_(&cache), endpoint_(&endpoint)
{
    endpoint.note_connection();
}

void ConnectionCache::Place::give_back() noexcept
{
    if (cache_ == nullptr) return;
    endpoint_->note_end_of_connection();
    ConnectionCache& cache = *std::exchange(cache_, nullptr);
    const std::lock_guard lock(cache.mutex_);
    --cache.taken_;
}

Result<ConnectionCache::Place> ConnectionCache::take_place(Endpoint& endpoint)
{
    const std::size_t most = orb_.options().client_connections_max;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            if (taken_ < most) {
                if (orb_.options().client_idle.count() != 0)
                    if (auto started = start_watching(); !started) return started.error();
                if (++taken_ == 1) changed_.notify_one();
                return Place(*this, endpoint);
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
    if (!orb_.options().closes_idle_connections)
        return ThreadConnections::of(ThreadStorage::current()).close(orb_);
    if (Client::of(orb_).connections().close_least_recently_used()) return true;
    return Client::of(orb_).shared_connections().close_least_recently_used();
}

/// Must hold mutex_. With the first connection or, unless they have a time of their own, with the
/// first to a server that no reference leads to any more. It is an ordinary thread, whoever that
/// was.
Result<void> ConnectionCache::start_watching()
{
    assert_held(mutex_);
    if (watching_ || stopping_) return {};
    constexpr std::size_t stack_bytes = 256 * 1024; // all of it is locked with -ORBLockMemory
    auto started = net::Thread::start(
        {.name = "kairos-idle", .stack_bytes = stack_bytes, .scheduling = net::Scheduling{}},
        [this] { watch(); });
    if (!started) return started.error();
    thread_ = std::move(started).value();
    watching_ = true;
    return {};
}

void ConnectionCache::note_unused() noexcept
{
    // In a child these are the parent's connections: start_over will close them.
    if (orb_.options().client_unused.count() == 0 || orb_.is_inherited()) return;
    const std::lock_guard lock(mutex_);
    ++notes_of_unused_;
    has_unused_ = true;
    try {
        // The next time, perhaps, if there are no threads now.
        if (auto started = start_watching(); !started) log::warning(started.error().reason);
    } catch (const std::bad_alloc&) { // likewise
    }
    changed_.notify_one();
}

bool ConnectionCache::close_unused() noexcept
{
    const auto before = coarse_now() - orb_.options().client_unused;
    orb_.retire_unused_endpoints(before);
    const bool others = Client::of(orb_).connections().close_left(before);
    return Client::of(orb_).shared_connections().close_left(before) || others;
}

void ConnectionCache::watch() noexcept
{
    const std::chrono::nanoseconds idle = orb_.options().client_idle;
    const std::chrono::nanoseconds unused = orb_.options().client_unused;
    const bool closes_idle = idle.count() != 0;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        const bool looks_for_idle = closes_idle && taken_ != 0;
        if (!looks_for_idle && !has_unused_) {
            changed_.wait(lock);
            continue;
        }
        // So a connection is closed after one and a half times its time at the latest.
        const auto time = !has_unused_ ? idle : looks_for_idle ? std::min(idle, unused) : unused;
        const auto between =
            std::max<std::chrono::nanoseconds>(time / 2, std::chrono::milliseconds(4));
        const auto until = std::chrono::steady_clock::now() + between;
        const std::uint64_t notes = notes_of_unused_;
        const bool has_unused = has_unused_;
        if (changed_.wait_until(lock, until,
                                [&] { return stopping_ || (!has_unused && has_unused_); }))
            continue;
        lock.unlock();
        if (looks_for_idle) {
            const auto before = coarse_now() - idle;
            Client::of(orb_).connections().close_idle(before);
            Client::of(orb_).shared_connections().close_idle(before);
        }
        const bool still = has_unused && close_unused();
        lock.lock();
        if (notes == notes_of_unused_) has_unused_ = still;
    }
}

void ConnectionCache::start_over() noexcept
{
    const std::lock_guard lock(mutex_);
    net::forget_waiters(changed_);
    watching_ = false;
    has_unused_ = false;
    thread_ = {};
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
