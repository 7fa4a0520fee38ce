// SPDX-License-Identifier: Apache-2.0
//
// PortableServer as users see it (CORBA 3.3 part 1, 15; C++ mapping 5.34 to 5.38); a thin front of
// module poa.
#pragma once

#include "kairos/corba/dynamic_servant.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/poa.h"
#include "kairos/corba/poa_current.h"
#include "kairos/corba/poa_manager.h"
#include "kairos/corba/poa_policy_objects.h"
#include "kairos/corba/servant.h"
#include "kairos/corba/servant_manager.h"
#include "kairos/mapping/marshal.h"
