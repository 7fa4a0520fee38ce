// SPDX-License-Identifier: Apache-2.0
//
// One message from the memory it was encoded in to a blocking socket: station 5 of the request walk
// (docs/TOUR.md). One system call ordinarily.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/cdr/writer.h"
#include "kairos/net/socket.h"

namespace kairos::orb {

namespace detail {

enum class As : std::uint8_t { reply, call };
template <As as>
inline constexpr auto write_flags =
    as == As::call ? net::WriteFlags::do_not_wait : net::WriteFlags::none;

/// Writes what is left of `data` after a first write that ended like `first`.
[[nodiscard]] net::IoResult write_rest(net::Socket& socket, Bytes data, net::IoResult first,
                                       As as) noexcept;
/// Sends what is not in one piece, or is cut.
template <As as>
[[nodiscard]] net::IoResult transmit_parts(net::Socket& socket, Bytes header,
                                           const cdr::Writer& writer,
                                           std::size_t fragment_size) noexcept;

/// Nearly every message goes out in one piece, and by one write.
template <As as>
[[nodiscard]] inline net::IoResult transmit(net::Socket& socket, Bytes header,
                                            const cdr::Writer& writer,
                                            std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + writer.size();
    if (!writer.externals().empty() ||
        header.data() + header.size() != writer.contiguous().data() ||
        (fragment_size != 0 && size > fragment_size)) [[unlikely]]
        return transmit_parts<as>(socket, header, writer, fragment_size);
    const Bytes message{header.data(), size};
    const net::IoResult first = socket.write(message, write_flags<as>);
    if (first.ok() && first.bytes == size) [[likely]]
        return first;
    return write_rest(socket, message, first, as);
}

} // namespace detail

/// Sends `header`, which may lie right in front of the body, then the body in `writer`. Cuts
/// messages longer than `fragment_size` octets where GIOP permits; 0 never cuts. Blocks while the
/// peer does not take the message.
[[nodiscard]] inline net::IoResult transmit(net::Socket& socket, Bytes header,
                                            const cdr::Writer& writer,
                                            std::size_t fragment_size) noexcept
{
    return detail::transmit<detail::As::reply>(socket, header, writer, fragment_size);
}

// What calls send. While the peer does not take it, a thread within an upcall serves requests
// (serving_thread.h); whether the thread is within one is looked at only then.

/// Sends a call's message: `header`, which may lie right in front of the body, then the body in
/// `writer`. Cuts messages longer than `fragment_size` octets where GIOP permits; 0 never cuts.
/// While the peer does not take the message, a thread within an upcall serves requests, any other
/// blocks.
[[nodiscard]] inline net::IoResult transmit_call(net::Socket& socket, Bytes header,
                                                 const cdr::Writer& writer,
                                                 std::size_t fragment_size) noexcept
{
    return detail::transmit<detail::As::call>(socket, header, writer, fragment_size);
}
/// Sends a call's message, as transmit_call() without a deadline, but gives up at `deadline` with
/// would_block if the peer has not taken all of it; the connection is then of no more use unless
/// nothing was written. `bytes` of the result counts the octets written in any case.
[[nodiscard]] net::IoResult transmit_call(net::Socket& socket, Bytes header,
                                          const cdr::Writer& writer, std::size_t fragment_size,
                                          Deadline deadline) noexcept;
/// Writes all octets of `segments`, which it changes, or gives up at `deadline` with would_block;
/// `bytes` of the result counts the octets written. While the peer does not take them, a thread
/// within an upcall serves requests, any other blocks.
[[nodiscard]] net::IoResult write_call(net::Socket& socket, std::span<iovec> segments,
                                       Deadline deadline) noexcept;

} // namespace kairos::orb
