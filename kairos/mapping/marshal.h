// SPDX-License-Identifier: Apache-2.0
//
// How values of the C++ mapping become CDR and come back: Marshal<T> for every type, and the
// functions that generated stubs and skeletons call. Stations 1, 7 and 10 of the request walk
// (docs/TOUR.md). Encoding throws BAD_PARAM for what IDL forbids (null strings, exceeded bounds);
// decoding never throws but std::bad_alloc: the reader fails, and its owner asks at the end.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/limits.h"
#include "kairos/cdr/text_form.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/fixed_layout.h"
#include "kairos/mapping/lifetime.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/sequence.h"

#include <utility>

namespace kairos::mapping {

/// Throws BAD_PARAM, COMPLETED_NO, for a null string.
[[noreturn]] KAIROS_API void raise_null_string();
/// Throws BAD_PARAM, COMPLETED_NO, for a string longer than its type allows.
[[noreturn]] KAIROS_API void raise_string_bound_exceeded();
[[noreturn]] KAIROS_API void raise_null_result();

/// Throws what CORBA has for text that cannot be written: DATA_CONVERSION for a character that the
/// code set lacks, CODESET_INCOMPATIBLE, BAD_PARAM for text that is too long, and INV_OBJREF,
/// BAD_PARAM or MARSHAL for wide text without an agreement.
[[noreturn]] KAIROS_API void raise_text_error(const cdr::Writer& out, cdr::TextError error);
/// Throws what CORBA has for text that was refused when read: DATA_CONVERSION,
/// CODESET_INCOMPATIBLE, and INV_OBJREF, BAD_PARAM or MARSHAL for wide text without an agreement.
/// Returns if text is not what the reader failed on.
KAIROS_API void raise_if_text_refused(const cdr::Reader& in, CORBA::CompletionStatus completed);

/// Counts the types of recursive structs that are being decoded by this thread; the input is
/// refused when they nest too deeply.
class KAIROS_API NestingGuard {
  public:
    explicit NestingGuard(cdr::Reader& in) noexcept
    {
        if (++depth > limits::nesting_max) [[unlikely]]
            in.fail(cdr::Fault::nesting_too_deep);
    }
    NestingGuard(const NestingGuard&) = delete;
    NestingGuard& operator=(const NestingGuard&) = delete;
    ~NestingGuard() { --depth; }

