// SPDX-License-Identifier: Apache-2.0
//
// A diagnostic as kairos-idl renders its own.
#include "kairos/constraints/constraint.h"

#include <algorithm>

namespace kairos::constraints {
namespace {

constexpr std::size_t shown_columns_max = 160; ///< of a line; one that a program made may be long

} // namespace

std::string Diagnostic::render(std::string_view text, std::string_view name) const
{
    std::string out(name);
    out += ':' + std::to_string(line) + ':' + std::to_string(column) + ": error: " + message + '\n';
    if (column == 0 || offset > text.size() || column - 1 > offset) return out;

    std::string_view shown = text.substr(offset - (column - 1));
    shown = shown.substr(0, shown.find('\n'));
    std::size_t at = column - 1;
    if (shown.size() > shown_columns_max) { // a window around the place
        const std::size_t begin = at > shown_columns_max / 2 ? at - shown_columns_max / 2 : 0;
        shown = shown.substr(std::min(begin, shown.size()), shown_columns_max);
        at -= std::min(begin, at);
    }
    if (shown.empty()) return out;
    std::string number = std::to_string(line);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
    out += number + " | ";
    // A text may hold anything; a terminal must not be told to obey it.
    for (const char c : shown)
        out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? ' ' : c;
    out += '\n' + std::string(number.size(), ' ') + " | ";
    // Tabs stay tabs, so the caret stands where the terminal put the character.
    for (std::size_t i = 0; i < at && i < shown.size(); ++i) {
        const auto c = static_cast<unsigned char>(shown[i]);
        if (c == '\t')
            out += '\t';
        else if ((c & 0xC0) != 0x80)
            out += ' '; // one column for a character of UTF-8
    }
    const std::size_t left = shown.size() > at ? shown.size() - at : 1;
    out += '^' + std::string(std::min(std::max<std::size_t>(length, 1), left) - 1, '~') + '\n';
    return out;
}

} // namespace kairos::constraints
