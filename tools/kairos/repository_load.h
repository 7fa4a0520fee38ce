// SPDX-License-Identifier: Apache-2.0
//
// Puts what IDL files declare into an Interface Repository, ours or another ORB's, by the calls
// that CORBA has for that.
#pragma once

#include "idlc/model.h"
#include "kairos/ir/ir.h"

#include <cstddef>

namespace kairos::tools {

/// Adds what the unit declares, in included files too, and returns how many definitions are new.
/// What the repository has already, by its id, stays; an interface that it knows only the name of
/// is filled. Throws std::runtime_error, which names what could not be added, and CORBA's
/// exceptions: what came before stays in the repository.
std::size_t load(const idlc::Unit& unit, CORBA::Repository_ptr repository, CORBA::ORB_ptr orb);

} // namespace kairos::tools
