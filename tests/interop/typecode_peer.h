// SPDX-License-Identifier: Apache-2.0
//
// The one place where typecode_peer.cpp knows which ORB it is compiled for.
#pragma once

#ifdef PEER_OMNIORB
#include "typecode.hh"
#else
#include "typecode_skel.h"

#include <kairos/corba/CORBA.h>
#endif
