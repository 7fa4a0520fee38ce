// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/shared_connections.h"

#include "kairos/base/assert_held.h"
#include "kairos/net/inherited.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <iterator>

namespace kairos::orb {

Result<IntrusivePtr<SharedConnection>>
SharedConnections::take(Endpoint& endpoint, ConnectionArchitecture architecture, Deadline deadline)
{
    Lock lock(mutex_);
    Slot& slot = slots_of(architecture)[endpoint.id()];
    for (;;) {
        if (has_ended_) return Error{ErrorCode::unreachable, "the ORB was shut down"};
        if (slot.connection && !slot.connection->has_ended()) [[likely]]
            return slot.connection;
        if (!slot.is_being_made) {
            make(slot, endpoint, architecture, deadline, lock);
            if (slot.failure) return *slot.failure;
            continue;
        }
        if (!wait_for_attempt(slot, deadline, lock))
            return Error{ErrorCode::unreachable,
                         "no connection to " + endpoint.text() + " in time"};
        const bool had_less_time = slot.failed_by.at() < deadline.at();
        if (slot.failure && !had_less_time) return *slot.failure;
    }
}

IntrusivePtr<SharedConnection>
SharedConnections::take_open(Endpoint& endpoint, ConnectionArchitecture architecture) noexcept
{
    const Lock lock(mutex_);
    const Slots& slots = slots_of(architecture);
    const auto slot = slots.find(endpoint.id());
    if (slot == slots.end() || !slot->second.connection) return {};
    if (slot->second.connection->has_ended()) return {};
    return slot->second.connection;
}

/// Waits until the attempt under way is over; returns false if the deadline came first.
bool SharedConnections::wait_for_attempt(const Slot& slot, Deadline deadline, Lock& lock)
{
    assert_held(mutex_);
    const std::uint64_t before = slot.attempts;
    const auto is_over = [&] { return slot.attempts != before || has_ended_; };
    if (!deadline.is_never()) return attempt_over_.wait_until(lock, deadline.at(), is_over);
    attempt_over_.wait(lock, is_over);
    return true;
}

void SharedConnections::make(Slot& slot, Endpoint& endpoint, ConnectionArchitecture architecture,
                             Deadline deadline, Lock& lock)
{
    assert_held(mutex_);
    const auto thread = this->thread(architecture);
    if (!thread) {
        slot.failure = thread.error();
        return;
    }
    slot.is_being_made = true;
    Connections unused = retire(std::exchange(slot.connection, {}));
    lock.unlock();
    unused.clear(); // not closed under the lock
    auto opened = [&]() -> Result<IntrusivePtr<SharedConnection>> {
        try {
            return SharedConnection::open(orb_, endpoint, *thread, deadline);
        } catch (const std::bad_alloc&) { // others wait for us
            return Error{ErrorCode::unreachable, "no memory for a connection"};
        } catch (...) { // a transport's, for this caller alone: the others try for themselves
            lock.lock();
            slot.is_being_made = false;
            ++slot.attempts;
            slot.failure.reset();
            attempt_over_.notify_all();
            throw;
        }
    }();
    lock.lock();
    slot.is_being_made = false;
    ++slot.attempts;
    slot.failure.reset();
    if (opened) {
        slot.connection = std::move(opened).value();
        if (has_ended_) slot.connection->interrupt();
    } else {
        slot.failure = opened.error();
        slot.failed_by = deadline;
    }
    attempt_over_.notify_all();
}

/// Keeps one on which calls still wait, for the end of the ORB is theirs as well. Returns those
/// that nobody uses any more.
SharedConnections::Connections SharedConnections::retire(IntrusivePtr<SharedConnection> former)
{
    assert_held(mutex_);
    if (former) retired_.push_back(std::move(former));
    const auto unused = std::ranges::partition(
        retired_, [](const auto& connection) { return connection->is_used(); });
    Connections found(std::make_move_iterator(unused.begin()),
                      std::make_move_iterator(unused.end()));
    retired_.erase(unused.begin(), unused.end());
    return found;
}

/// Returns the thread for connections of this architecture, which is started if need be; null where
/// callers do its work.
Result<ConnectionThread*> SharedConnections::thread(ConnectionArchitecture architecture)
{
    assert_held(mutex_);
    if (architecture != ConnectionArchitecture::active) return nullptr;
    if (!thread_) {
        auto started = ConnectionThread::start(orb_.thread_options("kairos-calls"));
        if (!started) return started.error();
        thread_ = std::move(started).value();
    }
    return thread_.get();
}

void SharedConnections::end_all() noexcept
{
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        for (auto& [id, slot] : leader_followers_) {
            if (slot.connection) slot.connection->interrupt();
            slot.connection = {};
        }
        for (auto& [id, slot] : active_)
            slot.connection = {}; // the thread ends them, and sends before what it was given
        for (const auto& connection : retired_)
            connection->interrupt();
        retired_.clear();
        attempt_over_.notify_all();
    }
    if (thread_) thread_->stop(); // nobody makes one any more
}

