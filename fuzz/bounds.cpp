// SPDX-License-Identifier: Apache-2.0
//
// Linked with every fuzz target, whose LLVMFuzzerTestOneInput is called kairos_fuzz_input there
// (cmake/KairosModule.cmake); the fuzzer and the replay call the one below.
#include "fuzz/bounds.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define KAIROS_FUZZ_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KAIROS_FUZZ_ASAN
#endif
#endif
#ifdef KAIROS_FUZZ_ASAN
// Of both compilers' sanitizers; only clang has the header of them.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#endif

extern "C" int kairos_fuzz_input(const std::uint8_t* data, std::size_t size);

namespace kairos::fuzz {

[[gnu::weak]] Bounds bounds() { return {}; }

namespace {

// Whoever allocates. Blocks from before main may be freed later, so it may be negative.
std::atomic<std::ptrdiff_t> held{0};
std::atomic<std::ptrdiff_t> highest{0};
std::atomic<std::size_t> compared{0};

void note_allocated(std::size_t size) noexcept
{
    const auto octets = static_cast<std::ptrdiff_t>(size);
    const std::ptrdiff_t now = held.fetch_add(octets, std::memory_order_relaxed) + octets;
    std::ptrdiff_t before = highest.load(std::memory_order_relaxed);
    while (before < now && !highest.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
}

void note_freed(std::size_t size) noexcept
{
    held.fetch_sub(static_cast<std::ptrdiff_t>(size), std::memory_order_relaxed);
}

/// Threads that do so at the same time may miss some: an atomic addition would cost more than all
/// else that happens here.
[[maybe_unused]] void note_compared() noexcept
{
    compared.store(compared.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

struct Cost {
    std::size_t octets = 0;
    std::size_t comparisons = 0;
};

Cost cost_of(const std::uint8_t* data, std::size_t size)
{
    const std::ptrdiff_t before = held.load();
    highest = before;
    compared = 0;
    (void)kairos_fuzz_input(data, size);
    return {static_cast<std::size_t>(highest - before), compared};
}

bool is_within(const Cost& cost, std::size_t size)
{
    const Bounds most = bounds();
    return cost.octets <= most.octets_each * size + most.octets_beside &&
           cost.comparisons <= most.comparisons_each * size + most.comparisons_beside;
}

#ifdef KAIROS_FUZZ_ASAN
// The sanitizer's allocator tells; it has operator new, too.
[[maybe_unused]] const int hooked = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t size) { note_allocated(size); },
    [](const volatile void* place) {
        if (place != nullptr)
            note_freed(__sanitizer_get_allocated_size(const_cast<const void*>(place)));
    });
#endif

} // namespace
} // namespace kairos::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace kairos::fuzz;
    if (is_within(cost_of(data, size), size)) return 0;
    // What is made once, by the first input, is not the input's: the second time counts.
    const Cost cost = cost_of(data, size);
    if (is_within(cost, size)) return 0;
    const Bounds most = bounds();
    std::fprintf(
        stderr,
        "an input of %zu octets took %zu octets of memory, at most %zu + %zu an octet, and "
        "%zu comparisons, at most %zu + %zu an octet\n",
        size, cost.octets, most.octets_beside, most.octets_each, cost.comparisons,
        most.comparisons_beside, most.comparisons_each);
    std::abort();
}

#ifdef KAIROS_FUZZ
// libFuzzer's functions, which the instrumented code calls with what it compares, under the names
// that the linker gives who wraps them. Each ends in a jump: libFuzzer looks at who called.
#define KAIROS_COUNTED(name, type)                                                                 \
    extern "C" void __real___sanitizer_cov_trace_##name(type, type);                               \
    extern "C" void __wrap___sanitizer_cov_trace_##name(type left, type right)                     \
    {                                                                                              \
        kairos::fuzz::note_compared();                                                             \
        [[clang::musttail]] return __real___sanitizer_cov_trace_##name(left, right);               \
    }
KAIROS_COUNTED(cmp1, std::uint8_t)
KAIROS_COUNTED(cmp2, std::uint16_t)
KAIROS_COUNTED(cmp4, std::uint32_t)
KAIROS_COUNTED(cmp8, std::uint64_t)
KAIROS_COUNTED(const_cmp1, std::uint8_t)
KAIROS_COUNTED(const_cmp2, std::uint16_t)
KAIROS_COUNTED(const_cmp4, std::uint32_t)
KAIROS_COUNTED(const_cmp8, std::uint64_t)
extern "C" void __real___sanitizer_cov_trace_switch(std::uint64_t, std::uint64_t*);
extern "C" void __wrap___sanitizer_cov_trace_switch(std::uint64_t value, std::uint64_t* cases)
{
    kairos::fuzz::note_compared();
    [[clang::musttail]] return __real___sanitizer_cov_trace_switch(value, cases);
}
#endif

#ifndef KAIROS_FUZZ_ASAN
namespace {

void* allocate(std::size_t size, std::size_t alignment)
{
    void* const memory =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(size)
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    kairos::fuzz::note_allocated(malloc_usable_size(memory));
    return memory;
}

void release(void* memory) noexcept
{
    kairos::fuzz::note_freed(malloc_usable_size(memory));
    std::free(memory);
}

} // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment)
{
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
#endif
