// SPDX-License-Identifier: Apache-2.0
//
// Where declarations name types, for checks of every kind.
#pragma once

#include "idlc/model.h"

#include <vector>

namespace kairos::idlc {

class Diagnostics;

/// How a declaration uses a type.
struct TypeUse {
    enum class As {
        name,     ///< gives it another one
        part,     ///< holds a value of it
        argument, ///< passes one: a parameter, a result or an attribute
    };
    const Type* type;
    Location location;
    As as;
};
/// Returns the declaration's own uses of types, in the order of the IDL: not those of what is
/// declared within it.
[[nodiscard]] std::vector<TypeUse> uses_of(const Declaration& declaration);
/// Returns what an operation, an attribute or a valuetype's factories say that they raise.
[[nodiscard]] Declarations raised_by(const Declaration& declaration);

/// Reports natives and pseudo objects where something of them would be sent, which nobody can: as
/// parts of other types, and as arguments of interfaces that are not local (CORBA 3.3 part 1,
/// 7.11.5). Only of what something is generated for. For back ends that write what sends: an
/// Interface Repository may know of natives anywhere.
void check_locality(const Unit& unit, Diagnostics& diagnostics);

} // namespace kairos::idlc
