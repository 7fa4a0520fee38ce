// SPDX-License-Identifier: Apache-2.0
//
// How values of the C++ mapping become CDR and come back: Marshal<T> for every type, and the
// functions that generated stubs and skeletons call. Stations 1, 7 and 10 of the request walk
// (docs/TOUR.md). Encoding throws BAD_PARAM for what IDL forbids (null strings, exceeded bounds);
// decoding never throws but std::bad_alloc: the reader fails, and its owner asks at the end.
#pragma once

#include "kairos/base/limits.h"
#include "kairos/cdr/codeset.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/fixed_layout.h"
#include "kairos/mapping/object_fwd.h"
#include "kairos/mapping/sequence.h"

#include <limits>

namespace kairos::mapping {

/// Throw BAD_PARAM, COMPLETED_NO.
[[noreturn]] void raise_null_string();
[[noreturn]] void raise_string_bound_exceeded();
[[noreturn]] void raise_null_result();

/// Throw what CORBA has for text that cannot be written or was refused when read: DATA_CONVERSION,
/// CODESET_INCOMPATIBLE, and INV_OBJREF, BAD_PARAM or MARSHAL for wide text without an agreement.
[[noreturn]] void raise_text_error(const cdr::Writer& out, cdr::TextError error);
/// The same for a reader that failed on text; returns if that was not why it failed.
void raise_if_text_refused(const cdr::Reader& in, CORBA::CompletionStatus completed);

/// Counts the types of recursive structs that are being decoded by this thread; the input is
/// refused when they nest too deeply.
class NestingGuard {
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

/// For `in` parameters of skeletons: the value may refer to the message and to the arena.
template <typename T>
void decode_view(cdr::Reader& in, Arena& arena, T& value)
{
    if constexpr (requires { Marshal<T>::decode_view(in, arena, value); }) {
        Marshal<T>::decode_view(in, arena, value);
    } else {
        Marshal<T>::decode(in, value);
    }
}

/// A result or `out` value that travels as a pointer; a servant must not leave it null.
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
[[gnu::cold]] void encode_converted(cdr::Writer& out, const cdr::TextForm& form,
                                    std::string_view text);

/// `bound` is 0 for unbounded strings.
void encode_string(cdr::Writer& out, const char* text, CORBA::ULong bound = 0);
/// Wide strings; the bound is one of characters, as a program counts them.
void encode_string(cdr::Writer& out, const wchar_t* text, CORBA::ULong bound = 0);

/// A string that the caller owns; never null, "" when the input is refused. An empty one may be
/// the shared one if the caller says so.
void decode_owned(cdr::Reader& in, char*& text, CORBA::ULong bound, bool may_be_shared);
void decode_owned(cdr::Reader& in, wchar_t*& text, CORBA::ULong bound, bool may_be_shared);

template <typename Char, bool starts_empty>
void decode_string(cdr::Reader& in, TextOwner<Char, starts_empty>& value, CORBA::ULong bound = 0)
{
    Char* text = nullptr;
    decode_owned(in, text, bound, starts_empty);
    value = text;
}

/// The part of decode_string_view for chars that have to be converted.
[[nodiscard, gnu::cold]] const char*
decode_converted(cdr::Reader& in, Arena& arena, const cdr::TextForm& form, CORBA::ULong bound);

/// The text in the message itself, or in the arena if it had to be converted.
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
/// The text in the arena.
void decode_string_view(cdr::Reader& in, Arena& arena, const wchar_t*& value,
                        CORBA::ULong bound = 0);

/// `count` strings that their holder owns, with the bound of each. Out of line: sequences of
/// strings are everywhere.
template <typename Char>
void encode_texts(cdr::Writer& out, const Char* const* texts, CORBA::ULong count,
                  CORBA::ULong bound);
/// Replaces them.
template <typename Char>
void decode_texts(cdr::Reader& in, Char** texts, CORBA::ULong count, CORBA::ULong bound);
/// Borrowed from the message or the arena; null when the input is refused.
template <typename Char>
[[nodiscard]] Char** view_texts(cdr::Reader& in, Arena& arena, CORBA::ULong count,
                                CORBA::ULong bound);

// --- Strings and references as members ---------------------------------------------------------

template <typename Char, CORBA::ULong bound>
struct TextMarshal {
    /// Wide strings have no terminator in GIOP 1.2.
    static constexpr std::size_t wire_bytes_min =
        sizeof(CORBA::ULong) + (std::same_as<Char, char> ? 1 : 0);

