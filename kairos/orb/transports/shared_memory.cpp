// SPDX-License-Identifier: Apache-2.0
//
// shmiop://: two rings in memory that the client makes and hands over at the server's Unix socket
// (net/ring_channel.h). Who waits there sleeps in that memory, or asks to be woken at the socket.
#include "kairos/net/connector.h"
#include "kairos/orb/transports/transports.h"

namespace kairos::orb {
namespace {

class SharedMemory final : public LocalTransport {
  public:
    constexpr SharedMemory() noexcept : LocalTransport("shmiop", Number::shared_memory, 1) {}

    [[nodiscard]] bool prefers_threads() const noexcept override { return true; }
    [[nodiscard]] Result<net::Socket> connect(const ior::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override
    {
        const auto path = net::Address::unix_path(address.host);
        if (!path) return path.error();
        auto socket = net::connect(*path, options, deadline.left());
        if (!socket) return socket;
        if (const auto agreed = socket->offer_memory(options.spin, deadline); !agreed)
            return Error{ErrorCode::unreachable,
                         "no memory shared with " + describe(address) + ": " +
                             agreed.error().reason,
                         agreed.error().system_errno};
        return socket;
    }
    [[nodiscard]] Result<void> prepare(net::Socket& socket, Side side,
                                       const net::SpinRule& spin) const override
    {
        if (side == Side::server) socket.expect_memory(spin);
        return {};
    }
};

constinit const SharedMemory the_shared_memory;

} // namespace

constinit const LocalTransport& transport::shared_memory = the_shared_memory;

} // namespace kairos::orb
