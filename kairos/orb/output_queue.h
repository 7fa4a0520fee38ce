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

class OutputQueue {
  public:
    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
    /// Returns how many octets are kept for the peer at present.
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - sent_; }
    /// Returns how many octets the peer has taken late in all, that is, after they had been kept.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    /// Returns how often a peer fell behind: how often octets were kept while none were before.
    [[nodiscard]] std::uint64_t episodes() const noexcept { return episodes_; }
    /// Returns whether nothing can be sent any more: the connection is broken, or memory was short.
    [[nodiscard]] bool broken() const noexcept { return broken_; }

    /// Sends of `bytes` what the peer takes now and keeps the rest; keeps all of it where octets
    /// are kept already.
    void put(net::Socket& socket, Bytes bytes) noexcept;
    /// Sends of a message what the peer takes now and keeps the rest: `header`, which lies right in
    /// front of `body` in memory, then what `body` holds. Cuts messages of more than
    /// `fragment_size` octets into fragments; 0 never cuts.
    void put(net::Socket& socket, Bytes header, const cdr::Writer& body,
             std::size_t fragment_size) noexcept;
    /// Sends of a message what the peer takes now and keeps the rest: `header`, which may lie
    /// anywhere, then what `body` holds. Cuts messages of more than `fragment_size` octets into
    /// fragments; 0 never cuts.
    void put_parts(net::Socket& socket, Bytes header, const cdr::Writer& body,
                   std::size_t fragment_size) noexcept;
    /// Sends of a message what the peer takes now and keeps the rest: calls put() if `header` lies
    /// right in front of `body` in memory, else put_parts().
    void put_message(net::Socket& socket, Bytes header, const cdr::Writer& body,
                     std::size_t fragment_size) noexcept;
    /// Keeps a whole message without trying to send it: `header`, then what `body` holds. Cuts
    /// messages of more than `fragment_size` octets into fragments; 0 never cuts.
    void keep_message(Bytes header, const cdr::Writer& body, std::size_t fragment_size) noexcept;
    /// Keeps `bytes` behind what is kept already, without trying to send them. Out of memory makes
    /// the connection broken().
    void keep(Bytes bytes) noexcept;
    /// Sends as many of the kept octets as the peer takes now.
    void flush(net::Socket& socket) noexcept;

  private:
    std::vector<std::byte> bytes_;
    std::size_t sent_ = 0; // of bytes_
    std::uint64_t taken_ = 0;
    std::uint64_t episodes_ = 0;
    bool broken_ = false;
};

} // namespace kairos::orb
