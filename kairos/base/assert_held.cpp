// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/assert_held.h"

#include "kairos/base/check.h"

#include <cstdio>
#include <unistd.h>

namespace kairos {

#ifdef __GLIBC__

bool is_held_here(const pthread_mutex_t& mutex) noexcept
{
    // The owner's thread id, as gettid() says it; 0: nobody's. Another thread may be writing it,
    // but never this thread's id over another, or another over this thread's.
    const int owner = __atomic_load_n(&mutex.__data.__owner, __ATOMIC_RELAXED);
    if (owner == 0) return false;
    thread_local int own = 0; // in a child of fork(): the parent's, whose locks it has a copy of
    if (own == 0) own = ::gettid();
    return owner == own || owner == ::gettid();
}

#else

bool is_held_here(const pthread_mutex_t&) noexcept { return false; }

#endif

void lock_failed(const char* rule, const char* function, const char* file, unsigned line) noexcept
{
    char said[512]; // longer names are cut
    (void)std::snprintf(said, sizeof said, "%s: %s", rule, function);
    check_failed(said, file, static_cast<int>(line));
}

} // namespace kairos
