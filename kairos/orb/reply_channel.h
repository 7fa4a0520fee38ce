// SPDX-License-Identifier: Apache-2.0
//
// Where the reply to a request goes. Used by the thread that serves the request.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/orb/hold.h"

#include <cstdint>

namespace kairos::cdr {
class Writer;
} // namespace kairos::cdr

namespace kairos::net {
class Address;
class Channel;
} // namespace kairos::net

namespace kairos::orb {

class OwedChannel;

/// Where a reply goes: a connection, or a caller in this process.
class KAIROS_API ReplyChannel {
  public:
    /// Sends a reply: `header`, and behind it the body. They are one block in memory unless the
    /// header is a long one. Whatever fails is the channel's to remember: a servant cannot mend it.
    virtual void send(Bytes header, const cdr::Writer& body) noexcept = 0;

    /// Returns the address that the request came from; null if the caller is in this process.
    [[nodiscard]] virtual const net::Address* peer_address() const noexcept { return nullptr; }
    /// Returns what carries the bytes of the connection that the request came by; null if that is
    /// the socket's descriptor, or the caller is in this process. Lasts until the request is
    /// served.
    [[nodiscard]] virtual const net::Channel* peer_channel() const noexcept { return nullptr; }

    /// Returns the way of the answer to the request that is being served, if it is given after that
    /// (owed_answer.h); null where only the thread that serves can send it. Throws std::bad_alloc.
    [[nodiscard, gnu::cold]] virtual IntrusivePtr<OwedChannel> owe();

    /// Where the request waits that this channel's reply is for, if the adapter holds it.
    Hold hold;
    /// Whether the caller is the calling thread.
    bool is_local = false;
    /// Whether all requests by this channel come from whoever is at the other end of one
    /// connection.
    bool is_connection = false;
    std::uint16_t unused = 0; // so that one store sets all
    /// What who stands in front of the adapters knows the caller by, if this is a connection; 0:
    /// not yet. His alone.
    std::uint32_t caller = 0;

  protected:
    ~ReplyChannel() = default;
};

} // namespace kairos::orb
