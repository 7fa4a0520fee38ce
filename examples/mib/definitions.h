// SPDX-License-Identifier: Apache-2.0
//
// What mib.idl says, in an Interface Repository: browsers then need no IDL.
#pragma once

#include <kairos/ir/ir.h>

void define_mib(CORBA::Repository_ptr repository);
