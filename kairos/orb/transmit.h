// SPDX-License-Identifier: Apache-2.0
//
// One message from the memory it was encoded in to a blocking socket: station 5 of the request walk
// (docs/TOUR.md). One system call ordinarily.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/cdr/writer.h"
#include "kairos/net/socket.h"

namespace kairos::orb {

/// Sends `header`, which may lie right in front of the body, then the body in `writer`. Messages
/// longer than `fragment_size` are cut where GIOP permits; 0 never cuts. Blocks while the peer does
/// not take it.
[[nodiscard]] net::IoResult transmit(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                                     std::size_t fragment_size) noexcept;

// What calls send. Within an upcall the thread serves while the peer does not take it
// (serving_thread.h); whether it is within one, is asked only then.

/// The same.
[[nodiscard]] net::IoResult transmit_call(net::Socket& socket, Bytes header,
                                          const cdr::Writer& writer,
                                          std::size_t fragment_size) noexcept;
/// The same, unless the peer does not take all of it by the deadline: would_block, and then the
/// connection is of no more use unless nothing was written. `bytes` counts what was.
[[nodiscard]] net::IoResult transmit_call(net::Socket& socket, Bytes header,
                                          const cdr::Writer& writer, std::size_t fragment_size,
                                          Deadline deadline) noexcept;
/// Any octets.
[[nodiscard]] net::IoResult write_call(net::Socket& socket, std::span<iovec> segments,
                                       Deadline deadline) noexcept;

} // namespace kairos::orb
