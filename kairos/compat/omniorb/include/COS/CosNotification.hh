// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::notification has what it declares.
#pragma once

#include "kairos/notification/CosNotification.h"
#include "kairos/notification/CosNotification_skel.h"
#include "omniORB4/CORBA.h"
