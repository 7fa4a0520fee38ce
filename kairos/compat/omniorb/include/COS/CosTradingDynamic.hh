// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::trading has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/trading/CosTradingDynamic.h"
#include "kairos/trading/CosTradingDynamic_skel.h"
