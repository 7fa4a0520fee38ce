// SPDX-License-Identifier: Apache-2.0
#include "idlc/condition.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace kairos::idlc::pp {
namespace {

/// An intmax_t or uintmax_t.
struct Number {
    std::uint64_t bits = 0;
    bool is_unsigned = false;

    [[nodiscard]] std::int64_t as_signed() const noexcept
    {
        return static_cast<std::int64_t>(bits);
    }
    [[nodiscard]] bool is_negative() const noexcept { return !is_unsigned && as_signed() < 0; }
};

Number truth(bool value) noexcept { return {.bits = value ? 1u : 0u}; }

struct Operator {
    std::string_view text;
    int level;
};
// Of two that begin alike the longer is one token, so the order does not matter.
constexpr Operator operators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10},
};

class Evaluator {
  public:
    Evaluator(const std::vector<Token>& tokens, const Token& directive, const TokenSource& source,
              Diagnostics& diagnostics)
        : tokens_(tokens), directive_(directive), source_(source), diagnostics_(diagnostics)
    {
    }

    std::optional<bool> run()
    {
        const Number number = conditional(true);
        if (!failed_ && at_ < tokens_.size())
            fail(tokens_[at_],
                 "'" + std::string(tokens_[at_].text) + "' is not expected in the condition");
        if (failed_) return std::nullopt;
        return number.bits != 0;
    }

  private:
    static constexpr int depth_max = 200;

    void fail(const Token& token, std::string message)
    {
        if (!failed_) diagnostics_.error(source_.locate(token), std::move(message));
        failed_ = true;
    }
    [[nodiscard]] const Token& here() const
    {
        return at_ < tokens_.size() ? tokens_[at_] : tokens_.empty() ? directive_ : tokens_.back();
    }
    bool accept(std::string_view text)
    {
        if (failed_ || at_ == tokens_.size() || !tokens_[at_].is(text)) return false;
        ++at_;
        return true;
    }

    // `live` is false where the value does not count: 1 || 1 / 0 is well.
    Number conditional(bool live)
    {
        if (++depth_ > depth_max) fail(here(), "the condition is nested too deeply");
        Number value = failed_ ? Number() : binary(1, live);
        if (accept("?")) {
            const bool first = value.bits != 0;
            const Number left = conditional(live && first);
            if (!accept(":")) fail(here(), "expected ':' in the condition");
            const Number right = conditional(live && !first);
            value = {.bits = first ? left.bits : right.bits,
                     .is_unsigned = left.is_unsigned || right.is_unsigned};
        }
        --depth_;
        return value;
    }

    Number binary(int level, bool live)
    {
        Number left = unary(live);
        for (;;) {
            const Operator* found = nullptr;
            for (const Operator& one : operators)
                if (!failed_ && at_ < tokens_.size() && tokens_[at_].is(one.text)) found = &one;
            if (found == nullptr || found->level < level) return left;
            const Token& token = tokens_[at_++];
            const bool decided =
                (found->text == "||" && left.bits != 0) || (found->text == "&&" && left.bits == 0);
            const Number right = binary(found->level + 1, live && !decided);
            left = apply(token, left, right, live);
        }
    }

    Number apply(const Token& token, Number left, Number right, bool live)
    {
        const std::string_view text = token.text;
        if (text == "||") return truth(left.bits != 0 || right.bits != 0);
        if (text == "&&") return truth(left.bits != 0 && right.bits != 0);
        if (text == "<<" || text == ">>") return shifted(left, right, text == "<<");
        const bool is_unsigned = left.is_unsigned || right.is_unsigned;
        const auto number = [&](std::uint64_t bits) {
            return Number{.bits = bits, .is_unsigned = is_unsigned};
        };
        if (text == "==") return truth(left.bits == right.bits);
        if (text == "!=") return truth(left.bits != right.bits);
        const bool less =
            is_unsigned ? left.bits < right.bits : left.as_signed() < right.as_signed();
        if (text == "<") return truth(less);
        if (text == ">=") return truth(!less);
        if (text == ">") return truth(!less && left.bits != right.bits);
        if (text == "<=") return truth(less || left.bits == right.bits);
        if (text == "|") return number(left.bits | right.bits);
        if (text == "^") return number(left.bits ^ right.bits);
        if (text == "&") return number(left.bits & right.bits);
        if (text == "+") return number(left.bits + right.bits);
        if (text == "-") return number(left.bits - right.bits);
        if (text == "*") return number(left.bits * right.bits);
        if (right.bits == 0) {
            if (live) fail(token, "division by zero in the condition");
            return number(0);
        }
        const bool quotient = text == "/";
        if (is_unsigned) return number(quotient ? left.bits / right.bits : left.bits % right.bits);
        if (right.as_signed() == -1) return number(quotient ? 0 - left.bits : 0); // may overflow
        const std::int64_t result =
            quotient ? left.as_signed() / right.as_signed() : left.as_signed() % right.as_signed();
        return number(static_cast<std::uint64_t>(result));
    }