  private:
    static inline constinit thread_local std::size_t depth = 0;
};

// --- What generated code calls -----------------------------------------------------------------

template <typename T>
void encode(cdr::Writer& out, const T& value)
{
    Marshal<T>::encode(out, value);
}
template <typename T>
void decode(cdr::Reader& in, T& value)
{
    Marshal<T>::decode(in, value);
}

/// Types that hold text or sequences, but nothing else that they would have to give back. With an
/// arena they are decoded as views: texts and elements are in the message or in the arena, the
/// value lasts as long as both; it has to be a new one and is not to be destroyed. Without an arena
/// they own what they hold.
template <typename T>
concept Lendable =
    requires(cdr::Reader& in, T& value, Arena* arena) { Marshal<T>::decode(in, value, arena); };
/// Types that views may consist of.
template <typename T>
concept Viewable = Lendable<T> || std::is_trivially_destructible_v<T>;

template <Viewable T>
void decode(cdr::Reader& in, T& value, Arena* arena)
{
    if constexpr (Lendable<T>) {
        Marshal<T>::decode(in, value, arena);
    } else {
        Marshal<T>::decode(in, value);
    }
}

/// An `in` parameter of a skeleton: a view, whose destructor must not run.
template <Viewable T>
class KAIROS_API Borrowed {
  public:
    Borrowed(cdr::Reader& in, Arena& arena) : value_() { mapping::decode(in, value_, &arena); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    ~Borrowed() {} // NOLINT(modernize-use-equals-default): that would be deleted

    [[nodiscard]] const T& in() const noexcept { return value_; }

  private:
    union {
        T value_;
    };
};

/// Writes a result or `out` value that a servant returns by pointer. Throws BAD_PARAM for null.
template <typename T>
void encode_result(cdr::Writer& out, const T* value)
{
    if (value == nullptr) [[unlikely]]
        raise_null_result();
    Marshal<T>::encode(out, *value);
}

template <typename A>
void encode_array_result(cdr::Writer& out, const ArraySlice<A>* slices)
{
    if (slices == nullptr) [[unlikely]]
        raise_null_result();
    Marshal<A>::encode(out, as_array<A>(slices));
}

/// The part of encode_string for chars that have to be converted.
[[gnu::cold]] KAIROS_API void encode_converted(cdr::Writer& out, const cdr::TextForm& form,
                                               std::string_view text);

/// Writes a string; `bound` is 0 for unbounded ones. Throws BAD_PARAM for null and for a text
/// beyond the bound, and what raise_text_error throws.
KAIROS_API void encode_string(cdr::Writer& out, const char* text, CORBA::ULong bound = 0);
/// Writes a wide string; `bound` is 0 for unbounded ones and counts characters as a program does.
/// Throws BAD_PARAM for null and for a text beyond the bound, and what raise_text_error throws.
KAIROS_API void encode_string(cdr::Writer& out, const wchar_t* text, CORBA::ULong bound = 0);

/// Reads a string that the caller owns; never null, "" when the input is refused. An empty one may
/// be the shared "" if `may_be_shared`.
KAIROS_API void decode_owned(cdr::Reader& in, char*& text, CORBA::ULong bound, bool may_be_shared);
KAIROS_API void decode_owned(cdr::Reader& in, wchar_t*& text, CORBA::ULong bound,
                             bool may_be_shared);

/// Replaces a member's text by one that the member owns or, with an arena, by a view.
template <typename Char>
KAIROS_API void decode_text(cdr::Reader& in, Char*& text, CORBA::ULong bound, Arena* arena);

template <typename Char, bool starts_empty>
void decode_string(cdr::Reader& in, TextOwner<Char, starts_empty>& value, CORBA::ULong bound = 0)
{
    Char* text = nullptr;
    decode_owned(in, text, bound, starts_empty);
    value = text;
}

extern template KAIROS_API void decode_string(cdr::Reader&, TextOwner<char, false>&, CORBA::ULong);

/// The part of decode_string_view for chars that have to be converted.
[[nodiscard, gnu::cold]] KAIROS_API const char*
decode_converted(cdr::Reader& in, Arena& arena, const cdr::TextForm& form, CORBA::ULong bound);

/// Reads a string, which stays in the message itself, or in the arena if it had to be converted.
inline void decode_string_view(cdr::Reader& in, Arena& arena, const char*& value,
                               CORBA::ULong bound = 0)
{
    if (const cdr::TextForm* form = cdr::converting_form(in)) [[unlikely]] {
        value = decode_converted(in, arena, *form, bound);
        return;
    }
    const std::string_view text = in.read_string();
    value = text.data();
    if (bound != 0 && text.size() > bound) [[unlikely]]
        in.fail(cdr::Fault::bound_exceeded);
}
/// Reads a wide string into the arena.
KAIROS_API void decode_string_view(cdr::Reader& in, Arena& arena, const wchar_t*& value,
                                   CORBA::ULong bound = 0);

/// Writes a sequence of texts, whatever its class. Out of line: such sequences are everywhere.
template <typename Char>
KAIROS_API void encode_text_sequence(cdr::Writer& out, const SequenceLayout& sequence,
                                     CORBA::ULong bound, CORBA::ULong text_bound);
/// Reads a sequence of texts, whatever its class. With an arena, the sequence becomes a view.
template <typename Char>
KAIROS_API void decode_text_sequence(cdr::Reader& in, SequenceLayout& sequence, CORBA::ULong bound,
                                     CORBA::ULong text_bound, Arena* arena);

/// Writes a sequence of elements that a Block describes, whatever its class.
KAIROS_API void encode_block_sequence(cdr::Writer& out, const Block& element,
                                      const SequenceLayout& sequence, CORBA::ULong bound);
KAIROS_API void decode_block_sequence(cdr::Reader& in, const Block& element,
                                      SequenceLayout& sequence, CORBA::ULong bound, Arena* arena);

/// The length of a sequence; zero where it is refused. `bound` is 0 for unbounded ones. As
/// Reader::read_length, without a division: what an element needs may be known at run time only.
[[nodiscard]] inline CORBA::ULong read_length(cdr::Reader& in, std::uint32_t element_bytes_min,
                                              CORBA::ULong bound)
{
    const auto length = in.read<CORBA::ULong>();
    if (std::uint64_t{length} * element_bytes_min > in.unclaimed() ||
        (element_bytes_min == 0 && length > limits::empty_elements_max)) [[unlikely]] {
        in.fail(cdr::Fault::length_beyond_end);
        return 0;
    }
    if (bound != 0 && length > bound) [[unlikely]] {
        in.fail(cdr::Fault::bound_exceeded);
        return 0;
    }
    return length;
}
inline void write_length(cdr::Writer& out, CORBA::ULong length, CORBA::ULong bound)
{
    if (bound != 0 && length > bound) [[unlikely]]
        raise_sequence_bound_exceeded();
    out.write(length);
}

// --- Strings and references as members ---------------------------------------------------------

template <typename Char, CORBA::ULong bound>
struct KAIROS_API TextMarshal {
    /// Wide strings have no terminator in GIOP 1.2.
    static constexpr std::size_t wire_bytes_min =
        sizeof(CORBA::ULong) + (std::same_as<Char, char> ? 1 : 0);

