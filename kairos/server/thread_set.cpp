// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/thread_set.h"

#include <cerrno>
#include <new>
#include <utility>

namespace kairos::orb {

Result<void> ThreadSet::start(const net::ThreadOptions& options, std::function<void()> body)
{
    const std::lock_guard lock(mutex_);
    auto place = running_.end();
    try {
        place = running_.emplace(running_.end());
        auto thread = net::Thread::start(options, [this, place, body = std::move(body)] {
            body();
            end(place);
        });
        if (thread) {
            *place = std::move(thread).value();
            return {};
        }
        running_.erase(place);
        return thread.error();
    } catch (const std::bad_alloc&) {
        if (place != running_.end()) running_.erase(place);
        return Error{ErrorCode::system, "no memory", ENOMEM}; // which takes none
    }
}

void ThreadSet::end(std::list<net::Thread>::iterator thread) noexcept
{
    std::list<net::Thread> earlier; // joined without the lock
    const std::lock_guard lock(mutex_);
    earlier.swap(ended_);
    ended_.splice(ended_.end(), running_, thread);
    if (running_.empty()) none_runs_.notify_all();
}

void ThreadSet::join_ended() noexcept
{
    std::list<net::Thread> ended; // joined without the lock
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
}

void ThreadSet::join() noexcept
{
    std::list<net::Thread> ended;
    std::unique_lock lock(mutex_);
    none_runs_.wait(lock, [this] { return running_.empty(); });
    ended.swap(ended_);
    lock.unlock();
}

} // namespace kairos::orb
