// SPDX-License-Identifier: Apache-2.0
//
// omniORB's name; Kairos::naming has what it declares.
#pragma once

#include "omniORB4/CORBA.h"

#include "kairos/naming/CosNaming.h"
#include "kairos/naming/CosNaming_skel.h"
