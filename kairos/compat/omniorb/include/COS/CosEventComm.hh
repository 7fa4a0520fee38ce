// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::events has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/events/CosEventComm.h"
#include "kairos/events/CosEventComm_skel.h"
