// SPDX-License-Identifier: Apache-2.0
//
// Constants of IDL as CORBA's Any values, and back as IDL writes them.
#pragma once

#include "idlc/model.h"
#include "kairos/corba/CORBA.h"

#include <string>

namespace kairos::tools {

/// Returns the value of a constant. `code` is the TypeCode of its type. Throws std::runtime_error
/// for what no constant can be.
[[nodiscard]] CORBA::Any any_of(const idlc::Constant& constant, CORBA::TypeCode_ptr code,
                                CORBA::ORB_ptr orb);

/// Returns the literal of a constant's value; for an enum the bare name of the enumerator. Throws
/// std::runtime_error for what no constant can be.
[[nodiscard]] std::string literal_of(const CORBA::Any& value, CORBA::ORB_ptr orb);

} // namespace kairos::tools
