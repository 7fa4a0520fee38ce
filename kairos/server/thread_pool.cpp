// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/thread_pool.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/handover.h"
#include "kairos/server/serve_waiting.h"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>

namespace kairos::orb {

namespace {

/// What the calling thread is in which pool.
struct Membership {
    const ThreadPool* pool = nullptr;
    PoolLevel* level = nullptr;
    /// Whether it is reading, and has taken no request so far: it serves the first itself.
    bool is_to_serve = false;
};
thread_local Membership membership;

/// The only one on which threads of this lane run, if -ORBLanes says so of its priority.
[[nodiscard]] std::optional<int> cpu_of(Priority lane, const Options& options)
{
    const auto option = std::ranges::find(options.lanes, lane, &LaneOption::priority);
    return option == options.lanes.end() ? std::nullopt : option->cpu;
}

[[nodiscard]] CORBA::TRANSIENT no_room()
{
    return {minor_code::request_discarded, CORBA::COMPLETED_NO, "the thread pool has no room"};
}

[[nodiscard]] CORBA::NO_RESOURCES no_thread()
{
    return {0, CORBA::COMPLETED_NO, "the thread pool has no thread"};
}

} // namespace

ThreadPool::ThreadPool(Orb& orb, PoolSettings settings)
    : orb_(orb), settings_(std::move(settings)),
      levels_(settings_, orb.options().dispatching, orb.options().requests_queued_max)
{
}

bool ThreadPool::has_lane(Priority priority) const noexcept
{
    return !settings_.has_lanes ||
           std::ranges::count(settings_.lanes, priority, &PoolLane::priority) != 0;
}

bool ThreadPool::is_current() const noexcept { return membership.pool == this; }

// --- Threads -------------------------------------------------------------------------------------

Result<void> ThreadPool::start()
{
    for (Level& level : levels_) {
        int native = 0;
        if (!orb_.priority_mapping().to_native(level.lane.priority, native))
            return Error{ErrorCode::invalid_argument,
                         "no native priority for " + std::to_string(level.lane.priority)};
        auto scheduling = scheduling_if_allowed(orb_, native);
        if (!scheduling) return scheduling.error();
        level.thread = orb_.thread_options("kairos-rt-" + std::to_string(level.lane.priority));
        if (settings_.stack_bytes != 0) level.thread.stack_bytes = settings_.stack_bytes;
        level.thread.scheduling = *scheduling;
        if (settings_.has_lanes) level.thread.cpu = cpu_of(level.lane.priority, orb_.options());
        auto waker = net::Waker::create();
        if (!waker) return waker.error();
        level.no_thread.emplace(std::move(waker).value());
        auto readers = LaneReaders::create();
        if (!readers) return readers.error();
        level.readers = std::move(readers).value();
    }
    for (Level& level : levels_) {
        for (std::size_t i = 0; i < level.lane.static_threads; ++i) {
            const std::lock_guard lock(mutex_);
            if (auto added = add_thread(level); !added) return added;
        }
    }
    return {};
}

Result<void> ThreadPool::add_thread(Level& level) noexcept
{
    assert_held(mutex_);
    ++level.starting;
    auto added = threads_.start(level.thread, [this, &level] { serve(level); });
    if (!added) --level.starting;
    return added;
}

bool ThreadPool::ensure_thread(Level& level) noexcept
{
    assert_held(mutex_);
    return levels_.is_served(level) || add_thread(level).ok();
}

/// Somebody is to look at the level's queue.
void ThreadPool::call_thread(Level& level) noexcept
{
    assert_held(mutex_);
    if (level.idle + level.starting >= level.queued()) return level.readers->call_one();
    if (level.may_start()) {
        const auto added = add_thread(level);
        const bool was_short = std::exchange(level.is_short, !added);
        if (added) return;
        if (!was_short)
            log::warning(log::Line()
                         << "a thread pool goes on with fewer threads: " << added.error().reason);
        for (Level& other : levels_)
            if (levels_.serves(other, level)) other.no_thread->wake();
    }
    if (level.idle != 0) level.readers->call_one(); // it has been called for another already
    if (Level* const lender = levels_.lender_for(level)) lender->readers->call_one();
}

/// Several calls may have been heard as one.
void ThreadPool::call_next(Level& level) noexcept
{
    assert_held(mutex_);
    if (level.idle != 0 && levels_.next_for(level) != nullptr) level.readers->call_one();
}

void ThreadPool::serve(Level& level) noexcept
{
    orb::ThreadStorage& storage = orb::ThreadStorage::await_current();
    storage.serving_thread = this;
    storage.priority = level.lane.priority;
    membership = {.pool = this, .level = &level};
    UpcallMemory memory;
    Lock lock(mutex_);
    --level.starting;
    for (;;) {
        ++level.idle; // before the sources hear of it: then they find a thread
        if (level.idle == 1) level.readers->note_idle(true);
        if (levels_.next_for(level) == nullptr) tell_sources(lock);
        Level* from = nullptr;
        while (!ended_ && (from = levels_.next_for(level)) == nullptr)
            take_turn(lock, level, memory);
        --level.idle;
        if (ended_) return;
        if (level.idle == 0) level.readers->note_idle(false);
        serve_one(lock, level, *from, memory);
        if (level.idle < level.threads_max()) continue;
        // Came in for others that are back. One of them may be waiting for this one to be done.
        if (level.queued() != 0) call_thread(level);
        return;
    }
}

/// Counts as idle while it reads: it looks at the queue next.
void ThreadPool::take_turn(Lock& lock, Level& level, UpcallMemory& memory) noexcept
{
    assert_held(mutex_);
    lock.unlock();
    LaneReaders::Place* const place = level.readers->wait();
    lock.lock();
    if (place == nullptr || !level.readers->begin_to_read(*place)) return;
    membership.is_to_serve = true;
    bool stays = false;
    do {
        lock.unlock();
        stays = place->connection->read_in_lane(memory);
        lock.lock();
    } while (!level.readers->end_reading(*place, stays));
    membership.is_to_serve = false;
    if (ended_) call_done_.notify_all();
}

void ThreadPool::serve_one(Lock& lock, Level& level, Level& from, UpcallMemory& memory) noexcept
{
    assert_held(mutex_);
    ++level.serving;
    // That of another level, or of the request that this one is nested in.
    std::optional<Priority> borrowed;
    if (orb::ThreadStorage::current().priority != from.lane.priority) borrowed = from.lane.priority;
    if (LocalCall* call = from.pop_call()) {
        call_next(level);
        serve_call(lock, *call, borrowed);
    } else {
        QueuedRequestPtr request = levels_.pop(from);
        call_next(level);
        tell_sources(lock);
        lock.unlock();
        const bool served = serve_request(request, memory, borrowed);
        if (served) request.reset();
        lock.lock();
        if (!served && ended_)
            discard(std::move(request), lock);
        else if (!served && !from.held.add(request))
            levels_.push(from, std::move(request));
    }
    --level.serving;
}

void ThreadPool::serve_nested(Level& level, UpcallMemory& memory) noexcept
{
    Lock lock(mutex_);
    if (Level* const from = levels_.next_nested_for(level)) {
        --level.waiting;
        serve_one(lock, level, *from, memory);
        ++level.waiting;
    }
    if (levels_.next_nested_for(level) == nullptr) tell_sources(lock);
    // For whoever of them is the first to look: the reply to this one may have come.
    levels_.next_nested_for(level) != nullptr ? level.no_thread->wake() : level.no_thread->clear();
}

bool ThreadPool::serve_request(QueuedRequestPtr& request, UpcallMemory& memory,
                               const std::optional<Priority>& borrowed) noexcept
{
    assert_not_held(mutex_);
    if (!borrowed) return request->serve(memory);
    try {
        const PriorityScope scope(orb_, *borrowed);
        return request->serve(memory);
    } catch (const CORBA::SystemException& exception) { // the thread may not have the priority
        request->refuse(exception, memory);
        return true;
    }
}

// --- Requests ------------------------------------------------------------------------------------

ThreadPool::Room ThreadPool::room_for(const Level& level, std::size_t bytes) noexcept
{
    assert_held(mutex_);
    return ended_ ? Room::refused : levels_.room_for(level, bytes);
}

void ThreadPool::take(QueuedRequestPtr& request, UpcallMemory& memory)
{
    bool lacks_thread = false;
    {
        const std::lock_guard lock(mutex_);
        Level& level = levels_.level_for(request->own_threads.priority);
        switch (room_for(level, request->message_bytes())) {
        case Room::found:
            lacks_thread = !ensure_thread(level);
            if (lacks_thread) break;
            levels_.push(level, std::move(request));
            if (membership.level == &level && std::exchange(membership.is_to_serve, false)) return;
            return call_thread(level);
        case Room::none:
            // From here on who waits longest is first, whoever would read it.
            level.readers->recall_all();
            if (std::ranges::find(sources_, &request->source()) == sources_.end())
                sources_.push_back(&request->source());
            return;
        case Room::refused:
            break;
        }
    }
    const QueuedRequestPtr refused = std::move(request);
    if (lacks_thread)
        refused->refuse(no_thread(), memory);
    else
        refused->refuse(no_room(), memory);
}

void ThreadPool::tell_sources(Lock& lock) noexcept
{
    assert_held(mutex_);
    if (sources_.empty()) return;
    std::vector<RequestSource*> told;
    told.swap(sources_);
    lock.unlock();
    for (RequestSource* source : told)
        source->on_space();
    lock.lock();
}

void ThreadPool::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    Level& level = *membership.level;
    {
        Lock lock(mutex_);
        --level.serving;
        ++level.waiting;
        if (level.queued() != 0) call_thread(level);
        tell_sources(lock);
    }
    serve_waiting(awaited, *level.no_thread, deadline,
                  [&](UpcallMemory& memory) { serve_nested(level, memory); });
    const std::lock_guard lock(mutex_);
    --level.waiting;
    ++level.serving;
}