    static void encode(cdr::Writer& out, const TextOwner<Char, true>& value)
    {
        encode_string(out, value.in(), bound);
    }
    static void decode(cdr::Reader& in, TextOwner<Char, true>& value, Arena* arena = nullptr)
    {
        decode_text(in, value.inout(), bound, arena);
    }
};
template <>
struct KAIROS_API Marshal<StringMember> : TextMarshal<char, 0> {};
template <CORBA::ULong bound>
struct KAIROS_API Marshal<BoundedStringMember<bound>> : TextMarshal<char, bound> {};
template <>
struct KAIROS_API Marshal<WStringMember> : TextMarshal<wchar_t, 0> {};
template <CORBA::ULong bound>
struct KAIROS_API Marshal<BoundedWStringMember<bound>> : TextMarshal<wchar_t, bound> {};

/// Of fixed length for a program, but not on the wire, where its size is negotiated.
template <>
struct KAIROS_API Marshal<CORBA::WChar> {
    static constexpr std::size_t wire_bytes_min = 2;

    static void encode(cdr::Writer& out, const CORBA::WChar& value);
    static void decode(cdr::Reader& in, CORBA::WChar& value)
    {
        value = cdr::read_wide_character(in);
    }
};

template <typename T>
struct KAIROS_API Marshal<ObjectVar<T>> {
    /// The nil of peers that write an empty type id without its terminator.
    static constexpr std::size_t wire_bytes_min = 8;

    static void encode_pointer(cdr::Writer& out, T* object) { encode_object(out, object); }
    static T* decode_pointer(cdr::Reader& in) { return kairos::corba::decode_reference<T>(in); }
    static void encode(cdr::Writer& out, const ObjectVar<T>& value)
    {
        encode_pointer(out, value.in());
    }
    static void decode(cdr::Reader& in, ObjectVar<T>& value) { value = decode_pointer(in); }
};

/// What is shared like an object but travels in another way, which the traits know.
template <typename T, typename Traits>
    requires requires(cdr::Reader& in) { Traits::decode(in); }
struct KAIROS_API Marshal<ObjectVar<T, Traits>> {
    static constexpr std::size_t wire_bytes_min = Traits::wire_bytes_min;

    static void encode_pointer(cdr::Writer& out, T* object) { Traits::encode(out, object); }
    static T* decode_pointer(cdr::Reader& in) { return Traits::decode(in); }
    static void encode(cdr::Writer& out, const ObjectVar<T, Traits>& value)
    {
        encode_pointer(out, value.in());
    }
    static void decode(cdr::Reader& in, ObjectVar<T, Traits>& value) { value = decode_pointer(in); }
};

// --- Arrays of variable length -----------------------------------------------------------------

template <typename T, std::size_t count>
    requires(!FixedLength<T>)
struct Marshal<T[count]> {
    static constexpr std::size_t wire_bytes_min = count * Marshal<T>::wire_bytes_min;

    static void encode(cdr::Writer& out, const T (&elements)[count])
    {
        for (const T& element : elements)
            Marshal<T>::encode(out, element);
    }
    static void decode(cdr::Reader& in, T (&elements)[count])
        requires(!Viewable<T>)
    {
        for (T& element : elements) {
            if (!in.ok()) return;
            Marshal<T>::decode(in, element);
        }
    }
    static void decode(cdr::Reader& in, T (&elements)[count], Arena* arena = nullptr)
        requires Viewable<T>
    {
        for (T& element : elements) {
            if (!in.ok()) return;
            mapping::decode(in, element, arena);
        }
    }
};

// --- Sequences ---------------------------------------------------------------------------------

/// The most that can be asked of the bytes left per element.
[[nodiscard]] consteval std::uint32_t wire_bytes_believed(std::size_t wire_bytes_min)
{
    return static_cast<std::uint32_t>(wire_bytes_min < UINT32_MAX ? wire_bytes_min : UINT32_MAX);
}

/// How the elements of sequences with this storage travel, their number included.
template <typename Storage>
struct StorageMarshal;

/// Elements that are moved all at once.
template <typename T>
concept TravelsAsBlock = FixedLength<T> && !std::is_array_v<T>;

/// Sequences and the typedefs derived from them.
template <typename Sequence>
    requires requires { typename Sequence::kairos_storage; }
struct KAIROS_API Marshal<Sequence> {
    using Elements = StorageMarshal<typename Sequence::kairos_storage>;
    static constexpr std::size_t wire_bytes_min = sizeof(CORBA::ULong);

