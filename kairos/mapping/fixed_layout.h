// SPDX-License-Identifier: Apache-2.0
//
// Types of fixed length (numbers, enums, arrays and structs of them) move in blocks: their CDR
// layout is compared with the host's at compile time, and where both agree, sequences and arrays
// are copied whole. Padding is masked to zero on the way out, so no host memory reaches the wire
// (docs/architecture.md, "Layout is precomputed"). Stations 1 and 10 of the request walk.
//
// A Marshal<T> of fixed length has, besides encode and decode:
//   first_alignment  what CDR aligns the first byte of T to (that of its first number)
//   host_alignment   the largest alignment within T: where a host image may start in a stream
//   end(at)          the stream offset behind a T that is encoded at offset `at`
//   is_host_layout   whether the CDR image that starts at a multiple of host_alignment has every
//                    number where the host has it
//   data_bytes       bytes that are not padding
//   mark(mask, at)   sets the bytes of T's numbers, T being at `at`, in a mask
//   has_characters   whether there are chars in it, which may have to be converted (cdr/codeset.h);
//                    may be left out where there are none
//   is_checked, valid(p)  whether some values are invalid (booleans, enums), and whether the host
//                         image at p has none of these
#pragma once

#include "kairos/base/arena.h"
#include "kairos/cdr/codeset.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/mapping/types.h"

#include <array>
#include <cstddef>
#include <numeric>
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

template <typename M>
inline constexpr bool contains_characters = requires { requires M::has_characters; };

/// Whether values of this kind hold chars that must be converted one by one on this stream.
template <typename M, typename Stream>
[[nodiscard]] bool converts(const Stream& stream) noexcept
{
    if constexpr (contains_characters<M>) {
        return cdr::converting_form(stream) != nullptr;
    } else {
        return false;
    }
}

/// Writes one char that has to be converted.
[[gnu::cold]] void encode_converted(cdr::Writer& out, const cdr::TextForm& form, char character);

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

// --- Copying without padding -------------------------------------------------------------------

/// Structs larger than this are encoded number by number if they have padding.
inline constexpr std::size_t masked_size_max = 1024;

/// Copies host images of S with their padding zeroed: whole vectors under constant masks. `size`
/// ends with the last number of the last S.
template <typename S>
void copy_masked(std::byte* to, const std::byte* from, std::size_t size) noexcept
{
    // Unaligned on purpose: elements start at any multiple of S's alignment.
    typedef std::uint64_t Vector __attribute__((vector_size(16)));
    static constexpr std::size_t period = std::lcm(sizeof(S), sizeof(Vector));
    static constexpr auto mask = [] {
        std::array<std::byte, period> bytes{};
        for (std::size_t at = 0; at < period; at += sizeof(S))
            Marshal<S>::mark(bytes, at);
        return bytes;
    }();
    const auto copy_vector = [&](std::size_t at, std::size_t in_period) {
        Vector value;
        Vector mask_vector;
        std::memcpy(&value, from + at, sizeof value);
        std::memcpy(&mask_vector, mask.data() + in_period, sizeof mask_vector);
        value &= mask_vector;
        std::memcpy(to + at, &value, sizeof value);
    };
    std::size_t at = 0;
    for (; size - at >= period; at += period) {
        if constexpr (period <= 16 * sizeof(Vector)) {
            [&]<std::size_t... vectors>(std::index_sequence<vectors...>) {
                (copy_vector(at + vectors * sizeof(Vector), vectors * sizeof(Vector)), ...);
            }(std::make_index_sequence<period / sizeof(Vector)>());
        } else {
            for (std::size_t in_period = 0; in_period < period; in_period += sizeof(Vector))
                copy_vector(at + in_period, in_period);
        }
    }
    std::size_t in_period = 0;
    for (; size - at >= 8; at += 8, in_period += 8) {
        std::uint64_t word;
        std::uint64_t mask_word;
        std::memcpy(&word, from + at, sizeof word);
        std::memcpy(&mask_word, mask.data() + in_period, sizeof mask_word);
        word &= mask_word;
        std::memcpy(to + at, &word, sizeof word);
    }
    for (; at < size; ++at, ++in_period)
        to[at] = from[at] & mask[in_period];
}

