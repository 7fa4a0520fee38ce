// SPDX-License-Identifier: Apache-2.0
//
// What the run time declares itself. Modules CORBA and PortableServer are open: IDL files of the
// OMG's and of other ORBs declare parts of them. Such a declaration is checked like any other, but
// where Kairos has its C++ already there is none to generate: its header is included instead.
#pragma once

#include "idlc/model.h"

namespace kairos::idlc {

enum class Provider {
    program,   ///< nobody but the IDL file: C++ is generated
    facade,    ///< written by hand, in what generated headers include
    orb_types, ///< generated from idl/orb.idl: kairos/corba/orb_types.h
    ir,        ///< generated from idl/ir.idl: kairos/ir/ir.h
};

[[nodiscard]] Provider provider_of(const Declaration& declaration);

/// Returns whether the run time declares this enumeration of idl/orb.idl itself, below what is
/// generated from that: its TypeCode, marshalling and insertion into Any are generated, its C++
/// type is not.
[[nodiscard]] bool is_declared_by_hand(const Enum& enumeration);

/// Whether it is one of the interfaces of module CORBA that IDL of before CORBA 2.4 derives from,
/// and declares, without "local", which did not exist then.
[[nodiscard]] bool is_locality_constrained(const Interface& interface);

} // namespace kairos::idlc
