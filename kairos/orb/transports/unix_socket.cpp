// SPDX-License-Identifier: Apache-2.0
//
// uiop://: a stream of GIOP messages through a Unix socket, as over TCP.
#include "kairos/orb/transports/transports.h"

namespace kairos::orb {
namespace {

class UnixSocket final : public LocalTransport {
  public:
    constexpr UnixSocket() noexcept : LocalTransport("uiop", Number::unix_socket, 0) {}
};

constinit const UnixSocket the_unix_socket;

} // namespace

constinit const LocalTransport& transport::unix_socket = the_unix_socket;

} // namespace kairos::orb
