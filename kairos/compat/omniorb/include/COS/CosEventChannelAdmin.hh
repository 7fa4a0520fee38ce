// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::events has what it declares.
#pragma once

#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/events/CosEventChannelAdmin_skel.h"
#include "omniORB4/CORBA.h"