// --- Elements of arrays and sequences ----------------------------------------------------------

template <typename T>
class FixedElements {
    using M = Marshal<T>;

  public:
    /// Whether one element follows the other in CDR as in a host array.
    static constexpr bool is_bulk =
        M::is_host_layout && align_up(M::end(0), M::first_alignment) == sizeof(T);
    static constexpr bool has_padding = M::data_bytes != sizeof(T);
    /// Bytes of the last element up to its last number.
    static constexpr std::size_t last_size = M::end(0);

    static void encode(cdr::Writer& out, const T* elements, std::size_t count)
    {
        if constexpr (is_bulk && (!has_padding || sizeof(T) <= masked_size_max)) {
            if (converts<M>(out)) [[unlikely]]
                return encode_each(out, elements, count);
            // Until the stream is where the host's layout fits: for nearly all types one element.
            for (; count != 0 && !fits(out.phase()); ++elements, --count)
                M::encode_numbers(out, *elements);
            if (count == 0) return;
            const auto* from = reinterpret_cast<const std::byte*>(elements);
            const std::size_t size = (count - 1) * sizeof(T) + last_size;
            if constexpr (!has_padding) {
                out.write_bulk({from, size}, M::first_alignment);
            } else {
                copy_masked<T>(out.claim(size, M::first_alignment), from, size);
            }
        } else {
            encode_each(out, elements, count);
        }
    }

    static void decode(cdr::Reader& in, T* elements, std::size_t count)
    {
        if constexpr (is_bulk) {
            if (in.is_native() && !converts<M>(in)) [[likely]] {
                for (; count != 0 && !fits(in.offset()); ++elements, --count)
                    M::decode_numbers(in, *elements);
                if (count == 0) return;
                const std::size_t size = (count - 1) * sizeof(T) + last_size;
                const std::byte* from = in.block(size, M::first_alignment);
                if (from == nullptr) return;
                std::memcpy(static_cast<void*>(elements), from, size);
                check(in, elements, count);
                return;
            }
        }
        decode_each(in, elements, count);
    }

    /// The next `count` elements in place if they can be used where they are, else copied into the
    /// arena; null when the input is refused.
    [[nodiscard]] static T* decode_view(cdr::Reader& in, Arena& arena, std::size_t count)
    {
        T* view = nullptr;
        if constexpr (is_bulk) {
            if (in.is_native() && !converts<M>(in)) [[likely]]
                view = decode_in_place(in, count);
        }
        if (view == nullptr && in.ok()) {
            view = arena.allocate<T>(count);
            decode(in, view, count);
        }
        return in.ok() ? view : nullptr;
    }

  private:
    [[nodiscard]] static bool fits(std::size_t offset) noexcept
    {
        return align_up(offset, M::first_alignment) % M::host_alignment == 0;
    }

    /// The bytes of a received message are the ORB's own until the reply is sent, and each is
    /// decoded once: so a first element that CDR put four bytes too late for the host (behind the
    /// length, in the usual case) is moved to where the elements behind it want it, over the
    /// length. Null where that is not possible; nothing was read then.
    [[nodiscard]] static T* decode_in_place(cdr::Reader& in, std::size_t count) noexcept
    {
        const Bytes bytes = in.bytes();
        const std::size_t begin = align_up(in.offset(), M::first_alignment);
        const bool moves_first = begin % M::host_alignment != 0;
        const std::size_t second =
            moves_first ? align_up(M::end(begin), M::first_alignment) : begin + sizeof(T);
        const std::size_t length_at = in.offset() - sizeof(CORBA::ULong);
        if (second % M::host_alignment != 0 || second < length_at + sizeof(T)) return nullptr;
        const std::size_t image = second - sizeof(T);
        if (image > bytes.size() || count > (bytes.size() - image) / sizeof(T)) return nullptr;
        if (count == 1 && moves_first && M::end(begin) != second) return nullptr;
        auto* place = const_cast<std::byte*>(bytes.data() + image);
        if (reinterpret_cast<std::uintptr_t>(place) % alignof(T) != 0) return nullptr;
        if (moves_first) {
            T first{};
            M::decode_numbers(in, first);
            if (count > 1) (void)in.block((count - 2) * sizeof(T) + last_size, M::first_alignment);
            if (!in.ok()) return nullptr;
            std::memcpy(place, static_cast<const void*>(&first), sizeof(T));
        } else {
            (void)in.block((count - 1) * sizeof(T) + last_size, M::first_alignment);
        }
        auto* elements = reinterpret_cast<T*>(place);
        check(in, elements, count);
        return elements;
    }

