// SPDX-License-Identifier: Apache-2.0
//
// The state of a value of a valuetype. Every place in a tree that refers to the same value has the
// same state, which may lead to itself.
#pragma once

#include "kairos/dynany/node.h"

#include <memory>

namespace kairos::dynany {

class ValueState : public std::enable_shared_from_this<ValueState> {
  public:
    ValueState(Tree& tree, const CORBA::TypeCode& declared)
        : type(types::resolved(declared)._kairos_data()), tree_(tree),
          kept_type_(CORBA::TypeCode::_duplicate(types::pointer(declared)))
    {
        tree_.add_state(*this);
    }
    ValueState(const ValueState&) = delete;
    ValueState& operator=(const ValueState&) = delete;
    ~ValueState() { tree_.remove_state(*this); }

    /// What it is a value of, which may be derived from what a place has.
    const types::TypeCodeData& type;
    /// Those of the bases first; of a value box, the value in it.
    Components members;

  private:
    Tree& tree_;
    const CORBA::TypeCode_var kept_type_;
};

} // namespace kairos::dynany
