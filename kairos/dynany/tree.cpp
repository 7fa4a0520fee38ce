// SPDX-License-Identifier: Apache-2.0
#include "kairos/dynany/tree.h"

#include "kairos/dynany/bounds.h"
#include "kairos/dynany/value_state.h"

namespace kairos::dynany {

Tree::~Tree()
{
    while (!states_.empty()) {
        const std::shared_ptr<ValueState> kept = (*states_.begin())->shared_from_this();
        states_.erase(states_.begin());
        kept->members.clear();
    }
}

cdr::Environment Tree::environment() const
{
    cdr::Environment environment;
    environment.orb = core_.get();
    environment.orb_owner = core_.get();
    environment.value_factories = core_->value_factories();
    return environment;
}

void Tree::require_room(std::size_t components) const
{
    if (components > components_max - components_)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a value of too many components");
}

void Tree::add_component()
{
    require_room(1);
    ++components_;
}

const Tree::Labels& Tree::labels(const types::TypeCodeData& union_type)
{
    const auto [known, is_new] = labels_.try_emplace(&union_type);
    for (CORBA::ULong i = 0; is_new && i < union_type.count; ++i)
        if (!types::is_default_member(union_type, i))
            known->second.try_emplace(union_type.numbers[i], i);
    return known->second;
}

} // namespace kairos::dynany
