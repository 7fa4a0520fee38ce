// SPDX-License-Identifier: Apache-2.0
//
// A client of JacORB at our notification service.
#include "jacorb.h"
#include "naming_server.h"

using namespace interop;

namespace {

constexpr int checks_of_channels = 3;

class JacorbAndChannels : public WithJacorb {};

} // namespace

TEST_F(JacorbAndChannels, ClientOfJacorb)
{
    const NamingServer server(Command{KAIROS_TOOL, "notify", "serve", "--channel", "Lab",
                                      "--listen", "iiop://127.0.0.1"});
    jacorb().expect_checks("notify", "1.2", server.reference, checks_of_channels);
}
