// SPDX-License-Identifier: Apache-2.0
//
// The lexer proper and the search for a token's place in the source.
#include "idlc/lex.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kairos::idlc {
namespace {

// Locale-independent: IDL's letters are those of the C locale here, and any byte above 0x7F is
// not part of an identifier.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_word(char c) noexcept { return is_letter(c) || is_digit(c); }
constexpr char lower(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct KeywordEntry {
    std::string_view spelling;
    Keyword keyword;
};

constexpr std::array keywords{
    KeywordEntry{"abstract", Keyword::abstract_},
    KeywordEntry{"any", Keyword::any_},
    KeywordEntry{"attribute", Keyword::attribute_},
    KeywordEntry{"boolean", Keyword::boolean_},
    KeywordEntry{"case", Keyword::case_},
    KeywordEntry{"char", Keyword::char_},
    KeywordEntry{"component", Keyword::component_model},
    KeywordEntry{"const", Keyword::const_},
    KeywordEntry{"consumes", Keyword::component_model},
    KeywordEntry{"context", Keyword::context_},
    KeywordEntry{"custom", Keyword::custom_},
    KeywordEntry{"default", Keyword::default_},
    KeywordEntry{"double", Keyword::double_},
    KeywordEntry{"emits", Keyword::component_model},
    KeywordEntry{"enum", Keyword::enum_},
    KeywordEntry{"eventtype", Keyword::component_model},
    KeywordEntry{"exception", Keyword::exception_},
    KeywordEntry{"factory", Keyword::factory_},
    KeywordEntry{"FALSE", Keyword::false_},
    KeywordEntry{"finder", Keyword::component_model},
    KeywordEntry{"fixed", Keyword::fixed_},
    KeywordEntry{"float", Keyword::float_},
    KeywordEntry{"getraises", Keyword::getraises_},
    KeywordEntry{"home", Keyword::component_model},
    KeywordEntry{"import", Keyword::import_},
    KeywordEntry{"in", Keyword::in_},
    KeywordEntry{"inout", Keyword::inout_},
    KeywordEntry{"interface", Keyword::interface_},
    KeywordEntry{"local", Keyword::local_},
    KeywordEntry{"long", Keyword::long_},
    KeywordEntry{"module", Keyword::module_},
    KeywordEntry{"multiple", Keyword::component_model},
    KeywordEntry{"native", Keyword::native_},
    KeywordEntry{"Object", Keyword::object_},
    KeywordEntry{"octet", Keyword::octet_},
    KeywordEntry{"oneway", Keyword::oneway_},
    KeywordEntry{"out", Keyword::out_},
    KeywordEntry{"primarykey", Keyword::component_model},
    KeywordEntry{"private", Keyword::private_},
    KeywordEntry{"provides", Keyword::component_model},
    KeywordEntry{"public", Keyword::public_},
    KeywordEntry{"publishes", Keyword::component_model},
    KeywordEntry{"raises", Keyword::raises_},
    KeywordEntry{"readonly", Keyword::readonly_},
    KeywordEntry{"sequence", Keyword::sequence_},
    KeywordEntry{"setraises", Keyword::setraises_},
    KeywordEntry{"short", Keyword::short_},
    KeywordEntry{"string", Keyword::string_},
    KeywordEntry{"struct", Keyword::struct_},
    KeywordEntry{"supports", Keyword::supports_},
    KeywordEntry{"switch", Keyword::switch_},
    KeywordEntry{"TRUE", Keyword::true_},
    KeywordEntry{"truncatable", Keyword::truncatable_},
    KeywordEntry{"typedef", Keyword::typedef_},
    KeywordEntry{"typeid", Keyword::typeid_},
    KeywordEntry{"typeprefix", Keyword::typeprefix_},
    KeywordEntry{"union", Keyword::union_},
    KeywordEntry{"unsigned", Keyword::unsigned_},
    KeywordEntry{"uses", Keyword::component_model},
    KeywordEntry{"ValueBase", Keyword::value_base_},
    KeywordEntry{"valuetype", Keyword::valuetype_},
    KeywordEntry{"void", Keyword::void_},
    KeywordEntry{"wchar", Keyword::wchar_},
    KeywordEntry{"wstring", Keyword::wstring_},
};

constexpr bool less_ignoring_case(std::string_view left, std::string_view right) noexcept
{
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                        [](char a, char b) { return lower(a) < lower(b); });
}

static_assert(std::is_sorted(keywords.begin(), keywords.end(),
                             [](const KeywordEntry& a, const KeywordEntry& b) {
                                 return less_ignoring_case(a.spelling, b.spelling);
                             }));

/// Where in the table the keywords of each letter begin, and behind 'z' its end.
constexpr std::array<std::uint8_t, 27> keywords_of_letter = [] {
    std::array<std::uint8_t, 27> first{};
    for (const KeywordEntry& entry : keywords)
        for (std::size_t next = static_cast<std::size_t>(lower(entry.spelling[0]) - 'a') + 1;
             next < first.size(); ++next)
            ++first[next];
    return first;
}();

/// The keyword that the word is or collides with, null if none. Every word is asked about: of the
/// table only what begins with its letter is compared.
const KeywordEntry* find_keyword(std::string_view word) noexcept
{
    const auto letter = static_cast<std::size_t>(lower(word.front()) - 'a');
    if (letter >= keywords_of_letter.size() - 1) return nullptr;
    const auto* const begin = keywords.begin() + keywords_of_letter[letter];
    const auto* const end = keywords.begin() + keywords_of_letter[letter + 1];
    const auto* const found = std::find_if(begin, end, [word](const KeywordEntry& entry) {
        return entry.spelling.size() == word.size() &&
               std::equal(word.begin(), word.end(), entry.spelling.begin(),
                          [](char a, char b) { return lower(a) == lower(b); });
    });
    return found == end ? nullptr : found;
}

/// Keywords that came with CORBA 2.3 (values) or 3.0 (components and more).
bool newer_than_corba_2(Keyword keyword) noexcept
{
    switch (keyword) {
    case Keyword::abstract_:
    case Keyword::component_model:
    case Keyword::custom_:
    case Keyword::factory_:
    case Keyword::getraises_:
    case Keyword::import_:
    case Keyword::local_:
    case Keyword::native_:
    case Keyword::private_:
    case Keyword::public_:
    case Keyword::setraises_:
    case Keyword::supports_:
    case Keyword::truncatable_:
    case Keyword::typeid_:
    case Keyword::typeprefix_:
    case Keyword::value_base_:
    case Keyword::valuetype_:
        return true;
    default:
        return false;
    }
}

bool stands_at(std::string_view line, std::size_t offset, std::string_view text) noexcept
{
    return offset <= line.size() && line.substr(offset, text.size()) == text;
}

std::size_t find_whole(std::string_view line, std::string_view text) noexcept
{
    for (std::size_t at = line.find(text); at != std::string_view::npos;
         at = line.find(text, at + 1)) {
        const bool word = !text.empty() && is_word(text.front());
        const bool begins = at == 0 || !is_word(line[at - 1]);
        const std::size_t end = at + text.size();
        const bool ends = end >= line.size() || !is_word(line[end]);
        if (!word || (begins && ends)) return at;
    }
    return std::string_view::npos;
}

Location place(std::uint32_t file, std::size_t line, std::size_t offset, std::size_t length)
{
    return {.file = file,
            .line = static_cast<std::uint32_t>(line),
            .column = static_cast<std::uint32_t>(offset + 1),
            .length = static_cast<std::uint32_t>(std::max<std::size_t>(length, 1))};
}

} // namespace

