// SPDX-License-Identifier: Apache-2.0
//
// What a peer did not take yet of what it is sent: nothing here waits, whether the socket blocks or
// not. Ordinarily empty, and then everything goes to the socket at once. Used by one thread at a
// time.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/net/socket.h"

#include <cstdint>
#include <vector>

namespace kairos::orb {

class Unsent {
  public:
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    /// Octets that are kept.
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - sent_; }
    /// Octets that the peer has taken late, all in all.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    /// How often something began to be kept.
    [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }
    /// Nothing can be sent any more: the connection is broken, or memory was short.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

    /// Sends now what can be sent, keeps the rest.
    void put(net::Socket& socket, Bytes bytes) noexcept;
    /// The same for a message: `header`, then what `body` holds, in fragments of this size if it is
    /// larger; 0: never.
    void put(net::Socket& socket, Bytes header, const cdr::Writer& body,
             std::size_t fragment_size) noexcept;
    /// The same wherever the header lies.
    void put_parts(net::Socket& socket, Bytes header, const cdr::Writer& body,
                   std::size_t fragment_size) noexcept;
    /// Likewise, in whichever of the two ways is right.
    void put_message(net::Socket& socket, Bytes header, const cdr::Writer& body,
                     std::size_t fragment_size) noexcept;
    /// Only keeps it.
    void keep_message(Bytes header, const cdr::Writer& body, std::size_t fragment_size) noexcept;
    void keep(Bytes bytes) noexcept;
    /// Sends of what is kept as much as the peer takes now.
    void flush(net::Socket& socket) noexcept;

  private:
    std::vector<std::byte> bytes_;
    std::size_t sent_ = 0; // of bytes_
    std::uint64_t taken_ = 0;
    std::uint64_t episodes_ = 0;
    bool broken_ = false;
};

} // namespace kairos::orb