/// They keep their counts for ever: what there is beside their sockets cannot be ended here.
void SharedConnections::start_over() noexcept
{
    const Lock lock(mutex_);
    net::forget_waiters(attempt_over_);
    const auto leave = [](IntrusivePtr<SharedConnection>& connection) {
        if (connection) connection.detach()->leave_to_parent();
    };
    for (Slots* slots : {&leader_followers_, &active_}) {
        for (auto& [id, slot] : *slots)
            leave(slot.connection);
        slots->clear();
    }
    for (auto& connection : retired_)
        leave(connection);
    retired_.clear();
    (void)thread_.release();
}

void SharedConnections::close_idle(std::chrono::nanoseconds before) noexcept
{
    const Lock lock(mutex_);
    for (Slots* slots : {&leader_followers_, &active_})
        for (auto& [id, slot] : *slots)
            if (slot.connection && slot.connection->close_if_idle(before)) slot.connection = {};
}

/// A slot goes with its connection: nobody asks for one again, as nobody leads to its endpoint.
bool SharedConnections::close_left(std::chrono::nanoseconds before) noexcept
{
    const Lock lock(mutex_);
    bool others = false;
    for (Slots* slots : {&leader_followers_, &active_})
        std::erase_if(*slots, [&](const auto& entry) {
            const auto& connection = entry.second.connection;
            if (!connection || connection->endpoint().is_used()) return false;
            const Endpoint& endpoint = connection->endpoint();
            const bool closed = endpoint.is_left() && endpoint.unused_since(before) &&
                                connection->close_if_idle(coarse_now());
            if (!closed) others = true;
            return closed;
        });
    return others;
}

bool SharedConnections::close_least_recently_used() noexcept
{
    const Lock lock(mutex_);
    for (;;) {
        Slot* oldest = nullptr;
        std::chrono::nanoseconds oldest_since{};
        for (Slots* slots : {&leader_followers_, &active_}) {
            for (auto& [id, slot] : *slots) {
                const auto since = slot.connection ? slot.connection->idle_since() : std::nullopt;
                if (!since || (oldest != nullptr && *since >= oldest_since)) continue;
                oldest = &slot;
                oldest_since = *since;
            }
        }
        if (oldest == nullptr) return false;
        if (!oldest->connection->close_if_idle(coarse_now())) continue;
        oldest->connection = {};
        return true;
    }
}

std::size_t SharedConnections::count() const noexcept
{
    const Lock lock(mutex_);
    std::size_t count = 0;
    for (const Slots* slots : {&leader_followers_, &active_})
        for (const auto& [id, slot] : *slots)
            count += slot.connection && !slot.connection->has_ended() ? 1 : 0;
    return count;
}

} // namespace kairos::orb
