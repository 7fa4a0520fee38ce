// SPDX-License-Identifier: Apache-2.0
//
// Interfaces and types as IDL, written from TypeCodes: what is known of an object that nobody has
// the IDL of.
#pragma once

#include "kairos/corba/CORBA.h"
#include "tools/kairos/interfaces.h"

#include <string>
#include <string_view>

namespace kairos::tools {

/// Returns how IDL refers to a type: "long", "sequence<Demo::Point, 4>", "Demo::Point".
[[nodiscard]] std::string idl_name(const CORBA::TypeCode& type);

/// Returns an identifier as IDL writes it: with an underscore in front if it is a word of IDL.
[[nodiscard]] std::string idl_identifier(std::string_view name);

/// Returns an operation or attribute as a line of IDL, without the semicolon.
[[nodiscard]] std::string idl_of(const KnownOperation& operation);

/// Returns IDL that declares the interface, with what it inherits, and in front of it the types
/// that it uses; kairos-idl compiles it. Of `others`, which are not declared, it gives types
/// another place: Root::Color is Root_Color, with the id that it has.
[[nodiscard]] std::string idl_of(const KnownInterface& interface, const Interfaces& others);

} // namespace kairos::tools
