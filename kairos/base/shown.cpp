// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/shown.h"

#include <cstddef>
#include <cstdint>

namespace kairos {
namespace {

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm; line and paragraph
/// separators, which end a line of a log.
constexpr bool is_obeyed(std::uint32_t point) noexcept
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x061c || point == 0x200e ||
           point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

/// How many octets of the text, which is not empty, are the next character and may stay; 0: none.
std::size_t plain_size(std::string_view text) noexcept
{
    const auto octet = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::uint32_t first = octet(0);
    if (first < 0x80) return is_obeyed(first) ? 0 : 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    std::uint32_t point = first & (0xffU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        if ((octet(i) & 0xc0) != 0x80) return 0;
        point = point << 6 | (octet(i) & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < least[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return 0;
    return is_obeyed(point) ? 0 : size;
}

} // namespace

bool is_shown_as_it_is(std::string_view text) noexcept
{
    while (!text.empty()) {
        const std::size_t size = plain_size(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

std::string shown(std::string_view text)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t size = plain_size(text);
        if (size != 0) {
            result += text.substr(0, size);
        } else {
            const auto octet = static_cast<unsigned char>(text.front());
            result += "\\x";
            result += digits[octet >> 4];
            result += digits[octet & 15];
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return result;
}

std::string shown_lines(std::string_view text)
{
    std::string result;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        result += shown(text.substr(0, end));
        if (end == std::string_view::npos) break;
        result += '\n';
        text.remove_prefix(end + 1);
    }
    return result;
}

} // namespace kairos