void ThreadPool::resume() noexcept
{
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    for (Level& level : levels_) {
        if (levels_.put_back_held(level)) call_thread(level);
    }
}

bool ThreadPool::lend(HandoverConnection& connection, PoolLevel& lane) noexcept
{
    const std::lock_guard lock(mutex_);
    return !ended_ && sources_.empty() && lane.idle > lane.queued() &&
           lane.readers->lend(connection);
}

void ThreadPool::recall(HandoverConnection& connection, PoolLevel& lane) noexcept
{
    const std::lock_guard lock(mutex_);
    lane.readers->recall(connection);
}

void ThreadPool::recall_unread(PoolLevel& lane) noexcept
{
    const std::lock_guard lock(mutex_);
    if (!ended_) lane.readers->recall_unread();
}

// --- Callers of this process ---------------------------------------------------------------------

void ThreadPool::run(std::optional<Priority> priority, const std::function<void()>& work)
{
    // A thread that serves requests goes on serving while it waits (serving_thread.h).
    ServingThread* serving = orb::ThreadStorage::current().serving_thread;
    net::Socket woken;
    if (serving != nullptr) {
        woken = net::Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!woken.is_open()) raise<CORBA::NO_RESOURCES>(0, CORBA::COMPLETED_NO, "no descriptor");
    }
    LocalCall call{.work = work, .waiter = serving == nullptr ? nullptr : &woken};
    Lock lock(mutex_);
    Level& level = levels_.level_for(priority);
    if (room_for(level, 0) == Room::refused) throw no_room();
    if (!ensure_thread(level)) throw no_thread();
    level.push(call);
    call_thread(level);
    if (serving == nullptr)
        call_done_.wait(lock, [&] { return call.state != LocalCall::State::waiting; });
    while (call.state == LocalCall::State::waiting) {
        lock.unlock();
        serving->wait({woken}, {});
        lock.lock();
    }
    lock.unlock();
    if (call.state == LocalCall::State::refused) throw no_room();
    if (call.exception) std::rethrow_exception(call.exception);
}