    static void encode(cdr::Writer& out, const Sequence& value)
    {
        Elements::encode(out, value, Sequence::kairos_bound);
    }
    static void decode(cdr::Reader& in, Sequence& value)
        requires(!Elements::is_viewable())
    {
        Elements::decode(in, value, Sequence::kairos_bound);
    }
    static void decode(cdr::Reader& in, Sequence& value, Arena* arena = nullptr)
        requires(Elements::is_viewable())
    {
        Elements::decode(in, value, Sequence::kairos_bound, arena);
    }
};

template <typename Storage>
[[nodiscard]] SequenceLayout& layout_of(SequenceBase<Storage>& sequence) noexcept
{
    static_assert(is_sequence_layout<SequenceBase<Storage>>);
    return reinterpret_cast<SequenceLayout&>(sequence);
}
template <typename Storage>
[[nodiscard]] const SequenceLayout& layout_of(const SequenceBase<Storage>& sequence) noexcept
{
    static_assert(is_sequence_layout<SequenceBase<Storage>>);
    return reinterpret_cast<const SequenceLayout&>(sequence);
}

/// What elements take that are made before they are known to be there, beyond four times their
/// bytes (Reader::spend).
[[nodiscard]] constexpr std::size_t excess_of(std::size_t count, std::size_t size,
                                              std::size_t wire_bytes_min) noexcept
{
    return size > 4 * wire_bytes_min ? count * (size - 4 * wire_bytes_min) : 0;
}

/// Reads `count` values into one, with `decode_one(in, value, context)`, to see whether they are
/// there; if not, the reader has failed. True if they are to be read again, and kept. Valuetypes
/// that it meets are remembered apart (read_ahead.h), and gone when it returns.
[[nodiscard, gnu::cold]] KAIROS_API bool
prove(cdr::Reader& in, std::size_t count, std::size_t wire_bytes_min, void* value,
      const void* context, void (*decode_one)(cdr::Reader& in, void* value, const void* context));

template <typename T>
[[nodiscard, gnu::cold, gnu::noinline]] bool prove_elements(cdr::Reader& in, CORBA::ULong count)
{
    if (count == 0) return !in.proving();
    struct One {
        T* value = ValueStorage<T>::allocate(1);
        One() = default;
        One(const One&) = delete;
        One& operator=(const One&) = delete;
        ~One() { ValueStorage<T>::freebuf(value); }
    } one;
    return prove(in, count, wire_bytes_believed(Marshal<T>::wire_bytes_min), one.value, nullptr,
                 [](cdr::Reader& ahead, void* value, const void*) {
                     Marshal<T>::decode(ahead, *static_cast<T*>(value));
                 });
}

/// Writes elements without their number.
template <typename T>
void encode_elements(cdr::Writer& out, const T* elements, CORBA::ULong count)
{
    if constexpr (TravelsAsBlock<T>) {
        encode_block(out, block_of<T>, elements, count);
    } else {
        for (CORBA::ULong i = 0; i < count; ++i)
            Marshal<T>::encode(out, elements[i]);
    }
}
/// `arena` is for elements that can be views.
template <typename T>
void decode_elements(cdr::Reader& in, T* elements, CORBA::ULong count,
                     [[maybe_unused]] Arena* arena = nullptr)
{
    if constexpr (TravelsAsBlock<T>) {
        decode_block(in, block_of<T>, elements, count);
    } else {
        constexpr auto bytes_min = wire_bytes_believed(Marshal<T>::wire_bytes_min);
        in.claim(std::size_t{count} * bytes_min);
        for (CORBA::ULong i = 0; i < count && in.ok(); ++i) {
            in.unclaim(bytes_min);
            if constexpr (Viewable<T>) {
                mapping::decode(in, elements[i], arena);
            } else {
                Marshal<T>::decode(in, elements[i]);
            }
        }
    }
}

template <typename T>
struct StorageMarshal<ValueStorage<T>> {
    using Sequence = SequenceBase<ValueStorage<T>>;
    static constexpr auto element_bytes_min = wire_bytes_believed(Marshal<T>::wire_bytes_min);

