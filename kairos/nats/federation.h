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

class Bus;

struct FederationOptions {
    /// Where the bus is: "nats://host:4222", or "tls://host:4222" for TLS, by which the server is
    /// known to be who it says; with the former everything, passwords too, is in the clear unless
    /// the server wants TLS. Several, separated by commas, are servers of one cluster, of which any
    /// will do.
    std::string servers;
    /// Who the program is to the server, where it asks for that.
    std::string user{};
    std::string password{};
    /// A file (PEM) with the certificates that a server of "tls://" is believed by; empty: those
    /// that the system believes.
    std::string authorities{};
    /// Octets of events of all channels that wait to go out, or for a server to be there. What
    /// comes then is not sent to the other processes.
    std::size_t outgoing_octets_max = std::size_t{8} << 20;
    /// Octets of events of one channel that have come and not been looked at. What comes then is
    /// not given to its consumers.
    std::size_t incoming_octets_max = std::size_t{8} << 20;
};

/// What has happened since the federation began, for all of its channels.
struct FederationFigures {
    bool is_connected = false;
    std::uint64_t connections = 0; ///< how often one was made
    std::uint64_t failures = 0;    ///< how often none could be made
    std::uint64_t sent = 0;        ///< events given to a connection
    std::uint64_t unsent = 0;      ///< events that were not: no room, or larger than it takes
    std::uint64_t received = 0;    ///< events of other processes, given to the consumers here
    std::uint64_t unreceived = 0;  ///< events of other processes that were not: no room
    std::uint64_t malformed = 0;   ///< messages that are no events
};

class KAIROS_API Federation {
  public:
    /// Connects in the background, and again whenever there is no connection, with pauses that grow
    /// to ten seconds, for as long as this lives. The ORB is what references in events belong to.
    /// From the first one on the process ignores SIGPIPE, by NATS' library. Throws BAD_PARAM, with
    /// a reason, for servers that cannot be, and INITIALIZE where the certificates cannot be read.
    Federation(CORBA::ORB_ptr orb, const FederationOptions& options);
    Federation(const Federation&) = delete;
    Federation& operator=(const Federation&) = delete;
    /// Leaves the bus. The channels remain, by themselves.
    ~Federation();

    /// Leaves the bus: no event of other processes is given to consumers here when this returns,
    /// and what waits to go out was given half a second. Any thread.
    void leave() noexcept;

    /// Makes a channel of this service, as EventService::create_channel does, which is one with all
    /// those of other processes that have the same subject. Without a subject it has that of its
    /// name (`subject_of`). What is pushed is sent first, and then given to the consumers here, so
    /// a push that raises was sent. Owned by the caller. Throws what that throws, and BAD_PARAM for
    /// a subject that NATS does not have, or that another channel of this has.
    [[nodiscard]] KairosEvents::Channel_ptr create_channel(events::EventService& service,
                                                           const std::string& name,
                                                           const std::string& subject = {});

    [[nodiscard]] FederationFigures figures() const;

    /// Returns the subject of channels with this name: "kairos.events." and the name, of which what
    /// is neither a letter nor a digit nor one of "-_" is said by a percent sign and two
    /// hexadecimal digits, octet by octet.
    [[nodiscard]] static std::string subject_of(const std::string& channel);

  private:
    const std::shared_ptr<Bus> bus_;
};

} // namespace kairos::nats
