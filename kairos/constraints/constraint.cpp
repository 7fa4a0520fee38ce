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
