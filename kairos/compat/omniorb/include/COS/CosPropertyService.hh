// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::properties has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/properties/CosPropertyService.h"
#include "kairos/properties/CosPropertyService_skel.h"
