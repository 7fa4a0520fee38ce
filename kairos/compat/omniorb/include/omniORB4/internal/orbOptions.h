// SPDX-License-Identifier: Apache-2.0
//
// omniORB's options are ORB_init's alone here: programs include this header and use nothing of it.
#pragma once

#include "omniORB4/omniORB.h"
