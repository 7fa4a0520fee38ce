// SPDX-License-Identifier: Apache-2.0
//
// TAO's name; docs/from-tao.md says which names lead where.
#pragma once

#include "kairos/compat/tao/tao.h"
#include "kairos/corba/dynamic_servant.h"

typedef PortableServer::DynamicImplementation TAO_DynamicImplementation;
