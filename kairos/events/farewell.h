// SPDX-License-Identifier: Apache-2.0
//
// Tells a client that it is connected no more, if it can be told. Nobody waits for that.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/couriers.h"
#include "kairos/orb/operation.h"

#include <chrono>
#include <memory>

namespace kairos::events {

/// Calls `operation`, which has no arguments and is constant data, unless there are too many such
/// calls; the log says once that there were.
void bid_farewell(const std::shared_ptr<Couriers>& couriers, CORBA::Object_ptr client,
                  const orb::Operation& operation, std::chrono::milliseconds timeout);

} // namespace kairos::events
