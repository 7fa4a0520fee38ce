// SPDX-License-Identifier: Apache-2.0
//
// Counts of owners and the like that threads share, without <atomic>: that header alone is a fifth
// of what generated code would have to read (docs/building.md). The compiler's own operations are
// what it is made of, and what ThreadSanitizer knows.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>

namespace kairos {

/// A word that threads share. T is an integer or a pointer.
template <typename T>
class KAIROS_API AtomicWord {
  public:
    constexpr AtomicWord() noexcept = default;
    constexpr explicit AtomicWord(T value) noexcept : value_(value) {}
    AtomicWord(const AtomicWord&) = delete;
    AtomicWord& operator=(const AtomicWord&) = delete;

    [[nodiscard]] T load_relaxed() const noexcept
    {
        return __atomic_load_n(&value_, __ATOMIC_RELAXED);
    }
    [[nodiscard]] T load_acquire() const noexcept
    {
        return __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
    }
    void store_relaxed(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }
    void store_release(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
    /// Puts `value` in place of the word and returns what was there. Acquires and releases.
    T exchange(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
    /// Return what was there before. Relaxed: who hands something on with it does so otherwise.
    T add(T value) noexcept { return __atomic_fetch_add(&value_, value, __ATOMIC_RELAXED); }
    T subtract(T value) noexcept { return __atomic_fetch_sub(&value_, value, __ATOMIC_RELAXED); }
    /// Replaces `expected` by `desired` and returns true; or gives what is there in `expected`.
    /// Acquires and releases. May fail although `expected` was there.
    [[nodiscard]] bool compare_exchange(T& expected, T desired) noexcept
    {
        return __atomic_compare_exchange_n(&value_, &expected, desired, true, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }

  protected:
    T value_{};
};

/// How many owners a shared object has. Starts with one.
class KAIROS_API RefCount : private AtomicWord<std::uint32_t> {
  public:
    constexpr RefCount() noexcept : AtomicWord(1) {}

    void add() noexcept { __atomic_fetch_add(&value_, 1U, __ATOMIC_RELAXED); }
    /// Takes an owner away. True if it was the last, which has seen all that the others did.
    [[nodiscard]] bool drop() noexcept
    {
        return __atomic_fetch_sub(&value_, 1U, __ATOMIC_ACQ_REL) == 1;
    }
    /// Whether the caller is the only owner, who has seen all that former ones did.
    [[nodiscard]] bool is_one() const noexcept { return load_acquire() == 1; }
    /// How many owners there are; other threads may change that meanwhile.
    [[nodiscard]] std::uint32_t count() const noexcept { return load_relaxed(); }
};

} // namespace kairos
