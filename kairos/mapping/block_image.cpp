// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/block_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kairos::mapping {
namespace {

// --- Element by element ------------------------------------------------------------------------

template <typename Number>
void swap_each(std::byte* to, const std::byte* from, std::size_t size) noexcept
{
    for (std::size_t at = 0; at < size; at += sizeof(Number))
        store_word(to + at, byteswap(load_word<Number>(from + at)));
}

constexpr std::size_t number_size(Step::Kind kind) noexcept
{
    constexpr std::uint8_t sizes[] = {1, 2, 4, 8, 1, 4, 1, 16};
    return sizes[static_cast<std::size_t>(kind)];
}

/// Calls `action(offset, step)` for every run of numbers of an element.
template <typename Action>
void for_each_run(const Step* step, const Step* end, std::size_t base, const Action& action)
{
    for (; step != end; ++step) {
        const std::size_t at = base + step->offset;
        if (step->kind() != Step::Kind::repeat) {
            action(at, *step);
            continue;
        }
        const Step* const inner_end = step + 1 + step->detail();
        for (std::size_t i = 0; i < step->count; ++i)
            for_each_run(step + 2, inner_end, at + i * step[1].offset, action);
        step = inner_end - 1;
    }
}

// --- By the vector -----------------------------------------------------------------------------

/// Vectors are put in order in lanes of this size. Numbers never cross them: an element starts at a
/// multiple of its largest number.
constexpr std::size_t lane = 16;
/// Longer patterns, whose elements do not fall together with vectors again before, are not worth
/// it.
constexpr std::size_t period_max = 512;
/// For each byte: which byte of its lane goes there, or `nothing`, which makes it zero.
using Order = std::byte;
constexpr Order nothing{0x80};

/// The order of one element, as if it began with a lane. Room for the last lane.
using ElementOrder = std::array<Order, period_max + lane>;

void note_unmasked(ElementOrder& order, const Block& block) noexcept
{
    for (std::size_t at = 0; at < block.size; ++at)
        order[at] = block.mask()[at] == std::byte{0} ? nothing : static_cast<Order>(at % lane);
}

void note_swapped(ElementOrder& order, const Block& block) noexcept
{
    std::fill_n(order.begin(), block.size, nothing);
    for_each_run(block.steps(), block.steps() + block.step_count, 0,
                 [&](std::size_t begin, const Step& run) {
                     const std::size_t number = number_size(run.kind());
                     const std::size_t end = begin + run.count * number;
                     for (std::size_t at = begin; at < end; ++at)
                         order[at] = static_cast<Order>((at ^ (number - 1)) % lane);
                 });
}

#if defined(__x86_64__)

/// A lane of elements' order. It is that of the first, counted from where in a lane they begin.
[[nodiscard]] __m128i order_from(const Order* element, std::size_t begin) noexcept
{
    const __m128i order = _mm_loadu_si128(reinterpret_cast<const __m128i*>(element));
    const __m128i moved = _mm_add_epi8(order, _mm_set1_epi8(static_cast<char>(begin % lane)));
    return _mm_and_si128(moved, _mm_set1_epi8(static_cast<char>(0x80 | (lane - 1))));
}

/// The order of a period of elements, and of no more than a lane behind it.
void repeat_order(Order* orders, std::size_t period, const Order* element,
                  std::size_t size) noexcept
{
    for (std::size_t begin = 0; begin < period; begin += size)
        for (std::size_t at = 0; at < size; at += lane)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(orders + begin + at),
                             order_from(element + at, begin));
}

/// Periods of so few vectors that their orders stay in registers.
template <std::size_t vectors>
__attribute__((target("avx2"))) void shuffle_few(std::byte* to, const std::byte* from,
                                                 const Order* orders, std::size_t periods) noexcept
{
    __m256i kept[vectors];
    for (std::size_t i = 0; i < vectors; ++i)
        kept[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(orders) + i);
    for (; periods != 0; --periods, to += sizeof kept, from += sizeof kept) {
        // All are loaded before one is stored: a load waits for stores not long before whose
        // addresses end in the same twelve bits.
        __m256i values[vectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            values[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + i,
                                _mm256_shuffle_epi8(values[i], kept[i]));
    }
}

__attribute__((target("avx2"))) void shuffle_by_32(std::byte* to, const std::byte* from,
                                                   const Order* orders, std::size_t period,
                                                   std::size_t periods) noexcept
{
    if (period == 96) return shuffle_few<3>(to, from, orders, periods);
    if (period == 128) return shuffle_few<4>(to, from, orders, periods);
    if (period == 160) return shuffle_few<5>(to, from, orders, periods);
    for (; periods != 0; --periods, to += period, from += period) {
        for (std::size_t at = 0; at < period; at += 32) {
            const auto* order = reinterpret_cast<const __m256i*>(orders + at);
            const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at),
                                _mm256_shuffle_epi8(value, _mm256_load_si256(order)));
        }
    }
}

__attribute__((target("ssse3"))) void shuffle_by_16(std::byte* to, const std::byte* from,
                                                    const Order* orders, std::size_t period,
                                                    std::size_t periods) noexcept
{
    for (; periods != 0; --periods, to += period, from += period) {
        for (std::size_t at = 0; at < period; at += 16) {
            const auto* order = reinterpret_cast<const __m128i*>(orders + at);
            const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at),
                             _mm_shuffle_epi8(value, _mm_load_si128(order)));
        }
    }
}

