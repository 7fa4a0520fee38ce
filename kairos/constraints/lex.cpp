// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/lex.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace kairos::constraints {
namespace {

// Of ASCII, whatever the locale is.
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_word(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

} // namespace

void Lexer::fail(std::size_t offset, std::size_t length, std::string message)
{
    if (has_failed()) return;
    code_ = Code::syntax;
    const std::string_view before = text_.substr(0, offset);
    const std::size_t line_begin = before.rfind('\n') + 1; // 0 where there is none
    diagnostic_.offset = offset;
    diagnostic_.length = length;
    diagnostic_.line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    diagnostic_.column = 1 + offset - line_begin;
    diagnostic_.message = std::move(message);
}

void Lexer::exceed(std::size_t offset, std::size_t length, std::string message)
{
    if (has_failed()) return;
    fail(offset, length, std::move(message));
    code_ = Code::limit;
}

void Lexer::blanks() noexcept
{
    while (at_ < text_.size() && is_blank(text_[at_]))
        ++at_;
}

std::size_t Lexer::next_offset()
{
    blanks();
    return at_;
}

std::string_view Lexer::kept(std::string_view text)
{
    char* const begin = names_;
    names_ = std::ranges::copy(text, begin).out;
    return {begin, text.size()};
}

bool Lexer::skip(char c)
{
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

std::string_view Lexer::name()
{
    blanks();
    std::size_t begin = at_;
    if (peek() == '\\') ++begin;
    std::size_t end = begin;
    // Escaped, a name may begin as the special ones do.
    if (end < text_.size() && (is_letter(text_[end]) || (begin != at_ && text_[end] == '_')))
        while (end < text_.size() && is_word(text_[end]))
            ++end;
    if (end == begin) return {};
    at_ = end;
    return kept(text_.substr(begin, end - begin));
}

std::string_view Lexer::special_name()
{
    blanks();
    if (peek() != '_') return {};
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_]))
        ++at_;
    return text_.substr(begin, at_ - begin);
}

bool Lexer::at_name() const noexcept { return is_letter(peek()) || peek() == '\\'; }

bool Lexer::at_digit()
{
    blanks();
    return is_digit(peek());
}

bool Lexer::at_quote()
{
    blanks();
    return peek() == '\'';
}

std::size_t Lexer::pass_digits(std::size_t at) const noexcept
{
    while (at < text_.size() && is_digit(text_[at]))
        ++at;
    return at;
}

bool Lexer::digits(std::uint32_t& number)
{
    blanks();
    const std::size_t end = pass_digits(at_);
    if (end == at_) {
        fail(at_, 1, "digits are needed here");
        return false;
    }
    const auto [last, error] = std::from_chars(text_.data() + at_, text_.data() + end, number);
    if (error != std::errc()) {
        fail(at_, end - at_, "this number is beyond 32 bits");
        return false;
    }
    at_ = end;
    return true;
}

bool Lexer::string(std::string_view& text)
{
    blanks();
    const std::size_t begin = at_++;
    char* const kept_at = names_;
    for (; at_ < text_.size() && text_[at_] != '\''; ++at_) {
        if (text_[at_] == '\\') {
            const char escaped = peek(1);
            if (escaped != '\'' && escaped != '\\') {
                fail(at_, 2, R"(a string has no escapes but \' and \\)");
                return false;
            }
            ++at_;
        } else if (text_[at_] == '\0') {
            fail(at_, 1, "a string holds no character with the code 0");
            return false;
        }
        *names_++ = text_[at_];
    }
    if (at_ == text_.size()) {
        fail(begin, 1, "this string does not end");
        return false;
    }
    ++at_;
    text = {kept_at, static_cast<std::size_t>(names_ - kept_at)};
    return true;
}

TokenKind Lexer::keyword(std::string_view word) const noexcept
{
    struct Keyword {
        std::string_view word;
        TokenKind kind;
    };
    static constexpr Keyword keywords[] = {
        {"and", TokenKind::and_},     {"or", TokenKind::or_},           {"not", TokenKind::not_},
        {"in", TokenKind::in},        {"exist", TokenKind::exist},      {"TRUE", TokenKind::true_},
        {"FALSE", TokenKind::false_}, {"default", TokenKind::default_},
    };
    const auto* const found = std::ranges::find(keywords, word, &Keyword::word);
    if (found == std::end(keywords)) return TokenKind::name;
    if (found->kind == TokenKind::default_ && language_ == Language::trader) return TokenKind::name;
    return found->kind;
}

