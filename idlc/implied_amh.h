// SPDX-License-Identifier: Apache-2.0
//
// What servants that answer later imply of IDL that nobody has written, as TAO has it: for each
// interface a local one of its response handlers, and the valuetype of what they hold exceptions
// in, in the same scope.
#pragma once

#include "idlc/model.h"
#include "idlc/request.h"

#include <string>
#include <vector>

namespace kairos::idlc {

/// Adds to every interface that can be called, but those whose C++ is installed already and what
/// derives from them, its response handler and its holder of exceptions.
void imply_amh(Unit& unit);

/// Returns the name of a holder's operation that raises the exception: "raise_add".
[[nodiscard]] std::string raising_name(const Request& request);
/// Returns what a response handler is given to answer a request, as `in` parameters: the result as
/// "return_value", inout and out.
[[nodiscard]] std::vector<Parameter> answered_parameters(const Request& request);

} // namespace kairos::idlc
