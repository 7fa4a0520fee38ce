// SPDX-License-Identifier: Apache-2.0
//
// Text as values, for tests and fuzz targets: what kairos/mapping makes of codeset.h's functions
// for strings of the mapping, here for those of the standard library.
#pragma once

#include "kairos/cdr/codeset.h"

#include <string>

namespace kairos::cdr::testing {

/// Converted where that is needed.
[[nodiscard]] inline TextError write_text(Writer& out, std::string_view text)
{
    if (const TextForm* form = converting_form(out)) return write_converted(out, *form, text);
    out.write_string(text);
    return TextError::none;
}

[[nodiscard]] inline TextError write_character(Writer& out, char character)
{
    if (const TextForm* form = converting_form(out)) return write_converted(out, *form, character);
    out.write(character);
    return TextError::none;
}

/// `bound` is 0 for none.
inline void read_text(Reader& in, std::string& text, std::uint32_t bound = 0)
{
    const std::string_view wire = in.read_string();
    if (const TextForm* form = converting_form(in); form != nullptr && in.ok()) {
        text.resize(native_size(in, *form, wire, bound).value_or(0));
        if (in.ok()) to_native(*form, wire, text.data());
        return;
    }
    if (bound != 0 && wire.size() > bound) in.fail(Fault::bound_exceeded);
    text = in.ok() ? wire : std::string_view();
}

inline void read_wide_text(Reader& in, std::wstring& text, std::uint32_t bound = 0)
{
    const WireWideText wire = find_wide_text(in);
    text.resize(wire.characters_max);
    text.resize(decode_wide_text(in, wire, text.data(), bound));
}

} // namespace kairos::cdr::testing
