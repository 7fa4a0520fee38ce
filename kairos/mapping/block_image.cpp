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

/// What becomes of a vector of bytes, by a pattern of as many.
enum class How : std::uint8_t {
    mask, ///< the pattern's bits stay
    pick, ///< each byte of the pattern says which byte of its lane goes there, or `nothing`
};

/// Bytes are picked in lanes of this size. Numbers never cross them: an element starts at a
/// multiple of its largest number.
constexpr std::size_t lane = 16;
/// Longer patterns, whose elements do not fall together with vectors again before, are not worth
/// it.
constexpr std::size_t period_max = 512;
constexpr std::byte nothing{0x80}; // becomes zero

/// What to pick for one element, as if it began with a lane. Room for the last lane.
using ElementOrder = std::array<std::byte, period_max + lane>;

void note_swapped(ElementOrder& order, const Block& block) noexcept
{
    std::fill_n(order.begin(), block.size, nothing);
    for_each_run(block.steps(), block.steps() + block.step_count, 0,
                 [&](std::size_t begin, const Step& run) {
                     const std::size_t number = number_size(run.kind());
                     const std::size_t end = begin + run.count * number;
                     for (std::size_t at = begin; at < end; ++at)
                         order[at] = static_cast<std::byte>((at ^ (number - 1)) % lane);
                 });
}

#if defined(__x86_64__)

/// A lane of elements' order. It is that of the first, counted from where in a lane they begin.
[[nodiscard]] __m128i order_from(const std::byte* element, std::size_t begin) noexcept
{
    const __m128i order = _mm_loadu_si128(reinterpret_cast<const __m128i*>(element));
    const __m128i moved = _mm_add_epi8(order, _mm_set1_epi8(static_cast<char>(begin % lane)));
    return _mm_and_si128(moved, _mm_set1_epi8(static_cast<char>(0x80 | (lane - 1))));
}

/// The pattern of a period of elements and, of picking, of no more than a lane behind it.
template <How how>
void repeat_pattern(std::byte* patterns, std::size_t period, const std::byte* element,
                    std::size_t size) noexcept
{
    for (std::size_t begin = 0; begin < period; begin += size) {
        if constexpr (how == How::mask)
            copy_image(patterns + begin, element, size);
        else
            for (std::size_t at = 0; at < size; at += lane)
                _mm_storeu_si128(reinterpret_cast<__m128i*>(patterns + begin + at),
                                 order_from(element + at, begin));
    }
}

// The same for each width of vectors: a compiler option of its own, so a function of its own.
// `…_few` are for periods of so few vectors that their patterns stay in registers. There all are
// loaded before one is stored: a load waits for stores not long before whose addresses end in the
// same twelve bits.

template <How how>
__attribute__((target("avx512bw"), always_inline)) inline __m512i arranged(__m512i value,
                                                                           __m512i pattern) noexcept
{
    if constexpr (how == How::mask) return _mm512_and_si512(value, pattern);
    return _mm512_shuffle_epi8(value, pattern);
}

template <How how, std::size_t vectors>
__attribute__((target("avx512bw"))) void arrange_few_by_64(std::byte* to, const std::byte* from,
                                                           const std::byte* patterns,
                                                           std::size_t periods) noexcept
{
    __m512i kept[vectors];
    for (std::size_t i = 0; i < vectors; ++i)
        kept[i] = _mm512_load_si512(patterns + i * sizeof(__m512i));
    for (; periods != 0; --periods, to += sizeof kept, from += sizeof kept) {
        __m512i values[vectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            values[i] = _mm512_loadu_si512(from + i * sizeof(__m512i));
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            _mm512_storeu_si512(to + i * sizeof(__m512i), arranged<how>(values[i], kept[i]));
    }
}

template <How how>
__attribute__((target("avx512bw"))) void
arrange_by_64(std::byte* to, const std::byte* from, const std::byte* patterns, std::size_t period,
              std::size_t periods) noexcept
{
    if (period == 192) return arrange_few_by_64<how, 3>(to, from, patterns, periods);
    if (period == 256) return arrange_few_by_64<how, 4>(to, from, patterns, periods);
    if (period == 320) return arrange_few_by_64<how, 5>(to, from, patterns, periods);
    for (; periods != 0; --periods, to += period, from += period)
        for (std::size_t at = 0; at < period; at += 64)
            _mm512_storeu_si512(to + at, arranged<how>(_mm512_loadu_si512(from + at),
                                                       _mm512_load_si512(patterns + at)));
}

template <How how>
__attribute__((target("avx2"), always_inline)) inline __m256i arranged(__m256i value,
                                                                       __m256i pattern) noexcept
{
    if constexpr (how == How::mask) return _mm256_and_si256(value, pattern);
    return _mm256_shuffle_epi8(value, pattern);
}

template <How how, std::size_t vectors>
__attribute__((target("avx2"))) void arrange_few_by_32(std::byte* to, const std::byte* from,
                                                       const std::byte* patterns,
                                                       std::size_t periods) noexcept
{
    __m256i kept[vectors];
    for (std::size_t i = 0; i < vectors; ++i)
        kept[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(patterns) + i);
    for (; periods != 0; --periods, to += sizeof kept, from += sizeof kept) {
        __m256i values[vectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            values[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + i,
                                arranged<how>(values[i], kept[i]));
    }
}

template <How how>
__attribute__((target("avx2"))) void arrange_by_32(std::byte* to, const std::byte* from,
                                                   const std::byte* patterns, std::size_t period,
                                                   std::size_t periods) noexcept
{
    if (period == 96) return arrange_few_by_32<how, 3>(to, from, patterns, periods);
    if (period == 128) return arrange_few_by_32<how, 4>(to, from, patterns, periods);
    if (period == 160) return arrange_few_by_32<how, 5>(to, from, patterns, periods);
    for (; periods != 0; --periods, to += period, from += period) {
        for (std::size_t at = 0; at < period; at += 32) {
            const auto* pattern = reinterpret_cast<const __m256i*>(patterns + at);
            const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at),
                                arranged<how>(value, _mm256_load_si256(pattern)));
        }
    }
}

