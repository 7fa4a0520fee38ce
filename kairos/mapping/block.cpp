// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/block.h"

#include "kairos/mapping/marshal.h"

#include <cstring>
#include <numeric>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kairos::mapping {
namespace {

// Unaligned on purpose: elements start at any multiple of their alignment.
typedef std::uint64_t Vector __attribute__((vector_size(16), aligned(1), may_alias));
constexpr std::size_t vector_size = sizeof(Vector);
/// Longer patterns, whose elements do not fall together with vectors again before, are not worth
/// it.
constexpr std::size_t period_max = 512;

/// Whether chars among the numbers must be converted one by one on this stream.
template <typename Stream>
[[nodiscard]] bool converts(const Block& block, const Stream& stream) noexcept
{
    return block.has_characters && cdr::converting_form(stream) != nullptr;
}

/// Whether CDR at `offset` puts an element where the host's layout fits.
[[nodiscard]] bool fits(const Block& block, std::size_t offset) noexcept
{
    const std::size_t begin = align_up(offset, block.first_alignment);
    return (begin & (block.host_alignment - std::size_t{1})) == 0;
}

[[nodiscard]] std::size_t image_size(const Block& block, std::size_t count) noexcept
{
    return (count - 1) * block.size + block.last_size;
}

/// Bytes after which vectors and elements begin together again; 0 where that is too far.
[[nodiscard]] std::size_t period_of(const Block& block) noexcept
{
    const std::size_t period = std::lcm(std::size_t{block.size}, vector_size);
    return period <= period_max ? period : 0;
}

// --- Copying without padding -------------------------------------------------------------------

template <typename Word>
[[nodiscard]] Word load(const std::byte* from) noexcept
{
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}
template <typename Word>
void store(std::byte* to, Word word) noexcept
{
    std::memcpy(to, &word, sizeof word);
}

/// `size` bytes in words of one size, the last of which overlaps the one before.
template <typename Word>
void copy_words(std::byte* to, const std::byte* from, const std::byte* mask, std::size_t size)
{
    const auto copy = [&](std::size_t at) {
        store(to + at, static_cast<Word>(load<Word>(from + at) & load<Word>(mask + at)));
    };
    for (std::size_t at = 0; at + sizeof(Word) < size; at += sizeof(Word))
        copy(at);
    copy(size - sizeof(Word));
}

void copy_one(std::byte* to, const std::byte* from, const std::byte* mask, std::size_t size)
{
    if (size >= sizeof(Vector)) return copy_words<Vector>(to, from, mask, size);
    if (size >= 8) return copy_words<std::uint64_t>(to, from, mask, size);
    if (size >= 4) return copy_words<std::uint32_t>(to, from, mask, size);
    for (std::size_t at = 0; at < size; ++at)
        to[at] = from[at] & mask[at];
}

/// A memcpy that costs no call for the size of a parameter.
void copy_image(std::byte* to, const std::byte* from, std::size_t size) noexcept
{
    if (size < sizeof(Vector) || size > 8 * sizeof(Vector)) {
        std::memcpy(to, from, size);
        return;
    }
    for (std::size_t at = 0; at + sizeof(Vector) < size; at += sizeof(Vector))
        store(to + at, load<Vector>(from + at));
    store(to + size - sizeof(Vector), load<Vector>(from + size - sizeof(Vector)));
}

/// Whole periods of `vectors` vectors each, under masks that stay in registers.
template <std::size_t vectors>
void copy_periods(std::byte* to, const std::byte* from, const std::byte* mask, std::size_t periods)
{
    Vector masks[vectors];
    std::memcpy(masks, mask, sizeof masks);
    for (; periods != 0; --periods, to += sizeof masks, from += sizeof masks) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i)
            reinterpret_cast<Vector*>(to)[i] = reinterpret_cast<const Vector*>(from)[i] & masks[i];
    }
}

