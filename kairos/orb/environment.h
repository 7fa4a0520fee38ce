// SPDX-License-Identifier: Apache-2.0
//
// What a decoder above CDR is given beside the bytes: the ORB that object references belong to.
#pragma once

namespace kairos::orb {
class Orb;
}

namespace kairos::cdr {

struct Environment {
    orb::Orb* orb;
};

} // namespace kairos::cdr
