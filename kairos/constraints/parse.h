// SPDX-License-Identifier: Apache-2.0
//
// From text to a program, by recursive descent: one function a level of precedence, each of which
// leaves the instructions of what it has read. Types that are known from the text alone are checked
// here. Private to this module. One thread, for one text.
#pragma once

#include "kairos/base/stack.h"
#include "kairos/constraints/lex.h"
#include "kairos/constraints/program.h"

#include <optional>

namespace kairos::constraints {

class Parser {
  public:
    Parser(std::string_view text, Language language, const Limits& limits);

    // One of them is to be called, once.
    void constraint();
    void preference(Preference::Kind& kind);

    /// The program, or null where there was an error.
    [[nodiscard]] std::shared_ptr<const Program> take();
    [[nodiscard]] const Diagnostic& diagnostic() const noexcept { return lexer_.diagnostic(); }
    /// What is wrong, as an Error.
    [[nodiscard]] Error error() const;

  private:
    enum class Type : std::uint8_t { unknown, boolean, number, text, name };
    /// What is known of an expression that was read.
    struct Expression {
        Type type = Type::unknown;
        std::size_t begin = 0; ///< in the text
        std::size_t end = 0;
        std::optional<std::uint32_t> path{};     ///< if it is a component and nothing else
        std::optional<std::uint32_t> constant{}; ///< if it is a literal and nothing else
    };

    [[nodiscard]] Expression disjunction();
    [[nodiscard]] Expression conjunction();
    [[nodiscard]] Expression comparison();
    [[nodiscard]] Expression membership();
    [[nodiscard]] Expression containment();
    [[nodiscard]] Expression sum();
    [[nodiscard]] Expression product();
    [[nodiscard]] Expression negation();
    [[nodiscard]] Expression factor();
    [[nodiscard]] Expression within_parentheses();
    [[nodiscard]] Expression signed_factor();
    [[nodiscard]] Expression literal(const Operand& value, Type type);
    [[nodiscard]] Expression of_path(Op op, Type type);

    [[nodiscard]] Expression chain(Op op, TokenKind separator, Expression (Parser::*part)());
    [[nodiscard]] Expression arithmetic(Expression left, Op op, Expression (Parser::*part)());
    void note_need(Op op, const Expression& left, const Expression& right, std::size_t mark);

    /// Reads what a path begins with and its steps; its index.
    [[nodiscard]] std::uint32_t path();
    void steps(Path& path);
    /// Reads a step behind '.'. False: no other may follow.
    [[nodiscard]] bool step(Path& path, std::size_t begin);
    void label(Path& path);
    void expect(char c, std::string_view what);

    void advance();
    void refuse(const Expression& expression, std::string message);
    void need_boolean(const Expression& expression, std::string_view where);
    void need_number(const Expression& expression, std::string_view where);
    void need_text(const Expression& expression);
    void need_comparable(const Expression& left, const Expression& right);
    /// Behind the last instruction: checks at run time what is not known yet.
    void check(const Expression& expression, Type type);
    void whole(Type type);

    void emit(Op op, std::size_t operand, std::size_t offset);
    void patch(std::size_t instruction);

    const Limits limits_;
    const std::uintptr_t stack_end_ = stack_limit();
    const std::shared_ptr<Program> program_;
    const Language language_;
    Lexer lexer_;
    Token token_;
    std::size_t last_end_ = 0; // of the token before
    std::size_t depth_ = 0;
    std::size_t operands_ = 0; // on the stack when what is emitted was executed
};

} // namespace kairos::constraints