template <How how>
__attribute__((target("ssse3"))) void arrange_by_16(std::byte* to, const std::byte* from,
                                                    const std::byte* patterns, std::size_t period,
                                                    std::size_t periods) noexcept
{
    for (; periods != 0; --periods, to += period, from += period) {
        for (std::size_t at = 0; at < period; at += 16) {
            const __m128i pattern = _mm_load_si128(reinterpret_cast<const __m128i*>(patterns + at));
            const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at),
                             how == How::mask ? _mm_and_si128(value, pattern)
                                              : _mm_shuffle_epi8(value, pattern));
        }
    }
}

/// Bytes after which vectors and elements begin together again.
[[nodiscard]] std::size_t period_of(std::size_t element, std::size_t vector) noexcept
{
    const int common = std::min(std::countr_zero(element), std::countr_zero(vector));
    return (element >> common) * vector;
}

/// Of vectors wider than a lane. At least three, to have several in flight.
[[nodiscard]] std::size_t wide_period_of(std::size_t element, std::size_t vector) noexcept
{
    const std::size_t period = period_of(element, vector);
    return period < 3 * vector ? 4 * vector : period;
}

/// Where in a period the first element begins that a vector can be stored to without crossing a
/// cache line; 0 if none does.
[[nodiscard]] std::size_t aligned_element(const std::byte* to, std::size_t element,
                                          std::size_t period, std::size_t vector) noexcept
{
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    for (std::size_t at = 0; at < period; at += element)
        if (((begin + at) & (vector - 1)) == 0) return at; // a power of two
    return 0;
}

/// A way to arrange periods of elements.
struct Arrangement {
    void (*arrange)(std::byte* to, const std::byte* from, const std::byte* patterns,
                    std::size_t period, std::size_t periods) noexcept;
    std::size_t vector; ///< 0: there is no way
    std::size_t period;
};

/// By the widest vectors whose period is neither too long nor longer than what there is to do.
template <How how>
[[nodiscard]] Arrangement arrangement_for(std::size_t element, std::size_t size,
                                          Vectors vectors) noexcept
{
    const auto suits = [size](std::size_t period) {
        return period <= period_max && period <= size;
    };
    if (vectors >= Vectors::of_64)
        if (const auto period = wide_period_of(element, 64); suits(period))
            return {arrange_by_64<how>, 64, period};
    if (vectors >= Vectors::of_32)
        if (const auto period = wide_period_of(element, 32); suits(period))
            return {arrange_by_32<how>, 32, period};
    if (const auto period = period_of(element, 16); vectors >= Vectors::of_16 && suits(period))
        return {arrange_by_16<how>, 16, period};
    return {};
}

/// Has all of `size` bytes arranged in whole periods, by `arrange(to, from, periods)`. Any element
/// can begin a period: so the first and the last overlap those between them.
template <typename Arrange>
void in_periods(std::byte* to, const std::byte* from, std::size_t size, std::size_t element,
                std::size_t period, std::size_t vector, const Arrange& arrange) noexcept
{
    const std::size_t begin = aligned_element(to, element, period, vector);
    if (begin != 0) arrange(to, from, 1);
    const std::size_t count = (size - begin) / period;
    arrange(to + begin, from + begin, count);
    const std::size_t last = size - period;
    if (begin + count * period != size) arrange(to + last, from + last, 1);
}

