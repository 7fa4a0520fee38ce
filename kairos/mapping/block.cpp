// SPDX-License-Identifier: Apache-2.0
#include "kairos/mapping/block.h"

#include "kairos/mapping/block_image.h"
#include "kairos/mapping/marshal.h"

#include <cstring>

namespace kairos::mapping {
namespace {

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

// --- Decoding number by number -----------------------------------------------------------------

/// As one block: in parts (see Reader), it goes on right where the next part begins, as an array or
/// a sequence of large numbers does, also one of a single element.
template <typename Number>
void decode_together(cdr::Reader& in, std::byte* to, std::size_t count)
{
    const std::size_t size = count * sizeof(Number);
    const std::byte* from = in.block(size, sizeof(Number));
    if (from == nullptr) return;
    if (in.swap()) {
        copy_swapped_numbers(to, from, size, sizeof(Number));
    } else {
        std::memcpy(to, from, size);
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

/// The same for one image: that of a parameter, which is checked in no time.
[[nodiscard]] bool valid_one(const Step* step, const Step* end, const std::byte* image) noexcept
{
    for (; step != end; ++step) {
        const std::byte* const at = image + step->offset;
        if (step->kind() == Step::Kind::boolean) {
            if (!all_boolean(at, step->count)) return false;
        } else if (step->kind() == Step::Kind::enumerator) {
            if (!all_enumerators(at, step->count, step->detail())) return false;
        } else if (step->kind() == Step::Kind::repeat) {
            return valid(step, end, image, 0, 1);
        }
    }
    return true;
}

void check(cdr::Reader& in, const Block& block, const std::byte* elements,
           std::size_t count) noexcept
{
    if (!block.is_checked) return;
    const Step* const first = block.steps() + block.first_checked;
    const Step* const end = block.steps() + block.step_count;
    const bool is_valid = count == 1 ? valid_one(first, end, elements)
                                     : valid(first, end, elements, block.size, count);
    if (!is_valid) in.fail(cdr::Fault::invalid_value);
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

/// The elements where the peer has put them, in memory that it can still write to: so only such as
/// may be anything, and where nobody would look beyond them. Null for others; nothing was read
/// then.
[[nodiscard, gnu::cold, gnu::noinline]] void* view_lent(cdr::Reader& in, const Block& block,
                                                        std::size_t count)
{
    const bool is_viewable = block.is_bulk && !block.is_checked && !in.swap() &&
                             !converts(block, in) && block.last_size == block.size &&
                             fits(block, in.offset());
    if (!is_viewable) return nullptr;
    const std::byte* const lent = in.lent_block(image_size(block, count), block.first_alignment);
    return const_cast<std::byte*>(lent);
}

// --- Together -----------------------------------------------------------------------------------

void encode_bulk(cdr::Writer& out, const Block& block, const std::byte* from, std::size_t count)
{
    const std::size_t size = image_size(block, count);
    if (!block.has_mask) return out.write_bulk({from, size}, block.first_alignment);
    std::byte* const to = out.claim(size, block.first_alignment);
    if (count == 1) return copy_one_masked(to, from, block.mask(), size);
    copy_masked(to, from, block, count);
}

void take_bulk(cdr::Reader& in, const Block& block, const std::byte* from, std::byte* to,
               std::size_t count)
{
    if (in.swap()) {
        copy_swapped(to, from, block, count);
    } else {
        copy_image(to, from, image_size(block, count));
    }
    check(in, block, to, count);
}

void decode_bulk(cdr::Reader& in, const Block& block, std::byte* to, std::size_t count)
{
    const std::byte* const from = in.block(image_size(block, count), block.first_alignment);
    if (from != nullptr) take_bulk(in, block, from, to, count);
}

/// Where a gap is in front: copied from there, once, and checked then.
[[gnu::cold, gnu::noinline]] void decode_lent(cdr::Reader& in, const Block& block, std::byte* to,
                                              std::size_t count)
{
    const std::byte* const from = in.lent_block(image_size(block, count), block.first_alignment);
    if (from == nullptr) return decode_bulk(in, block, to, count);
    take_bulk(in, block, from, to, count);
}

/// Number by number as long as the layouts do not fit: for nearly all types the first element.
[[gnu::noinline]] void encode_unfit(cdr::Writer& out, const Block& block, const std::byte* from,
                                    std::size_t count)
{
    const bool is_bulk = block.is_sent_whole && !converts(block, out);
    for (; count != 0; --count, from += block.size) {
        if (is_bulk && fits(block, out.phase())) return encode_block(out, block, from, count);
        encode_steps(out, block.steps(), block.steps() + block.step_count, from);
    }
}

[[gnu::noinline]] void decode_unfit(cdr::Reader& in, const Block& block, std::byte* to,
                                    std::size_t count)
{
    const bool is_bulk = block.is_bulk && (in.is_whole() || in.has_gap()) && !converts(block, in);
    if (!is_bulk && block.is_number && block.first_alignment == 8 && block.is_bulk)
        return decode_together<std::uint64_t>(in, to, count * block.size / 8);
    for (; count != 0 && in.ok(); --count, to += block.size) {
        if (is_bulk && fits(block, in.offset())) return decode_lent(in, block, to, count);
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
    if (view == nullptr && in.has_gap()) view = view_lent(in, block, count);
    if (view == nullptr && in.ok()) {
        const std::size_t aligned = align_up(count * block.size, sizeof(std::max_align_t));
        view = arena.allocate<std::max_align_t>(aligned / sizeof(std::max_align_t));
        decode_block(in, block, view, count);
    }
    return in.ok() ? view : nullptr;
}

} // namespace kairos::mapping