    static Number shifted(Number value, Number by, bool left)
    {
        if (by.is_negative()) {
            left = !left;
            by.bits = 0 - by.bits;
        }
        const bool all = by.bits > 63;
        if (left)
            value.bits = all ? 0 : value.bits << by.bits;
        else if (value.is_unsigned)
            value.bits = all ? 0 : value.bits >> by.bits;
        else
            value.bits = static_cast<std::uint64_t>(value.as_signed() >> (all ? 63 : by.bits));
        return value;
    }

    Number unary(bool live)
    {
        std::string_view signs; // by a loop: there may be a million of them
        const std::size_t begin = at_;
        while (accept("-") || accept("+") || accept("!") || accept("~")) {
        }
        const std::size_t end = at_;
        Number value = primary(live);
        for (std::size_t i = end; i > begin; --i) {
            signs = tokens_[i - 1].text;
            if (signs == "-") value.bits = 0 - value.bits;
            if (signs == "~") value.bits = ~value.bits;
            if (signs == "!") value = truth(value.bits == 0);
        }
        return value;
    }

    Number primary(bool live)
    {
        if (accept("(")) {
            const Number value = conditional(live);
            if (!failed_ && !accept(")")) fail(here(), "expected ')' in the condition");
            return value;
        }
        if (failed_) return {};
        if (at_ == tokens_.size()) {
            fail(here(), tokens_.empty() ? "expected a condition" : "the condition breaks off");
            return {};
        }
        const Token& token = tokens_[at_++];
        if (token.kind == Kind::identifier) return {}; // no macro: 0
        if (token.kind == Kind::number) return number(token);
        if (token.kind == Kind::quoted && token.text.front() != '"' && token.text.back() == '\'')
            return character(token);
        fail(token,
             "'" + std::string(token.text.substr(0, 64)) + "' is not expected in the condition");
        return {};
    }

    Number number(const Token& token)
    {
        std::string_view digits = token.text;
        Number value;
        while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != digits.npos) {
            if (digits.back() == 'u' || digits.back() == 'U') value.is_unsigned = true;
            digits.remove_suffix(1);
        }
        int base = 10;
        if (digits.starts_with("0x") || digits.starts_with("0X")) {
            base = 16;
            digits.remove_prefix(2);
        } else if (digits.size() > 1 && digits.front() == '0') {
            base = 8;
        }
        const auto [end, failure] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value.bits, base);
        if (digits.empty() || failure != std::errc{} || end != digits.data() + digits.size())
            fail(token, "'" + std::string(token.text.substr(0, 64)) +
                            "' is not an integer of at most 64 bits");
        if (value.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            value.is_unsigned = true;
        return value;
    }

    Number character(const Token& token)
    {
        std::string_view text = token.text;
        text.remove_prefix(text.front() == 'L' ? 2 : 1);
        text.remove_suffix(1);
        if (text.size() == 1 && text[0] != '\\')
            return {.bits = static_cast<unsigned char>(text[0])};
        if (text.size() > 1 && text[0] == '\\') {
            const std::string_view rest = text.substr(1);
            const bool hexadecimal = rest[0] == 'x';
            const std::string_view digits = hexadecimal ? rest.substr(1) : rest;
            Number value;
            const auto [end, failure] = std::from_chars(
                digits.data(), digits.data() + digits.size(), value.bits, hexadecimal ? 16 : 8);
            if (failure == std::errc{} && end == digits.data() + digits.size()) return value;
            constexpr std::string_view letters = "abfnrtv\\'\"?";
            constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"?";
            if (const std::size_t at = letters.find(rest[0]);
                rest.size() == 1 && at != letters.npos)
                return {.bits = static_cast<unsigned char>(meanings[at])};
        }
        fail(token, "a character of the condition is malformed");
        return {};
    }

    const std::vector<Token>& tokens_;
    const Token& directive_;
    const TokenSource& source_;
    Diagnostics& diagnostics_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool failed_ = false;
};

} // namespace

std::optional<bool> evaluate(const std::vector<Token>& line, const Token& directive, Macros& macros,
                             const TokenSource& source, Diagnostics& diagnostics)
{
    std::vector<Token> asked;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i].kind != Kind::identifier || line[i].text != "defined") {
            asked.push_back(line[i]);
            continue;
        }
        const bool parenthesis = i + 1 < line.size() && line[i + 1].is("(");
        const std::size_t name = i + (parenthesis ? 2 : 1);
        const std::size_t last = name + (parenthesis ? 1 : 0);
        if (last >= line.size() || line[name].kind != Kind::identifier ||
            (parenthesis && !line[last].is(")"))) {
            diagnostics.error(source.locate(line[i]), "expected a name after 'defined'");
            return std::nullopt;
        }
        Token answer = line[i];
        answer.kind = Kind::number;
        answer.text = macros.is_defined(line[name].text) ? "1" : "0";
        asked.push_back(answer);
        i = last;
    }
    const std::vector<Token> expanded = macros.expand_line(asked, source);
    return Evaluator(expanded, directive, source, diagnostics).run();
}

} // namespace kairos::idlc::pp
