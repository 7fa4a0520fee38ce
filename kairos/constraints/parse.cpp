// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/parse.h"

#include <algorithm>
#include <limits>

namespace kairos::constraints {
namespace {

std::optional<Op> comparison_of(TokenKind kind) noexcept
{
    switch (kind) {
    case TokenKind::equal:
        return Op::equal;
    case TokenKind::unequal:
        return Op::unequal;
    case TokenKind::less:
        return Op::less;
    case TokenKind::less_equal:
        return Op::less_equal;
    case TokenKind::greater:
        return Op::greater;
    case TokenKind::greater_equal:
        return Op::greater_equal;
    default:
        return std::nullopt;
    }
}

/// What an index can look for.
std::optional<Relation> relation_of(Op op) noexcept
{
    switch (op) {
    case Op::equal:
        return Relation::equal;
    case Op::less:
        return Relation::less;
    case Op::less_equal:
        return Relation::less_equal;
    case Op::greater:
        return Relation::greater;
    case Op::greater_equal:
        return Relation::greater_equal;
    default:
        return std::nullopt;
    }
}

/// Of the right to the left.
Relation reversed(Relation relation) noexcept
{
    switch (relation) {
    case Relation::less:
        return Relation::greater;
    case Relation::less_equal:
        return Relation::greater_equal;
    case Relation::greater:
        return Relation::less;
    case Relation::greater_equal:
        return Relation::less_equal;
    default:
        return relation;
    }
}

/// How operators change the number of operands on the stack.
int growth_of(Op op) noexcept
{
    switch (op) {
    case Op::constant:
    case Op::load:
    case Op::exist:
    case Op::is_default:
        return 1;
    case Op::in:
    case Op::negate:
    case Op::number:
    case Op::not_:
    case Op::boolean:
        return 0;
    default:
        return -1; // and_ and or_ as well, when they do not jump
    }
}

std::shared_ptr<Program> begin_program(std::string_view text, const Limits& limits)
{
    auto program = std::make_shared<Program>();
    program->text = text.substr(0, limits.size_max);
    program->names.reset(new char[program->text.size() + 1]);
    return program;
}

} // namespace

Parser::Parser(std::string_view text, Language language, const Limits& limits)
    : limits_(limits), program_(begin_program(text, limits)), language_(language),
      lexer_(program_->text, program_->names.get(), language)
{
    if (text.size() > limits.size_max)
        lexer_.exceed(0, 1,
                      "the text is longer than " + std::to_string(limits.size_max) + " octets");
    advance();
}

std::shared_ptr<const Program> Parser::take()
{
    if (lexer_.has_failed()) return nullptr;
    program_->constants.shrink_to_fit();
    program_->paths.shrink_to_fit();
    program_->code.shrink_to_fit();
    return program_;
}

Error Parser::error() const
{
    const Diagnostic& why = diagnostic();
    return {lexer_.has_exceeded() ? ErrorCode::limit_exceeded : ErrorCode::invalid_argument,
            std::to_string(why.line) + ':' + std::to_string(why.column) + ": " + why.message};
}

void Parser::advance()
{
    last_end_ = token_.offset + token_.length;
    token_ = lexer_.next();
}

// --- What is asked of types ---------------------------------------------------------------------

void Parser::refuse(const Expression& expression, std::string message)
{
    lexer_.fail(expression.begin, std::max<std::size_t>(expression.end - expression.begin, 1),
                std::move(message));
    token_.kind = TokenKind::failed;
}

void Parser::need_boolean(const Expression& expression, std::string_view where)
{
    if (expression.type == Type::unknown || expression.type == Type::boolean) return;
    refuse(expression, std::string(where) + " TRUE or FALSE, which this is not");
}

void Parser::need_number(const Expression& expression, std::string_view where)
{
    if (expression.type != Type::text && expression.type != Type::name) return;
    refuse(expression, std::string(where) + " a number, which this is not");
}

void Parser::need_text(const Expression& expression)
{
    if (expression.type == Type::unknown || expression.type == Type::text) return;
    refuse(expression, "'~' needs strings, and this is none");
}

void Parser::need_comparable(const Expression& left, const Expression& right)
{
    if (left.type == Type::unknown || right.type == Type::unknown) return;
    if (left.type == right.type && left.type != Type::name) return;
    if (left.type == Type::name || right.type == Type::name)
        return refuse(right, "an enumerator can only be compared with a component");
    refuse({.begin = left.begin, .end = right.end},
           left.type == Type::boolean
               ? "what is TRUE or FALSE is compared with something else; 'not' and comparisons "
                 "need parentheses"
               : "values of different types are never equal");
}

void Parser::check(const Expression& expression, Type type)
{
    if (type == Type::boolean && expression.type != Type::boolean)
        emit(Op::boolean, 0, expression.begin);
    if (type == Type::number && expression.type != Type::number)
        emit(Op::number, 0, expression.begin);
}

void Parser::emit(Op op, std::size_t operand, std::size_t offset)
{
    program_->code.push_back(
        {op, static_cast<std::uint32_t>(operand), static_cast<std::uint32_t>(offset)});
    operands_ += static_cast<std::size_t>(growth_of(op));
    if (operands_ > Program::operands_max) {
        lexer_.exceed(offset, 1, "too many operators wait for their right operands");
        token_.kind = TokenKind::failed;
    }
}

/// Lets a jump end behind the last instruction.
void Parser::patch(std::size_t instruction)
{
    program_->code[instruction].operand = static_cast<std::uint32_t>(program_->code.size());
}

// --- Wholes -------------------------------------------------------------------------------------

void Parser::whole(Type type)
{
    const Expression expression = disjunction();
    if (type == Type::boolean) need_boolean(expression, "a constraint is");
    if (type == Type::number) need_number(expression, "offers are ordered by");
    if (token_.kind == TokenKind::close)
        lexer_.fail(token_.offset, 1, "no parenthesis is open here");
    if (token_.kind != TokenKind::end)
        lexer_.fail(token_.offset, token_.length, "an operator, or the end, is needed here");
    check(expression, type);
}

void Parser::constraint()
{
    if (token_.kind != TokenKind::end) whole(Type::boolean);
}

void Parser::preference(Preference::Kind& kind)
{
    struct Word {
        std::string_view word;
        Preference::Kind kind;
    };
    using enum Preference::Kind;
    static constexpr Word words[] = {
        {"first", first}, {"max", max}, {"min", min}, {"with", with}, {"random", random}};
    kind = first;
    if (token_.kind == TokenKind::end) return;
    const auto* const found = std::ranges::find(words, token_.text, &Word::word);
    if (token_.kind != TokenKind::name || found == std::end(words))
        return lexer_.fail(token_.offset, token_.length,
                           "a preference begins with max, min, with, random or first");
    kind = found->kind;
    advance();
    if (kind == max || kind == min) return whole(Type::number);
    if (kind == with) return whole(Type::boolean);
    if (token_.kind != TokenKind::end)
        lexer_.fail(token_.offset, token_.length, "nothing may follow this preference");
}

// --- Expressions, those that bind weakest first -------------------------------------------------

/// `and` and `or`: what is right of the operator is only evaluated where it matters.
Parser::Expression Parser::chain(Op op, TokenKind separator, Expression (Parser::*part)())
{
    const std::size_t mark = program_->needs.size();
    Expression left = (this->*part)();
    if (token_.kind != separator) return left;
    const std::string_view where = op == Op::and_ ? "'and' needs" : "'or' needs";
    const std::size_t begin = left.begin;
    std::size_t jump = 0;
    while (token_.kind == separator) {
        need_boolean(left, where);
        jump = program_->code.size();
        emit(op, 0, left.begin);
        advance();
        left = (this->*part)();
        if (token_.kind == separator) patch(jump); // to the next one, which jumps again
    }
    need_boolean(left, where);
    check(left, Type::boolean);
    patch(jump);
    if (op == Op::or_) program_->needs.resize(mark); // one of several conditions is enough
    return {.type = Type::boolean, .begin = begin, .end = last_end_};
}

Parser::Expression Parser::disjunction()
{
    return chain(Op::or_, TokenKind::or_, &Parser::conjunction);
}

Parser::Expression Parser::conjunction()
{
    return chain(Op::and_, TokenKind::and_, &Parser::comparison);
}

void Parser::note_need(Op op, const Expression& left, const Expression& right, std::size_t mark)
{
    program_->needs.resize(mark);
    const std::optional<Relation> relation = relation_of(op);
    if (!relation) return;
    if (left.path && right.constant)
        program_->needs.push_back({*left.path, *right.constant, *relation});
    if (right.path && left.constant)
        program_->needs.push_back({*right.path, *left.constant, reversed(*relation)});
}

Parser::Expression Parser::comparison()
{
    const std::size_t mark = program_->needs.size();
    const Expression left = membership();
    const std::optional<Op> op = comparison_of(token_.kind);
    if (!op) return left;
    const std::size_t offset = token_.offset;
    advance();
    const Expression right = membership();
    need_comparable(left, right);
    emit(*op, 0, offset);
    note_need(*op, left, right, mark);
    if (comparison_of(token_.kind)) {
        lexer_.fail(token_.offset, token_.length, "comparisons do not chain: join them by 'and'");
        token_.kind = TokenKind::failed;
    }
    return {.type = Type::boolean, .begin = left.begin, .end = last_end_};
}

Parser::Expression Parser::membership()
{
    const std::size_t mark = program_->needs.size();
    const Expression left = containment();
    if (token_.kind != TokenKind::in) return left;
    const std::size_t offset = token_.offset;
    advance();
    program_->needs.resize(mark);
    emit(Op::in, path(), offset);
    return {.type = Type::boolean, .begin = left.begin, .end = last_end_};
}

Parser::Expression Parser::containment()
{
    const std::size_t mark = program_->needs.size();
    const Expression left = sum();
    if (token_.kind != TokenKind::twiddle) return left;
    const std::size_t offset = token_.offset;
    advance();
    const Expression right = sum();
    need_text(left);
    need_text(right);
    program_->needs.resize(mark);
    emit(Op::contained, 0, offset);
    return {.type = Type::boolean, .begin = left.begin, .end = last_end_};
}

/// Goes on behind the operator, which is the present token.
Parser::Expression Parser::arithmetic(Expression left, Op op, Expression (Parser::*part)())
{
    const std::size_t offset = token_.offset;
    advance();
    const Expression right = (this->*part)();
    need_number(left, "arithmetic needs");
    need_number(right, "arithmetic needs");
    emit(op, 0, offset);
    return {.type = Type::number, .begin = left.begin, .end = last_end_};
}

Parser::Expression Parser::sum()
{
    const std::size_t mark = program_->needs.size();
    Expression left = product();
    while (token_.kind == TokenKind::plus || token_.kind == TokenKind::minus) {
        const Op op = token_.kind == TokenKind::plus ? Op::add : Op::subtract;
        left = arithmetic(left, op, &Parser::product);
        program_->needs.resize(mark);
    }
    return left;
}

Parser::Expression Parser::product()
{
    const std::size_t mark = program_->needs.size();
    Expression left = negation();
    while (token_.kind == TokenKind::times || token_.kind == TokenKind::over) {
        const Op op = token_.kind == TokenKind::times ? Op::multiply : Op::divide;
        left = arithmetic(left, op, &Parser::negation);
        program_->needs.resize(mark);
    }
    return left;
}

Parser::Expression Parser::negation()
{
    if (token_.kind != TokenKind::not_) return factor();
    const std::size_t mark = program_->needs.size();
    const std::size_t offset = token_.offset;
    advance();
    const Expression operand = factor();
    need_boolean(operand, "'not' needs");
    emit(Op::not_, 0, offset);
    program_->needs.resize(mark);
    return {.type = Type::boolean, .begin = offset, .end = last_end_};
}

Parser::Expression Parser::literal(const Operand& value, Type type)
{
    const Token token = token_;
    const std::size_t index = program_->constants.size();
    program_->constants.push_back(value);
    emit(Op::constant, index, token.offset);
    advance();
    return {.type = type,
            .begin = token.offset,
            .end = token.offset + token.length,
            .constant = static_cast<std::uint32_t>(index)};
}

/// `exist`, `default`, or nothing, and a path behind it.
Parser::Expression Parser::of_path(Op op, Type type)
{
    const std::size_t begin = token_.offset;
    if (op != Op::load) advance();
    const std::uint32_t index = path();
    emit(op, index, begin);
    Expression expression{.type = type, .begin = begin, .end = last_end_};
    if (op == Op::load) expression.path = index;
    return expression;
}

Parser::Expression Parser::factor()
{
    switch (token_.kind) {
    case TokenKind::open:
        return within_parentheses();
    case TokenKind::plus:
    case TokenKind::minus:
        return signed_factor();
    case TokenKind::true_:
    case TokenKind::false_:
        return literal(Operand::of(token_.kind == TokenKind::true_), Type::boolean);
    case TokenKind::integer:
        return literal(Operand::of(token_.integer), Type::number);
    case TokenKind::real:
        return literal(Operand::of(token_.real), Type::number);
    case TokenKind::text:
        return literal(Operand::of(token_.text), Type::text);
    case TokenKind::exist:
        return of_path(Op::exist, Type::boolean);
    case TokenKind::default_:
        return of_path(Op::is_default, Type::boolean);
    case TokenKind::dollar:
        return of_path(Op::load, Type::unknown);
    case TokenKind::name:
        if (language_ == Language::trader) return of_path(Op::load, Type::unknown);
        return literal(Operand::of(token_.text, Operand::Kind::name), Type::name);
    case TokenKind::end:
        lexer_.fail(token_.offset, 0, "something is missing at the end");
        break;
    default:
        lexer_.fail(token_.offset, token_.length, "a value is needed here");
    }
    token_.kind = TokenKind::failed;
    return {};
}

Parser::Expression Parser::within_parentheses()
{
    const std::size_t begin = token_.offset;
    if (++depth_ > limits_.depth_max || !is_above(stack_end_)) {
        lexer_.exceed(begin, 1, "parentheses are nested too deeply");
        token_.kind = TokenKind::failed;
        return {};
    }
    advance();
    Expression inner = disjunction();
    --depth_;
    if (token_.kind != TokenKind::close) {
        lexer_.fail(begin, 1, "this parenthesis is not closed");
        token_.kind = TokenKind::failed;
        return {};
    }
    advance();
    inner.begin = begin;
    inner.end = last_end_;
    return inner;
}

/// A sign makes one literal with the number behind it.
Parser::Expression Parser::signed_factor()
{
    const bool is_minus = token_.kind == TokenKind::minus;
    const std::size_t begin = token_.offset;
    advance();
    if (token_.kind == TokenKind::plus || token_.kind == TokenKind::minus) {
        lexer_.fail(token_.offset, 1, "one sign is enough");
        token_.kind = TokenKind::failed;
        return {};
    }
    const std::size_t mark = program_->needs.size();
    Expression operand = factor();
    need_number(operand, "a sign needs");
    if (operand.constant && operand.type == Type::number) {
        if (is_minus && negate(program_->constants[*operand.constant]) != Fault::none)
            lexer_.fail(begin, last_end_ - begin, "this number is beyond 64 bits");
    } else {
        emit(is_minus ? Op::negate : Op::number, 0, begin);
        operand.path.reset();
        operand.constant.reset();
        program_->needs.resize(mark);
    }
    operand.type = Type::number;
    operand.begin = begin;
    return operand;
}

} // namespace kairos::constraints