/// Arranges `size` bytes, whole elements or, where all lanes are alike, numbers. False if that
/// takes longer patterns, or shorter ones, than can be had.
template <How how>
bool arrange(std::byte* to, const std::byte* from, std::size_t size, const std::byte* element,
             std::size_t element_size, Vectors vectors) noexcept
{
    const auto [by, vector, period] = arrangement_for<how>(element_size, size, vectors);
    if (vector == 0) return false;
    alignas(64) std::byte patterns[period_max + lane];
    repeat_pattern<how>(patterns, period, element, element_size);
    in_periods(to, from, size, element_size, period, vector,
               [&, arrange = by, whole = period](std::byte* there, const std::byte* here,
                                                 std::size_t periods) {
                   arrange(there, here, patterns, whole, periods);
               });
    return true;
}

// --- Masks of bits -------------------------------------------------------------------------------

/// One bit for each byte of an element of 16 to 64 bytes.
[[nodiscard]] std::uint64_t bits_of(const std::byte* mask, std::size_t size) noexcept
{
    std::uint64_t bits = 0;
    const auto add = [&](std::size_t at) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask + at));
        bits |= static_cast<std::uint64_t>(_mm_movemask_epi8(bytes)) << at;
    };
    for (std::size_t at = 0; at + lane < size; at += lane)
        add(at);
    add(size - lane);
    return bits;
}

/// Periods of so many vectors.
template <std::size_t vectors>
__attribute__((target("avx512bw"))) void mask_by_bits(std::byte* to, const std::byte* from,
                                                      const std::uint64_t* bits,
                                                      std::size_t periods) noexcept
{
    __mmask64 kept[vectors];
    for (std::size_t i = 0; i < vectors; ++i)
        kept[i] = bits[i];
    for (; periods != 0; --periods, to += vectors * 64, from += vectors * 64) {
        __m512i values[vectors];
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            values[i] = _mm512_maskz_loadu_epi8(kept[i], from + i * 64);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            _mm512_storeu_si512(to + i * 64, values[i]);
    }
}

/// Copies `size` bytes of whole elements with AVX-512, whose masks are bits: quicker to make than
/// patterns. False for elements that it is not for.
bool mask_by_bits(std::byte* to, const std::byte* from, std::size_t size,
                  const Block& block) noexcept
{
    constexpr std::size_t vector = 64;
    const std::size_t element = block.size;
    if (element < lane || element > vector) return false;
    const std::size_t period = wide_period_of(element, vector);
    const std::size_t vectors = period / vector;
    if (vectors > 5 || period > size) return false;
    std::uint64_t bits[6]{}; // the last one is for what is behind the period
    const std::uint64_t once = bits_of(block.mask(), element);
    for (std::size_t begin = 0; begin < period; begin += element) {
        const std::size_t shift = begin % vector;
        bits[begin / vector] |= once << shift;
        if (shift + element > vector) bits[begin / vector + 1] |= once >> (vector - shift);
    }
    in_periods(to, from, size, element, period, vector,
               [&](std::byte* there, const std::byte* here, std::size_t periods) {
                   if (vectors == 3) return mask_by_bits<3>(there, here, bits, periods);
                   if (vectors == 4) return mask_by_bits<4>(there, here, bits, periods);
                   return mask_by_bits<5>(there, here, bits, periods);
               });
    return true;
}
#else
template <How how>
bool arrange(std::byte*, const std::byte*, std::size_t, const std::byte*, std::size_t,
             Vectors) noexcept
{
    return false;
}
bool mask_by_bits(std::byte*, const std::byte*, std::size_t, const Block&) noexcept
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
    std::array<std::byte, lane> order{};
    for (std::size_t at = 0; at < lane; ++at)
        order[at] = static_cast<std::byte>(at ^ (number - 1));
    return order;
}();

template <typename Number>
void swap_numbers(std::byte* to, const std::byte* from, std::size_t size, Vectors vectors) noexcept
{
    if (size < lane ||
        !arrange<How::pick>(to, from, size, order_of_numbers<sizeof(Number)>.data(), lane, vectors))
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
    constexpr std::size_t worth_a_pattern = 256;
    const std::size_t whole = whole_elements(block, count);
    std::size_t done = 0;
    const std::size_t size = whole * block.size;
    if (block.size <= period_max && size >= worth_a_pattern &&
        ((vectors >= Vectors::of_64 && mask_by_bits(to, from, size, block)) ||
         arrange<How::mask>(to, from, size, block.mask(), block.size, vectors)))
        done = whole;
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
        if (arrange<How::pick>(to, from, whole * block.size, order.data(), block.size, vectors))
            done = whole;
    }
    for (; done != count; ++done)
        swap_one(to + done * block.size, from + done * block.size, block, vectors);
}

} // namespace kairos::mapping
