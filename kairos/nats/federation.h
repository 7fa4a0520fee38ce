// SPDX-License-Identifier: Apache-2.0
//
// Channels of the Event Service in several processes as one, by way of a NATS server: what a
// supplier pushes into one of them, the consumers of all get that have the same subject. Best
// effort: nothing is kept for who is not there, and nothing is acknowledged. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/CORBA.h"
#include "kairos/events/service.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kairos::nats {

struct FederationOptions {
    /// Where the bus is: "nats://host:4222", with "user:password@" before the host where it asks
    /// for that; "tls://" for TLS, by which the server is known to be who it says. Several,
    /// separated by commas, are servers of one cluster, of which any will do.
    std::string servers;
    /// A file (PEM) with the certificates that a server of "tls://" is believed by; empty: those
    /// that the system believes.
    std::string authorities{};
    /// Octets of events of all channels that wait to go out, and as many more that wait for a
    /// server to be there again. What comes then is not sent to the other processes.
    std::size_t outgoing_octets_max = std::size_t{8} << 20;
    /// Octets of events of one channel that have come and not been looked at. What comes then is
    /// not given to its consumers.
    std::size_t incoming_octets_max = std::size_t{8} << 20;
};

/// What has happened since the federation began, for all of its channels.
struct FederationFigures {
    bool is_connected = false;
    std::uint64_t connections = 0; ///< how often there was a server, after there was none
    std::uint64_t sent = 0;        ///< events given to the bus
    std::uint64_t unsent = 0;      ///< events that were not: no room, or larger than it takes
    std::uint64_t received = 0;    ///< events of other processes, given to the consumers here
    std::uint64_t unreceived = 0;  ///< events of other processes that were not: no room
    std::uint64_t malformed = 0;   ///< messages that are no events
};

class KAIROS_API Federation {
  public:
    /// Connects, in the background: a server that is not there yet is tried again, with pauses that
    /// grow to ten seconds, for as long as this lives. The ORB is what references in events belong
    /// to. Throws BAD_PARAM, with a reason, for servers that cannot be, and INITIALIZE where the
    /// certificates cannot be read.
    Federation(CORBA::ORB_ptr orb, const FederationOptions& options);
    Federation(const Federation&) = delete;
    Federation& operator=(const Federation&) = delete;
    /// Leaves the bus, with what waits to go out given half a second. The channels remain, by
    /// themselves.
    ~Federation();

    /// Makes a channel of this service, as EventService::create_channel does, which is one with all
    /// those of other processes that have the same subject. Without a subject it has that of its
    /// name (`subject_of`). Owned by the caller. Throws what that throws, and BAD_PARAM for a
    /// subject that NATS does not have, or that another channel of this has.
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(events::EventService& service,
                                                           const std::string& name,
                                                           const std::string& subject = {});

    [[nodiscard]] FederationFigures figures() const;

    /// Returns the subject of channels with this name: "kairos.events." and the name, of which what
    /// is neither a letter nor a digit nor one of "-_" is said by a percent sign and two
    /// hexadecimal digits, octet by octet.
    [[nodiscard]] static std::string subject_of(const std::string& channel);

  private:
    class Bus;
    const std::unique_ptr<Bus> bus_;
};

} // namespace kairos::nats
