// SPDX-License-Identifier: Apache-2.0
//
// Annotations of IDL 4: read, kept for back ends, never refused for being unknown.
#include "idlc/parse.h"

#include <limits>

namespace kairos::idlc {
namespace {

std::string written(const Token& token)
{
    switch (token.kind) {
    case TokenKind::string:
        return '"' + std::string(token.text) + '"';
    case TokenKind::wide_string:
        return "L\"" + std::string(token.text) + '"';
    case TokenKind::character:
        return "'" + std::string(token.text) + "'";
    case TokenKind::wide_character:
        return "L'" + std::string(token.text) + "'";
    default:
        return std::string(token.text);
    }
}

/// As a constant of the widest type that holds it.
Value widest(const Operand& operand)
{
    struct Converter {
        Value operator()(std::monostate) const { return {}; }
        Value operator()(WideInteger value) const
        {
            if (value > std::numeric_limits<std::int64_t>::max())
                return static_cast<std::uint64_t>(value);
            return static_cast<std::int64_t>(value);
        }
        Value operator()(const Decimal& value) const { return value.value(); }
        Value operator()(bool value) const { return value; }
        Value operator()(char value) const { return value; }
        Value operator()(char32_t value) const { return value; }
        Value operator()(long double value) const { return value; }
        Value operator()(const std::string& value) const { return value; }
        Value operator()(const std::u32string& value) const { return value; }
        Value operator()(const Enumerator* value) const { return value; }
    };
    return std::visit(Converter(), operand);
}

bool is_literal(const Token& token) noexcept
{
    switch (token.kind) {
    case TokenKind::integer:
    case TokenKind::floating:
    case TokenKind::fixed:
    case TokenKind::character:
    case TokenKind::wide_character:
    case TokenKind::string:
    case TokenKind::wide_string:
        return true;
    default:
        return false;
    }
}

} // namespace

Annotations Parser::parse_annotations()
{
    Annotations out;
    while (peek().is("@")) {
        const Token at = take();
        if (!parse_annotation(at, out)) break;
    }
    return out;
}

bool Parser::parse_annotation(const Token& at, Annotations& out)
{
    Annotation annotation;
    annotation.location = at.location;
    accept("::"); // IDL 4.2, 7.4.15: from file scope, which is where annotations are known by name
    // Standard annotations bear names that are keywords, e.g. @default: any word will do.
    for (;;) {
        const bool keyword = peek().kind == TokenKind::keyword &&
                             (!at_declaration_start() || peek().is(Keyword::oneway_));
        if (peek().kind != TokenKind::identifier && !keyword)
            return unexpected("the name of an annotation");
        const Token part = take();
        annotation.name += part.text;
        annotation.location.length += part.location.length;
        if (annotation.name == "annotation" && peek().kind == TokenKind::identifier) {
            parse_annotation_declaration(at);
            return false;
        }
        if (!accept("::")) break;
        annotation.name += "::";
    }
    if (accept("(")) parse_annotation_parameters(annotation);
    out.push_back(std::move(annotation));
    return true;
}

void Parser::parse_annotation_parameters(Annotation& annotation)
{
    while (!accept(")")) {
        std::vector<Token> tokens;
        int parentheses = 0;
        while (peek().kind != TokenKind::end && !peek().is("{") && !peek().is(";")) {
            if (parentheses == 0 && (peek().is(",") || peek().is(")"))) break;
            if (peek().is("(")) ++parentheses;
            if (peek().is(")")) --parentheses;
            tokens.push_back(take());
        }
        AnnotationParameter parameter{.name = "value", .text = {}};
        std::size_t first = 0;
        if (tokens.size() > 1 && tokens[1].is("=")) {
            parameter.name = tokens[0].text;
            first = 2;
        }
        if (tokens.size() <= first) {
            unexpected("a value for the annotation");
            return skip_to_parenthesis();
        }
        for (std::size_t i = first; i < tokens.size(); ++i)
            parameter.text += (i > first ? " " : "") + written(tokens[i]);
        const std::size_t count = tokens.size() - first;
        const bool negative = tokens[first].is("-") && count == 2;
        if (count == 1 || negative) {
            const Token& last = tokens.back();
            if (last.is(Keyword::true_) || last.is(Keyword::false_)) {
                parameter.value = last.is(Keyword::true_);
            } else if (is_literal(last)) {
                Operand value = arithmetic_.literal(last);
                const Type wide{.kind = TypeKind::long_long};
                if (negative) value = arithmetic_.unary(tokens[first], std::move(value), wide);
                parameter.value = widest(value);
            }
        }
        annotation.parameters.push_back(std::move(parameter));
        if (!peek().is(")") && !expect(",", "or ')' in the annotation"))
            return skip_to_parenthesis();
    }
}

void Parser::skip_to_parenthesis()
{
    while (!accept(")") && !peek().is(";") && !peek().is("{") && peek().kind != TokenKind::end)
        take();
}

void Parser::parse_annotation_declaration(const Token& at)
{
    const Token name = take();
    AnnotationDeclaration& declaration = unit_.add<AnnotationDeclaration>();
    describe_declaration(declaration, name);
    declaration.location.column = at.location.column;
    declarations_->push_back(&declaration); // annotations have names of their own, not the scope's
    if (!expect("{", "after the name of the annotation")) return;
    {
        const Inside inside(*this, declaration, declaration.declarations);
        while (!peek().is("}") && peek().kind != TokenKind::end) {
            const std::uint64_t before = taken_;
            Annotations none;
            if (!peek().is(Keyword::enum_) && !peek().is(Keyword::const_) &&
                !peek().is(Keyword::typedef_)) {
                AnnotationDeclaration::Element element;
                element.type = parse_type(TypeUse::constant);
                const auto element_name =
                    element.type != nullptr ? expect_identifier("a name") : std::nullopt;
                if (element_name) {
                    element.name = element_name->text;
                    if (accept(Keyword::default_)) {
                        const Location location = peek().location;
                        const Operand value = parse_expression(*element.type);
                        if (element.type->kind == TypeKind::any)
                            element.default_value = widest(value);
                        else
                            element.default_value =
                                arithmetic_.convert(value, *element.type, location);
                    }
                    declaration.elements.push_back(std::move(element));
                    end_declaration("annotation member");
                } else {
                    skip_to_next_declaration();
                }
            } else {
                parse_type_declaration(none);
            }
            if (taken_ == before) take();
        }
    }
    expect("}", "at the end of the annotation");
}

} // namespace kairos::idlc
