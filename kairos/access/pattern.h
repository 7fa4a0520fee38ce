// SPDX-License-Identifier: Apache-2.0
//
// Names as rules write them: `*` stands for any characters but those that separate the parts of a
// name, `**` for any characters at all, and every other character for itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kairos::access {

class Pattern {
  public:
    /// `separators` are what `*` does not stand for, and must outlive this.
    Pattern(std::string text, std::string_view separators);

    [[nodiscard]] bool matches(std::string_view name) const noexcept;
    /// Returns whether it is one name.
    [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    std::string text_;
    std::string_view separators_;
    bool is_plain_;
};

/// Returns a login, or a pattern of logins, as patterns of them are matched: between user and scope
/// is no "@", which a user's name may have behind a "\", but a control character, which none has.
[[nodiscard]] std::string written_login(std::string_view login);
/// What separates the parts of those.
inline constexpr std::string_view login_separators = "\1/";

} // namespace kairos::access
