// SPDX-License-Identifier: Apache-2.0
//
// Everything that a client or server needs beside its generated files.
#pragma once

#include "kairos/corba/orb.h"
#include "kairos/corba/orb_types.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/corba/portable_server.h"
#include "kairos/corba/request.h"
#include "kairos/corba/stub.h"
