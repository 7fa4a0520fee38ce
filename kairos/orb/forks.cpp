// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/forks.h"

#include "kairos/base/log_limit.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transport.h"

#include <mutex>
#include <pthread.h>
#include <vector>

namespace kairos::orb {
namespace {

/// Never destroyed: a program may fork at its very end.
struct Orbs {
    std::mutex mutex; // guards what follows; held while the process forks; outside all of an ORB's
    std::vector<Orb*> all;
};

Orbs& orbs()
{
    static Orbs& known = *new Orbs;
    return known;
}

extern "C" void before_fork() noexcept
{
    orbs().mutex.lock();
    for (Orb* orb : orbs().all)
        orb->lock_for_fork();
    lock_transports_for_fork();
    log::Limiter::process().lock_for_fork();
}

/// Releases what is not an ORB's.
void unlock_others() noexcept
{
    log::Limiter::process().unlock_after_fork();
    unlock_transports_after_fork();
}

extern "C" void after_fork_in_parent() noexcept
{
    unlock_others();
    for (Orb* orb : orbs().all)
        orb->unlock_after_fork();
    orbs().mutex.unlock();
}

/// What may be done here is what a signal handler may do: the rest waits for the first call.
extern "C" void after_fork_in_child() noexcept
{
    unlock_others();
    for (Orb* orb : orbs().all) {
        orb->unlock_after_fork();
        orb->note_fork();
    }
    orbs().mutex.unlock();
}

} // namespace

void watch_forks(Orb& orb)
{
    static const int registered =
        ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
    (void)registered;
    const std::lock_guard lock(orbs().mutex);
    orbs().all.push_back(&orb);
}

void forget_forks(Orb& orb) noexcept
{
    const std::lock_guard lock(orbs().mutex);
    std::erase(orbs().all, &orb);
}

} // namespace kairos::orb
