// SPDX-License-Identifier: Apache-2.0
//
// All bindings of a context, however many, in portions: what a client does with `list` and a
// BindingIterator. The iterator is destroyed whatever happens. Used by one thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/naming/CosNaming.h"

#include <functional>

namespace kairos::naming {

/// Bindings in one reply, unless the caller knows better: a few tens of kilobytes.
inline constexpr CORBA::ULong portion_default = 500;

/// Calls `each` with every binding of the context, in the order of the server. Throws what the
/// calls throw, and what `each` throws.
KAIROS_API void for_each_binding(CosNaming::NamingContext_ptr context,
                                 const std::function<void(const CosNaming::Binding&)>& each,
                                 CORBA::ULong portion = portion_default);

} // namespace kairos::naming