/// Bytes after which vectors and elements begin together again.
[[nodiscard]] std::size_t period_of(std::size_t element, std::size_t vector) noexcept
{
    const int common = std::min(std::countr_zero(element), std::countr_zero(vector));
    return (element >> common) * vector;
}

/// Of vectors of 32. At least three, to have several in flight.
[[nodiscard]] std::size_t wide_period_of(std::size_t element) noexcept
{
    const std::size_t period = period_of(element, 32);
    return period < 96 ? 128 : period;
}

/// Where in a period the first element begins that a vector of 32 can be stored to without crossing
/// a cache line; 0 if none does.
[[nodiscard]] std::size_t aligned_element(const std::byte* to, std::size_t element,
                                          std::size_t period) noexcept
{
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    for (std::size_t at = 0; at < period; at += element)
        if ((begin + at) % 32 == 0) return at;
    return 0;
}

/// Puts `size` bytes in order, whole elements or, where all lanes are alike, numbers. False if
/// that takes longer patterns, or shorter ones, than can be had.
bool shuffle(std::byte* to, const std::byte* from, std::size_t size, const Order* element,
             std::size_t element_size, Vectors vectors) noexcept
{
    if (vectors == Vectors::none) return false;
    auto* shuffle_periods = shuffle_by_32;
    std::size_t period = wide_period_of(element_size);
    if (vectors == Vectors::of_16 || period > size) {
        shuffle_periods = shuffle_by_16;
        period = period_of(element_size, 16);
    }
    if (period > period_max || period > size) return false;
    alignas(32) Order orders[period_max + lane];
    repeat_order(orders, period, element, element_size);

    // Any element can begin a period: so the first and the last overlap those between them.
    const std::size_t begin = aligned_element(to, element_size, period);
    if (begin != 0) shuffle_periods(to, from, orders, period, 1);
    const std::size_t count = (size - begin) / period;
    shuffle_periods(to + begin, from + begin, orders, period, count);
    const std::size_t last = size - period;
    if (begin + count * period != size) shuffle_periods(to + last, from + last, orders, period, 1);
    return true;
}
#else
bool shuffle(std::byte*, const std::byte*, std::size_t, const Order*, std::size_t, Vectors) noexcept
{
    return false;
}
#endif

/// The elements that can be moved together: not the last one if it ends in padding, which is
/// perhaps not there.
[[nodiscard]] std::size_t whole_elements(const Block& block, std::size_t count) noexcept
{
    return block.last_size == block.size ? count : count - 1;
}

/// The order of lanes full of numbers.
template <std::size_t number>
constexpr auto order_of_numbers = [] {
    std::array<Order, lane> order{};
    for (std::size_t at = 0; at < lane; ++at)
        order[at] = static_cast<Order>(at ^ (number - 1));
    return order;
}();

template <typename Number>
void swap_numbers(std::byte* to, const std::byte* from, std::size_t size, Vectors vectors) noexcept
{
    if (size < lane ||
        !shuffle(to, from, size, order_of_numbers<sizeof(Number)>.data(), lane, vectors))
        swap_each<Number>(to, from, size);
}

void swap_one(std::byte* to, const std::byte* from, const Block& block, Vectors vectors) noexcept
{
    for_each_run(block.steps(), block.steps() + block.step_count, 0,
                 [&](std::size_t at, const Step& run) {
                     const std::size_t number = number_size(run.kind());
                     copy_swapped_numbers(to + at, from + at, run.count * number, number, vectors);
                 });
}

} // namespace

void copy_masked(std::byte* to, const std::byte* from, const Block& block, std::size_t count,
                 Vectors vectors) noexcept
{
    constexpr std::size_t worth_an_order = 256;
    const std::size_t whole = whole_elements(block, count);
    std::size_t done = 0;
    if (block.size <= period_max && whole * block.size >= worth_an_order) {
        ElementOrder order;
        note_unmasked(order, block);
        if (shuffle(to, from, whole * block.size, order.data(), block.size, vectors)) done = whole;
    }
    for (; done != count; ++done)
        copy_one_masked(to + done * block.size, from + done * block.size, block.mask(),
                        done + 1 == count ? block.last_size : block.size);
}

void copy_swapped_numbers(std::byte* to, const std::byte* from, std::size_t size,
                          std::size_t number, Vectors vectors) noexcept
{
    switch (number) {
    case 1:
        std::memcpy(to, from, size);
        break;
    case 2:
        swap_numbers<std::uint16_t>(to, from, size, vectors);
        break;
    case 4:
        swap_numbers<std::uint32_t>(to, from, size, vectors);
        break;
    default:
        swap_numbers<std::uint64_t>(to, from, size, vectors);
    }
}

void copy_swapped(std::byte* to, const std::byte* from, const Block& block, std::size_t count,
                  Vectors vectors) noexcept
{
    if (block.is_number)
        return copy_swapped_numbers(to, from, count * block.size, block.host_alignment, vectors);
    if (block.host_alignment == 1) return copy_image(to, from, image_size(block, count));
    const std::size_t whole = whole_elements(block, count);
    std::size_t done = 0;
    if (block.size <= period_max && whole > 1) {
        ElementOrder order;
        note_swapped(order, block);
        if (shuffle(to, from, whole * block.size, order.data(), block.size, vectors)) done = whole;
    }
    for (; done != count; ++done)
        swap_one(to + done * block.size, from + done * block.size, block, vectors);
}

} // namespace kairos::mapping
