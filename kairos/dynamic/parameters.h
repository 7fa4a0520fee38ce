// SPDX-License-Identifier: Apache-2.0
//
// How the values of parameters travel between Anys and messages, at the client (Request) and at
// the server (ServerRequest) alike.
#pragma once

#include "kairos/types/any_access.h"

namespace kairos::dynamic {

/// Returns the type of an argument, which stays the Any's. Throws BAD_TYPECODE 3 where it has none,
/// or that of an exception.
[[nodiscard]] const CORBA::TypeCode& parameter_type(const CORBA::Any& value);

/// Returns whether values of this type are something on the wire.
[[nodiscard]] bool has_value(const CORBA::TypeCode& type);

/// Writes an argument where the IDL has `type`, as a stub does: it does not say the type of a value
/// that is the one of the IDL.
void encode_parameter(cdr::Writer& out, const CORBA::Any& argument, const CORBA::TypeCode& type);

} // namespace kairos::dynamic
