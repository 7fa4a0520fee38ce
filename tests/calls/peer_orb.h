// SPDX-License-Identifier: Apache-2.0
//
// The one place where the programs of this suite know which ORB they are compiled for: all else in
// them is the OMG's mapping. PEER_OMNIORB chooses omniORB.
#pragma once

#ifdef PEER_OMNIORB
#include "types.hh"
#else
#include "types_skel.h"

#include <kairos/corba/CORBA.h>
#endif
