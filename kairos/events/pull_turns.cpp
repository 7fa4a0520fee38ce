// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/pull_turns.h"

#include "kairos/corba/CORBA.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"

#include <sys/eventfd.h>

namespace kairos::events {

/// One event, but who serves may be in the middle of something else.
void PullTurns::wake_all() noexcept
{
    changed_.notify_all();
    for (Waiter* waiter = waiters_.front(); waiter != nullptr; waiter = waiter->links.next)
        (void)::eventfd_write(waiter->woken.descriptor(), 1);
}

std::uint64_t PullTurns::begin() noexcept
{
    wake_all();
    return ++last_;
}

void PullTurns::wait(Lock& lock, std::uint64_t turn, const std::function<bool()>& is_ready,
                     Deadline deadline)
{
    const auto is_over = [&] { return !is_on(turn) || is_ready(); };
    if (orb::ThreadStorage::current().serving_thread != nullptr)
        return wait_serving(lock, is_over, deadline);
    changed_.wait_until(lock, deadline.at(), is_over);
}

void PullTurns::wait_serving(Lock& lock, const std::function<bool()>& is_over, Deadline deadline)
{
    Waiter waiter{.woken = net::Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), .links = {}};
    if (!waiter.woken.is_open())
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "no descriptor to wait for an event");
    waiters_.push_back(waiter);
    while (!is_over() && !deadline.has_passed()) {
        lock.unlock();
        orb::ThreadStorage::current().serving_thread->wait({waiter.woken}, deadline);
        lock.lock();
        eventfd_t count = 0;
        (void)::eventfd_read(waiter.woken.descriptor(), &count);
    }
    waiters_.remove(waiter);
}

} // namespace kairos::events
