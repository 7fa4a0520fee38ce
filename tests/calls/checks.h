// SPDX-License-Identifier: Apache-2.0
//
// What a client may expect of any server of Echo, as a list of named checks: run by the tests of
// our ORB and by the programs that talk to other ORBs. Plain mapping code, for any ORB. A check
// throws if what it expects does not hold.
#pragma once

#include "values.h"

#include <string>
#include <vector>

namespace calls {

struct Context {
    CORBA::ORB_ptr orb;
    Types::Echo_ptr server;
    Pool pool; ///< nil, the server, an object of this process, another of the server's
    std::uint32_t seed = 1;
};

/// The pool for calls to `server`; `own` is an object of this process.
Context make_context(CORBA::ORB_ptr orb, Types::Echo_ptr server, Types::Echo_ptr own);

struct Check {
    std::string name;
    void (*run)(Context&);
};

/// One for each type, in every direction.
std::vector<Check> value_checks();
/// Attributes, exceptions, oneways, references, large messages.
std::vector<Check> call_checks();
/// All of them.
std::vector<Check> all_checks();

/// Throws with `what` and both texts unless these are the same.
void expect_same(const std::string& expected, const std::string& actual, const char* what);
void expect(bool condition, const char* what);

} // namespace calls
