// SPDX-License-Identifier: Apache-2.0
//
// A word that one thread at a time has, for what is hardly ever wanted by two: who finds it free
// takes it by one atomic operation and gives it back by another, without the C library. Who finds
// it taken waits in the kernel, and whoever has it runs at that thread's priority meanwhile, as
// with net::PriorityMutex: the word is what the kernel knows of a futex with priority inheritance.
#pragma once

#include "kairos/base/thread_local.h"

#include <atomic>
#include <cstdint>

namespace kairos::tls {

/// Is locked and unlocked by the same thread, which does not lock it twice. Any thread.
class PriorityWord {
  public:
    PriorityWord() = default;
    PriorityWord(const PriorityWord&) = delete;
    PriorityWord& operator=(const PriorityWord&) = delete;

    void lock() noexcept
    {
        std::uint32_t nobody = 0;
        if (!word_.compare_exchange_strong(nobody, own_number(), std::memory_order_acquire,
                                           std::memory_order_relaxed)) [[unlikely]]
            wait();
    }
    void unlock() noexcept
    {
        std::uint32_t own = own_number();
        if (!word_.compare_exchange_strong(own, 0, std::memory_order_release,
                                           std::memory_order_relaxed)) [[unlikely]]
            pass_on();
    }

  private:
    /// Returns the number by which the kernel knows the calling thread.
    [[nodiscard]] static std::uint32_t own_number() noexcept
    {
        return own_number_ != 0 ? own_number_ : ask_number();
    }
    [[gnu::cold, gnu::noinline]] static std::uint32_t ask_number() noexcept;
    [[gnu::cold, gnu::noinline]] void wait() noexcept;
    [[gnu::cold, gnu::noinline]] void pass_on() noexcept;
    [[nodiscard]] long ask_kernel(int operation) noexcept;

    // 0: the thread has not asked yet, or is another since the process was forked.
    KAIROS_NEAR static inline constinit thread_local std::uint32_t own_number_ = 0;

    std::atomic<std::uint32_t> word_{0}; // who has it; the kernel adds whether somebody waits
};

} // namespace kairos::tls
