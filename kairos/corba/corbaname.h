// SPDX-License-Identifier: Apache-2.0
//
// What string_to_object does with the name of a corbaname URL (Naming Service 1.3, 2.5.3.3): one
// `resolve` at the naming context. Without CosNaming's stubs, so that programs that only take such
// URLs need not link them. Cold path only.
#pragma once

#include "kairos/corba/object.h"
#include "kairos/ior/name.h"

namespace kairos::corba {

/// Resolves a name in a naming context. Owned by the caller; may be nil. Throws BAD_PARAM 10, which
/// says what the naming service says, and the system exceptions of the call.
[[nodiscard]] CORBA::Object_ptr resolve_name(CORBA::Object& context, const ior::Name& name);

} // namespace kairos::corba
