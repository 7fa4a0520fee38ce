// SPDX-License-Identifier: Apache-2.0
//
// What the core knows of who may call what (-ORBAccess), which is a library of its own
// (kairos/access): functions that it asks by a weak reference.
#pragma once

#include "kairos/base/export.h"

#include <memory>
#include <string>

namespace kairos::orb {
class Adapter;
class Orb;
class UpcallObserver;
} // namespace kairos::orb

namespace kairos::corba {

struct AccessControl {
    /// Reads a file of rules. Returns who asks them of each request, to be the first observer of an
    /// ORB. Throws BAD_PARAM for a file that cannot be used.
    std::unique_ptr<orb::UpcallObserver> (*read)(const std::string& file);
    /// Returns an adapter in front of the ORB's, which passes requests on to `plain` whose answer
    /// is known, and all others to `observing`, which is in front of that for the ORB's observers.
    std::unique_ptr<orb::Adapter> (*guard)(const orb::Orb& orb,
                                           std::unique_ptr<orb::Adapter> observing,
                                           orb::Adapter& plain);
};

/// Of kairos/access.
KAIROS_API const AccessControl& access_control();

} // namespace kairos::corba
