// SPDX-License-Identifier: Apache-2.0
//
// Octets as text that is safe to show: the module's hexadecimal and its escapes. What a peer wrote
// into a reference goes to people's terminals and logs only through `printable`.
#pragma once

#include "kairos/base/bytes.h"

#include <optional>
#include <string>
#include <string_view>

namespace kairos::ior {

/// Appends the octets in hexadecimal, two lower-case digits each.
void append_hex(std::string& text, Bytes octets);
[[nodiscard]] std::string hex(Bytes octets);
/// The value of a hexadecimal digit of either case.
[[nodiscard]] std::optional<unsigned> hex_digit_value(char digit) noexcept;

/// `text` with everything but printable ASCII as \xNN, and a backslash doubled.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// Whether `text` begins with `prefix`, which is in lower case, in any case.
[[nodiscard]] bool begins_with(std::string_view text, std::string_view prefix) noexcept;

/// Whether the character is printable ASCII, independent of the locale, unlike <cctype>.
[[nodiscard]] constexpr bool is_printable(char c) noexcept { return c >= ' ' && c <= '~'; }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

} // namespace kairos::ior
