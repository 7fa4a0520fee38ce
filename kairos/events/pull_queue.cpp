// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/pull_queue.h"

#include "kairos/base/assert_held.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"

#include <sys/eventfd.h>

namespace kairos::events {

PullQueue::PullQueue(std::shared_ptr<Channel> channel)
    : channel_(std::move(channel)),
      queue_(channel_->limits().queue_max, channel_->limits().queue_octets_max)
{
}

void PullQueue::offer(const EventPtr& event, std::size_t& /*octets_at_once*/)
{
    std::size_t dropped = 0;
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        dropped = queue_.push(event);
        wake_all();
    }
    if (dropped != 0) channel_->note_dropped(dropped);
}

/// One event, but who serves may be in the middle of something else.
void PullQueue::wake_all() noexcept
{
    assert_held(mutex_);
    changed_.notify_all();
    for (Waiter* waiter = waiters_.front(); waiter != nullptr; waiter = waiter->links.next)
        (void)::eventfd_write(waiter->woken.descriptor(), 1);
}

std::uint64_t PullQueue::ask() noexcept
{
    assert_held(mutex_);
    wake_all();
    return ++asked_;
}

EventPtr PullQueue::take(std::uint64_t asked)
{
    assert_held(mutex_);
    if (has_ended_ || asked != asked_ || queue_.empty()) return nullptr;
    return queue_.pop();
}

EventPtr PullQueue::take()
{
    const Lock lock(mutex_);
    return take(ask());
}

EventPtr PullQueue::wait(Deadline deadline)
{
    Lock lock(mutex_);
    const std::uint64_t asked = ask();
    if (orb::ThreadStorage::current().serving_thread != nullptr)
        return wait_serving(lock, asked, deadline);
    changed_.wait_until(lock, deadline.at(), [this, asked] { return !may_wait(asked); });
    return take(asked);
}

EventPtr PullQueue::wait_serving(Lock& lock, std::uint64_t asked, Deadline deadline)
{
    assert_held(mutex_);
    Waiter waiter{.woken = net::Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), .links = {}};
    if (!waiter.woken.is_open())
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "no descriptor to wait for an event");
    waiters_.push_back(waiter);
    while (may_wait(asked) && !deadline.has_passed()) {
        lock.unlock();
        orb::ThreadStorage::current().serving_thread->wait({waiter.woken}, deadline);
        lock.lock();
        eventfd_t count = 0;
        (void)::eventfd_read(waiter.woken.descriptor(), &count);
    }
    waiters_.remove(waiter);
    return take(asked);
}

void PullQueue::end() noexcept
{
    std::size_t left = 0;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        left = queue_.clear();
        wake_all();
    }
    channel_->note_lost(left);
}

} // namespace kairos::events
