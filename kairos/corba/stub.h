// SPDX-License-Identifier: Apache-2.0
//
// What generated types and stubs (foo.h, foo.cpp) include.
#pragma once

#include "kairos/corba/abstract_base.h"
#include "kairos/corba/any_object.h"
#include "kairos/corba/context.h"
#include "kairos/corba/direct.h"
#include "kairos/corba/interpreted.h"
#include "kairos/corba/invocation.h"
#include "kairos/corba/object.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/request.h"
#include "kairos/corba/valuetypes.h"
#include "kairos/mapping/array.h"
#include "kairos/mapping/exception.h"
#include "kairos/mapping/fixed_layout.h"
#include "kairos/mapping/fixed_point.h"
#include "kairos/mapping/marshal.h"
#include "kairos/mapping/sequence.h"
#include "kairos/mapping/string.h"
#include "kairos/mapping/types.h"
#include "kairos/mapping/union.h"
#include "kairos/mapping/var.h"
#include "kairos/mapping/wstring.h"
#include "kairos/types/any_value.h"
#include "kairos/types/interpreter.h"
#include "kairos/types/table.h"
#include "kairos/types/typecode_wire.h"
#include "kairos/values/marshal.h"
#include "kairos/values/value_base.h"

// Generated from idl/orb.idl, and so includes this file: what module CORBA has of IDL, which every
// program may name (PolicyList, OctetSeq, …). Last, for it needs all of the above.
#include "kairos/corba/orb_types.h"
