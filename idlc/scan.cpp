// SPDX-License-Identifier: Apache-2.0
#include "idlc/scan.h"

#include <utility>

namespace kairos::idlc::pp {

// Locale-independent, as IDL's lexer is.
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) noexcept { return is_letter(c) || is_digit(c); }

Spliced::Spliced(std::string_view source) : text(source)
{
    const auto joint = [&](std::size_t from, std::size_t& length) {
        for (std::size_t at = source.find('\\', from); at != source.npos;
             at = source.find('\\', at + 1)) {
            const std::size_t end =
                at + 1 < source.size() && source[at + 1] == '\r' ? at + 2 : at + 1;
            if (end >= source.size() || source[end] != '\n') continue;
            length = end + 1 - at;
            return at;
        }
        return source.npos;
    };
    std::size_t length = 0;
    std::size_t begin = 0;
    for (std::size_t at = joint(0, length); at != source.npos; at = joint(begin, length)) {
        own.append(source, begin, at - begin);
        begin = at + length;
        joins.push_back(own.size());
    }
    if (joins.empty()) return;
    own.append(source, begin);
    text = own;
}

Scanner::Scanner(const Spliced& spliced) : text_(spliced.text), joins_(spliced.joins)
{
    if (!text_.empty() && text_.back() == '\x1A') text_.remove_suffix(1); // as CP/M ended files
    if (text_.starts_with("\xEF\xBB\xBF")) position_ = 3;
}

void Scanner::pass_joins() noexcept
{
    for (; next_join_ < joins_.size() && joins_[next_join_] <= position_; ++next_join_) {
        ++line_;
        line_start_ = joins_[next_join_];
    }
}

void Scanner::skip_block_comment()
{
    const Token begin{.line = line_,
                      .column = static_cast<std::uint32_t>(position_ - line_start_ + 1)};
    const std::size_t close = text_.find("*/", position_ + 2);
    const std::size_t end = close == text_.npos ? text_.size() : close + 2;
    if (close == text_.npos) open_comment_ = begin;
    for (std::size_t newline = text_.find('\n', position_); newline < end;
         newline = text_.find('\n', newline + 1)) {
        position_ = newline;
        pass_joins();
        ++line_;
        line_start_ = newline + 1;
    }
    position_ = end;
    pass_joins();
}

void Scanner::skip_line_comment()
{
    const Token begin{.line = line_,
                      .column = static_cast<std::uint32_t>(position_ - line_start_ + 1)};
    position_ = std::min(text_.find('\n', position_), text_.size());
    pass_joins();
    if (line_ != begin.line) continued_comment_ = begin;
}

Token Scanner::take_continued_comment() noexcept { return std::exchange(continued_comment_, {}); }

/// True if there was anything of the kind.
bool Scanner::skip_blanks()
{
    const std::size_t begin = position_;
    for (; position_ < text_.size();) {
        const char c = text_[position_];
        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            ++position_;
        } else if (c == '/' && at(position_ + 1) == '*') {
            pass_joins();
            skip_block_comment();
        } else if (c == '/' && at(position_ + 1) == '/') {
            pass_joins();
            skip_line_comment();
        } else {
            break;
        }
    }
    pass_joins();
    return position_ != begin;
}

std::size_t Scanner::end_of_number(std::size_t position) const noexcept
{
    while (is_word(at(position)) || at(position) == '.') {
        const char c = at(position++);
        const bool exponent = c == 'e' || c == 'E';
        if (exponent && (at(position) == '+' || at(position) == '-')) ++position;
    }
    return position;
}

/// The end of the literal whose quote is at `position`; that of the quote where none closes it.
std::size_t Scanner::end_of_quoted(std::size_t position) const noexcept
{
    const char quote = text_[position];
    for (std::size_t end = position + 1; end < text_.size() && text_[end] != '\n'; ++end) {
        if (text_[end] == quote) return end + 1;
        if (text_[end] == '\\' && at(end + 1) != '\n') ++end;
    }
    return position + 1;
}

Token Scanner::token(Kind kind, std::size_t end)
{
    Token token{.text = text_.substr(position_, end - position_),
                .line = line_,
                .column = static_cast<std::uint32_t>(position_ - line_start_ + 1),
                .kind = kind,
                .first = first_,
                .blank = blank_};
    position_ = end;
    first_ = kind == Kind::newline;
    if (kind == Kind::newline && end > 0 && text_[end - 1] == '\n') {
        pass_joins();
        ++line_;
        line_start_ = end;
    }
    return token;
}

Token Scanner::next()
{
    blank_ = skip_blanks();
    if (position_ >= text_.size()) {
        if (ended_ || first_) return token(Kind::end, position_);
        ended_ = true;
        Token newline = token(Kind::end, position_);
        newline.kind = Kind::newline;
        ++line_; // as if the line had ended
        line_start_ = position_;
        first_ = true;
        return newline;
    }
    const char c = text_[position_];
    if (c == '\n') return token(Kind::newline, position_ + 1);
    if (c == '"' || c == '\'') {
        const std::size_t end = end_of_quoted(position_);
        return token(end > position_ + 1 ? Kind::quoted : Kind::punctuator, end);
    }
    if (c == 'L' && (at(position_ + 1) == '"' || at(position_ + 1) == '\'')) {
        const std::size_t end = end_of_quoted(position_ + 1);
        if (end > position_ + 2) return token(Kind::quoted, end);
    }
    if (is_letter(c)) {
        std::size_t end = position_;
        while (is_word(at(end)))
            ++end;
        return token(Kind::identifier, end);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(position_ + 1))))
        return token(Kind::number, end_of_number(position_));
    for (const std::string_view several :
         {"...", "##", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
        if (text_.substr(position_).starts_with(several))
            return token(Kind::punctuator, position_ + several.size());
    return token(Kind::punctuator, position_ + 1);
}

void Scanner::skip_line()
{
    for (;;) {
        skip_blanks();
        const char c = at(position_);
        if (position_ >= text_.size() || c == '\n') return;
        const bool quote = c == '"' || c == '\'';
        position_ = quote ? end_of_quoted(position_) : position_ + 1;
        first_ = false;
    }
}

Token Scanner::header_name()
{
    blank_ = skip_blanks();
    const char open = at(position_);
    if (open != '"' && open != '<') return {};
    const std::size_t line_end = std::min(text_.find('\n', position_), text_.size());
    const std::size_t close = text_.find(open == '<' ? '>' : '"', position_ + 1);
    if (close >= line_end) return {};
    return token(Kind::quoted, close + 1);
}

} // namespace kairos::idlc::pp
