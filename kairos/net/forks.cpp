// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/forks.h"

#include <atomic>
#include <pthread.h>

namespace kairos::net {
namespace {

constinit std::atomic<unsigned> forks{0};

extern "C" void note_fork() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }

} // namespace

unsigned fork_count() noexcept
{
    static const int registered = ::pthread_atfork(nullptr, nullptr, &note_fork);
    (void)registered;
    return forks.load(std::memory_order_relaxed);
}

} // namespace kairos::net
