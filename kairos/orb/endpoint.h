// SPDX-License-Identifier: Apache-2.0
//
// One address that clients connect to, shared by all references that name it and agree on the same
// code sets there: those belong to a connection. Immutable.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/result.h"
#include "kairos/net/resolver.h"

#include <atomic>
#include <string>
#include <vector>

namespace kairos::orb {

class Endpoint : public RefCounted {
  public:
    /// `contexts` are the service contexts of the first request on each connection.
    Endpoint(std::string host, std::uint16_t port, std::vector<std::byte> contexts)
        : host_(std::move(host)), port_(port), contexts_(std::move(contexts))
    {
    }

    /// Distinguishes endpoints for the life of the process; never reused.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] const std::string& host() const noexcept { return host_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// As giop::RequestTemplate wants them; empty if there are none.
    [[nodiscard]] Bytes contexts() const noexcept { return contexts_; }
    /// Whether both lead to the same place.
    [[nodiscard]] bool same_address(const Endpoint& other) const noexcept
    {
        return port_ == other.port_ && host_ == other.host_;
    }
    /// "host:port", for messages.
    [[nodiscard]] std::string text() const
    {
        const bool ipv6 = host_.find(':') != std::string::npos;
        return (ipv6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(port_);
    }

    /// The addresses behind the name, asked for anew each time: a connection is being made, and
    /// names move. Numeric hosts ask nobody.
    [[nodiscard]] Result<std::vector<net::Address>> resolve(Deadline deadline) const
    {
        return net::resolve(host_, port_, deadline);
    }

  private:
    [[nodiscard]] static std::uint64_t next_id() noexcept
    {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    const std::uint64_t id_ = next_id();
    const std::string host_;
    const std::uint16_t port_;
    const std::vector<std::byte> contexts_;
};

} // namespace kairos::orb