    static void check(cdr::Reader& in, const T* elements, std::size_t count) noexcept
    {
        if constexpr (M::is_checked) {
            const auto* at = reinterpret_cast<const std::byte*>(elements);
            for (std::size_t i = 0; i < count; ++i, at += sizeof(T))
                if (!M::valid(at)) return in.fail(cdr::Fault::invalid_value);
        }
    }

    static void encode_each(cdr::Writer& out, const T* elements, std::size_t count)
    {
        for (; count != 0; ++elements, --count)
            M::encode_numbers(out, *elements);
    }

    [[gnu::noinline]] static void decode_each(cdr::Reader& in, T* elements, std::size_t count)
    {
        if constexpr (std::is_arithmetic_v<T> && sizeof(T) == 8) {
            // In parts (see Reader), a run of numbers goes on right where the next part begins.
            if (count == 0) return;
            const std::byte* from = in.block(count * sizeof(T), sizeof(T));
            if (from == nullptr) return;
            std::memcpy(elements, from, count * sizeof(T));
            if (in.swap())
                for (std::size_t i = 0; i < count; ++i)
                    elements[i] = byteswap(elements[i]);
            return;
        }
        for (; count != 0; ++elements, --count)
            M::decode_numbers(in, *elements);
    }
};

// --- Numbers -----------------------------------------------------------------------------------

template <Scalar T>
struct Marshal<T> {
    static constexpr std::size_t wire_bytes_min = sizeof(T);
    static constexpr std::size_t first_alignment = sizeof(T);
    static constexpr std::size_t host_alignment = sizeof(T);
    static constexpr std::size_t data_bytes = sizeof(T);
    static constexpr bool is_host_layout = true;
    static constexpr bool has_characters = std::same_as<T, char>;
    static constexpr bool is_checked = std::same_as<T, bool>;

    static constexpr std::size_t end(std::size_t at) { return align_up(at, sizeof(T)) + sizeof(T); }
    static constexpr void mark(auto& mask, std::size_t at)
    {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            mask[at + i] = std::byte{0xFF};
    }
    static bool valid(const std::byte* at) noexcept { return !is_checked || *at <= std::byte{1}; }

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
    static void encode_numbers(cdr::Writer& out, const T& value) { encode(out, value); }
    static void decode_numbers(cdr::Reader& in, T& value) { decode(in, value); }
};

/// long double: an IEEE quad, which is not what x86 has, aligned to eight.
template <>
struct Marshal<CORBA::LongDouble> {
    static constexpr std::size_t wire_bytes_min = 16;
    static constexpr std::size_t first_alignment = 8;
    static constexpr std::size_t host_alignment = alignof(CORBA::LongDouble);
    static constexpr std::size_t data_bytes = 16;
    static constexpr bool is_host_layout = false;
    static constexpr bool is_checked = false;

    static constexpr std::size_t end(std::size_t at) { return align_up(at, 8) + 16; }
    static constexpr void mark(auto&, std::size_t) {}
    static bool valid(const std::byte*) noexcept { return true; }

    static void encode(cdr::Writer& out, const CORBA::LongDouble& value);
    static void decode(cdr::Reader& in, CORBA::LongDouble& value);
    static void encode_numbers(cdr::Writer& out, const CORBA::LongDouble& value)
    {
        encode(out, value);
    }
    static void decode_numbers(cdr::Reader& in, CORBA::LongDouble& value) { decode(in, value); }
};

/// What the Marshal of a generated enum derives from. `count` enumerators, numbered from 0.
template <typename E, CORBA::ULong count>
struct EnumMarshal : Marshal<CORBA::ULong> {
    static_assert(sizeof(E) == 4);
    static constexpr bool is_checked = true;

