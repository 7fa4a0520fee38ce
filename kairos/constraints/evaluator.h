// SPDX-License-Identifier: Apache-2.0
//
// Evaluates constraints: one thread's, which keeps what memory it needs from one to the next. No
// memory is allocated where what a constraint asks for is held as it came, or is simple: boolean,
// number, enum, string. What an Any holds in its C++ type is encoded once for each subject.
#pragma once

#include "kairos/base/export.h"
#include "kairos/constraints/constraint.h"
#include "kairos/constraints/subject.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace kairos::constraints {

class Machine;

/// Why a constraint could not be evaluated to its end; then it does not match.
enum class Fault : std::uint8_t {
    none,
    missing,    ///< there is no such component or property
    mismatch,   ///< an operator was given what it is not for
    arithmetic, ///< division by zero, an integer beyond 64 bits
    limit,      ///< more work than one evaluation may cost
};

/// Returns the fault in words, for a log line.
[[nodiscard]] KAIROS_API std::string_view describe(Fault fault) noexcept;

struct KAIROS_API Answer {
    bool matches = false;
    Fault fault = Fault::none;
    std::uint32_t offset = 0; ///< in the text, of what failed

    explicit operator bool() const noexcept { return matches; }
};

class KAIROS_API Evaluator {
  public:
    /// What one evaluation may cost by default, in steps: an operator is one, and so are 16 octets
    /// that are passed over or compared. Some tens of milliseconds.
    static constexpr std::size_t work_default = std::size_t{1} << 20;

    explicit Evaluator(std::size_t work_max = work_default);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    ~Evaluator();

    /// Turns to an event or offer, which must live until the evaluator turns to the next.
    void look_at(const Subject& subject) noexcept;
    void look_at(const Subject&& subject) = delete;
    /// Says whether the subject fulfils the constraint. False before any look_at.
    [[nodiscard]] Answer evaluate(const Constraint& constraint);

    /// What index.h stands on.
    [[nodiscard]] Machine& machine() noexcept { return *machine_; }

  private:
    std::unique_ptr<Machine> machine_;
};

/// Returns the places of the subjects in the order that is preferred. Those that the preference
/// cannot be evaluated for come last; those that it finds equal stay in their order. So do those
/// last that it was not evaluated for before `end`, and `was_cut`, if there is one, becomes true.
[[nodiscard]] KAIROS_API std::vector<std::size_t>
order(const Preference& preference, std::span<const Subject* const> subjects, Evaluator& evaluator,
      std::mt19937_64& random,
      std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max(),
      bool* was_cut = nullptr);

} // namespace kairos::constraints
