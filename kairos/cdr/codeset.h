// SPDX-License-Identifier: Apache-2.0
//
// How char, string, wchar and wstring travel on one message: the transmission code sets that client
// and server agreed on (CORBA 3.3 part 2, 7.10) and GIOP's rules for wide characters (9.3.1.6,
// 9.3.2.7). A program's chars are of its native code set, its wchar_t are Unicode code points. For
// whoever writes or reads text as values; names that belong to CORBA itself (operations, repository
// ids) are never converted and use Writer::write_string and Reader::read_string.
#pragma once

#include "kairos/cdr/codeset_conversion.h"
#include "kairos/cdr/environment.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::cdr {

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
struct TextForm {
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

// --- char and string -----------------------------------------------------------------------------

/// Writes a CDR string in the form's code set; after an error nothing is defined about what the
/// writer holds. `text` holds no NUL.
[[nodiscard]] TextError write_converted(Writer& out, const TextForm& form, std::string_view text);
/// One char, which must be one octet in either code set.
[[nodiscard]] TextError write_converted(Writer& out, const TextForm& form, char character);

/// Octets of a received string in the program's code set; nothing, and the reader has failed, if it
/// cannot be converted or has more than `bound` characters (0: any number).
[[nodiscard]] std::optional<std::size_t> native_size(Reader& in, const TextForm& form,
                                                     std::string_view wire, std::uint32_t bound);
/// Writes those octets to `place`, without a terminator.
void to_native(const TextForm& form, std::string_view wire, char* place);
/// Reads one char; fails the reader if it cannot be converted.
[[nodiscard]] char read_converted(Reader& in, const TextForm& form);

/// Any string, converted where that is needed: for copying by TypeCode. `bound` is 0 for none.
[[nodiscard]] TextError write_text(Writer& out, std::string_view text);
[[nodiscard]] TextError write_character(Writer& out, char character);
void read_text(Reader& in, std::string& text, std::uint32_t bound = 0);
[[nodiscard]] inline char read_character(Reader& in)
{
    const TextForm* form = converting_form(in);
    return form == nullptr ? in.read<char>() : read_converted(in, *form);
}

// --- wchar and wstring ---------------------------------------------------------------------------

[[nodiscard]] TextError write_wide_text(Writer& out, std::wstring_view text);
[[nodiscard]] TextError write_wide_character(Writer& out, wchar_t character);

/// A wstring as received.
struct WireWideText {
    Bytes octets{};                 ///< without a terminator
    std::size_t characters_max = 0; ///< it holds no more than that: the octets are there
    Encoding encoding = Encoding::utf_16;
    bool big_endian = true;
};
/// Finds the wstring that follows; the reader fails if there is none or none may be there.
[[nodiscard]] WireWideText find_wide_text(Reader& in) noexcept;
/// Decodes it to `place`, which has room for characters_max, and returns how many there are. Fails
/// the reader on text that is not valid, or longer than `bound` (0: any length).
[[nodiscard]] std::size_t decode_wide_text(Reader& in, const WireWideText& wire, wchar_t* place,
                                           std::uint32_t bound) noexcept;

void read_wide_text(Reader& in, std::wstring& text, std::uint32_t bound = 0);
[[nodiscard]] wchar_t read_wide_character(Reader& in) noexcept;

} // namespace kairos::cdr
