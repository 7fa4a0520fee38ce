// SPDX-License-Identifier: Apache-2.0
//
// What programs for omniORB include instead of omniORB's header of this name.
#pragma once

#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/IOP.h"
#include "kairos/corba/skel.h"
#include "omniORB4/CORBA_sysdep.h"
#include "omniORB4/minorCode.h"
#include "omniORB4/omniORB.h"

#if __has_include(<omnithread.h>)
#include <omnithread.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <cstring>
