// SPDX-License-Identifier: Apache-2.0
//
// What generated stubs call a servant of their own process with: orb::call_directly, and what
// encoding would have refused. Stations 1 and 10 of the request walk (docs/TOUR.md) in one.
#pragma once

#include "kairos/mapping/marshal.h"
#include "kairos/orb/direct_operation.h"

namespace kairos::corba {

/// Has `call` called with the servant's Direct and returns null; or returns the reference if that
/// takes a message. The address of the interface's id stands for it.
template <typename Interface, typename Direct, const orb::Operation& operation, typename Call>
[[nodiscard]] inline orb::Reference* call_directly(orb::Reference& reference, const Call& call)
{
    static constexpr orb::DirectOperation::Function function = [](void* servant, void* arguments) {
        (*static_cast<const Call*>(arguments))(*static_cast<Direct*>(servant));
    };
    static constexpr orb::DirectOperation direct{&operation, &Interface::_kairos_id, function};
    return orb::call_directly(reference, direct, const_cast<Call*>(&call));
}

inline void require_text(const void* text)
{
    if (text == nullptr) [[unlikely]]
        mapping::raise_null_string();
}

inline void require_result(const void* value)
{
    if (value == nullptr) [[unlikely]]
        mapping::raise_null_result();
}

} // namespace kairos::corba