    static void encode(cdr::Writer& out, const TextOwner<Char, true>& value)
    {
        encode_string(out, value.in(), bound);
    }
    static void decode(cdr::Reader& in, TextOwner<Char, true>& value)
    {
        decode_string(in, value, bound);
    }
};
template <>
struct Marshal<StringMember> : TextMarshal<char, 0> {};
template <CORBA::ULong bound>
struct Marshal<BoundedStringMember<bound>> : TextMarshal<char, bound> {};
template <>
struct Marshal<WStringMember> : TextMarshal<wchar_t, 0> {};
template <CORBA::ULong bound>
struct Marshal<BoundedWStringMember<bound>> : TextMarshal<wchar_t, bound> {};

/// Of fixed length for a program, but not on the wire, where its size is negotiated.
template <>
struct Marshal<CORBA::WChar> {
    static constexpr std::size_t wire_bytes_min = 2;

    static void encode(cdr::Writer& out, const CORBA::WChar& value);
    static void decode(cdr::Reader& in, CORBA::WChar& value)
    {
        value = cdr::read_wide_character(in);
    }
};

template <typename T>
struct Marshal<ObjectVar<T>> {
    /// The nil of peers that write an empty type id without its terminator.
    static constexpr std::size_t wire_bytes_min = 8;

    static void encode(cdr::Writer& out, const ObjectVar<T>& value)
    {
        encode_object(out, value.in());
    }
    static void decode(cdr::Reader& in, ObjectVar<T>& value)
    {
        value = kairos::corba::decode_reference<T>(in);
    }
};

/// What is shared like an object but travels in another way, which the traits know.
template <typename T, typename Traits>
    requires requires(cdr::Reader& in) { Traits::decode(in); }
struct Marshal<ObjectVar<T, Traits>> {
    static constexpr std::size_t wire_bytes_min = Traits::wire_bytes_min;

    static void encode(cdr::Writer& out, const ObjectVar<T, Traits>& value)
    {
        Traits::encode(out, value.in());
    }
    static void decode(cdr::Reader& in, ObjectVar<T, Traits>& value) { value = Traits::decode(in); }
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
    {
        for (T& element : elements) {
            if (!in.ok()) return;
            Marshal<T>::decode(in, element);
        }
    }
};

// --- Sequences ---------------------------------------------------------------------------------

template <typename Storage>
struct StorageMarshal;

/// Sequences and the typedefs derived from them.
template <typename Sequence>
    requires requires { typename Sequence::kairos_storage; }
struct Marshal<Sequence> {
    using Elements = StorageMarshal<typename Sequence::kairos_storage>;
    static constexpr std::size_t wire_bytes_min = sizeof(CORBA::ULong);

    static void encode(cdr::Writer& out, const Sequence& value)
    {
        const CORBA::ULong length = value.length();
        if (exceeds_bound(length)) [[unlikely]]
            raise_sequence_bound_exceeded();
        out.write(length);
        if (length != 0) Elements::encode(out, value.data(), length);
    }
    static void decode(cdr::Reader& in, Sequence& value)
    {
        const CORBA::ULong length = read_length(in);
        if (!in.ok()) [[unlikely]]
            return;
        auto* elements = value.kairos_overwrite(length);
        if (length != 0) Elements::decode(in, elements, length);
    }
    static void decode_view(cdr::Reader& in, Arena& arena, Sequence& value)
        requires requires { Elements::decode_view(in, arena, CORBA::ULong{}); }
    {
        const CORBA::ULong length = read_length(in);
        if (length == 0) return; // nothing there or refused
        auto* elements = Elements::decode_view(in, arena, length);
        if (elements != nullptr) value.kairos_view(elements, length);
    }

