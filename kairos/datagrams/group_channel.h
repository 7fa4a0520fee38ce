// SPDX-License-Identifier: Apache-2.0
//
// The client's end of the way to a group: each oneway is cut into packets (packet.h).
//
// GIOP requests to a group name it by its profile, not by an object key. References know keys
// only: that of a target of a group is the number of octets of its profile, and these, so that a
// request with such a key, and one with the profile, are as long as each other, and differ in two
// numbers. Those are put in here, in front of the first packet.
//
//   key      0, 0, 4 + n, n, the profile's octets
//   profile  1, 0, TAG_UIPMC, n, the profile's octets
#pragma once

#include "kairos/datagrams/assembly.h"
#include "kairos/datagrams/channel.h"
#include "kairos/datagrams/group.h"

namespace kairos::datagrams {

class GroupChannel final : public Channel {
  public:
    /// As Channel; `packet` is the most octets of one.
    GroupChannel(int descriptor, net::Socket answers, net::Socket datagrams, ior::Address where,
                 const net::SocketOptions& options, std::size_t packet);

    /// Makes a socket that has such a channel, to the multicast group at `where`.
    [[nodiscard]] static Result<net::Socket> connect(const ior::Address& where,
                                                     const net::SocketOptions& options,
                                                     const MulticastSettings& settings);

  private:
    /// What receivers of ours keep at most of one message.
    [[nodiscard]] std::size_t message_octets_max() const noexcept override
    {
        return AssemblyLimits().message_octets;
    }
    [[nodiscard]] net::IoResult send_message(std::span<const iovec> segments,
                                             std::size_t size) noexcept override;

    // Of the thread that writes.
    const std::size_t data_max_; // octets of a message in a packet
    OwnPacketId id_;             // the last four octets are a number
};

} // namespace kairos::datagrams
