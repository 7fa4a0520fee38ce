// SPDX-License-Identifier: Apache-2.0
//
// How char, string, wchar and wstring travel on one message: the transmission code sets that client
// and server agreed on (CORBA 3.3 part 2, 7.10) and GIOP's rules for wide characters (9.3.1.6,
// 9.3.2.7). A program's chars are of its native code set, its wchar_t are Unicode code points. For
// whoever writes or reads text as values; names that belong to CORBA itself (operations, repository
// ids) are never converted and use Writer::write_string and Reader::read_string.
#pragma once

#include "kairos/cdr/codeset_conversion.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/text_form.h"
#include "kairos/cdr/writer.h"

#include <optional>
#include <string_view>

namespace kairos::cdr {

// --- char and string -----------------------------------------------------------------------------

/// Writes a CDR string in the form's code set; after an error nothing is defined about what the
/// writer holds. `text` holds no NUL.
[[nodiscard]] TextError write_converted(Writer& out, const TextForm& form, std::string_view text);
/// Writes one char in the form's code set; it must be one octet in either code set.
[[nodiscard]] TextError write_converted(Writer& out, const TextForm& form, char character);

/// Octets of a received string in the program's code set; nothing, and the reader has failed, if it
/// cannot be converted or has more than `bound` characters (0: any number).
[[nodiscard]] std::optional<std::size_t> native_size(Reader& in, const TextForm& form,
                                                     std::string_view wire, std::uint32_t bound);
/// Writes a received string, which native_size accepted, in the program's code set to `place`,
/// without a terminator.
void to_native(const TextForm& form, std::string_view wire, char* place);

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
/// Decodes `wire` to `place`, which has room for characters_max, and returns how many there are.
/// Fails the reader on text that is not valid, or longer than `bound` (0: any length).
[[nodiscard]] std::size_t decode_wide_text(Reader& in, const WireWideText& wire, wchar_t* place,
                                           std::uint32_t bound) noexcept;

} // namespace kairos::cdr