    [[nodiscard]] static consteval bool is_viewable() { return Viewable<T>; }
    static void encode(cdr::Writer& out, const Sequence& sequence, CORBA::ULong bound)
    {
        write_length(out, sequence.length(), bound);
        encode_elements(out, sequence.data(), sequence.length());
    }
    static void decode(cdr::Reader& in, Sequence& sequence, CORBA::ULong bound,
                       Arena* arena = nullptr)
    {
        const CORBA::ULong count = read_length(in, element_bytes_min, bound);
        if (!in.ok()) [[unlikely]]
            return;
        std::size_t spent = 0;
        if constexpr (sizeof(T) > 4 * std::size_t{element_bytes_min}) {
            spent = excess_of(count, sizeof(T), element_bytes_min);
            if (in.proving() || !in.spend(spent)) [[unlikely]] {
                if (!in.is_proven() && !prove_elements<T>(in, count)) return;
                spent = 0;
            }
        }
        T* const elements =
            arena == nullptr ? sequence.kairos_overwrite(count) : borrow(sequence, *arena, count);
        decode_elements(in, elements, count, arena);
        if constexpr (sizeof(T) > 4 * std::size_t{element_bytes_min}) in.refund(spent);
    }

  private:
    /// Elements in the arena, which are never destroyed.
    struct alignas(T) KAIROS_API_TYPE Room {
        std::byte bytes[sizeof(T)];
    };
    static T* borrow(Sequence& sequence, Arena& arena, CORBA::ULong count)
    {
        auto* const elements = reinterpret_cast<T*>(arena.allocate<Room>(count));
        construct_elements(elements, count);
        layout_of(sequence) = {elements, count, count, false};
        return elements;
    }
};

template <TravelsAsBlock T>
struct KAIROS_API StorageMarshal<ValueStorage<T>> {
    using Sequence = SequenceBase<ValueStorage<T>>;

    [[nodiscard]] static consteval bool is_viewable() { return true; }
    static void encode(cdr::Writer& out, const Sequence& sequence, CORBA::ULong bound)
    {
        encode_block_sequence(out, block_of<T>, layout_of(sequence), bound);
    }
    static void decode(cdr::Reader& in, Sequence& sequence, CORBA::ULong bound, Arena* arena)
    {
        decode_block_sequence(in, block_of<T>, layout_of(sequence), bound, arena);
    }
};

template <typename Char, CORBA::ULong text_bound>
struct KAIROS_API StorageMarshal<PointerStorage<TextElements<Char, text_bound>>> {
    using Sequence = SequenceBase<PointerStorage<TextElements<Char, text_bound>>>;

    [[nodiscard]] static consteval bool is_viewable() { return true; }
    static void encode(cdr::Writer& out, const Sequence& sequence, CORBA::ULong bound)
    {
        encode_text_sequence<Char>(out, layout_of(sequence), bound, text_bound);
    }
    static void decode(cdr::Reader& in, Sequence& sequence, CORBA::ULong bound, Arena* arena)
    {
        decode_text_sequence<Char>(in, layout_of(sequence), bound, text_bound, arena);
    }
};

/// What is shared: object references, values, TypeCodes.
template <typename T, typename Traits>
struct KAIROS_API StorageMarshal<PointerStorage<ObjectElements<T, Traits>>> {
    using Sequence = SequenceBase<PointerStorage<ObjectElements<T, Traits>>>;
    using Element = Marshal<ObjectVar<T, Traits>>;
    static constexpr auto element_bytes_min = wire_bytes_believed(Element::wire_bytes_min);

    [[nodiscard]] static consteval bool is_viewable() { return false; }
    static void encode(cdr::Writer& out, const Sequence& sequence, CORBA::ULong bound)
    {
        write_length(out, sequence.length(), bound);
        for (T* const element : sequence)
            Element::encode_pointer(out, element);
    }
    static void decode(cdr::Reader& in, Sequence& sequence, CORBA::ULong bound)
    {
        const CORBA::ULong count = read_length(in, element_bytes_min, bound);
        if (!in.ok()) [[unlikely]]
            return;
        T** const elements = sequence.kairos_overwrite(count);
        in.claim(std::size_t{count} * element_bytes_min);
        for (CORBA::ULong i = 0; i < count && in.ok(); ++i) {
            in.unclaim(element_bytes_min);
            T* const element = Element::decode_pointer(in);
            ObjectElements<T, Traits>::release(std::exchange(elements[i], element));
        }
    }
};

} // namespace kairos::mapping
