// SPDX-License-Identifier: Apache-2.0
//
// Tokens of both languages. Components of events are no tokens: `.0.1` is a number elsewhere, and
// names there are never keywords; the parser reads them piece by piece. Private to this module.
// One thread, for one text.
#pragma once

#include "kairos/constraints/constraint.h"
#include "kairos/constraints/operand.h"

#include <string_view>

namespace kairos::constraints {

enum class TokenKind : std::uint8_t {
    end,
    failed, ///< there was an error; nothing is read any more
    name,
    integer,
    real,
    text,
    true_,
    false_,
    and_,
    or_,
    not_,
    in,
    exist,
    default_,
    dollar,
    open,
    close,
    plus,
    minus,
    times,
    over,
    twiddle,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t offset = 0;
    std::size_t length = 0;
    std::string_view text{}; ///< a name, or a string without its quotes and escapes
    Integer integer = 0;
    double real = 0;
};

class Lexer {
  public:
    /// `names` has room for as many octets as the text; strings with escapes are put there, names
    /// as well. Both are borrowed.
    Lexer(std::string_view text, char* names, Language language)
        : text_(text), names_(names), language_(language)
    {
    }

    /// Reads the next token; `failed` if there is none or there was an error.
    [[nodiscard]] Token next();

    /// Whether a name follows immediately.
    [[nodiscard]] bool at_name() const noexcept;
    // Pieces of a component, each behind blanks.
    /// Passes over this character, if it is the next.
    [[nodiscard]] bool skip(char c);
    /// Reads a name; empty if there is none.
    [[nodiscard]] std::string_view name();
    /// Reads a name that begins with `_`, as `_length`; empty if there is none.
    [[nodiscard]] std::string_view special_name();
    [[nodiscard]] bool at_digit();
    [[nodiscard]] bool at_quote();
    /// Reads digits; false, with an error, where there are none or too many.
    [[nodiscard]] bool digits(std::uint32_t& number);
    /// Reads a string; false, with an error, where it does not end.
    [[nodiscard]] bool string(std::string_view& text);

    [[nodiscard]] std::size_t offset() const noexcept { return at_; }
    /// Where the next character that is no blank is.
    [[nodiscard]] std::size_t next_offset();

    /// The first error stays.
    void fail(std::size_t offset, std::size_t length, std::string message);
    void exceed(std::size_t offset, std::size_t length, std::string message);
    [[nodiscard]] bool has_failed() const noexcept { return code_ != Code::none; }
    [[nodiscard]] bool has_exceeded() const noexcept { return code_ == Code::limit; }
    [[nodiscard]] const Diagnostic& diagnostic() const noexcept { return diagnostic_; }

  private:
    enum class Code : std::uint8_t { none, syntax, limit };

    void blanks() noexcept;
    [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept
    {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    [[nodiscard]] bool followed_by(char c) const noexcept { return peek(1) == c; }
    [[nodiscard]] std::string_view kept(std::string_view text);
    [[nodiscard]] std::size_t pass_digits(std::size_t at) const noexcept;
    [[nodiscard]] TokenKind keyword(std::string_view word) const noexcept;
    [[nodiscard]] Token word();
    [[nodiscard]] Token number();
    [[nodiscard]] Token sign();
    [[nodiscard]] Token unknown();

    const std::string_view text_;
    char* names_;
    const Language language_;
    std::size_t at_ = 0;
    Code code_ = Code::none;
    Diagnostic diagnostic_;
};

} // namespace kairos::constraints
