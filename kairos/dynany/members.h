// SPDX-License-Identifier: Apache-2.0
//
// Components that have names: what DynStruct and DynValue do alike.
#pragma once

#include "kairos/dynany/node.h"

#include <vector>

namespace kairos::dynany {

using MemberList = std::vector<const types::TypeCodeMember*>;

/// The members of a struct, an exception or a value; those of a value's bases first.
[[nodiscard]] MemberList members_of(const types::TypeCodeData& type);
/// A component for each member, with its default value.
[[nodiscard]] Components make_components(Tree& tree, const MemberList& members);

[[nodiscard]] DynamicAny::NameValuePairSeq* values_of(const MemberList& members,
                                                      const Components& components);
[[nodiscard]] DynamicAny::NameDynAnyPairSeq* nodes_of(const MemberList& members,
                                                      const Components& components);

// Replace the values of all components. Throw InvalidValue unless there are as many, TypeMismatch
// for another type or another name; no name is any name.
void set_values(const MemberList& members, const Components& components,
                const DynamicAny::NameValuePairSeq& values);
void set_values(const MemberList& members, const Components& components,
                const DynamicAny::NameDynAnyPairSeq& values);

} // namespace kairos::dynany
