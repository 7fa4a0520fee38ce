// SPDX-License-Identifier: Apache-2.0
//
// Calls without stubs, arguments and results as JSON (docs/values-json.md): what `kairos call` and
// `kairos browse` share.
#pragma once

#include "kairos/corba/CORBA.h"
#include "tools/kairos/interfaces.h"
#include "tools/kairos/value_json.h"

#include <vector>

namespace kairos::tools {

/// Returns the parameters that a call is given, in their order. Borrowed from the operation.
[[nodiscard]] std::vector<const KnownParameter*> given(const KnownOperation& operation);

/// Returns one value for each given parameter, from an array in their order or an object by their
/// names. Throws std::runtime_error, with a message for people, where one is missing or too many.
[[nodiscard]] std::vector<Json> arguments_in_json(const Json& all, const KnownOperation& operation);

/// Makes the request that calls the operation with these values, one for each given parameter.
/// Throws std::runtime_error, which names the argument, where a value is not of its type.
[[nodiscard]] CORBA::Request_var request_of(CORBA::Object_ptr object,
                                            const KnownOperation& operation,
                                            const std::vector<Json>& values,
                                            const ValueJson& forms);

/// Returns what came back with the answer: {"result": …, "out": {…}}, each if there is any.
[[nodiscard]] Json results_of(const KnownOperation& operation, CORBA::Request_ptr request,
                              const ValueJson& forms);

} // namespace kairos::tools
