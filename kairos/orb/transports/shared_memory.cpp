// SPDX-License-Identifier: Apache-2.0
//
// shmiop://: two rings in memory that the client makes and hands over at the server's Unix socket
// (net/ring_channel.h). Who waits there cannot wait for anything else.
#include "kairos/orb/transports/transports.h"

namespace kairos::orb {
namespace {

class SharedMemory final : public LocalTransport {
  public:
    constexpr SharedMemory() noexcept : LocalTransport("shmiop", Number::shared_memory, 1) {}

    [[nodiscard]] bool needs_threads() const noexcept override { return true; }
    [[nodiscard]] bool bypasses_socket() const noexcept override { return true; }
    [[nodiscard]] Result<net::Socket> connect(const net::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override
    {
        auto socket = LocalTransport::connect(address, options, deadline);
        if (!socket) return socket;
        if (const auto agreed = socket->offer_memory(options.spin, deadline); !agreed)
            return Error{ErrorCode::unreachable,
                         "no memory shared with " + address.to_text() + ": " +
                             agreed.error().reason,
                         agreed.error().system_errno};
        return socket;
    }
    void prepare(net::Socket& socket, std::chrono::microseconds spin) const override
    {
        socket.expect_memory(spin);
    }
    [[nodiscard]] Result<void> accept(net::Socket& socket, Deadline deadline) const override
    {
        return socket.accept_memory(deadline);
    }
};

constinit const SharedMemory instance;

} // namespace

constinit const LocalTransport& transport::shared_memory = instance;

} // namespace kairos::orb
