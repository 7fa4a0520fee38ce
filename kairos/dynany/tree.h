// SPDX-License-Identifier: Apache-2.0
//
// What the DynAnys made of one value have in common: the ORB that references and values in it
// belong to, how many they are, and the valuetypes' states, which may be shared and hold one
// another. Used as its DynAnys are: by one thread at a time.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/orb/orb.h"
#include "kairos/types/typecode.h"

#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace kairos::dynany {

class ValueState;

class Tree : public std::enable_shared_from_this<Tree> {
  public:
    explicit Tree(orb::Orb& core) : core_(&core) {}
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    /// Ends what states that hold one another still have.
    ~Tree();

    [[nodiscard]] orb::Orb& core() const noexcept { return *core_; }
    /// What values of this tree are read and written with.
    [[nodiscard]] cdr::Environment environment() const;

    /// Counts one more DynAny. Throws IMP_LIMIT for more than components_max.
    void add_component();
    void remove_component() noexcept { --components_; }
    /// Throws IMP_LIMIT where there is no room for so many more.
    void require_room(std::size_t components) const;

    void add_state(ValueState& state) { states_.insert(&state); }
    void remove_state(ValueState& state) noexcept { states_.erase(&state); }

    /// The members of a union by their labels, without the default one. Sorted once: a union may
    /// have many labels, and be there many times.
    using Labels = std::map<std::int64_t, CORBA::ULong>;
    [[nodiscard]] const Labels& labels(const types::TypeCodeData& union_type);

  private:
    const IntrusivePtr<orb::Orb> core_;
    std::size_t components_ = 0;
    std::unordered_set<ValueState*> states_;
    std::unordered_map<const types::TypeCodeData*, Labels> labels_;
};

} // namespace kairos::dynany
