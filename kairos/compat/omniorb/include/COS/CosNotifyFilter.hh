// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::notification has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/notification/CosNotifyFilter.h"
#include "kairos/notification/CosNotifyFilter_skel.h"
