// SPDX-License-Identifier: Apache-2.0
//
// Constants and constant expressions. CORBA 3.3 part 1, 7.11.
#include "idlc/parse.h"

#include <array>
#include <limits>

namespace kairos::idlc {
namespace {

/// Operators by how weakly they bind.
struct Level {
    std::array<std::string_view, 3> operators;
};
constexpr std::array<Level, 6> levels{{{{"|", "", ""}},
                                       {{"^", "", ""}},
                                       {{"&", "", ""}},
                                       {{"<<", ">>", ""}},
                                       {{"+", "-", ""}},
                                       {{"*", "/", "%"}}}};

bool may_be_constant(const Type& type)
{
    const Type& real = resolved(type);
    if (is_integer(real.kind) || is_floating(real.kind)) return true;
    switch (real.kind) {
    case TypeKind::boolean:
    case TypeKind::char_:
    case TypeKind::wchar:
    case TypeKind::string:
    case TypeKind::wstring:
    case TypeKind::fixed:
        return true;
    case TypeKind::declared:
        return as<Enum>(real.declaration) != nullptr;
    default:
        return false;
    }
}

} // namespace

void Parser::parse_constant(Annotations annotations)
{
    take();
    const Location type_location = peek().location;
    const Type* type = parse_type(TypeUse::constant);
    if (type != nullptr && !may_be_constant(*type)) {
        error(type_location, "a constant cannot be of type '" + to_string(*type) + "'");
        return skip_lost_names("constant");
    }
    const auto name =
        type != nullptr ? expect_identifier("the name of the constant") : std::nullopt;
    if (!name) return skip_lost_names("constant");
    Constant& constant = unit_.add<Constant>();
    constant.type = type;
    if (!expect("=", "after the name of the constant")) {
        declare(constant, *name, std::move(annotations));
        return skip_to_next_declaration();
    }
    const Location location = peek().location;
    const Operand value = parse_expression(*type);
    constant.value = arithmetic_.convert(value, *type, location);
    declare(constant, *name, std::move(annotations)); // after its value: it is not part of it
    end_declaration("constant declaration");
}

Operand Parser::parse_expression(const Type& wanted) { return parse_binary(wanted, 0); }

Operand Parser::parse_binary(const Type& wanted, int level)
{
    if (level == static_cast<int>(levels.size())) return parse_unary(wanted);
    Operand left = parse_binary(wanted, level + 1);
    for (;;) {
        const Token& token = peek();
        bool matches = false;
        for (const std::string_view op : levels[static_cast<std::size_t>(level)].operators)
            matches = matches || (!op.empty() && token.is(op));
        if (!matches || (in_template_ && token.is(">>"))) return left;
        const Token op = take();
        Operand right = parse_binary(wanted, level + 1);
        left = arithmetic_.binary(op, std::move(left), std::move(right));
    }
}

Operand Parser::parse_unary(const Type& wanted)
{
    if (!peek().is("-") && !peek().is("+") && !peek().is("~")) return parse_primary(wanted);
    Nesting nesting(*this);
    if (!nesting.ok()) return {};
    const Token op = take();
    Operand operand = parse_unary(wanted);
    return arithmetic_.unary(op, std::move(operand), wanted);
}

Operand Parser::parse_primary(const Type& wanted)
{
    Nesting nesting(*this);
    if (!nesting.ok()) return {};
    const Token& token = peek();
    switch (token.kind) {
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::fixed:
    case TokenKind::character:
    case TokenKind::wide_character:
        return arithmetic_.literal(take());
    case TokenKind::string:
    case TokenKind::wide_string: {
        Operand text = arithmetic_.literal(take());
        while (peek().kind == TokenKind::string || peek().kind == TokenKind::wide_string)
            text = arithmetic_.concatenate(std::move(text), take());
        return text;
    }
    case TokenKind::keyword:
        if (token.is(Keyword::true_) || token.is(Keyword::false_)) return take().is(Keyword::true_);
        break;
    case TokenKind::punctuator:
        if (token.is("(")) {
            take();
            const bool in_template = in_template_;
            in_template_ = false;
            Operand inner = parse_expression(wanted);
            in_template_ = in_template;
            if (!expect(")", "after the expression")) return {};
            return inner;
        }
        if (!token.is("::")) break;
        [[fallthrough]];
    case TokenKind::identifier: {
        const auto name = parse_scoped_name("a constant");
        if (!name) return {};
        const Declaration* declaration = names_.resolve(*name, *scope_, "constant");
        if (declaration == nullptr) return {};
        if (const auto* constant = as<Constant>(declaration))
            return ConstantArithmetic::operand(constant->value);
        if (const auto* enumerator = as<Enumerator>(declaration)) return enumerator;
        error(name->location(), "'" + name->text() + "' is not a constant but " +
                                    with_article(to_string(declaration->kind)));
        diagnostics_.note(declaration->location, "declared here");
        return {};
    }
    default:
        break;
    }
    unexpected("a constant expression");
    return {};
}

std::optional<std::uint64_t> Parser::parse_positive(std::string_view what)
{
    const Location location = peek().location;
    const Type wanted{.kind = TypeKind::long_long};
    const Operand operand = parse_expression(wanted);
    if (operand.index() == 0) return std::nullopt;
    const auto* number = std::get_if<WideInteger>(&operand);
    if (number != nullptr && *number > 0 && *number <= std::numeric_limits<std::uint32_t>::max())
        return static_cast<std::uint64_t>(*number);
    error(location, std::string(what) + (number == nullptr ? " must be an integer"
                                         : *number <= 0    ? " must be positive"
                                                           : " does not fit into 32 bits"));
    return std::nullopt;
}

} // namespace kairos::idlc