void copy_masked(std::byte* to, const std::byte* from, const Block& block, std::size_t size)
{
    const std::byte* const mask = block.mask();
    const std::size_t period = period_of(block);
    std::size_t done = 0;
    if (period != 0 && size >= 2 * period) {
        alignas(vector_size) std::byte masks[period_max];
        for (std::size_t at = 0; at < period; at += block.size)
            std::memcpy(masks + at, mask, block.size);
        const std::size_t periods = size / period;
        done = periods * period;
        switch (period / vector_size) {
        case 1:
            copy_periods<1>(to, from, masks, periods);
            break;
        case 2:
            copy_periods<2>(to, from, masks, periods);
            break;
        case 3:
            copy_periods<3>(to, from, masks, periods);
            break;
        case 5:
            copy_periods<5>(to, from, masks, periods);
            break;
        default:
            for (std::size_t at = 0; at < done; at += period)
                copy_one(to + at, from + at, masks, period);
        }
    }
    for (; size - done > block.size; done += block.size)
        copy_one(to + done, from + done, mask, block.size);
    copy_one(to + done, from + done, mask, size - done);
}

// --- Number by number --------------------------------------------------------------------------

template <typename Number>
void encode_run(cdr::Writer& out, const std::byte* from, std::size_t count)
{
    if (count == 1) {
        std::memcpy(out.claim(sizeof(Number), sizeof(Number)), from, sizeof(Number));
    } else {
        out.write_bulk({from, count * sizeof(Number)}, sizeof(Number));
    }
}

void encode_characters(cdr::Writer& out, const std::byte* from, std::size_t count)
{
    if (cdr::converting_form(out) == nullptr) return encode_run<std::uint8_t>(out, from, count);
    for (const char character : std::span(reinterpret_cast<const char*>(from), count))
        encode(out, character);
}

void encode_steps(cdr::Writer& out, const Step* step, const Step* end, const std::byte* image)
{
    for (; step != end; ++step) {
        const std::byte* from = image + step->offset;
        switch (step->kind()) {
        case Step::Kind::character:
            encode_characters(out, from, step->count);
            break;
        case Step::Kind::number1:
        case Step::Kind::boolean:
            encode_run<std::uint8_t>(out, from, step->count);
            break;
        case Step::Kind::number2:
            encode_run<std::uint16_t>(out, from, step->count);
            break;
        case Step::Kind::number4:
        case Step::Kind::enumerator:
            encode_run<std::uint32_t>(out, from, step->count);
            break;
        case Step::Kind::number8:
            encode_run<std::uint64_t>(out, from, step->count);
            break;
        case Step::Kind::quad:
            for (std::uint32_t i = 0; i < step->count; ++i, from += sizeof(CORBA::LongDouble))
                Marshal<CORBA::LongDouble>::encode(
                    out, *reinterpret_cast<const CORBA::LongDouble*>(from));
            break;
        case Step::Kind::repeat: {
            const Step* const inner = step + 1;
            const Step* const inner_end = inner + step->detail();
            for (std::uint32_t i = 0; i < step->count; ++i, from += inner->offset)
                encode_steps(out, inner + 1, inner_end, from);
            step = inner_end - 1;
            break;
        }
        case Step::Kind::stride:
            break;
        }
    }
}

/// Offset behind an element that starts at `at`.
[[nodiscard]] std::size_t end_of_steps(const Step* step, const Step* end, std::size_t at) noexcept
{
    constexpr std::uint8_t alignments[] = {1, 2, 4, 8, 1, 4, 1, 8};
    constexpr std::uint8_t sizes[] = {1, 2, 4, 8, 1, 4, 1, 16};
    for (; step != end; ++step) {
        if (step->kind() == Step::Kind::repeat) {
            const Step* const inner_end = step + 1 + step->detail();
            for (std::uint32_t i = 0; i < step->count; ++i)
                at = end_of_steps(step + 2, inner_end, at);
            step = inner_end - 1;
        } else {
            const auto kind = static_cast<std::size_t>(step->kind());
            at = align_up(at, alignments[kind]) + std::size_t{step->count} * sizes[kind];
        }
    }
    return at;
}

// --- Byte order --------------------------------------------------------------------------------

template <typename Number>
void swap_each(std::byte* to, const std::byte* from, std::size_t size) noexcept
{
    for (std::size_t at = 0; at < size; at += sizeof(Number)) {
        Number number;
        std::memcpy(&number, from + at, sizeof number);
        number = byteswap(number);
        std::memcpy(to + at, &number, sizeof number);
    }
}

