// SPDX-License-Identifier: Apache-2.0
//
// shmiop://: two rings in memory that the client makes and hands over at the server's Unix socket
// (net/ring_channel.h). Who waits there sleeps in that memory, or asks to be woken at the socket.
#include "kairos/net/connector.h"
#include "kairos/orb/options.h"
#include "kairos/orb/transports/transports.h"

namespace kairos::orb {
namespace {

class SharedMemory : public LocalTransport {
  public:
    constexpr explicit SharedMemory(std::size_t loans) noexcept
        : LocalTransport("shmiop", Number::shared_memory, 1), loans_(loans)
    {
    }

    [[nodiscard]] Result<std::shared_ptr<const Transport>>
    of_orb(const Options& options) const override;
    [[nodiscard]] bool prefers_threads() const noexcept override { return true; }
    [[nodiscard]] Result<net::Socket> connect(const ior::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override
    {
        const auto path = net::Address::unix_path(address.host);
        if (!path) return path.error();
        auto socket = net::connect(*path, options, deadline.left());
        if (!socket) return socket;
        if (const auto agreed = socket->offer_memory(options.spin, deadline, options.loan_memory);
            !agreed)
            return Error{ErrorCode::unreachable,
                         "no memory shared with " + describe(address) + ": " +
                             agreed.error().reason,
                         agreed.error().system_errno};
        return socket;
    }
    [[nodiscard]] Result<void> prepare(net::Socket& socket, Side side,
                                       const net::SpinRule& spin) const override
    {
        if (side == Side::server) socket.expect_memory(spin, loans_);
        return {};
    }

  protected:
    ~SharedMemory() = default;

  private:
    const std::size_t loans_; // that a server takes
};

class SharedMemoryOf final : public SharedMemory {
  public:
    using SharedMemory::SharedMemory;
    ~SharedMemoryOf() = default;
};

constexpr std::size_t usual_loans = net::SocketOptions().loan_memory;

Result<std::shared_ptr<const Transport>> SharedMemory::of_orb(const Options& options) const
{
    if (options.socket.loan_memory == loans_) return std::shared_ptr<const Transport>();
    return std::shared_ptr<const Transport>(
        std::make_shared<const SharedMemoryOf>(options.socket.loan_memory));
}

constinit const SharedMemoryOf the_shared_memory(usual_loans);

} // namespace

constinit const LocalTransport& transport::shared_memory = the_shared_memory;

} // namespace kairos::orb
