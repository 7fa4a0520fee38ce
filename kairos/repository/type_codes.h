// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes of what a model defines, and back.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/repository/model.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace kairos::repository {

/// Remembers what it has made, until it is told to forget. Borrows the model, and is as little
/// shared.
class TypeCodes {
  public:
    explicit TypeCodes(const Model& model) : model_(model) {}

    /// Returns the TypeCode of a type, exception, or what has a type. Throws CORBA's exceptions for
    /// what has none.
    [[nodiscard]] CORBA::TypeCode_var of(Key key);
    void forget() { made_.clear(); }

  private:
    struct Made;

    [[nodiscard]] CORBA::TypeCode_var make(const Definition& definition);
    [[nodiscard]] CORBA::TypeCode_var make_value(const Definition& definition);

    const Model& model_;
    std::unordered_map<Key, CORBA::TypeCode_var> made_;
    std::vector<Key> open_; // those that are being made, each within the last
    // The outermost of these that what was made last lies within: it must not be used elsewhere.
    std::size_t refers_to_ = static_cast<std::size_t>(-1);
};

/// The TypeCode of a primitive type. Nil for pk_null.
[[nodiscard]] CORBA::TypeCode_ptr primitive_type_code(Key key) noexcept;

/// Returns the definition of a TypeCode's type; anonymous ones are created. Nothing where there is
/// none.
[[nodiscard]] Key type_of(CORBA::TypeCode_ptr type, Model& model);

} // namespace kairos::repository
