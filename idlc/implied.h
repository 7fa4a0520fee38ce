// SPDX-License-Identifier: Apache-2.0
//
// What declarations have in common that nobody has written: they are implied by an interface, and
// stand beside it in its scope (implied_ami.h, implied_amh.h).
#pragma once

#include "idlc/model.h"
#include "idlc/request.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace kairos::idlc {

/// Returns whether an interface may imply others: it can be called, and its C++ is not installed,
/// where there is none of what it would imply.
[[nodiscard]] bool may_imply(const Unit& unit, const Interface& interface);
/// Returns the names that a scope has, but for those within its scopes.
[[nodiscard]] std::unordered_set<std::string> names_in_scope(const Declarations& declarations);
/// Says of a declaration with this name that it stands beside `by`, which implies it.
void describe_beside(Declaration& implied, const Declaration& by, const std::string& name);
/// Returns a forward declaration of it, which the unit owns.
[[nodiscard]] const Forward& forward_to(Unit& unit, const Declaration& implied);
/// Fills in the ancestors of an interface whose bases are known.
void find_ancestors(Interface& implied);
/// Adds an operation to a scope, without a result, that a request implies.
void add_implied_operation(Unit& unit, const Declaration& scope, Declarations& declarations,
                           const Request& request, const std::string& name,
                           std::vector<Parameter> parameters);

} // namespace kairos::idlc
