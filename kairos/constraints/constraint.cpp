// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/constraint.h"

#include "kairos/constraints/parse.h"

#include <algorithm>

namespace kairos::constraints {
namespace {

std::vector<std::string_view> names_of(const Program& program)
{
    std::vector<std::string_view> names;
    for (const Path& path : program.paths)
        if (path.root != Path::Root::event) names.push_back(path.name);
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

} // namespace

Result<Constraint> Constraint::parse(std::string_view text, Language language, const Limits& limits,
                                     Diagnostic* diagnostic)
{
    Parser parser(text, language, limits);
    parser.constraint();
    std::shared_ptr<const Program> program = parser.take();
    if (program != nullptr) return Constraint(std::move(program));
    if (diagnostic != nullptr) *diagnostic = parser.diagnostic();
    return parser.error();
}

std::string_view Constraint::text() const noexcept { return program_->text; }

std::vector<std::string_view> Constraint::names() const { return names_of(*program_); }

std::vector<Condition> Constraint::conditions() const
{
    std::vector<Condition> conditions;
    for (const Need& need : program_->needs) {
        const Path& path = program_->paths[need.path];
        if (path.root == Path::Root::event || !path.steps.empty()) continue;
        Condition condition{.name = path.name, .relation = need.relation, .number = {}, .text = {}};
        const Operand& literal = program_->constants[need.constant];
        switch (literal.kind) {
        case Operand::Kind::boolean:
            condition.number = literal.boolean ? 1 : 0;
            break;
        case Operand::Kind::integer:
            condition.number = static_cast<double>(literal.integer);
            break;
        case Operand::Kind::real:
            condition.number = literal.real;
            break;
        default:
            condition.text = literal.text();
        }
        conditions.push_back(condition);
    }
    return conditions;
}

std::vector<std::string_view> Preference::names() const { return names_of(*program_); }

Result<Preference> Preference::parse(std::string_view text, const Limits& limits,
                                     Diagnostic* diagnostic)
{
    Parser parser(text, Language::trader, limits);
    Kind kind = Kind::first;
    parser.preference(kind);
    std::shared_ptr<const Program> program = parser.take();
    if (program != nullptr) return Preference(kind, std::move(program));
    if (diagnostic != nullptr) *diagnostic = parser.diagnostic();
    return parser.error();
}

} // namespace kairos::constraints
