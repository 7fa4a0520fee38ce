// SPDX-License-Identifier: Apache-2.0
//
// The Naming Service under omniORB's name for it.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/naming/CosNaming.h"
#include "kairos/naming/CosNaming_skel.h"
