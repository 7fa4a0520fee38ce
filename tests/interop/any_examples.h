// SPDX-License-Identifier: Apache-2.0
//
// The values that tests/interop sends in Anys: made and recognised in plain mapping code, compiled
// for each ORB. Used by one thread.
#pragma once

#ifdef PEER_OMNIORB
#include "anys.hh"
#else
#include "anys_skel.h"

#include <kairos/corba/CORBA.h>
#endif

#include <cstring>
#include <string>

namespace anys {

struct Example {
    const char* name;
    void (*make)(CORBA::Any& any, Anys::Peer_ptr self);
    bool (*is)(const CORBA::Any& any);
};

extern const Example examples[];
extern const int example_count;

} // namespace anys