    static bool valid(const std::byte* at) noexcept
    {
        CORBA::ULong ordinal;
        std::memcpy(&ordinal, at, sizeof ordinal);
        return ordinal < count;
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
    static void encode_numbers(cdr::Writer& out, const E& value) { encode(out, value); }
    static void decode_numbers(cdr::Reader& in, E& value) { decode(in, value); }
};

// --- Arrays ------------------------------------------------------------------------------------

/// Arrays of elements of fixed length. Those of variable length are in marshal.h.
template <FixedLength T, std::size_t count>
struct Marshal<T[count]> {
    using M = Marshal<T>;
    using Number = std::remove_all_extents_t<T>;
    static constexpr std::size_t wire_bytes_min = count * M::wire_bytes_min;
    static constexpr std::size_t first_alignment = M::first_alignment;
    static constexpr std::size_t host_alignment = M::host_alignment;
    static constexpr std::size_t data_bytes = count * M::data_bytes;
    static constexpr bool is_host_layout =
        M::is_host_layout && (count == 1 || align_up(M::end(0), M::first_alignment) == sizeof(T));
    static constexpr bool has_characters = contains_characters<M>;
    static constexpr bool is_checked = M::is_checked;

    static constexpr std::size_t end(std::size_t at) { return end_of_elements<M>(at, count); }
    static constexpr void mark(auto& mask, std::size_t at)
    {
        for (std::size_t i = 0; i < count; ++i)
            M::mark(mask, at + i * sizeof(T));
    }
    static bool valid(const std::byte* at) noexcept
    {
        for (std::size_t i = 0; i < count; ++i)
            if (!M::valid(at + i * sizeof(T))) return false;
        return true;
    }

    static void encode(cdr::Writer& out, const T (&elements)[count])
    {
        FixedElements<Number>::encode(out, reinterpret_cast<const Number*>(&elements), numbers);
    }
    static void decode(cdr::Reader& in, T (&elements)[count])
    {
        FixedElements<Number>::decode(in, reinterpret_cast<Number*>(&elements), numbers);
    }
    static void encode_numbers(cdr::Writer& out, const T (&elements)[count])
    {
        encode(out, elements);
    }
    static void decode_numbers(cdr::Reader& in, T (&elements)[count]) { decode(in, elements); }

  private:
    static constexpr std::size_t numbers = sizeof(T[count]) / sizeof(Number);
};

// --- Structs -----------------------------------------------------------------------------------

/// One member of a struct: its type, where the host has it, and how to reach it.
template <auto member, std::size_t host_offset>
struct Field;

template <typename S, typename T, T S::*member, std::size_t host_offset>
struct Field<member, host_offset> {
    using Type = T;
    using M = Marshal<T>;
    static constexpr std::size_t offset = host_offset;
    static const T& of(const S& value) { return value.*member; }
    static T& of(S& value) { return value.*member; }
};

/// What the Marshal of a generated struct of fixed length derives from.
template <typename S, typename First, typename... Rest>
struct FixedStruct {
    static constexpr std::size_t first_alignment = First::M::first_alignment;
    static constexpr std::size_t host_alignment =
        std::max({First::M::host_alignment, Rest::M::host_alignment...});
    static constexpr std::size_t data_bytes = (First::M::data_bytes + ... + Rest::M::data_bytes);
    static constexpr std::size_t wire_bytes_min = data_bytes;
    static constexpr bool has_characters =
        (contains_characters<typename First::M> || ... || contains_characters<typename Rest::M>);
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
    static bool valid(const std::byte* at) noexcept
    {
        return First::M::valid(at + First::offset) &&
               (Rest::M::valid(at + Rest::offset) && ... && true);
    }

    static void encode(cdr::Writer& out, const S& value)
    {
        FixedElements<S>::encode(out, &value, 1);
    }
    static void decode(cdr::Reader& in, S& value) { FixedElements<S>::decode(in, &value, 1); }

    static void encode_numbers(cdr::Writer& out, const S& value)
    {
        First::M::encode_numbers(out, First::of(value));
        (Rest::M::encode_numbers(out, Rest::of(value)), ...);
    }
    static void decode_numbers(cdr::Reader& in, S& value)
    {
        First::M::decode_numbers(in, First::of(value));
        (Rest::M::decode_numbers(in, Rest::of(value)), ...);
    }
};

} // namespace kairos::mapping
