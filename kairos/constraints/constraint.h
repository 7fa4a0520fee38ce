// SPDX-License-Identifier: Apache-2.0
//
// Conditions over values that are known only at run time, as people write them: the constraint
// language of the Trading Service (CosTrading 1.0, appendix B) and that of the Notification
// Service's filters, which extends it (CosNotification 1.1, 2.4). docs/constraints.md is the
// language in one page. What is parsed is immutable: any thread may use it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::constraints {

struct Program;

enum class Language : std::uint8_t {
    trader,   ///< names are properties of an offer
    extended, ///< `$` begins what is asked of an event; bare names are enumerators
};

/// What a text may cost before it is refused: it may come from anybody.
struct KAIROS_API Limits {
    std::size_t size_max = std::size_t{64} << 10; ///< octets of the text
    std::size_t depth_max = 64;                   ///< parentheses within each other
};

/// Why a text was refused, and where.
struct KAIROS_API Diagnostic {
    std::size_t offset = 0; ///< of the place, in octets from the beginning of the text
    std::size_t length = 0; ///< of what stands there, in octets; 0 at the end
    std::size_t line = 1;
    std::size_t column = 1; ///< in octets, from 1
    std::string message;    ///< lower case, no full stop

    /// Returns the diagnostic as compilers give it: "name:line:column: error: …", the line of the
    /// text, and a caret under the place.
    [[nodiscard]] std::string render(std::string_view text,
                                     std::string_view name = "constraint") const;
};

/// How two values compare.
enum class Relation : std::uint8_t { equal, less, less_equal, greater, greater_equal };

/// A condition without which a constraint cannot be fulfilled: what a name stands for compares with
/// a literal so. It borrows from the constraint.
struct KAIROS_API Condition {
    std::string_view name; ///< of a property; in the extended language behind `$`
    Relation relation;     ///< of its value, on the left, to the literal
    /// What numbers and booleans are as a double, the nearest one: neighbours may be equal to it.
    /// None: the literal is a string.
    std::optional<double> number;
    std::string_view text;
};

/// A constraint, ready to be evaluated (evaluator.h). Copies share one program.
class KAIROS_API Constraint {
  public:
    /// Makes a constraint of a text; an empty one matches whatever it is asked of. A text that is
    /// not of the language is `invalid_argument`, one that is beyond the limits `limit_exceeded`;
    /// the reason begins with line and column. Where `diagnostic` is given it says the same.
    [[nodiscard]] static Result<Constraint> parse(std::string_view text, Language language,
                                                  const Limits& limits = {},
                                                  Diagnostic* diagnostic = nullptr);

    /// The text that it was made of.
    [[nodiscard]] std::string_view text() const noexcept;
    /// Returns the names that a subject is asked for, `name` in the trader's language and `$name`
    /// in the extended one: each once, in order. They live as long as a copy of the constraint.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// Returns conditions of which each must hold for what fulfils the constraint, for who looks
    /// for candidates in an index; it may have others, or none. They live as long as a copy of the
    /// constraint.
    [[nodiscard]] std::vector<Condition> conditions() const;
    [[nodiscard]] const Program& program() const noexcept { return *program_; }

  private:
    explicit Constraint(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

    std::shared_ptr<const Program> program_; // never null
};

/// In which order an importer wants the offers that match (CosTrading 1.0, appendix B).
class KAIROS_API Preference {
  public:
    enum class Kind : std::uint8_t {
        first,  ///< as they were found; what an empty text means, too
        max,    ///< the largest value of a number first
        min,    ///< the smallest one first
        with,   ///< those first for which a condition holds
        random, ///< any
    };

    /// Makes a preference of a text; fails as Constraint::parse does.
    [[nodiscard]] static Result<Preference> parse(std::string_view text, const Limits& limits = {},
                                                  Diagnostic* diagnostic = nullptr);

    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    /// Returns the names of properties that offers are asked for, as Constraint::names does.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// What is behind the first word; empty where nothing has to be.
    [[nodiscard]] const Program& program() const noexcept { return *program_; }

  private:
    Preference(Kind kind, std::shared_ptr<const Program> program)
        : kind_(kind), program_(std::move(program))
    {
    }

    Kind kind_;
    std::shared_ptr<const Program> program_; // never null
};

} // namespace kairos::constraints
