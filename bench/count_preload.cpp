// SPDX-License-Identifier: Apache-2.0
//
// libkairos_count.so: put before libc by LD_PRELOAD, it counts heap allocations and lock operations
// of an unmodified program into the page of count_page.h. Every function adds one and goes on to
// libc's own; none allocates or locks. Any thread.
#include "kairos/base/count_page.h"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

// glibc's own names, so that no look-up is needed that could itself allocate.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

using kairos::CountPage;

// Where nobody has passed a page, this is what the process itself reads.
CountPage own_page;
std::atomic<CountPage*> page{&own_page};

[[gnu::constructor]] void map_page()
{
    const char* text = std::getenv(kairos::count_descriptor_variable);
    if (text == nullptr) return;
    void* memory =
        mmap(nullptr, sizeof(CountPage), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(text), 0);
    if (memory != MAP_FAILED) page.store(static_cast<CountPage*>(memory));
}

void add_one(std::atomic<std::uint64_t> CountPage::*counter)
{
    (page.load(std::memory_order_relaxed)->*counter).fetch_add(1, std::memory_order_relaxed);
}

/// libc's own function. Condition variables have an older incompatible version of the same name.
template <typename Function>
Function* next(const char* name)
{
    void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found == nullptr) found = dlsym(RTLD_NEXT, name);
    if (found == nullptr) std::abort();
    return reinterpret_cast<Function*>(found);
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] CountPage* kairos_count_page() { return page.load(); }

void* malloc(std::size_t size)
{
    add_one(&CountPage::allocations);
    return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size)
{
    add_one(&CountPage::allocations);
    return __libc_calloc(count, size);
}

void* realloc(void* block, std::size_t size)
{
    add_one(&CountPage::allocations);
    return __libc_realloc(block, size);
}

void* memalign(std::size_t alignment, std::size_t size)
{
    add_one(&CountPage::allocations);
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size)
{
    add_one(&CountPage::allocations);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size)
{
    add_one(&CountPage::allocations);
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
        return EINVAL;
    void* memory = __libc_memalign(alignment, size);
    if (memory == nullptr) return ENOMEM;
    *block = memory;
    return 0;
}

// The static local is resolved at a function's first call: during warm-up, never while counting.
#define KAIROS_COUNT(counter, result, name, parameters, arguments)                                 \
    result name parameters                                                                         \
    {                                                                                              \
        static auto* const original = next<result parameters>(#name);                              \
        add_one(&CountPage::counter);                                                              \
        return original arguments;                                                                 \
    }

KAIROS_COUNT(locks, int, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_mutex_timedlock, (pthread_mutex_t * lock, const timespec* until),
             (lock, until))
KAIROS_COUNT(locks, int, pthread_mutex_clocklock,
             (pthread_mutex_t * lock, clockid_t clock, const timespec* until), (lock, clock, until))
KAIROS_COUNT(locks, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
KAIROS_COUNT(locks, int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
KAIROS_COUNT(condition_actions, int, pthread_cond_wait,
             (pthread_cond_t * condition, pthread_mutex_t* lock), (condition, lock))
KAIROS_COUNT(condition_actions, int, pthread_cond_timedwait,
             (pthread_cond_t * condition, pthread_mutex_t* lock, const timespec* until),
             (condition, lock, until))
KAIROS_COUNT(condition_actions, int, pthread_cond_clockwait,
             (pthread_cond_t * condition, pthread_mutex_t* lock, clockid_t clock,
              const timespec* until),
             (condition, lock, clock, until))
KAIROS_COUNT(condition_actions, int, pthread_cond_signal, (pthread_cond_t * condition), (condition))
KAIROS_COUNT(condition_actions, int, pthread_cond_broadcast, (pthread_cond_t * condition),
             (condition))

} // extern "C"
