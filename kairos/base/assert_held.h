// SPDX-License-Identifier: Apache-2.0
//
// What a function says of the mutexes that its callers hold: one that must hold a mutex has
// assert_held(mutex_) as its first line, one that calls the program assert_not_held(mutex_). A
// build with the library's assertions (_GLIBCXX_ASSERTIONS) ends the program where that is not so.
// In other builds, and with other C libraries than glibc, nothing is left of it. No class is laid
// out otherwise for it: glibc keeps in each mutex which thread owns it.
#pragma once

#include "kairos/base/export.h"

#include <pthread.h>
#include <source_location>

namespace kairos {

/// Whether the calling thread owns the mutex. It reads what glibc keeps in the mutex for itself, so
/// it is for assertions only; with another C library the answer is always no. In a child of fork()
/// the thread owns what the one that forked owned, if that had asked before.
[[nodiscard]] KAIROS_API bool is_held_here(const pthread_mutex_t& mutex) noexcept;

/// Says on standard error which function was called with a mutex held that must not be, or the
/// other way round, and aborts.
[[noreturn, gnu::cold]] KAIROS_API void lock_failed(const char* rule, const char* function,
                                                    const char* file, unsigned line) noexcept;

// Always inlined, for a program may be compiled with assertions and the library without.
#if defined _GLIBCXX_ASSERTIONS && defined __GLIBC__

/// Ends the program unless the calling thread owns the mutex: a std::mutex, a
/// std::recursive_mutex, a net::PriorityMutex.
template <typename Mutex>
[[gnu::always_inline]] inline void
assert_held(const Mutex& mutex, std::source_location at = std::source_location::current()) noexcept
{
    if (!is_held_here(*const_cast<Mutex&>(mutex).native_handle())) [[unlikely]]
        lock_failed("a mutex must be held", at.function_name(), at.file_name(), at.line());
}

/// Ends the program if the calling thread owns the mutex.
template <typename Mutex>
[[gnu::always_inline]] inline void
assert_not_held(const Mutex& mutex,
                std::source_location at = std::source_location::current()) noexcept
{
    if (is_held_here(*const_cast<Mutex&>(mutex).native_handle())) [[unlikely]]
        lock_failed("a mutex must not be held", at.function_name(), at.file_name(), at.line());
}

#else

/// Is nothing: this build has no assertions.
template <typename Mutex>
[[gnu::always_inline]] inline void assert_held(const Mutex&) noexcept
{
}

/// Is nothing: this build has no assertions.
template <typename Mutex>
[[gnu::always_inline]] inline void assert_not_held(const Mutex&) noexcept
{
}

#endif

} // namespace kairos
