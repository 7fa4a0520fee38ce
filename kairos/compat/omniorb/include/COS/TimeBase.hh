// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; it needs no further library.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/corba/TimeBase.h"
