// SPDX-License-Identifier: Apache-2.0
//
// Texts one behind the other, as members of a struct or elements of a sequence: what takes most of
// the time of marshalling them, for the functions of marshal.h and for the interpreter
// (kairos/types). The loops are inline in either, by force: a compiler that counts callers would
// leave them, or what they call for each text, to a function. Errors as in marshal.h.
#pragma once

#include "kairos/mapping/marshal.h"

#include <limits>

namespace kairos::mapping {

/// Writes a text in our code set; `size` counts its terminator.
inline void write_native(cdr::Writer& out, const char* text, std::size_t size)
{
    const auto length = static_cast<CORBA::ULong>(size);
    if (size < cdr::Writer::external_bytes_min) [[likely]] {
        std::byte* const place = out.claim(sizeof length + size, sizeof length);
        std::memcpy(place, &length, sizeof length);
        std::memcpy(place + sizeof length, text, size);
    } else {
        if (size > std::numeric_limits<CORBA::ULong>::max()) raise_string_bound_exceeded();
        out.write(length);
        out.write_bulk({reinterpret_cast<const std::byte*>(text), size}, 1);
    }
}

/// The part of encode_texts for texts that are bounded or have to be converted.
void encode_other_texts(cdr::Writer& out, const char* const* texts, std::size_t count,
                        CORBA::ULong bound);

/// Writes texts; `bound` is 0 for unbounded ones.
[[gnu::always_inline]] inline void encode_texts(cdr::Writer& out, const char* const* texts,
                                                std::size_t count, CORBA::ULong bound)
{
    if (bound != 0 || cdr::converting_form(out) != nullptr) [[unlikely]]
        return encode_other_texts(out, texts, count, bound);
    for (const char* const* const end = texts + count; texts != end; ++texts) {
        if (*texts == nullptr) [[unlikely]]
            raise_null_string();
        write_native(out, *texts, std::strlen(*texts) + 1);
    }
}

/// Replaces a text of the value's own by a copy of one in our code set, which its terminator
/// follows.
inline void replace_text(char*& text, std::string_view wire)
{
    free_text(std::exchange(text, shared_empty<char>())); // first: may be used again
    if (wire.empty()) return;
    char* const copy = new char[wire.size() + 1];
    std::memcpy(copy, wire.data(), wire.size() + 1); // with its terminator
    text = copy;
}

/// Replaces a text of the value's own by a copy of one in our code set, which its terminator
/// follows. A text of the same length stays where it is and is overwritten: to compare lengths
/// takes less than two ways to the heap. Of another length none is: no memory is kept that the text
/// does not need. For the interpreter, whose loops exist once and may be longer.
inline void overwrite_text(char*& text, std::string_view wire)
{
    if (text != nullptr && text != shared_empty<char>() && std::strlen(text) == wire.size()) {
        std::memcpy(text, wire.data(), wire.size());
    } else {
        replace_text(text, wire);
    }
}

/// The part of decode_texts for texts that are bounded or have to be converted.
void decode_other_texts(cdr::Reader& in, char** texts, std::size_t count, CORBA::ULong bound,
                        Arena* arena);

/// Replaces texts that the value owns or, with an arena, whatever they are.
template <void (*replace_owned)(char*& text, std::string_view wire) = replace_text>
[[gnu::always_inline]] inline void decode_texts(cdr::Reader& in, char** texts, std::size_t count,
                                                CORBA::ULong bound, Arena* arena)
{
    if (bound != 0 || cdr::converting_form(in) != nullptr) [[unlikely]]
        return decode_other_texts(in, texts, count, bound, arena);
    char** const end = texts + count;
    if (arena != nullptr) {
        for (; texts != end; ++texts)
            *texts = const_cast<char*>(in.read_string_inline().data());
    } else {
        for (; texts != end; ++texts)
            replace_owned(*texts, in.read_string_inline());
    }
}

/// Makes room for `count` texts, which the caller assigns (SequenceBase::kairos_overwrite).
template <typename Char>
[[gnu::always_inline]] inline void overwrite_texts(SequenceLayout& sequence, CORBA::ULong count)
{
    using Storage = PointerStorage<TextElements<Char, 0>>; // that of bounded texts is the same
    if (!sequence.release || count > sequence.capacity) {
        if (sequence.release) Storage::freebuf(static_cast<Char**>(sequence.buffer));
        sequence = {nullptr, 0, 0, true};
        sequence = {Storage::allocate(count), 0, count, true};
    }
    auto** const texts = static_cast<Char**>(sequence.buffer);
    for (CORBA::ULong i = count; i < sequence.length; ++i)
        free_text(std::exchange(texts[i], shared_empty<Char>()));
    sequence.length = count;
}

/// Reads the length of a sequence of texts and makes room for them. False: none to decode.
template <typename Char>
[[nodiscard, gnu::always_inline]] inline bool
begin_text_sequence(cdr::Reader& in, SequenceLayout& sequence, CORBA::ULong bound, Arena* arena)
{
    constexpr auto text_bytes_min = wire_bytes_believed(TextMarshal<Char, 0>::wire_bytes_min);
    const CORBA::ULong count = read_length(in, text_bytes_min, bound);
    if (!in.ok()) [[unlikely]]
        return false;
    if (arena != nullptr) {
        sequence = {arena->allocate<Char*>(count), count, count, false};
    } else {
        overwrite_texts<Char>(sequence, count);
    }
    return true;
}

} // namespace kairos::mapping
