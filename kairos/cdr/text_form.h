// SPDX-License-Identifier: Apache-2.0
//
// Whether text travels as it is, and how else: the part of codeset.h that generated code asks for
// every character it reads or writes.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"

#include <cstdint>

namespace kairos::cdr {

struct CodeSet; // codeset_conversion.h

/// Why text cannot be written.
enum class TextError : std::uint8_t {
    none,
    unconvertible,       ///< a character that the transmission code set lacks
    too_long,            ///< beyond what a length on the wire can say
    wide_not_offered,    ///< the server's reference names no code set for wide characters
    wide_not_negotiated, ///< the client announced none on this connection
    wide_in_giop_1_0,    ///< which has no wide characters
    incompatible,        ///< client and server have no code set in common
    not_supported,       ///< the client announced a code set that this server does not know
};

/// How text travels on a message. Immutable; the ORB keeps one object for each form it has met, so
/// that equal forms have equal addresses. A null pointer stands for what two peers of Kairos with
/// the same native code set agree on in GIOP 1.2.
struct KAIROS_API TextForm {
    std::uint8_t giop_minor = 2;
    bool is_server = false; ///< decides which exception a refusal is
    /// Why characters or wide characters cannot travel at all; `none` if they can.
    TextError characters_refused = TextError::none;
    TextError wide_refused = TextError::none;
    const CodeSet* native = nullptr;     ///< of the program's chars; never null
    const CodeSet* characters = nullptr; ///< of chars on the wire; never null
    const CodeSet* wide = nullptr;       ///< of wide characters on the wire; null if refused

    /// Whether chars on the wire differ from the program's.
    [[nodiscard]] bool converts_characters() const noexcept
    {
        return native != characters || characters_refused != TextError::none;
    }
    friend bool operator==(const TextForm&, const TextForm&) = default;
};

/// The form of a Writer's or Reader's message, or null.
template <typename Stream>
[[nodiscard]] const TextForm* text_form(const Stream& stream) noexcept
{
    const Environment* environment = stream.environment();
    return environment == nullptr ? nullptr : environment->text;
}

/// The form if chars have to be converted, else null: the one question that text costs when both
/// sides agree.
template <typename Stream>
[[nodiscard]] const TextForm* converting_form(const Stream& stream) noexcept
{
    const TextForm* form = text_form(stream);
    return form == nullptr || !form->converts_characters() ? nullptr : form;
}

/// Reads one char of a form that converts; fails the reader if it cannot be converted.
[[nodiscard]] KAIROS_API char read_converted(Reader& in, const TextForm& form);
[[nodiscard]] inline char read_character(Reader& in)
{
    const TextForm* form = converting_form(in);
    return form == nullptr ? in.read<char>() : read_converted(in, *form);
}
/// Reads one wide character in the form of the reader's message.
[[nodiscard]] KAIROS_API wchar_t read_wide_character(Reader& in) noexcept;

} // namespace kairos::cdr
