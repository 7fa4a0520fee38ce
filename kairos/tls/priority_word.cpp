// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/priority_word.h"

#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace kairos::tls {

/// The one thread of a child process has the storage of the one that forked, and another number.
std::uint32_t PriorityWord::ask_number() noexcept
{
    static const int registered = ::pthread_atfork(nullptr, nullptr, [] { own_number_ = 0; });
    own_number_ = static_cast<std::uint32_t>(::gettid());
    // Where there was no memory for that it is asked for each time.
    return registered == 0 ? own_number_ : std::exchange(own_number_, 0);
}

long PriorityWord::ask_kernel(int operation) noexcept
{
    return ::syscall(SYS_futex, &word_, operation, 0, nullptr, nullptr, 0);
}

/// The kernel writes the word: who takes it there, and that somebody waits. Where it knows no
/// priority inheritance (ENOSYS, in some sandboxes), or has no memory for it, nobody is woken, and
/// who waits looks again after a while: not by this word, for the kernel takes no waiters of two
/// kinds.
void PriorityWord::wait() noexcept
{
    constexpr timespec a_while{.tv_sec = 0, .tv_nsec = 1'000'000};
    for (;;) {
        if (ask_kernel(FUTEX_LOCK_PI_PRIVATE) == 0) {
            (void)word_.load(std::memory_order_acquire); // what was done before is seen
            return;
        }
        if (errno == EAGAIN || errno == EINTR) continue;
        (void)::nanosleep(&a_while, nullptr);
        std::uint32_t nobody = 0;
        if (word_.compare_exchange_strong(nobody, own_number(), std::memory_order_acquire,
                                          std::memory_order_relaxed))
            return;
    }
}

/// The kernel hands the word over to whoever of those that wait has the highest priority.
void PriorityWord::pass_on() noexcept
{
    word_.fetch_or(0, std::memory_order_release); // what was done before is seen
    if (ask_kernel(FUTEX_UNLOCK_PI_PRIVATE) != 0) word_.store(0, std::memory_order_release);
}

} // namespace kairos::tls
