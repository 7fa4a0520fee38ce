// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/text.h"

namespace kairos::ior {

void append_hex(std::string& text, Bytes octets)
{
    constexpr std::string_view digits = "0123456789abcdef";
    text.reserve(text.size() + 2 * octets.size());
    for (const std::byte octet : octets) {
        const auto value = std::to_integer<unsigned>(octet);
        text += digits[value >> 4];
        text += digits[value & 15];
    }
}

std::string hex(Bytes octets)
{
    std::string text;
    append_hex(text, octets);
    return text;
}

std::optional<unsigned> hex_digit_value(char digit) noexcept
{
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
    return std::nullopt;
}

std::string printable(std::string_view text)
{
    std::string shown;
    shown.reserve(text.size());
    for (const char& c : text) {
        if (c == '\\') {
            shown += "\\\\";
        } else if (is_printable(c)) {
            shown += c;
        } else {
            shown += "\\x";
            append_hex(shown, as_bytes({&c, 1}));
        }
    }
    return shown;
}

std::string_view trimmed(std::string_view text) noexcept
{
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return text.substr(text.size());
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool begins_with(std::string_view text, std::string_view prefix) noexcept
{
    if (text.size() < prefix.size()) return false;
    for (std::size_t i = 0; i < prefix.size(); ++i) {
        const char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != prefix[i])
            return false;
    }
    return true;
}

} // namespace kairos::ior
