// SPDX-License-Identifier: Apache-2.0
//
// Counts what the process holds on the heap, by replacing operator new and delete: include it in
// exactly one file of a test program. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kairos::heap_testing {

inline std::atomic<std::size_t> held{0};                     ///< bytes
inline std::atomic<std::size_t> highest{0};                  ///< of `held` since somebody set it
inline std::atomic<std::size_t> largest_permitted{SIZE_MAX}; ///< larger requests throw

/// The so manieth allocation from now on throws, once, not counting those of threads that are
/// spared; 0: none does.
inline std::atomic<std::uint64_t> allocations_until_failure{0};
inline std::atomic<bool> has_failed{false};
inline thread_local bool is_spared = false;

[[nodiscard]] inline bool fails_now() noexcept
{
    std::uint64_t left = allocations_until_failure.load(std::memory_order_relaxed);
    do {
        if (left == 0 || is_spared) return false;
    } while (!allocations_until_failure.compare_exchange_weak(left, left - 1));
    if (left != 1) return false;
    has_failed = true;
    return true;
}

/// In front of each block, as many bytes as keep its alignment.
struct Block {
    std::size_t size;
};

inline void* allocate(std::size_t size, std::size_t alignment)
{
    if (size > largest_permitted.load(std::memory_order_relaxed)) throw std::bad_alloc();
    if (fails_now()) throw std::bad_alloc();
    const std::size_t front = alignment;
    const std::size_t whole = (front + size + alignment - 1) / alignment * alignment;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
    if (memory == nullptr) throw std::bad_alloc();
    new (memory + front - sizeof(Block)) Block{size};
    const std::size_t now = held.fetch_add(size, std::memory_order_relaxed) + size;
    std::size_t before = highest.load(std::memory_order_relaxed);
    while (before < now && !highest.compare_exchange_weak(before, now)) {
    }
    return memory + front;
}

inline void deallocate(void* place, std::size_t alignment) noexcept
{
    if (place == nullptr) return;
    auto* bytes = static_cast<std::byte*>(place);
    held.fetch_sub(reinterpret_cast<Block*>(bytes - sizeof(Block))->size,
                   std::memory_order_relaxed);
    std::free(bytes - alignment);
}

inline constexpr std::size_t usual = alignof(std::max_align_t);

} // namespace kairos::heap_testing

// clang-format off
void* operator new(std::size_t size)
{ return kairos::heap_testing::allocate(size, kairos::heap_testing::usual); }
void* operator new(std::size_t size, std::align_val_t alignment)
{ return kairos::heap_testing::allocate(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* place) noexcept
{ kairos::heap_testing::deallocate(place, kairos::heap_testing::usual); }
void operator delete(void* place, std::size_t) noexcept
{ kairos::heap_testing::deallocate(place, kairos::heap_testing::usual); }
void operator delete(void* place, std::align_val_t alignment) noexcept
{ kairos::heap_testing::deallocate(place, static_cast<std::size_t>(alignment)); }
void operator delete(void* place, std::size_t, std::align_val_t alignment) noexcept
{ kairos::heap_testing::deallocate(place, static_cast<std::size_t>(alignment)); }
// clang-format on
