// SPDX-License-Identifier: Apache-2.0
//
// Tokens of preprocessed IDL text, with their places in the user's files. Stands between the
// preprocessor and the parser. CORBA 3.3 part 1, 7.2.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/preprocess.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kairos::idlc {

enum class Keyword : std::uint8_t {
    none,
    abstract_,
    any_,
    attribute_,
    boolean_,
    case_,
    char_,
    const_,
    context_,
    custom_,
    default_,
    double_,
    enum_,
    exception_,
    factory_,
    false_,
    fixed_,
    float_,
    getraises_,
    import_,
    in_,
    inout_,
    interface_,
    local_,
    long_,
    module_,
    native_,
    object_,
    octet_,
    oneway_,
    out_,
    private_,
    public_,
    raises_,
    readonly_,
    sequence_,
    setraises_,
    short_,
    string_,
    struct_,
    supports_,
    switch_,
    true_,
    truncatable_,
    typedef_,
    typeid_,
    typeprefix_,
    union_,
    unsigned_,
    value_base_,
    valuetype_,
    void_,
    wchar_,
    wstring_,
    component_model, ///< any word of the component model: reserved, not supported
};

enum class TokenKind : std::uint8_t {
    end,
    identifier,
    keyword,
    integer,
    floating,
    fixed,
    character,
    wide_character,
    string,
    wide_string,
    punctuator, ///< one character, or `::`, `<<`, `>>`
    pragma,     ///< `text` is what follows the word pragma
};

struct Token {
    TokenKind kind = TokenKind::end;
    Keyword keyword = Keyword::none;
    /// As in the source; of an identifier without the escaping underscore, of a character or
    /// string literal without its quotes. Borrows from the preprocessed text.
    std::string_view text;
    Location location{};

    [[nodiscard]] bool is(std::string_view punctuator) const noexcept
    {
        return kind == TokenKind::punctuator && text == punctuator;
    }
    [[nodiscard]] bool is(Keyword which) const noexcept
    {
        return kind == TokenKind::keyword && keyword == which;
    }
};

/// How a token is named in "expected …, found …".
[[nodiscard]] std::string describe(const Token& token);
/// The exact spelling of a keyword's enumerator is in the token; this is for messages without one.
[[nodiscard]] std::string_view spelling(Keyword keyword) noexcept;
/// The identifier in lower case: IDL identifiers that differ in case only collide.
[[nodiscard]] std::string folded(std::string_view identifier);

/// Finds where a token of the preprocessed text stands in the source file: the preprocessor joins
/// lines at comments and continuations and expands macros, so its own lines and columns are hints.
class Locator {
  public:
    Locator(const std::vector<SourceFile>& files, SourceTexts& texts) : files_(files), texts_(texts)
    {
    }
    /// `column` starts at 1 in the preprocessed line of this origin.
    [[nodiscard]] Location locate(LineOrigin origin, std::size_t column, std::string_view text);

  private:
    const SourceText* source(std::uint32_t file);

    const std::vector<SourceFile>& files_;
    SourceTexts& texts_;
    std::uint32_t cached_file_ = ~std::uint32_t{0};
    const SourceText* cached_ = nullptr;
};

class Lexer {
  public:
    /// All are borrowed and must outlive the lexer.
    Lexer(const PreprocessedText& input, const std::vector<SourceFile>& files, SourceTexts& texts,
          Diagnostics& diagnostics);

    /// The next token; `end` again and again after the last.
    [[nodiscard]] Token next();

  private:
    void skip_blanks();
    Token make(TokenKind kind, std::size_t begin, std::size_t end);
    Token directive_or_end(); ///< a pragma; `end` for a directive that was refused
    Token word();
    void report_collision(const Token& token, std::string_view keyword, Keyword which);
    Token number();
    Token quoted(std::size_t begin, bool wide);
    [[nodiscard]] char at(std::size_t position) const noexcept
    {
        return position < text_.size() ? text_[position] : '\0';
    }

    const PreprocessedText& input_;
    std::string_view text_;
    Diagnostics& diagnostics_;
    Locator locator_;
    std::unordered_set<std::string_view> collisions_; ///< identifiers warned of
    std::size_t position_ = 0;
    std::size_t line_ = 0;       ///< index of input_.origins
    std::size_t line_start_ = 0; ///< offset
    bool line_blank_ = true;     ///< nothing but blanks so far on this line
};

} // namespace kairos::idlc
