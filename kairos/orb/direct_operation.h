// SPDX-License-Identifier: Apache-2.0
//
// What a stub says of a call within the process (direct_call.h). Constant data of generated code.
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/operation.h"

namespace kairos::orb {

class Reference;

/// What a stub says about an operation and how it is called: constant data.
struct KAIROS_API DirectOperation {
    /// Calls the servant's function. `servant` is what Servant::_kairos_direct gives.
    using Function = void (*)(void* servant, void* arguments);

    const Operation* operation;
    const void* interface; ///< what a servant is asked for: the address that stands for it
    Function function;
};

/// Makes a call within the process and returns null; or returns the reference that the call is to
/// be made on by a message: a stub then need not keep it meanwhile, which costs remote calls.
/// Throws what a remote caller would be told; of a oneway call nothing. Blocks while the adapter
/// holds requests.
[[nodiscard]] KAIROS_API Reference*
call_directly(Reference& reference, const DirectOperation& operation, void* arguments);

} // namespace kairos::orb
