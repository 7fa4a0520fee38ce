// SPDX-License-Identifier: Apache-2.0
//
// The worker-pool architecture: one thread reads, a pool of threads serves.
#include "kairos/server/worker_pool.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/handover.h"
#include "kairos/server/serve_waiting.h"

namespace kairos::orb {

Result<void> WorkerPool::start()
{
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    no_thread_.emplace(std::move(waker).value());
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < size_.threads; ++i)
        if (auto added = add_thread(); !added) return added;
    return {};
}

Result<void> WorkerPool::add_thread() noexcept
{
    assert_held(mutex_);
    ++starting_;
    auto added = threads_.start(size_.thread, [this] { serve(); });
    if (!added) --starting_;
    return added;
}

void WorkerPool::take(QueuedRequestPtr& request, UpcallMemory& memory)
{
    Lock lock(mutex_);
    if (ended_) {
        lock.unlock(); // it tells others
        request->refuse_for_now(memory);
        return request.reset();
    }
    // Nobody waits because others have filled it, where requests may wait at all.
    const bool has_place = size_.each_has_place && !queue_.has_others_of(*request);
    if (queue_.size() >= size_.queued_max && !has_place) {
        source_waits_ = true;
        return;
    }
    queue_.push(std::move(request));
    call_worker();
}

void WorkerPool::call_worker() noexcept
{
    assert_held(mutex_);
    if (serving_ >= size_.threads) return; // the next to be done looks
    if (idle_ != 0) return changed_.notify_one();
    if (starting_ != 0) return;
    // The others wait for calls of their own: whoever could answer those may be in the queue.
    const auto added = add_thread();
    const bool was_short = std::exchange(short_of_threads_, !added);
    if (added) return;
    if (!was_short)
        log::warning(log::Line() << "threads that wait for calls serve others meanwhile: "
                                 << added.error().reason);
    no_thread_->wake();
}

void WorkerPool::serve() noexcept
{
    ThreadStorage::await_current().serving_thread = this;
    ThreadStorage::current().priority = size_.priority;
    UpcallMemory memory;
    Lock lock(mutex_);
    --starting_;
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return ended_ || has_work(); });
        --idle_;
        if (ended_) return;
        serve_next(lock, memory);
        if (idle_ < size_.threads) continue;
        // Came in for others that are back. One of them may be waiting for this one to be done.
        if (!queue_.empty()) call_worker();
        return;
    }
}

/// Does not hold mutex_ while it is served.
void WorkerPool::serve_next(Lock& lock, UpcallMemory& memory) noexcept
{
    assert_held(mutex_);
    QueuedRequestPtr request = queue_.pop();
    ++serving_;
    const bool tell = std::exchange(source_waits_, false);
    lock.unlock();
    if (tell) source_.on_space();
    const bool served = request->serve(memory);
    if (served) request.reset();
    lock.lock();
    --serving_;
    if (served) return;
    if (ended_)
        discard(std::move(request), lock);
    else if (!held_.add(request))
        queue_.push(std::move(request));
}

void WorkerPool::serve_nested(UpcallMemory& memory) noexcept
{
    Lock lock(mutex_);
    if (has_work()) serve_next(lock, memory);
    // For whoever of them is the first to look: the reply to this one may have come.
    has_work() ? no_thread_->wake() : no_thread_->clear();
}

void WorkerPool::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        --serving_;
        if (!queue_.empty()) call_worker();
    }
    serve_waiting(awaited, *no_thread_, deadline,
                  [this](UpcallMemory& memory) { serve_nested(memory); });
    const std::lock_guard lock(mutex_);
    ++serving_;
}

void WorkerPool::resume() noexcept
{
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    queue_.put_back(held_.list());
    changed_.notify_all();
    if (!queue_.empty()) call_worker();
}

void WorkerPool::begin_to_end() noexcept
{
    RequestList dropped;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        queue_.move_to(dropped);
        dropped.put_in_front(held_.list());
    }
    dropped.discard(); // without the lock: that tells others
    changed_.notify_all();
}

void WorkerPool::end() noexcept
{
    begin_to_end();
    threads_.join();
}

std::unique_ptr<Dispatcher> make_worker_pool(Orb& orb, RequestSource& source)
{
    return std::make_unique<WorkerPool>(
        source, WorkerPool::Size{.threads = orb.options().threads,
                                 .queued_max = orb.options().requests_queued_max,
                                 .each_has_place = each_has_place(orb.options()),
                                 .dispatching = orb.options().dispatching,
                                 .thread = orb.thread_options("kairos-work")});
}

constinit const Opening opening::worker_pool{architecture::worker_pool,
                                             open_handover<make_worker_pool>};

} // namespace kairos::orb
