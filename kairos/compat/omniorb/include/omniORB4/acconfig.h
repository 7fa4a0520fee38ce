// SPDX-License-Identifier: Apache-2.0
//
// What omniORB's header of this name says of the system.
#pragma once

#include "omniORB4/CORBA_sysdep.h"
