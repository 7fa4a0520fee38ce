// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/client.h"

#include "kairos/client/thread_connections.h"

namespace kairos::orb {

void Client::end() noexcept
{
    connections_.interrupt_all();
    shared_.end_all();
    asynchronous_.end();
    backlogs_.stop();
    cache_.stop();
    if (auto* mine = ThreadConnections::find(ThreadStorage::current())) mine->close_dead();
}

void Client::lock_for_fork() noexcept
{
    bidirectional_.mutex().lock();
    shared_.mutex().lock();
    connections_.mutex().lock();
    backlogs_.mutex().lock();
    cache_.mutex().lock();
    asynchronous_.mutex().lock();
}

void Client::unlock_after_fork() noexcept
{
    asynchronous_.mutex().unlock();
    cache_.mutex().unlock();
    backlogs_.mutex().unlock();
    connections_.mutex().unlock();
    shared_.mutex().unlock();
    bidirectional_.mutex().unlock();
}

void Client::start_over() noexcept
{
    connections_.start_over();
    if (auto* mine = ThreadConnections::find(ThreadStorage::current())) (void)mine->close(orb_);
    shared_.start_over();
    bidirectional_.start_over();
    backlogs_.start_over();
    cache_.start_over();
}

} // namespace kairos::orb
