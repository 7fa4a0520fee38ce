// SPDX-License-Identifier: Apache-2.0
#include "kairos/files/toml_dots.h"

#include <algorithm>

namespace kairos::files {
namespace {

constexpr std::size_t dots_max = 1000;

/// Behind the string that begins at `begin`, or at the end of its line or the text if it does not
/// end: there the parser gives up, so that what follows is nobody's.
std::size_t end_of_string(std::string_view text, std::size_t begin)
{
    const char quote = text[begin];
    const bool escapes = quote == '"';
    const std::string_view triple = quote == '"' ? R"(""")" : "'''";
    const bool many_lines = text.substr(begin, 3) == triple;
    for (std::size_t i = begin + (many_lines ? 3 : 1); i < text.size(); ++i) {
        if (escapes && text[i] == '\\') {
            ++i;
        } else if (many_lines && text.substr(i, 3) == triple) {
            i += 3;
            for (int more = 0; more < 2 && i < text.size() && text[i] == quote; ++more)
                ++i; // belongs to the string
            return i;
        } else if (!many_lines && (text[i] == quote || text[i] == '\n')) {
            return text[i] == quote ? i + 1 : i;
        }
    }
    return text.size();
}

std::size_t line_of(std::string_view text, std::size_t place)
{
    const std::string_view before = text.substr(0, place);
    return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

} // namespace

std::size_t line_with_too_many_dots(std::string_view text)
{
    std::size_t dots = 0;
    for (std::size_t i = 0; i < text.size();) {
        switch (text[i]) {
        case '#':
            i = std::min(text.find('\n', i), text.size());
            break;
        case '"':
        case '\'':
            i = end_of_string(text, i);
            break;
        case '.':
            if (++dots > dots_max) return line_of(text, i);
            ++i;
            break;
        default:
            ++i;
        }
    }
    return 0;
}

} // namespace kairos::files
