// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::lifecycle has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/lifecycle/CosLifeCycle.h"
#include "kairos/lifecycle/CosLifeCycle_skel.h"
