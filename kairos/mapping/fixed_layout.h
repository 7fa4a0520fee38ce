// SPDX-License-Identifier: Apache-2.0
//
// Types of fixed length (numbers, enums, arrays and structs of them): what the compiler finds out
// about their layout in CDR and in the host, and the Block (block.h) that says it to the functions
// that move them (docs/architecture.md, "Layout is precomputed"). Stations 1 and 10 of the request
// walk.
//
// A Marshal<T> of fixed length has, besides encode and decode:
//   first_alignment  what CDR aligns the first byte of T to (that of its first number)
//   host_alignment   the largest alignment within T: where a host image may start in a stream
//   end(at)          the stream offset behind a T that is encoded at offset `at`
//   is_host_layout   whether the CDR image that starts at a multiple of host_alignment has every
//                    number where the host has it
//   is_number        whether it is one number, or an array of them
//   has_characters   whether there are chars in it, which may have to be converted (cdr/codeset.h)
//   data_bytes       bytes that are not padding
//   mark(mask, at)   sets the bytes of T's numbers, T being at `at`, in a mask
//   is_checked       whether some values are invalid (booleans, enums)
//   steps_max, append(steps, at, count)  its steps in a Block, `count` of it in a row at `at`
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/text_form.h"
#include "kairos/mapping/block.h"
#include "kairos/mapping/types.h"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace kairos::mapping {

template <typename T>
struct Marshal;

/// What IDL has as a number of its own. Wide characters are not: their form is negotiated.
template <typename T>
concept Scalar = cdr::Primitive<T> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                 !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <typename T>
concept FixedLength = requires { Marshal<T>::is_host_layout; };

/// Writes one char that has to be converted.
[[gnu::cold]] KAIROS_API void encode_converted(cdr::Writer& out, const cdr::TextForm& form,
                                               char character);

/// Offset behind `count` elements encoded from `at` on. The steps from one multiple of eight to
/// the next repeat after at most eight elements, so that long arrays cost no more than short ones.
template <typename M>
[[nodiscard]] constexpr std::size_t end_of_elements(std::size_t at, std::size_t count)
{
    std::array<std::size_t, 8> seen_index{};
    std::array<std::size_t, 8> seen_at{};
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t phase = at % 8;
        if (seen_index[phase] != 0) {
            const std::size_t period = i + 1 - seen_index[phase];
            const std::size_t periods = (count - i) / period;
            at += periods * (at - seen_at[phase]);
            for (std::size_t rest = (count - i) % period; rest != 0; --rest)
                at = M::end(at);
            return at;
        }
        seen_index[phase] = i + 1;
        seen_at[phase] = at;
        at = M::end(at);
    }
    return at;
}

// --- Descriptions ------------------------------------------------------------------------------

/// Structs larger than this are encoded number by number if they have padding.
inline constexpr std::size_t masked_size_max = 1024;

/// The steps of a Block while they are collected.
template <std::size_t capacity>
struct KAIROS_API StepList {
    std::array<Step, capacity> steps{};
    std::size_t count = 0;
    std::size_t group_begin = 0; ///< steps before it belong to another part

    constexpr void run(Step::Kind kind, std::size_t size, std::size_t at, std::size_t repeated,
                       std::uint32_t detail = 0)
    {
        // Not those of eight bytes: one and several of them are different in parts (cdr::Reader).
        if (size < 8 && count > group_begin) {
            Step& last = steps[count - 1];
            if (last.kind() == kind && last.detail() == detail &&
                last.offset + last.count * size == at) {
                last.count += static_cast<std::uint32_t>(repeated);
                return;
            }
        }
        steps[count++] = Step::make(at, repeated, kind, detail);
    }
    /// Appends what `inner` appends, repeated.
    constexpr void repeat(std::size_t at, std::size_t repeated, std::size_t stride, auto inner)
    {
        const std::size_t opened = count;
        count += 2;
        group_begin = count;
        inner();
        group_begin = count;
        steps[opened] = Step::make(at, repeated, Step::Kind::repeat, count - opened - 1);
        steps[opened + 1] = Step::make(stride, 0, Step::Kind::stride);
    }
};