std::string folded(std::string_view identifier)
{
    std::string out(identifier);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

std::string_view spelling(Keyword keyword) noexcept
{
    for (const KeywordEntry& entry : keywords)
        if (entry.keyword == keyword) return entry.spelling;
    return "";
}

std::string describe(const Token& token)
{
    switch (token.kind) {
    case TokenKind::end:
        return "the end of the file";
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::fixed:
        return "number '" + std::string(token.text.substr(0, 64)) + "'";
    case TokenKind::character:
    case TokenKind::wide_character:
        return "a character literal";
    case TokenKind::string:
    case TokenKind::wide_string:
        return "a string literal";
    case TokenKind::pragma:
        return "#pragma";
    case TokenKind::keyword:
    case TokenKind::identifier:
    case TokenKind::punctuator:
        break;
    }
    return "'" + std::string(token.text.substr(0, 64)) + "'";
}

// --- Locator -----------------------------------------------------------------------------------

const SourceText* Locator::source(std::uint32_t file)
{
    if (file != cached_file_) {
        cached_file_ = file;
        cached_ = file < files_.size() ? texts_.find(files_[file].path) : nullptr;
    }
    return cached_;
}

Location Locator::locate(LineOrigin origin, std::size_t column, std::string_view text)
{
    const SourceText* lines = source(origin.file);
    const std::size_t hint = column - 1;
    const Location claimed = place(origin.file, origin.line, hint, text.size());
    if (lines == nullptr || stands_at(lines->line(origin.line), hint, text)) return claimed;

    // The preprocessor replaced the line ends within comments and after backslashes by nothing and
    // named the last line: look at the column in the lines before, joined.
    constexpr std::size_t joined_max = 40;
    const std::size_t joinable = std::min<std::size_t>(joined_max, origin.line - 1u);
    for (std::size_t count = 1; origin.line > 0 && count <= joinable; ++count) {
        std::size_t offset = hint;
        for (std::size_t number = origin.line - count; number <= origin.line; ++number) {
            std::string_view line = lines->line(number);
            if (line.ends_with('\\')) line.remove_suffix(1);
            if (offset >= line.size()) {
                offset -= line.size();
                continue;
            }
            if (stands_at(line, offset, text))
                return place(origin.file, number, offset, text.size());
            break;
        }
    }
    // From a macro: the word itself if it stands near, else the line.
    for (std::size_t back = 0; back < 8 && back < origin.line; ++back)
        if (const auto at = find_whole(lines->line(origin.line - back), text);
            at != std::string_view::npos)
            return place(origin.file, origin.line - back, at, text.size());
    const std::size_t first = lines->line(origin.line).find_first_not_of(" \t");
    return place(origin.file, origin.line, first == std::string_view::npos ? 0 : first, 1);
}

// --- Lexer -------------------------------------------------------------------------------------

Lexer::Lexer(const PreprocessedText& input, const std::vector<SourceFile>& files,
             SourceTexts& texts, Diagnostics& diagnostics)
    : input_(input), text_(input.text), diagnostics_(diagnostics), locator_(files, texts)
{
}

Token Lexer::make(TokenKind kind, std::size_t begin, std::size_t end)
{
    Token token;
    token.kind = kind;
    token.text = text_.substr(begin, end - begin);
    const LineOrigin origin =
        line_ < input_.origins.size() ? input_.origins[line_] : LineOrigin{.file = 0, .line = 1};
    token.location = locator_.locate(origin, begin - line_start_ + 1, token.text);
    position_ = end;
    line_blank_ = false;
    return token;
}

void Lexer::skip_blanks()
{
    while (position_ < text_.size()) {
        const char c = text_[position_];
        if (c == '\n') {
            ++position_;
            ++line_;
            line_start_ = position_;
            line_blank_ = true;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            ++position_;
        } else if (position_ == line_start_ && text_.substr(position_, 3) == "\xEF\xBB\xBF") {
            position_ += 3; // a byte order mark, perhaps of an included file
        } else if (c == '/' && at(position_ + 1) == '/') {
            // Comments are the preprocessor's business; text without one is read as well.
            position_ = std::min(text_.find('\n', position_), text_.size());
        } else if (c == '/' && at(position_ + 1) == '*') {
            const std::size_t close = text_.find("*/", position_ + 2);
            if (close == std::string_view::npos) {
                diagnostics_.error(make(TokenKind::end, position_, position_ + 2).location,
                                   "unterminated comment");
                position_ = text_.size();
                return;
            }
            for (; position_ < close + 2; ++position_)
                if (text_[position_] == '\n') {
                    ++line_;
                    line_start_ = position_ + 1;
                    line_blank_ = true;
                }
        } else {
            return;
        }
    }
}

Token Lexer::directive_or_end()
{
    const std::size_t begin = position_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    std::size_t word_begin = begin + 1;
    while (word_begin < end && (text_[word_begin] == ' ' || text_[word_begin] == '\t'))
        ++word_begin;
    std::size_t word_end = word_begin;
    while (word_end < end && is_word(text_[word_end]))
        ++word_end;
    const std::string_view name = text_.substr(word_begin, word_end - word_begin);
    Token token = make(TokenKind::pragma, begin, word_end);
    position_ = end;
    if (name == "pragma") {
        token.text = text_.substr(word_end, end - word_end);
        return token;
    }
    diagnostics_.error(token.location, "unknown directive '#" + std::string(name) + "'");
    token.kind = TokenKind::end;
    return token;
}

void Lexer::report_collision(const Token& token, std::string_view keyword, Keyword which)
{
    const std::string message = "identifier '" + std::string(token.text) +
                                "' collides with the keyword '" + std::string(keyword) + "'";
    if (!newer_than_corba_2(which)) return diagnostics_.error(token.location, message);
    // The OMG's own services of the time before these keywords use such names, so they pass; the
    // author of a main file is told, once.
    if (token.location.file == 0 && collisions_.emplace(token.text).second)
        diagnostics_.warning(token.location, message);
}

Token Lexer::word()
{
    const std::size_t begin = position_;
    std::size_t end = begin;
    while (is_word(at(end)))
        ++end;
    Token token = make(TokenKind::identifier, begin, end);
    if (token.text.front() == '_') {
        // CORBA 3.3 part 1, 7.2.3.1: the underscore turns off keyword checking and is no part of
        // the name.
        token.text.remove_prefix(1);
        if (token.text.empty() || !is_letter(token.text.front()) || token.text.front() == '_') {
            diagnostics_.error(token.location, "an identifier starts with a letter");
            token.text = token.text.empty() ? std::string_view("x") : token.text;
        }
        return token;
    }
    if (const KeywordEntry* keyword = find_keyword(token.text)) {
        if (keyword->spelling == token.text) {
            token.kind = TokenKind::keyword;
            token.keyword = keyword->keyword;
        } else {
            report_collision(token, keyword->spelling, keyword->keyword);
        }
    }
    return token;
}

Token Lexer::number()
{
    const std::size_t begin = position_;
    std::size_t end = begin;
    TokenKind kind = TokenKind::integer;
    if (at(end) == '0' && lower(at(end + 1)) == 'x') {
        end += 2;
        while (is_word(at(end)))
            ++end;
        return make(kind, begin, end);
    }
    while (is_digit(at(end)))
        ++end;
    if (at(end) == '.') {
        kind = TokenKind::floating;
        ++end;
        while (is_digit(at(end)))
            ++end;
    }
    if (lower(at(end)) == 'e') {
        kind = TokenKind::floating;
        ++end;
        if (at(end) == '+' || at(end) == '-') ++end;
        while (is_digit(at(end)))
            ++end;
    } else if (lower(at(end)) == 'd') {
        kind = TokenKind::fixed;
        ++end;
    }
    // Trailing letters belong to the malformed number; whoever evaluates it says so.
    while (is_word(at(end)))
        ++end;
    return make(kind, begin, end);
}

Token Lexer::quoted(std::size_t begin, bool wide)
{
    const std::size_t open = begin + (wide ? 1 : 0);
    const char quote = text_[open];
    std::size_t end = open + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
        end += text_[end] == '\\' && at(end + 1) != '\n' ? 2 : 1;
    end = std::min(end, text_.size());
    const bool closed = at(end) == quote;
    const TokenKind kind = quote == '"' ? (wide ? TokenKind::wide_string : TokenKind::string)
                                        : (wide ? TokenKind::wide_character : TokenKind::character);
    Token token = make(kind, begin, closed ? end + 1 : end);
    if (!closed)
        diagnostics_.error(token.location, quote == '"' ? "unterminated string literal"
                                                        : "unterminated character literal");
    token.text = text_.substr(open + 1, end - open - 1);
    return token;
}

Token Lexer::next()
{
    for (;;) {
        skip_blanks();
        const std::size_t begin = position_;
        if (begin >= text_.size()) {
            line_ = std::min(line_, input_.origins.empty() ? 0 : input_.origins.size() - 1);
            line_start_ = std::min(line_start_, begin);
            return make(TokenKind::end, begin, begin);
        }
        const char c = text_[begin];
        if (c == '#' && line_blank_) {
            // Not by recursion in directive(): a file may have a million unknown directives.
            Token token = directive_or_end();
            if (token.kind == TokenKind::pragma) return token;
            continue;
        }
        if ((c == 'L') && (at(begin + 1) == '\'' || at(begin + 1) == '"'))
            return quoted(begin, true);
        if (is_letter(c)) return word();
        if (is_digit(c) || (c == '.' && is_digit(at(begin + 1)))) return number();
        if (c == '"' || c == '\'') return quoted(begin, false);
        if ((c == ':' || c == '<' || c == '>') && at(begin + 1) == c)
            return make(TokenKind::punctuator, begin, begin + 2);
        if (std::string_view("{}()[]<>;:,=+-*/%&|^~@").find(c) != std::string_view::npos)
            return make(TokenKind::punctuator, begin, begin + 1);
        // One message for a run of such bytes.
        std::size_t end = begin + 1;
        while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80)
            ++end;
        const Token bad = make(TokenKind::punctuator, begin, end);
        const auto code = static_cast<unsigned char>(c);
        diagnostics_.error(bad.location, code >= 0x20 && code < 0x7F
                                             ? "unexpected character '" + std::string(1, c) + "'"
                                             : "unexpected character outside ASCII");
    }
}

} // namespace kairos::idlc
