// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/thread_pool.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall_note.h"
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
    : orb_(orb), settings_(std::move(settings)), is_real_time_(true),
      levels_(settings_, orb.options().dispatching, orb.options().requests_queued_max)
{
}

ThreadPool::ThreadPool(Orb& orb, Workers workers)
    : orb_(orb), settings_{.lanes = {{.static_threads = workers.threads}},
                           .buffers = true,
                           .blocks = true,
                           .each_has_place = workers.each_has_place},
      is_real_time_(false), mutex_(net::PriorityMutex::Protocol::none),
      levels_(settings_, workers.dispatching, workers.queued_max)
{
    Level& level = *levels_.begin();
    level.thread = std::move(workers.thread);
    level.priority = workers.priority;
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
    if (is_real_time_)
        if (auto equipped = equip_lanes(); !equipped) return equipped;
    for (Level& level : levels_) {
        auto waker = net::Waker::create();
        if (!waker) return waker.error();
        level.no_thread.emplace(std::move(waker).value());
    }
    for (Level& level : levels_) {
        for (std::size_t i = 0; i < level.lane.static_threads; ++i) {
            const std::lock_guard lock(mutex_);
            if (auto added = add_thread(level); !added) return added;
        }
    }
    return {};
}

Result<void> ThreadPool::equip_lanes()
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
        level.priority = level.lane.priority;
        auto readers = LaneReaders::create();
        if (!readers) return readers.error();
        level.readers = std::move(readers).value();
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
    // The next to be done looks.
    if (!settings_.borrows && level.serving >= level.threads_max()) return;
    if (level.idle + level.starting >= level.queued()) return level.call_one();
    if (level.may_start()) {
        // Where others wait for calls of their own, whoever answers those may be in the queue.
        const auto added = add_thread(level);
        const bool was_short = std::exchange(level.is_short, !added);
        if (added) return;
        if (!was_short)
            log::warning(log::Line()
                         << (is_real_time_ ? "a thread pool goes on with fewer threads: "
                                           : "threads that wait for calls serve others meanwhile: ")
                         << added.error().reason);
        for (Level& other : levels_)
            if (levels_.serves(other, level)) other.no_thread->wake();
    }
    if (level.idle != 0) level.call_one(); // it has been called for another already
    if (Level* const lender = levels_.lender_for(level)) lender->call_one();
}

void ThreadPool::call_next(Level& level) noexcept
{
    assert_held(mutex_);
    if (level.readers && level.idle != 0 && levels_.next_for(level) != nullptr) level.call_one();
}

void ThreadPool::serve(Level& level) noexcept
{
    orb::ThreadStorage& storage = orb::ThreadStorage::await_current();
    storage.serving_thread = this;
    storage.priority = level.priority;
    membership = {.pool = this, .level = &level};
    UpcallMemory memory;
    Lock lock(mutex_);
    --level.starting;
    for (;;) {
        level.begin_idle(); // before the sources hear of it: then they find a thread
        if (levels_.next_for(level) == nullptr) tell_sources(lock);
        Level* from = nullptr;
        while (!ended_ && (from = levels_.next_for(level)) == nullptr)
            wait_for_work(lock, level, memory);
        if (ended_) {
            --level.idle; // readers have been called for good
            return;
        }
        level.end_idle();
        serve_one(lock, level, *from, memory);
        if (level.idle < level.threads_max()) continue;
        // Came in for others that are back. One of them may be waiting for this one to be done.
        if (level.queued() != 0) call_thread(level);
        return;
    }
}

void ThreadPool::wait_for_work(Lock& lock, Level& level, UpcallMemory& memory) noexcept
{
    assert_held(mutex_);
    if (level.readers) return take_turn(lock, level, memory);
    level.called.wait(lock, [&] { return ended_ || levels_.next_for(level) != nullptr; });
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
    if (is_real_time_ && orb::ThreadStorage::current().priority != from.priority)
        borrowed = from.priority;
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

ThreadPool::Room ThreadPool::room_for(const Level& level, const QueuedRequest* request) noexcept
{
    assert_held(mutex_);
    if (ended_) return Room::refused;
    const Room room = levels_.room_for(level, request == nullptr ? 0 : request->message_bytes());
    // Nobody waits because others have filled it.
    const bool has_place = room == Room::none && settings_.each_has_place && request != nullptr &&
                           !level.requests.has_others_of(*request);
    return has_place ? Room::found : room;
}

void ThreadPool::take(QueuedRequestPtr& request, UpcallMemory& memory)
{
    bool lacks_thread = false;
    {
        const std::lock_guard lock(mutex_);
        Level& level = levels_.level_for(request->own_threads.priority);
        switch (room_for(level, request.get())) {
        case Room::found:
            lacks_thread = !ensure_thread(level);
            if (lacks_thread) break;
            levels_.push(level, std::move(request));
            if (membership.level == &level && std::exchange(membership.is_to_serve, false)) return;
            return call_thread(level);
        case Room::none:
            // From here on who waits longest is first, whoever would read it.
            if (level.readers) level.readers->recall_all();
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
    // Those that wait again meanwhile have heard of it; their places are kept for the next time.
    for (std::size_t left = sources_.size(); left != 0 && !sources_.empty(); --left) {
        RequestSource* const told = sources_.front();
        sources_.erase(sources_.begin());
        lock.unlock();
        told->on_space();
        lock.lock();
    }
}

void ThreadPool::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    Level& level = *membership.level;
    {
        Lock lock(mutex_);
        --level.serving;
        ++level.waiting;
        if (level.queued() != 0) call_thread(level);
        if (!settings_.buffers) tell_sources(lock); // else there is room when a request leaves
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
        if (!levels_.put_back_held(level)) continue;
        if (!level.readers) level.call_all(); // nobody calls the next
        call_thread(level);
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
    LocalCall call{.work = work,
                   .waiter = serving == nullptr ? nullptr : &woken,
                   .noted = UpcallNote::noted()};
    Lock lock(mutex_);
    Level& level = levels_.level_for(priority);
    if (room_for(level, nullptr) == Room::refused) throw no_room();
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
        const UpcallNote note(call.noted);
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
            if (level.readers) level.readers->recall_all();
            level.call_all();
            // Soon: who reads waits for nobody. Their servers are to have all back.
            if (level.readers) call_done_.wait(lock, [&] { return !level.readers->is_any_read(); });
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
