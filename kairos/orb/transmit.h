// SPDX-License-Identifier: Apache-2.0
//
// One message from the memory it was encoded in to a blocking socket: station 5 of the request walk
// (docs/TOUR.md). One system call ordinarily. Nothing but the second step waits, so that who sends
// on the call path need not know whether it may.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/net/socket.h"
#include "kairos/orb/serving_thread.h"

namespace kairos::orb {

/// Sends `header`, which may lie right in front of the body, then the body in `writer`, as far as
/// the peer takes it now; would_block if that is not all. Messages longer than `fragment_size` are
/// cut where GIOP permits; 0 never cuts. `bytes` counts what was sent.
[[nodiscard]] net::IoResult transmit(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                                     std::size_t fragment_size) noexcept;
/// Goes on behind the first `sent` octets of the same. If the peer does not take all of it by the
/// deadline: would_block, and the connection is of no more use. `waiter`, if there is one, waits.
[[nodiscard]] net::IoResult transmit_rest(net::Socket& socket, Bytes header,
                                          const cdr::Writer& writer, std::size_t fragment_size,
                                          std::size_t sent, Deadline deadline,
                                          ServingThread* waiter) noexcept;
/// The same for any octets.
[[nodiscard]] net::IoResult write_waiting(net::Socket& socket, std::span<iovec> segments,
                                          Deadline deadline, ServingThread* waiter) noexcept;

} // namespace kairos::orb
