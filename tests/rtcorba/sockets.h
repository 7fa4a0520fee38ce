// SPDX-License-Identifier: Apache-2.0
//
// Protocol policies for tests, and what the sockets of this process have of them.
#pragma once

#include "kairos/net/address.h"
#include "tests/rtcorba/fixture.h"

#include <filesystem>
#include <netinet/in.h>
#include <sys/socket.h>

namespace kairos::rtcorba_testing {

[[nodiscard]] inline RTCORBA::ProtocolList tcp_list(RTCORBA::TCPProtocolProperties_ptr properties,
                                                    CORBA::ULong type = ior::tag_internet_iop)
{
    RTCORBA::ProtocolList list;
    list.length(1);
    list[0].protocol_type = type;
    list[0].transport_protocol_properties = RTCORBA::ProtocolProperties::_duplicate(properties);
    return list;
}

/// The same properties, with packets that say their priority.
[[nodiscard]] inline RTCORBA::TCPProtocolProperties_ptr
marked(RTCORBA::TCPProtocolProperties_ptr properties)
{
    const auto extended = narrowed<KairosRealTime::TCPProtocolProperties>(properties);
    extended->enable_network_priority(true);
    return properties;
}

/// What one end of each TCP connection to a port of this process has as a socket option.
class Ends {
  public:
    explicit Ends(std::uint16_t port) : port_(port) {}
    /// Of the connection made last.
    [[nodiscard]] int of_client(int level, int option) const { return of(level, option, true); }
    [[nodiscard]] int of_server(int level, int option) const { return of(level, option, false); }

  private:
    static std::uint16_t port_of(int descriptor, decltype(::getpeername)* name)
    {
        sockaddr_storage native{};
        socklen_t size = sizeof native;
        if (name(descriptor, reinterpret_cast<sockaddr*>(&native), &size) != 0) return 0;
        const auto address =
            net::Address::from_native(reinterpret_cast<const sockaddr*>(&native), size);
        return address.is_ip() ? address.port() : std::uint16_t{0};
    }
    [[nodiscard]] int of(int level, int option, bool client) const
    {
        int found = -1;
        int highest = -1;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            const int descriptor = std::stoi(entry.path().filename());
            const auto peer = port_of(descriptor, ::getpeername);
            const auto own = port_of(descriptor, ::getsockname);
            if (peer == 0 || (client ? peer : own) != port_ || descriptor < highest) continue;
            int value = 0;
            socklen_t size = sizeof value;
            if (::getsockopt(descriptor, level, option, &value, &size) != 0) continue;
            found = value;
            highest = descriptor;
        }
        return found;
    }

    const std::uint16_t port_;
};

} // namespace kairos::rtcorba_testing