/// Swaps the numbers of an image in which CDR and host have everything at the same places.
void swap_steps(const Step* step, const Step* end, std::byte* to, const std::byte* from) noexcept
{
    for (; step != end; ++step) {
        const std::size_t at = step->offset;
        const std::size_t count = step->count;
        switch (step->kind()) {
        case Step::Kind::number2:
            swap_each<std::uint16_t>(to + at, from + at, count * 2);
            break;
        case Step::Kind::number4:
        case Step::Kind::enumerator:
            swap_each<std::uint32_t>(to + at, from + at, count * 4);
            break;
        case Step::Kind::number8:
            swap_each<std::uint64_t>(to + at, from + at, count * 8);
            break;
        case Step::Kind::repeat: {
            const Step* const inner = step + 1;
            const Step* const inner_end = inner + step->detail();
            for (std::size_t i = 0; i < count; ++i)
                swap_steps(inner + 1, inner_end, to + at + i * inner->offset,
                           from + at + i * inner->offset);
            step = inner_end - 1;
            break;
        }
        default:
            std::memcpy(to + at, from + at, count);
        }
    }
}

#if defined(__x86_64__)

/// Writes, for each byte of an element, which byte of its vector goes there.
void note_order(const Step* step, const Step* end, std::byte* order, std::size_t base) noexcept
{
    constexpr std::uint8_t sizes[] = {1, 2, 4, 8, 1, 4, 1, 16};
    for (; step != end; ++step) {
        if (step->kind() == Step::Kind::repeat) {
            const Step* const inner_end = step + 1 + step->detail();
            for (std::size_t i = 0; i < step->count; ++i)
                note_order(step + 2, inner_end, order, base + step->offset + i * step[1].offset);
            step = inner_end - 1;
            continue;
        }
        const std::size_t size = sizes[static_cast<std::size_t>(step->kind())];
        for (std::size_t i = 0; i < step->count * size; ++i) {
            const std::size_t at = base + step->offset + i;
            order[at] = static_cast<std::byte>((at ^ (size - 1)) % vector_size);
        }
    }
}

/// Whole periods of `vectors` 32-byte vectors each, whose patterns stay in registers.
template <std::size_t vectors>
__attribute__((target("avx2"))) void shuffle_periods(std::byte* to, const std::byte* from,
                                                     const std::byte* order, std::size_t periods)
{
    __m256i orders[vectors];
    for (std::size_t i = 0; i < vectors; ++i)
        orders[i] = _mm256_load_si256(reinterpret_cast<const __m256i*>(order) + i);
    for (; periods != 0; --periods, to += sizeof orders, from += sizeof orders) {
#pragma GCC unroll 8
        for (std::size_t i = 0; i < vectors; ++i) {
            const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + i);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + i,
                                _mm256_shuffle_epi8(value, orders[i]));
        }
    }
}

/// Any period, by 16 bytes.
__attribute__((target("ssse3"))) void shuffle_vectors(std::byte* to, const std::byte* from,
                                                      const std::byte* order, std::size_t period,
                                                      std::size_t size)
{
    for (std::size_t at = 0, in_period = 0; at < size; at += vector_size) {
        const __m128i pattern = _mm_load_si128(reinterpret_cast<const __m128i*>(order + in_period));
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), _mm_shuffle_epi8(value, pattern));
        in_period = in_period + vector_size == period ? 0 : in_period + vector_size;
    }
}

