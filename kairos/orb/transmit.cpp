// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transmit.h"

#include "kairos/giop/fragments.h"
#include "kairos/orb/thread_storage.h"

#include <limits>

namespace kairos::orb {

using detail::As;
using detail::write_flags;

namespace {

using Vectors = std::array<iovec, giop::Segments::count_max>;

/// Fills `vectors` with the segments; returns how many there are.
std::size_t to_vectors(const giop::Segments& segments, Vectors& vectors) noexcept
{
    for (std::size_t i = 0; i < segments.count; ++i) {
        const Bytes segment = segments.list[i];
        vectors[i] = {const_cast<std::byte*>(segment.data()), segment.size()};
    }
    return segments.count;
}

std::size_t size_of(std::span<const iovec> segments) noexcept
{
    std::size_t size = 0;
    for (const iovec& segment : segments)
        size += segment.iov_len;
    return size;
}

/// Writes what is left of `segments` after a first write that ended like `first`. Only a thread
/// that must serve meanwhile waits otherwise than in the next write.
[[gnu::cold]] net::IoResult write_rest(net::Socket& socket, std::span<iovec> segments,
                                       net::IoResult first, As as) noexcept
{
    const bool is_full = as == As::call && first.status == net::IoResult::Status::would_block;
    if (!first.ok() && !is_full) return first;
    const auto left = net::drop_front(segments, first.bytes);
    const bool serves = as == As::call && ThreadStorage::current().serving_thread != nullptr;
    if (as == As::call && !serves) socket.await_room();
    net::IoResult rest =
        serves ? write_call(socket, left, {}) : socket.write_all(left, size_of(left));
    rest.bytes += first.bytes;
    return rest;
}

template <As as>
net::IoResult write_all(net::Socket& socket, std::span<iovec> segments, std::size_t size) noexcept
{
    const net::IoResult first = socket.write(std::span<const iovec>(segments), write_flags<as>);
    if (first.ok() && first.bytes == size) [[likely]]
        return first;
    return write_rest(socket, segments, first, as);
}

template <As as>
net::IoResult write_segments(net::Socket& socket, const giop::Segments& segments) noexcept
{
    Vectors vectors;
    const std::size_t count = to_vectors(segments, vectors);
    return write_all<as>(socket, std::span(vectors.data(), count), segments.size());
}

template <As as>
[[gnu::noinline]] net::IoResult write_in_fragments(net::Socket& socket, Bytes header,
                                                   const cdr::Writer& writer,
                                                   std::size_t fragment_size) noexcept
{
    giop::Fragmenter fragmenter(giop::gather(header, writer), fragment_size);
    giop::Segments part;
    while (fragmenter.next(part))
        if (const auto written = write_segments<as>(socket, part); !written.ok()) return written;
    return {};
}

} // namespace

namespace detail {

[[gnu::cold]] net::IoResult write_rest(net::Socket& socket, Bytes data, net::IoResult first,
                                       As as) noexcept
{
    iovec segment{const_cast<std::byte*>(data.data()), data.size()};
    return orb::write_rest(socket, std::span(&segment, 1), first, as);
}

template <As as>
net::IoResult transmit_parts(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                             std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + writer.size();
    if (fragment_size != 0 && size > fragment_size) [[unlikely]]
        return write_in_fragments<as>(socket, header, writer, fragment_size);
    Vectors vectors;
    std::size_t count = 0;
    giop::for_each_part(header, writer, [&](Bytes part) {
        vectors[count++] = {const_cast<std::byte*>(part.data()), part.size()};
    });
    return write_all<as>(socket, std::span(vectors.data(), count), size);
}

template net::IoResult transmit_parts<As::reply>(net::Socket&, Bytes, const cdr::Writer&,
                                                 std::size_t) noexcept;
template net::IoResult transmit_parts<As::call>(net::Socket&, Bytes, const cdr::Writer&,
                                                std::size_t) noexcept;

} // namespace detail

net::IoResult transmit_call(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                            std::size_t fragment_size, Deadline deadline) noexcept
{
    if (deadline.is_never()) return transmit_call(socket, header, writer, fragment_size);
    giop::Fragmenter fragmenter(giop::gather(header, writer),
                                fragment_size == 0 ? std::numeric_limits<std::size_t>::max()
                                                   : fragment_size);
    std::size_t written = 0;
    giop::Segments part;
    while (fragmenter.next(part)) {
        Vectors vectors;
        const std::size_t count = to_vectors(part, vectors);
        net::IoResult result = write_call(socket, std::span(vectors.data(), count), deadline);
        written += result.bytes;
        result.bytes = written;
        if (!result.ok()) return result;
    }
    return {.bytes = written};
}

net::IoResult write_call(net::Socket& socket, std::span<iovec> segments, Deadline deadline) noexcept
{
    std::size_t written = 0;
    for (auto left = net::drop_front(segments, 0); !left.empty();) {
        net::IoResult result =
            socket.write(std::span<const iovec>(left), net::WriteFlags::do_not_wait);
        written += result.bytes;
        left = net::drop_front(left, result.bytes);
        if (result.status == net::IoResult::Status::would_block)
            result = wait_writable(socket, deadline);
        if (!result.ok()) {
            result.bytes = written;
            return result;
        }
    }
    return {.bytes = written};
}

} // namespace kairos::orb