template <typename T>
class KAIROS_API FixedElements {
    using M = Marshal<T>;

  public:
    /// Whether one element follows the other in CDR as in a host array.
    static constexpr bool is_bulk =
        M::is_host_layout && align_up(M::end(0), M::first_alignment) == sizeof(T);
    static constexpr bool has_padding = M::data_bytes != sizeof(T);
    /// Bytes of the last element up to its last number.
    static constexpr std::size_t last_size = M::end(0);

  private:
    static constexpr bool has_mask = is_bulk && has_padding && sizeof(T) <= masked_size_max;
    static_assert(sizeof(T) <= 0xFFFF'FFFF);

    static constexpr auto list = [] {
        StepList<M::steps_max> steps;
        M::append(steps, 0, 1);
        return steps;
    }();

    /// Of the steps that are not part of another.
    static constexpr std::uint16_t first_checked()
    {
        for (std::size_t i = 0; i < list.count && i < 0xFFFF; ++i) {
            const Step::Kind kind = list.steps[i].kind();
            if (kind == Step::Kind::boolean || kind == Step::Kind::enumerator ||
                kind == Step::Kind::repeat)
                return static_cast<std::uint16_t>(i);
        }
        return 0;
    }

  public:
    static constexpr auto stored = [] {
        StoredBlock<list.count, has_mask ? sizeof(T) : 0> made{};
        made.block = {.size = sizeof(T),
                      .last_size = static_cast<std::uint32_t>(last_size),
                      .data_size = static_cast<std::uint32_t>(M::data_bytes),
                      .step_count = static_cast<std::uint32_t>(list.count),
                      .first_checked = first_checked(),
                      .first_alignment = M::first_alignment,
                      .host_alignment = M::host_alignment,
                      .is_bulk = is_bulk,
                      .is_sent_whole = is_bulk && (!has_padding || has_mask),
                      .has_mask = has_mask,
                      .is_number = M::is_number,
                      .has_characters = M::has_characters,
                      .is_checked = M::is_checked};
        for (std::size_t i = 0; i < list.count; ++i)
            made.steps[i] = list.steps[i];
        if constexpr (has_mask) M::mark(made.mask, 0);
        return made;
    }();
};

/// The description of T.
template <typename T>
inline constexpr const Block& block_of = FixedElements<T>::stored.block;

// --- Numbers -----------------------------------------------------------------------------------

template <Scalar T>
struct KAIROS_API Marshal<T> {
    static constexpr std::size_t wire_bytes_min = sizeof(T);
    static constexpr std::size_t first_alignment = sizeof(T);
    static constexpr std::size_t host_alignment = sizeof(T);
    static constexpr std::size_t data_bytes = sizeof(T);
    static constexpr bool is_host_layout = true;
    static constexpr bool is_number = true;
    static constexpr bool is_checked = std::same_as<T, bool>;
    static constexpr std::size_t steps_max = 1;
    static constexpr bool has_characters = std::same_as<T, char>;
    static constexpr Step::Kind kind = std::same_as<T, bool> ? Step::Kind::boolean
                                       : has_characters      ? Step::Kind::character
                                       : sizeof(T) == 1      ? Step::Kind::number1
                                       : sizeof(T) == 2      ? Step::Kind::number2
                                       : sizeof(T) == 4      ? Step::Kind::number4
                                                             : Step::Kind::number8;

    static constexpr std::size_t end(std::size_t at) { return align_up(at, sizeof(T)) + sizeof(T); }
    static constexpr void mark(auto& mask, std::size_t at)
    {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            mask[at + i] = std::byte{0xFF};
    }
    static constexpr void append(auto& steps, std::size_t at, std::size_t count)
    {
        steps.run(kind, sizeof(T), at, count);
    }

