// SPDX-License-Identifier: Apache-2.0
//
// The preprocessor's tokens and what cuts a file into them: lines are joined at backslashes,
// comments become blanks, and every token knows its line and column in the file. C's phases of
// translation 2 and 3, of the C that IDL is preprocessed as. Below macros.h and preprocess.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc::pp {

enum class Kind : std::uint8_t {
    end,
    newline,
    identifier,
    number,     ///< whatever C calls a preprocessing number
    quoted,     ///< a string or character literal, L included
    punctuator, ///< anything else; of several characters only where the preprocessor cares
    nothing,    ///< the argument of a macro that is empty, for `##`
};

struct Token {
    std::string_view text{}; ///< borrowed from the file's text or from Macros
    std::uint32_t line = 0;
    std::uint32_t column = 1;
    Kind kind = Kind::end;
    bool first = false;    ///< of its line
    bool blank = false;    ///< something to keep it apart from the token before it
    bool expanded = false; ///< out of a macro: its place is that of the macro's name
    bool painted = false;  ///< the name of a macro that is not to be expanded any more

    [[nodiscard]] bool is(std::string_view punctuator) const noexcept
    {
        return kind == Kind::punctuator && text == punctuator;
    }
};

[[nodiscard]] bool is_letter(char c) noexcept;
[[nodiscard]] bool is_digit(char c) noexcept;
[[nodiscard]] bool is_word(char c) noexcept;

/// A text without the ends of lines that a backslash takes away.
struct Spliced {
    explicit Spliced(std::string_view source);
    std::string own{};                ///< empty where nothing was to be joined
    std::string_view text{};          ///< `own` or the source, which is borrowed
    std::vector<std::size_t> joins{}; ///< offsets in the text where a line of the file begins
    Spliced(const Spliced&) = delete;
    Spliced& operator=(const Spliced&) = delete;
};

class Scanner {
  public:
    /// The text is borrowed.
    explicit Scanner(const Spliced& spliced);

    /// The next token; at the end `end` again and again, after the newline that every file ends in.
    [[nodiscard]] Token next();
    /// Goes to the newline token of this line, which next() gives then.
    void skip_line();
    /// Behind `include`: a name in quotes or angles as it stands there, quotes included; an empty
    /// text where the next token is neither.
    [[nodiscard]] Token header_name();

    /// Where a comment began that never ended; line 0 if none did.
    [[nodiscard]] const Token& open_comment() const noexcept { return open_comment_; }
    /// Takes the place of a `//` that a backslash continued since the last call; line 0 if none.
    [[nodiscard]] Token take_continued_comment() noexcept;

  private:
    [[nodiscard]] char at(std::size_t position) const noexcept
    {
        return position < text_.size() ? text_[position] : '\0';
    }
    bool skip_blanks();
    void pass_joins() noexcept; ///< keeps line_ and line_start_ those of position_
    void skip_block_comment();
    void skip_line_comment();
    [[nodiscard]] std::size_t end_of_number(std::size_t position) const noexcept;
    [[nodiscard]] std::size_t end_of_quoted(std::size_t position) const noexcept;
    Token token(Kind kind, std::size_t end);

    std::string_view text_;
    const std::vector<std::size_t>& joins_;
    std::size_t next_join_ = 0;
    std::size_t position_ = 0;
    std::size_t line_start_ = 0;
    std::uint32_t line_ = 1;
    bool first_ = true;
    bool blank_ = false;
    bool ended_ = false; ///< the last newline has been given
    Token open_comment_{};
    Token continued_comment_{};
};

} // namespace kairos::idlc::pp