  private:
    static constexpr bool exceeds_bound(CORBA::ULong length)
    {
        return Sequence::kairos_bound != 0 && length > Sequence::kairos_bound;
    }
    static CORBA::ULong read_length(cdr::Reader& in)
    {
        const CORBA::ULong length = in.read_length(Elements::wire_bytes_min);
        if (exceeds_bound(length)) [[unlikely]] {
            in.fail(cdr::Fault::bound_exceeded);
            return 0;
        }
        return length;
    }
};

template <typename T>
struct StorageMarshal<ValueStorage<T>> {
    static constexpr std::size_t wire_bytes_min = Marshal<T>::wire_bytes_min;

    static void encode(cdr::Writer& out, const T* elements, CORBA::ULong count)
    {
        if constexpr (FixedLength<T> && !std::is_array_v<T>) {
            encode_block(out, block_of<T>, elements, count);
        } else {
            for (CORBA::ULong i = 0; i < count; ++i)
                Marshal<T>::encode(out, elements[i]);
        }
    }
    static void decode(cdr::Reader& in, T* elements, CORBA::ULong count)
    {
        if constexpr (FixedLength<T> && !std::is_array_v<T>) {
            decode_block(in, block_of<T>, elements, count);
        } else {
            for (CORBA::ULong i = 0; i < count && in.ok(); ++i)
                Marshal<T>::decode(in, elements[i]);
        }
    }
    [[nodiscard]] static T* decode_view(cdr::Reader& in, Arena& arena, CORBA::ULong count)
        requires(FixedLength<T> && !std::is_array_v<T>)
    {
        return static_cast<T*>(view_block(in, block_of<T>, arena, count));
    }
};

template <typename Char, CORBA::ULong bound>
struct StorageMarshal<PointerStorage<TextElements<Char, bound>>> {
    static constexpr std::size_t wire_bytes_min = TextMarshal<Char, bound>::wire_bytes_min;

    static void encode(cdr::Writer& out, const Char* const* elements, CORBA::ULong count)
    {
        encode_texts(out, elements, count, bound);
    }
    static void decode(cdr::Reader& in, Char** elements, CORBA::ULong count)
    {
        decode_texts(in, elements, count, bound);
    }
    [[nodiscard]] static Char** decode_view(cdr::Reader& in, Arena& arena, CORBA::ULong count)
    {
        return view_texts<Char>(in, arena, count, bound);
    }
};

template <typename T>
struct StorageMarshal<PointerStorage<ObjectElements<T>>> {
    static constexpr std::size_t wire_bytes_min = Marshal<ObjectVar<T>>::wire_bytes_min;

    static void encode(cdr::Writer& out, T* const* elements, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count; ++i)
            encode_object(out, elements[i]);
    }
    static void decode(cdr::Reader& in, T** elements, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count && in.ok(); ++i) {
            T* object = kairos::corba::decode_reference<T>(in);
            ObjectTraits<T>::release(std::exchange(elements[i], object));
        }
    }
};

template <typename T, typename Traits>
    requires requires(cdr::Reader& in) { Traits::decode(in); }
struct StorageMarshal<PointerStorage<ObjectElements<T, Traits>>> {
    static constexpr std::size_t wire_bytes_min = Traits::wire_bytes_min;

    static void encode(cdr::Writer& out, T* const* elements, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count; ++i)
            Traits::encode(out, elements[i]);
    }
    static void decode(cdr::Reader& in, T** elements, CORBA::ULong count)
    {
        for (CORBA::ULong i = 0; i < count && in.ok(); ++i)
            Traits::release(std::exchange(elements[i], Traits::decode(in)));
    }
};

} // namespace kairos::mapping