/// The whole periods at the front of an image; how many bytes that were.
std::size_t swap_periods(std::byte* to, const std::byte* from, const Block& block,
                         std::size_t size) noexcept
{
    static const bool has_shuffle = __builtin_cpu_supports("ssse3") != 0;
    static const bool has_wide_shuffle = __builtin_cpu_supports("avx2") != 0;
    // Numbers fill a vector many times over: four vectors then, to have several in flight.
    const std::size_t element = block.size < 16 && 128 % block.size == 0 ? 128 : block.size;
    const std::size_t period = std::lcm(element, 2 * vector_size);
    if (!has_shuffle || period > period_max || size < 2 * period) return 0;
    alignas(2 * vector_size) std::byte order[period_max];
    std::memset(order, 0xFF, period); // padding becomes zero
    for (std::size_t at = 0; at < period; at += block.size)
        note_order(block.steps(), block.steps() + block.step_count, order, at);
    const std::size_t periods = size / period;
    switch (has_wide_shuffle ? period / (2 * vector_size) : 0) {
    case 1:
        shuffle_periods<1>(to, from, order, periods);
        break;
    case 2:
        shuffle_periods<2>(to, from, order, periods);
        break;
    case 3:
        shuffle_periods<3>(to, from, order, periods);
        break;
    case 4:
        shuffle_periods<4>(to, from, order, periods);
        break;
    case 5:
        shuffle_periods<5>(to, from, order, periods);
        break;
    default:
        shuffle_vectors(to, from, order, period, periods * period);
    }
    return periods * period;
}
#else
std::size_t swap_periods(std::byte*, const std::byte*, const Block&, std::size_t) noexcept
{
    return 0;
}
#endif

/// From the foreign byte order, where CDR and host have everything at the same places.
void copy_swapped(std::byte* to, const std::byte* from, const Block& block,
                  std::size_t count) noexcept
{
    const std::size_t done = swap_periods(to, from, block, image_size(block, count));
    for (std::size_t i = done / block.size; i < count; ++i)
        swap_steps(block.steps(), block.steps() + block.step_count, to + i * block.size,
                   from + i * block.size);
}

// --- Decoding number by number -----------------------------------------------------------------

/// As one block: in parts (see Reader), it goes on right where the next part begins, as an array or
/// a sequence of large numbers does, also one of a single element.
template <typename Number>
void decode_together(cdr::Reader& in, std::byte* to, std::size_t count)
{
    const std::size_t size = count * sizeof(Number);
    const std::byte* from = in.block(size, sizeof(Number));
    if (from == nullptr) return;
    if (sizeof(Number) == 1 || !in.swap()) {
        std::memcpy(to, from, size);
    } else {
        swap_each<Number>(to, from, size);
    }
}

template <typename Number>
void decode_run(cdr::Reader& in, std::byte* to, std::size_t count)
{
    if (count != 1 && (sizeof(Number) == 8 || in.is_whole()))
        return decode_together<Number>(in, to, count);
    for (; count != 0; --count, to += sizeof(Number)) {
        const auto number = in.read<Number>();
        std::memcpy(to, &number, sizeof number);
    }
}

void decode_characters(cdr::Reader& in, std::byte* to, std::size_t count)
{
    if (cdr::converting_form(in) == nullptr) return decode_run<std::uint8_t>(in, to, count);
    for (char& character : std::span(reinterpret_cast<char*>(to), count))
        decode(in, character);
}

void decode_steps(cdr::Reader& in, const Step* step, const Step* end, std::byte* image)
{
    for (; step != end; ++step) {
        std::byte* to = image + step->offset;
        switch (step->kind()) {
        case Step::Kind::character:
            decode_characters(in, to, step->count);
            break;
        case Step::Kind::number1:
            decode_run<std::uint8_t>(in, to, step->count);
            break;
        case Step::Kind::number2:
            decode_run<std::uint16_t>(in, to, step->count);
            break;
        case Step::Kind::number4:
            decode_run<std::uint32_t>(in, to, step->count);
            break;
        case Step::Kind::number8:
            decode_run<std::uint64_t>(in, to, step->count);
            break;
        case Step::Kind::boolean:
            for (std::uint32_t i = 0; i < step->count; ++i)
                to[i] = std::byte{in.read<bool>()};
            break;
        case Step::Kind::enumerator:
            for (std::uint32_t i = 0; i < step->count; ++i, to += sizeof(std::uint32_t)) {
                const auto ordinal = in.read<std::uint32_t>();
                if (ordinal >= step->detail()) [[unlikely]]
                    in.fail(cdr::Fault::invalid_value);
                std::memcpy(to, &ordinal, sizeof ordinal);
            }
            break;
        case Step::Kind::quad:
            for (std::uint32_t i = 0; i < step->count; ++i, to += sizeof(CORBA::LongDouble))
                Marshal<CORBA::LongDouble>::decode(in, *reinterpret_cast<CORBA::LongDouble*>(to));
            break;
        case Step::Kind::repeat: {
            const Step* const inner = step + 1;
            const Step* const inner_end = inner + step->detail();
            for (std::uint32_t i = 0; i < step->count && in.ok(); ++i, to += inner->offset)
                decode_steps(in, inner + 1, inner_end, to);
            step = inner_end - 1;
            break;
        }
        case Step::Kind::stride:
            break;
        }
    }
}

