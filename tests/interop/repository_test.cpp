// SPDX-License-Identifier: Apache-2.0
//
// Our Interface Repository, read and changed by a client of omniORB's.
#include "peer.h"

#include <gtest/gtest.h>

namespace interop {
namespace {

TEST(Repository, IsReadAndChangedByOmniorb)
{
#ifdef OMNIORB_REPOSITORY
    calls::Process server({KAIROS_TOOL, "ifr", "serve", "-l", "iiop://127.0.0.1:0", LIBRARY_IDL});
    calls::Process client({OMNIORB_REPOSITORY, server.read_line()});
    expect_lines(client, 15, "end");
#else
    GTEST_SKIP() << "omniORB is not installed";
#endif
}

} // namespace
} // namespace interop
