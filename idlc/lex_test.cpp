// SPDX-License-Identifier: Apache-2.0
//
// Tokens, and their places where the preprocessor moved them.
#include "idlc/lex.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kairos::idlc {
namespace {

struct Lexed {
    std::vector<Token> tokens;
    std::vector<Diagnostic> diagnostics;
};

/// The texts of the tokens borrow from a text that lives as long as the test program.
Lexed lex(const std::string& text)
{
    static std::vector<std::unique_ptr<PreprocessedText>> kept;
    std::vector<SourceFile> files;
    SourceTexts texts;
    texts.give("t.idl", text);
    kept.push_back(
        std::make_unique<PreprocessedText>(interpret_markers(text, "t.idl", files, texts)));
    Diagnostics diagnostics(files, texts);
    Lexer lexer(*kept.back(), files, texts, diagnostics);
    Lexed out;
    for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next())
        out.tokens.push_back(token);
    out.diagnostics = diagnostics.list();
    return out;
}

TEST(Lexer, TellsKindsApart)
{
    const Lexed lexed =
        lex("module _module x1 12 0x1F 1.5 1e3 .5 2d 3.25D 'c' L'w' \"s\" L\"ws\" :: ");
    const std::vector<TokenKind> kinds{
        TokenKind::keyword,  TokenKind::identifier,  TokenKind::identifier,
        TokenKind::integer,  TokenKind::integer,     TokenKind::floating,
        TokenKind::floating, TokenKind::floating,    TokenKind::fixed,
        TokenKind::fixed,    TokenKind::character,   TokenKind::wide_character,
        TokenKind::string,   TokenKind::wide_string, TokenKind::punctuator};
    ASSERT_EQ(lexed.tokens.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i)
        EXPECT_EQ(lexed.tokens[i].kind, kinds[i]) << i;
    EXPECT_EQ(lexed.tokens[1].text, "module");
    EXPECT_EQ(lexed.tokens[13].text, "ws");
    EXPECT_TRUE(lexed.diagnostics.empty());
}

TEST(Lexer, KnowsLinesAndColumns)
{
    const Lexed lexed = lex("a\n\tbc  d\n\n>>>");
    ASSERT_EQ(lexed.tokens.size(), 5u);
    EXPECT_EQ(lexed.tokens[1].location, (Location{.file = 0, .line = 2, .column = 2, .length = 2}));
    EXPECT_EQ(lexed.tokens[2].location, (Location{.file = 0, .line = 2, .column = 6, .length = 1}));
    EXPECT_EQ(lexed.tokens[3].text, ">>");
    EXPECT_EQ(lexed.tokens[4].location.column, 3u);
}

TEST(Lexer, FollowsLineMarkers)
{
    const Lexed lexed =
        lex("#line 1 \"t.idl\"\nx\n#line 1 \"other.idl\"\ny\nz\n#line 7 \"t.idl\"\nw\n");
    ASSERT_EQ(lexed.tokens.size(), 4u);
    EXPECT_EQ(lexed.tokens[0].location.file, 0u);
    EXPECT_EQ(lexed.tokens[1].location.file, 1u);
    EXPECT_EQ(lexed.tokens[2].location.line, 2u);
    EXPECT_EQ(lexed.tokens[3].location.file, 0u);
    EXPECT_EQ(lexed.tokens[3].location.line, 7u);
}

TEST(Lexer, SkipsComments)
{
    const Lexed lexed = lex("a // b\n/* c\n d */ e /**/ f");
    ASSERT_EQ(lexed.tokens.size(), 3u);
    EXPECT_EQ(lexed.tokens[1].location.line, 3u);
    EXPECT_EQ(lexed.tokens[1].location.column, 7u);
}

TEST(Lexer, GivesPragmasWhole)
{
    const Lexed lexed = lex("  # pragma ID A \"x\"  \nb");
    ASSERT_EQ(lexed.tokens.size(), 2u);
    EXPECT_EQ(lexed.tokens[0].kind, TokenKind::pragma);
    EXPECT_EQ(lexed.tokens[0].text, " ID A \"x\"  ");
}

TEST(Lexer, ReportsWhatIsNoToken)
{
    for (const std::string text : {"\"open\n", "'x\n", "/* open", "`", "\x01", "#include <x>\n",
                                   "\xC3\xA9", "_1", "Module"}) {
        EXPECT_EQ(lex(text).diagnostics.size(), 1u) << text;
    }
    EXPECT_TRUE(lex(std::string(100'000, 'a')).diagnostics.empty());
}

TEST(Locator, FindsTokensOfJoinedLines)
{
    SourceTexts texts;
    texts.give("t.idl", "a /* x\n y */ b\nlong \\\n  c;\n  d\n");
    const std::vector<SourceFile> files{{.path = "t.idl", .include_spelling = {}}};
    Locator locator(files, texts);
    // What the preprocessor claims: the last line, and the column in the joined one.
    const Location b = locator.locate({.file = 0, .line = 2}, 13, "b");
    EXPECT_EQ(b.line, 2u);
    EXPECT_EQ(b.column, 7u);
    const Location a = locator.locate({.file = 0, .line = 2}, 1, "a");
    EXPECT_EQ(a.line, 1u);
    const Location c = locator.locate({.file = 0, .line = 4}, 8, "c");
    EXPECT_EQ(c.line, 4u);
    EXPECT_EQ(c.column, 3u);
    // Out of a macro: the line, at its first character.
    const Location unknown = locator.locate({.file = 0, .line = 5}, 30, "zz");
    EXPECT_EQ(unknown.line, 5u);
    EXPECT_EQ(unknown.column, 3u);
}

} // namespace
} // namespace kairos::idlc
