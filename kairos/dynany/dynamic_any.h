// SPDX-License-Identifier: Apache-2.0
//
// Module DynamicAny (CORBA 3.3 part 1, chapter 16): values of types that nobody compiled for, taken
// apart and put together. resolve_initial_references("DynAnyFactory") is where to begin;
// docs/dynany.md says how. A DynAny and its components belong to one thread at a time.
#pragma once

#include <kairos/corba/orb_types.h>
#include <kairos/dynany/DynamicAny.h>