    static void encode(cdr::Writer& out, const T& value)
    {
        if constexpr (has_characters) {
            if (const cdr::TextForm* form = cdr::converting_form(out)) [[unlikely]]
                return encode_converted(out, *form, value);
        }
        out.write(value);
    }
    static void decode(cdr::Reader& in, T& value)
    {
        if constexpr (has_characters) {
            value = cdr::read_character(in);
        } else {
            value = in.read<T>();
        }
    }
};

// As in cdr/reader.h.
extern template struct KAIROS_API Marshal<CORBA::Boolean>;
extern template struct KAIROS_API Marshal<CORBA::Char>;
extern template struct KAIROS_API Marshal<CORBA::Octet>;
extern template struct KAIROS_API Marshal<CORBA::Short>;
extern template struct KAIROS_API Marshal<CORBA::UShort>;
extern template struct KAIROS_API Marshal<CORBA::Long>;
extern template struct KAIROS_API Marshal<CORBA::ULong>;
extern template struct KAIROS_API Marshal<CORBA::LongLong>;
extern template struct KAIROS_API Marshal<CORBA::ULongLong>;
extern template struct KAIROS_API Marshal<CORBA::Float>;
extern template struct KAIROS_API Marshal<CORBA::Double>;

/// long double: an IEEE quad, which is not what x86 has, aligned to eight.
template <>
struct KAIROS_API Marshal<CORBA::LongDouble> {
    static constexpr std::size_t wire_bytes_min = 16;
    static constexpr std::size_t first_alignment = 8;
    static constexpr std::size_t host_alignment = alignof(CORBA::LongDouble);
    static constexpr std::size_t data_bytes = 16;
    static constexpr bool is_host_layout = false;
    static constexpr bool is_number = true;
    static constexpr bool has_characters = false;
    static constexpr bool is_checked = false;
    static constexpr std::size_t steps_max = 1;

    static constexpr std::size_t end(std::size_t at) { return align_up(at, 8) + 16; }
    static constexpr void mark(auto&, std::size_t) {}
    static constexpr void append(auto& steps, std::size_t at, std::size_t count)
    {
        steps.run(Step::Kind::quad, sizeof(CORBA::LongDouble), at, count);
    }

    static void encode(cdr::Writer& out, const CORBA::LongDouble& value);
    static void decode(cdr::Reader& in, CORBA::LongDouble& value);
};

/// What the Marshal of a generated enum derives from. `count` enumerators, numbered from 0.
template <typename E, CORBA::ULong count>
struct KAIROS_API EnumMarshal : Marshal<CORBA::ULong> {
    static_assert(sizeof(E) == 4 && count <= Step::detail_max);
    static constexpr bool is_checked = true;
    static constexpr CORBA::ULong enumerators = count;

    static constexpr void append(auto& steps, std::size_t at, std::size_t repeated)
    {
        steps.run(Step::Kind::enumerator, sizeof(E), at, repeated, count);
    }
    static void encode(cdr::Writer& out, const E& value)
    {
        out.write(static_cast<CORBA::ULong>(value));
    }
    static void decode(cdr::Reader& in, E& value)
    {
        const auto ordinal = in.read<CORBA::ULong>();
        if (ordinal >= count) [[unlikely]]
            return in.fail(cdr::Fault::invalid_value);
        value = static_cast<E>(ordinal);
    }
};

// --- Arrays ------------------------------------------------------------------------------------

/// Arrays of elements of fixed length. Those of variable length are in marshal.h.
template <FixedLength T, std::size_t count>
struct KAIROS_API Marshal<T[count]> {
    using M = Marshal<T>;
    using Number = std::remove_all_extents_t<T>;
    static constexpr std::size_t wire_bytes_min = count * M::wire_bytes_min;
    static constexpr std::size_t first_alignment = M::first_alignment;
    static constexpr std::size_t host_alignment = M::host_alignment;
    static constexpr std::size_t data_bytes = count * M::data_bytes;
    static constexpr bool is_host_layout =
        M::is_host_layout && (count == 1 || align_up(M::end(0), M::first_alignment) == sizeof(T));
    static constexpr bool is_number = M::is_number;
    static constexpr bool has_characters = M::has_characters;
    static constexpr bool is_checked = M::is_checked;
    static constexpr std::size_t steps_max = M::steps_max + 2;