void ThreadPool::serve_call(Lock& lock, LocalCall& call,
                            const std::optional<Priority>& borrowed) noexcept
{
    assert_held(mutex_);
    lock.unlock();
    try {
        std::optional<PriorityScope> scope;
        if (borrowed) scope.emplace(orb_, *borrowed);
        call.work();
    } catch (...) {
        call.exception = std::current_exception();
    }
    lock.lock();
    finish(call, LocalCall::State::done);
}

/// The caller may be gone as soon as the lock is.
void ThreadPool::finish(LocalCall& call, LocalCall::State state) noexcept
{
    assert_held(mutex_);
    call.state = state;
    if (call.waiter == nullptr) return call_done_.notify_all();
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written =
        ::write(call.waiter->descriptor(), &one, sizeof one); // the first; it cannot overflow
}

// --- The end -------------------------------------------------------------------------------------

void ThreadPool::begin_to_end() noexcept
{
    RequestList dropped;
    has_ended_ = true;
    {
        Lock lock(mutex_);
        ended_ = true;
        for (Level& level : levels_) {
            if (!level.readers) continue; // it did not start
            level.readers->recall_all();
            level.readers->call_all();
            // Soon: who reads waits for nobody. Their servers are to have all back.
            call_done_.wait(lock, [&] { return !level.readers->is_any_read(); });
            level.requests.move_to(dropped);
            dropped.put_in_front(level.held.list());
            while (LocalCall* call = level.pop_call())
                finish(*call, LocalCall::State::refused);
        }
    }
    dropped.discard(); // without the lock: that tells others
}

void ThreadPool::end() noexcept
{
    const std::lock_guard ending(end_mutex_);
    begin_to_end();
    threads_.join();
}

} // namespace kairos::orb
