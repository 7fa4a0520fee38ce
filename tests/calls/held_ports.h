// SPDX-License-Identifier: Apache-2.0
//
// Ports that a test's servers are to listen at one after another, or that another's program wants
// to be told.
#pragma once

#include "kairos/net/address.h"
#include "kairos/net/socket.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace calls {

/// Ports of the loopback address in a row, which nobody else has while this lives: a server may
/// listen at the first, or at each for one of its lanes. When that has ended nobody else answers
/// there. They are none of those that the system chooses from: of these, past connections hold so
/// many for a minute that a row of free ones may take as long to find.
class HeldPorts {
  public:
    explicit HeldPorts(std::uint16_t count)
    {
        // On from where this process was: who has just ended may leave connections that linger.
        static std::atomic<unsigned> next{static_cast<unsigned>(::getpid()) * 101};
        const unsigned ports = end() - lowest;
        for (unsigned tried = 0; tried < ports; tried += count) {
            first_ = static_cast<std::uint16_t>(lowest + next.fetch_add(count) % (ports - count));
            if (hold(count)) return;
            sockets_.clear();
        }
        throw std::runtime_error("cannot hold a port: none is free");
    }
    [[nodiscard]] std::uint16_t port() const { return first_; }
    /// Returns the endpoint for a server that is to listen at the ports.
    [[nodiscard]] std::string endpoint() const
    {
        return "iiop://127.0.0.1:" + std::to_string(first_);
    }

  private:
    static constexpr unsigned lowest = 10'000;

    /// Before which port to end.
    [[nodiscard]] static unsigned end()
    {
        unsigned chosen = 0; // first of the system's
        std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> chosen;
        return chosen > 2 * lowest ? chosen : 65'536;
    }
    /// Whether nobody had one of them.
    [[nodiscard]] bool hold(std::uint16_t count)
    {
        for (int port = first_; port < first_ + count; ++port) {
            kairos::net::Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            const kairos::net::Address address =
                kairos::net::Address::loopback_ipv4(static_cast<std::uint16_t>(port));
            if (::bind(socket.descriptor(), address.native(), address.native_size()) != 0) {
                if (errno == EADDRINUSE) return false;
                throw std::system_error(errno, std::generic_category(), "cannot hold a port");
            }
            // Only now, and as the server's own: then two may have the port, as long as one of
            // them listens.
            constexpr int yes = 1;
            if (::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0)
                throw std::system_error(errno, std::generic_category(), "cannot hold a port");
            sockets_.push_back(std::move(socket));
        }
        return true;
    }

    std::vector<kairos::net::Socket> sockets_;
    std::uint16_t first_ = 0;
};

} // namespace calls
