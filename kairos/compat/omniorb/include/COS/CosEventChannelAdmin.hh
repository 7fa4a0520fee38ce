// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::events has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/events/CosEventChannelAdmin_skel.h"
