// SPDX-License-Identifier: Apache-2.0
//
// What generated skeletons (foo_skel.h, foo_skel.cpp) include.
#pragma once

#include "kairos/corba/operation_table.h"
#include "kairos/corba/portable_server.h"
#include "kairos/corba/stub.h"
#include "kairos/orb/timed_upcall.h"
#include "kairos/orb/upcall.h"