void decode_one(cdr::Reader& in, const Block& block, std::byte* image)
{
    decode_steps(in, block.steps(), block.steps() + block.step_count, image);
}

// --- Checking ----------------------------------------------------------------------------------

[[nodiscard]] bool all_boolean(const std::byte* at, std::size_t count) noexcept
{
    std::uint64_t seen = 0;
    for (; count >= sizeof seen; count -= sizeof seen, at += sizeof seen) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof word);
        seen |= word;
    }
    for (; count != 0; --count, ++at)
        seen |= std::to_integer<std::uint64_t>(*at);
    return (seen & 0xFEFE'FEFE'FEFE'FEFE) == 0;
}

[[nodiscard]] bool all_enumerators(const std::byte* at, std::size_t count,
                                   std::uint32_t limit) noexcept
{
    bool good = true;
    for (; count != 0; --count, at += sizeof limit) {
        std::uint32_t ordinal;
        std::memcpy(&ordinal, at, sizeof ordinal);
        good = good && ordinal < limit;
    }
    return good;
}

/// Whether the booleans and enums in `count` images, `stride` bytes apart, are valid.
[[nodiscard]] bool valid(const Step* step, const Step* end, const std::byte* image,
                         std::size_t stride, std::size_t count) noexcept
{
    for (; step != end; ++step) {
        const std::byte* at = image + step->offset;
        if (step->kind() == Step::Kind::boolean) {
            if (step->count == stride) { // one behind the other
                if (!all_boolean(at, count * stride)) return false;
                continue;
            }
            for (std::size_t i = 0; i < count; ++i, at += stride)
                if (!all_boolean(at, step->count)) return false;
        } else if (step->kind() == Step::Kind::enumerator) {
            for (std::size_t i = 0; i < count; ++i, at += stride)
                if (!all_enumerators(at, step->count, step->detail())) return false;
        } else if (step->kind() == Step::Kind::repeat) {
            const Step* const inner = step + 1;
            const Step* const inner_end = inner + step->detail();
            for (std::size_t i = 0; i < count; ++i, at += stride)
                if (!valid(inner + 1, inner_end, at, inner->offset, step->count)) return false;
            step = inner_end - 1;
        }
    }
    return true;
}

void check(cdr::Reader& in, const Block& block, const std::byte* elements,
           std::size_t count) noexcept
{
    if (block.is_checked && !valid(block.steps() + block.first_checked,
                                   block.steps() + block.step_count, elements, block.size, count))
        in.fail(cdr::Fault::invalid_value);
}

/// The bytes of a received message are the ORB's own until the reply is sent, and each is decoded
/// once: so a first element that CDR put four bytes too late for the host (behind the length, in
/// the usual case) is moved to where the elements behind it want it, over the length. Null where
/// that is not possible; nothing was read then.
[[nodiscard]] void* view_in_place(cdr::Reader& in, const Block& block, std::size_t count)
{
    constexpr std::size_t moved_size_max = 256;
    const std::size_t alignment = block.first_alignment;
    const Bytes bytes = in.bytes();
    const std::size_t begin = align_up(in.offset(), alignment);
    const bool moves_first = !fits(block, in.offset());
    if (moves_first && block.size > moved_size_max) return nullptr;
    const std::size_t end =
        moves_first ? end_of_steps(block.steps(), block.steps() + block.step_count, begin)
                    : begin + block.size;
    const std::size_t second = align_up(end, alignment);
    const std::size_t length_at = in.offset() - sizeof(CORBA::ULong);
    if (second % block.host_alignment != 0 || second < length_at + block.size) return nullptr;
    const std::size_t image = second - block.size;
    if (image > bytes.size() || count > (bytes.size() - image) / block.size) return nullptr;
    if (count == 1 && moves_first && end != second) return nullptr;
    auto* place = const_cast<std::byte*>(bytes.data() + image);
    if (reinterpret_cast<std::uintptr_t>(place) % block.host_alignment != 0) return nullptr;
    if (moves_first) {
        alignas(std::max_align_t) std::byte first[moved_size_max] = {};
        decode_one(in, block, first);
        if (count > 1) (void)in.block(image_size(block, count - 1), alignment);
        if (!in.ok()) return nullptr;
        std::memcpy(place, first, block.size);
    } else if (in.block(image_size(block, count), alignment) == nullptr) {
        return nullptr;
    }
    check(in, block, place, count);
    return place;
}

} // namespace

