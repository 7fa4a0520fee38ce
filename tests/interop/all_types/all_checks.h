// SPDX-License-Identifier: Apache-2.0
//
// What a client may expect of any server of Everything, as a list of named checks. Plain mapping
// code, for any ORB. A check throws if what it expects does not hold.
#pragma once

#include "all_values.h"

#include <string>
#include <vector>

namespace all {

struct Context {
    CORBA::ORB_ptr orb;
    All::Everything_ptr server;
    Pool pool; ///< nil, the server, an object of this process; the TypeCodes of many types
    std::uint32_t seed = 1;
};

Context make_context(CORBA::ORB_ptr orb, All::Everything_ptr server, All::Everything_ptr own);

struct Check {
    std::string name;
    void (*run)(Context&);
};

/// For each type T: echo_T in every direction; any_T in an Any by this side and by the server;
/// raise_T in an exception; raised_T in an exception in an Any.
std::vector<Check> all_checks();
/// The same of echo_T and raise_T without stubs; none where omniORB is the client.
std::vector<Check> dynamic_checks();

} // namespace all
