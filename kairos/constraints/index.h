// SPDX-License-Identifier: Apache-2.0
//
// Many constraints, of which an event fulfils few. Where a constraint cannot be fulfilled unless a
// component equals a literal, as with `$type_name == 'Alarm' and …`, it is filed under that
// literal, and only evaluated for events that have it there: the component is looked up once for
// all that ask for it, however many they are.
#pragma once

#include "kairos/base/export.h"
#include "kairos/constraints/evaluator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kairos::constraints {

/// Any number of threads may match, each with an evaluator of its own, while nobody adds or
/// removes.
class KAIROS_API ConstraintIndex {
  public:
    /// Whatever the program knows a constraint by.
    using Id = std::uint64_t;

    ConstraintIndex();
    ConstraintIndex(const ConstraintIndex&) = delete;
    ConstraintIndex& operator=(const ConstraintIndex&) = delete;
    ~ConstraintIndex();

    /// Adds a constraint; false, and nothing is changed, if there is one of this id.
    [[nodiscard]] bool add(Id id, Constraint constraint);
    /// Removes a constraint; false if there is none of this id.
    bool remove(Id id);
    [[nodiscard]] std::size_t size() const noexcept;

    /// Appends to `found` the ids of all constraints that the evaluator's subject fulfils, in no
    /// particular order. Returns how many constraints were evaluated for that.
    std::size_t match(Evaluator& evaluator, std::vector<Id>& found) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace kairos::constraints
