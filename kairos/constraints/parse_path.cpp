// SPDX-License-Identifier: Apache-2.0
//
// What is asked for: a property of an offer, or a component of an event.
#include "kairos/constraints/parse.h"

#include <algorithm>
#include <iterator>

namespace kairos::constraints {

void Parser::expect(char c, std::string_view what)
{
    const std::size_t offset = lexer_.next_offset();
    if (!lexer_.skip(c)) lexer_.fail(offset, 1, std::string(what));
}

std::uint32_t Parser::path()
{
    Path path{.root = Path::Root::property};
    if (language_ == Language::trader && token_.kind == TokenKind::name) {
        path.name = token_.text;
    } else if (token_.kind == TokenKind::dollar) { // the lexer stands behind it
        path.root = Path::Root::event;
        if (lexer_.at_name()) {
            path.root = Path::Root::variable;
            path.name = lexer_.name();
            if (path.name.empty()) lexer_.fail(token_.offset, 2, "a name is needed behind '\\'");
        }
        steps(path);
        token_.length = lexer_.offset() - token_.offset;
    } else {
        lexer_.fail(token_.offset, token_.length,
                    language_ == Language::trader
                        ? "the name of a property is needed here"
                        : "a component is needed here, with '$' in front");
        token_.kind = TokenKind::failed;
        return 0;
    }
    program_->paths.push_back(std::move(path));
    advance();
    return static_cast<std::uint32_t>(program_->paths.size() - 1);
}

void Parser::steps(Path& path)
{
    while (!lexer_.has_failed()) {
        const std::size_t begin = lexer_.next_offset();
        if (lexer_.skip('.')) {
            if (!step(path, begin)) return;
        } else if (lexer_.skip('[')) {
            std::uint32_t index = 0;
            if (!lexer_.digits(index)) return;
            path.steps.push_back({.kind = Step::Kind::element, .number = index});
            expect(']', "']' is needed behind the index");
        } else if (lexer_.skip('(')) {
            Step step{.kind = Step::Kind::named};
            if (lexer_.at_quote()) {
                if (!lexer_.string(step.text)) return;
            } else {
                step.text = lexer_.name();
                if (step.text.empty())
                    lexer_.fail(begin, 1, "the name of a value is needed behind '('");
            }
            path.steps.push_back(step);
            expect(')', "')' is needed behind the name of a value");
        } else {
            return;
        }
    }
}

bool Parser::step(Path& path, std::size_t begin)
{
    if (lexer_.skip('(')) {
        label(path);
        return true;
    }
    if (lexer_.at_digit()) {
        std::uint32_t position = 0;
        const bool ok = lexer_.digits(position);
        path.steps.push_back({.kind = Step::Kind::position, .number = position});
        return ok;
    }
    if (const std::string_view special = lexer_.special_name(); !special.empty()) {
        struct Special {
            std::string_view name;
            Step::Kind kind;
        };
        static constexpr Special specials[] = {{"_length", Step::Kind::length},
                                               {"_d", Step::Kind::discriminator},
                                               {"_type_id", Step::Kind::type_id},
                                               {"_repos_id", Step::Kind::repository_id}};
        const auto* const found = std::ranges::find(specials, special, &Special::name);
        if (found == std::end(specials)) {
            lexer_.fail(begin + 1, special.size(),
                        "there are _length, _d, _type_id and _repos_id; a member's name that "
                        "begins like that has '\\' in front");
        } else {
            path.steps.push_back({.kind = found->kind});
        }
        return false;
    }
    const std::string_view name = lexer_.name();
    if (name.empty()) lexer_.fail(begin, 1, "a component is needed behind '.'");
    path.steps.push_back({.kind = Step::Kind::member, .text = name});
    return true;
}

/// Behind `.(`.
void Parser::label(Path& path)
{
    if (lexer_.skip(')')) return path.steps.push_back({.kind = Step::Kind::label_default});
    Step step{.kind = Step::Kind::label};
    if (lexer_.at_quote()) {
        step.kind = Step::Kind::label_name;
        if (!lexer_.string(step.text)) return;
    } else if (const std::string_view name = lexer_.name(); !name.empty()) {
        step.kind = Step::Kind::label_name;
        step.text = name;
    } else {
        const bool is_minus = lexer_.skip('-');
        if (!is_minus) (void)lexer_.skip('+');
        std::uint32_t number = 0;
        if (!lexer_.digits(number)) return;
        step.number = is_minus ? -std::int64_t{number} : std::int64_t{number};
    }
    path.steps.push_back(step);
    expect(')', "')' is needed behind a label");
}

} // namespace kairos::constraints
