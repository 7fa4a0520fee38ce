// SPDX-License-Identifier: Apache-2.0
#include "kairos/constraints/constraint.h"

#include "kairos/constraints/parse.h"

namespace kairos::constraints {

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
