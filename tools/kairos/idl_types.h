// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes of what the IDL compiler has read, without generated code.
#pragma once

#include "idlc/model.h"
#include "kairos/corba/CORBA.h"

#include <cstddef>
#include <map>
#include <vector>

namespace kairos::tools {

/// Remembers what it has made. Borrows the Unit that the types are of.
class IdlTypes {
  public:
    /// Returns the TypeCode of a type, or of a declaration of a type or exception. Throws CORBA's
    /// exceptions for what has none.
    [[nodiscard]] CORBA::TypeCode_var of(const idlc::Type& type);
    [[nodiscard]] CORBA::TypeCode_var of(const idlc::Declaration& declaration);

  private:
    template <typename Members>
    struct Made;

    [[nodiscard]] CORBA::TypeCode_var make(const idlc::Declaration& declaration);
    [[nodiscard]] CORBA::TypeCode_var make_union(const idlc::Union& type);
    [[nodiscard]] CORBA::TypeCode_var make_value(const idlc::ValueType& type);

    std::map<const idlc::Declaration*, CORBA::TypeCode_var> made_;
    std::vector<const idlc::Declaration*> open_; // those that are being made, each within the last
    // The outermost of these that what was made last lies within: it must not be used elsewhere.
    std::size_t refers_to_ = static_cast<std::size_t>(-1);
};

} // namespace kairos::tools