    static constexpr std::size_t end(std::size_t at) { return end_of_elements<M>(at, count); }
    static constexpr void mark(auto& mask, std::size_t at)
    {
        for (std::size_t i = 0; i < count; ++i)
            M::mark(mask, at + i * sizeof(T));
    }
    static constexpr void append(auto& steps, std::size_t at, std::size_t repeated)
    {
        if constexpr (is_number) {
            M::append(steps, at, repeated * count);
        } else {
            steps.repeat(at, repeated * count, sizeof(T), [&] { M::append(steps, 0, 1); });
        }
    }

    static void encode(cdr::Writer& out, const T (&elements)[count])
    {
        encode_block(out, block_of<Number>, &elements, numbers);
    }
    static void decode(cdr::Reader& in, T (&elements)[count])
    {
        decode_block(in, block_of<Number>, &elements, numbers);
    }

  private:
    static constexpr std::size_t numbers = sizeof(T[count]) / sizeof(Number);
};

// --- Structs -----------------------------------------------------------------------------------

/// One member of a struct: its type, where the host has it, and how to reach it.
template <auto member, std::size_t host_offset>
struct Field;

template <typename S, typename T, T S::*member, std::size_t host_offset>
struct KAIROS_API Field<member, host_offset> {
    using Type = T;
    using M = Marshal<T>;
    static constexpr std::size_t offset = host_offset;
};

/// What the Marshal of a generated struct of fixed length derives from.
template <typename S, typename First, typename... Rest>
struct KAIROS_API FixedStruct {
    static constexpr std::size_t first_alignment = First::M::first_alignment;
    static constexpr std::size_t host_alignment = [] {
        std::size_t largest = First::M::host_alignment;
        ((largest = largest < Rest::M::host_alignment ? Rest::M::host_alignment : largest), ...);
        return largest;
    }();
    static constexpr std::size_t data_bytes = (First::M::data_bytes + ... + Rest::M::data_bytes);
    static constexpr std::size_t wire_bytes_min = data_bytes;
    static constexpr bool is_checked = (First::M::is_checked || ... || Rest::M::is_checked);

    static constexpr std::size_t end(std::size_t at)
    {
        at = First::M::end(at);
        ((at = Rest::M::end(at)), ...);
        return at;
    }
    static constexpr bool is_host_layout = [] {
        std::size_t at = 0;
        const auto follows = [&at]<typename F>(std::type_identity<F>) {
            const bool same =
                F::M::is_host_layout && align_up(at, F::M::first_alignment) == F::offset;
            at = F::M::end(at);
            return same;
        };
        return (follows(std::type_identity<First>()) && ... && follows(std::type_identity<Rest>()));
    }();
    static constexpr void mark(auto& mask, std::size_t at)
    {
        First::M::mark(mask, at + First::offset);
        (Rest::M::mark(mask, at + Rest::offset), ...);
    }
    static constexpr bool is_number = false;
    static constexpr bool has_characters =
        (First::M::has_characters || ... || Rest::M::has_characters);
    static constexpr std::size_t steps_max = (First::M::steps_max + ... + Rest::M::steps_max);
    static constexpr void append(auto& steps, std::size_t at, std::size_t)
    {
        First::M::append(steps, at + First::offset, 1);
        (Rest::M::append(steps, at + Rest::offset, 1), ...);
    }

    static void encode(cdr::Writer& out, const S& value)
    {
        encode_block(out, block_of<S>, &value, 1);
    }
    static void decode(cdr::Reader& in, S& value) { decode_block(in, block_of<S>, &value, 1); }
};

} // namespace kairos::mapping