Token Lexer::word()
{
    Token token{.kind = TokenKind::name, .offset = at_};
    const bool escaped = peek() == '\\';
    token.text = name();
    if (token.text.empty()) return unknown();
    if (!escaped) token.kind = keyword(token.text);
    token.length = at_ - token.offset;
    return token;
}

Token Lexer::number()
{
    Token token{.kind = TokenKind::integer, .offset = at_};
    std::size_t end = pass_digits(at_);
    if (end < text_.size() && text_[end] == '.') {
        token.kind = TokenKind::real;
        end = pass_digits(end + 1);
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
        std::size_t exponent = end + 1;
        if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-'))
            ++exponent;
        token.kind = TokenKind::real;
        end = pass_digits(exponent);
        if (end == exponent) {
            fail(token.offset, end - token.offset, "the exponent has no digits");
            return {.kind = TokenKind::failed};
        }
    }
    token.length = end - token.offset;
    if (end < text_.size() && is_word(text_[end])) {
        fail(token.offset, token.length + 1, "a number ends with a digit");
        return {.kind = TokenKind::failed};
    }
    const char* const first = text_.data() + token.offset;
    std::errc error{};
    if (token.kind == TokenKind::integer) {
        std::uint64_t value = 0;
        error = std::from_chars(first, first + token.length, value).ec;
        token.integer = value;
    } else {
        error = std::from_chars(first, first + token.length, token.real).ec;
    }
    if (error != std::errc()) {
        fail(token.offset, token.length,
             token.kind == TokenKind::integer ? "this number is beyond 64 bits"
                                              : "no double is as large or as small as this number");
        return {.kind = TokenKind::failed};
    }
    at_ = end;
    return token;
}

Token Lexer::sign()
{
    Token token{.offset = at_, .length = 1};
    const auto is = [&](TokenKind kind, std::size_t length) {
        token.kind = kind;
        token.length = length;
        at_ += length;
        return token;
    };
    switch (peek()) {
    case '(':
        return is(TokenKind::open, 1);
    case ')':
        return is(TokenKind::close, 1);
    case '+':
        return is(TokenKind::plus, 1);
    case '-':
        return is(TokenKind::minus, 1);
    case '*':
        return is(TokenKind::times, 1);
    case '/':
        return is(TokenKind::over, 1);
    case '~':
        return is(TokenKind::twiddle, 1);
    case '<':
        return followed_by('=') ? is(TokenKind::less_equal, 2) : is(TokenKind::less, 1);
    case '>':
        return followed_by('=') ? is(TokenKind::greater_equal, 2) : is(TokenKind::greater, 1);
    case '=':
        if (followed_by('=')) return is(TokenKind::equal, 2);
        break;
    case '!':
        if (followed_by('=')) return is(TokenKind::unequal, 2);
        break;
    case '$':
        if (language_ == Language::extended) return is(TokenKind::dollar, 1);
        break;
    default:
        break;
    }
    return unknown();
}

Token Lexer::unknown()
{
    const char c = peek();
    std::string message = "no constraint has this character";
    if (c == '=') message = "a comparison is written '=='";
    if (c == '!') message = "what is not equal is written '!=', a negation 'not'";
    if (c == '$') message = "the trader's language has no '$': a property is named as it is";
    if (c == '\\') message = "a name is needed behind '\\'";
    if (c == '"') message = "strings are written in single quotes";
    fail(at_, 1, std::move(message));
    return {.kind = TokenKind::failed};
}

Token Lexer::next()
{
    if (has_failed()) return {.kind = TokenKind::failed};
    blanks();
    if (at_ == text_.size()) return {.kind = TokenKind::end, .offset = at_};
    const char c = text_[at_];
    if (is_letter(c) || c == '\\') return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'') {
        Token token{.kind = TokenKind::text, .offset = at_};
        if (!string(token.text)) return {.kind = TokenKind::failed};
        token.length = at_ - token.offset;
        return token;
    }
    return sign();
}

} // namespace kairos::constraints