namespace {

void encode_bulk(cdr::Writer& out, const Block& block, const std::byte* from, std::size_t count)
{
    const std::size_t size = image_size(block, count);
    if (!block.has_mask) return out.write_bulk({from, size}, block.first_alignment);
    std::byte* const to = out.claim(size, block.first_alignment);
    if (count == 1) return copy_one(to, from, block.mask(), size);
    copy_masked(to, from, block, size);
}

void decode_bulk(cdr::Reader& in, const Block& block, std::byte* to, std::size_t count)
{
    const std::size_t size = image_size(block, count);
    const std::byte* const from = in.block(size, block.first_alignment);
    if (from == nullptr) return;
    if (in.swap()) {
        copy_swapped(to, from, block, count);
    } else {
        copy_image(to, from, size);
    }
    check(in, block, to, count);
}

/// Number by number as long as the layouts do not fit: for nearly all types the first element.
[[gnu::noinline]] void encode_unfit(cdr::Writer& out, const Block& block, const std::byte* from,
                                    std::size_t count)
{
    const bool is_bulk = block.is_sent_whole && !converts(block, out);
    for (; count != 0; --count, from += block.size) {
        if (is_bulk && fits(block, out.phase())) return encode_bulk(out, block, from, count);
        encode_steps(out, block.steps(), block.steps() + block.step_count, from);
    }
}

[[gnu::noinline]] void decode_unfit(cdr::Reader& in, const Block& block, std::byte* to,
                                    std::size_t count)
{
    const bool is_bulk = block.is_bulk && in.is_whole() && !converts(block, in);
    if (!is_bulk && block.is_number && block.first_alignment == 8 && block.is_bulk)
        return decode_together<std::uint64_t>(in, to, count * block.size / 8);
    for (; count != 0 && in.ok(); --count, to += block.size) {
        if (is_bulk && fits(block, in.offset())) return decode_bulk(in, block, to, count);
        decode_one(in, block, to);
    }
}

} // namespace

void encode_block(cdr::Writer& out, const Block& block, const void* elements, std::size_t count)
{
    const auto* from = static_cast<const std::byte*>(elements);
    if (!block.is_sent_whole || !fits(block, out.phase()) || converts(block, out))
        return encode_unfit(out, block, from, count);
    if (count != 0) encode_bulk(out, block, from, count);
}

void decode_block(cdr::Reader& in, const Block& block, void* elements, std::size_t count)
{
    auto* to = static_cast<std::byte*>(elements);
    if (!block.is_bulk || !in.is_whole() || !fits(block, in.offset()) || converts(block, in))
        return decode_unfit(in, block, to, count);
    if (count != 0) decode_bulk(in, block, to, count);
}

void* view_block(cdr::Reader& in, const Block& block, Arena& arena, std::size_t count)
{
    const bool is_viewable = block.is_bulk && in.is_native() && !converts(block, in);
    void* view = is_viewable ? view_in_place(in, block, count) : nullptr;
    if (view == nullptr && in.ok()) {
        const std::size_t aligned = align_up(count * block.size, sizeof(std::max_align_t));
        view = arena.allocate<std::max_align_t>(aligned / sizeof(std::max_align_t));
        decode_block(in, block, view, count);
    }
    return in.ok() ? view : nullptr;
}

} // namespace kairos::mapping
