// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; it needs no further library.
#pragma once

#include "kairos/corba/TimeBase.h"
#include "omniORB4/CORBA.h"
