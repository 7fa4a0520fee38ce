// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transmit.h"

#include "kairos/giop/fragments.h"

#include <algorithm>
#include <limits>

namespace kairos::orb {
namespace {

using Vectors = std::array<iovec, giop::Segments::count_max>;

/// How many there are.
std::size_t to_vectors(const giop::Segments& segments, Vectors& vectors) noexcept
{
    for (std::size_t i = 0; i < segments.count; ++i) {
        const Bytes segment = segments.list[i];
        vectors[i] = {const_cast<std::byte*>(segment.data()), segment.size()};
    }
    return segments.count;
}

net::IoResult write_segments(net::Socket& socket, const giop::Segments& segments) noexcept
{
    Vectors vectors;
    const std::size_t count = to_vectors(segments, vectors);
    return socket.write_now(std::span(vectors.data(), count), segments.size());
}

/// Not inline: what it needs on the stack costs those that are sent in one piece.
[[gnu::noinline]] net::IoResult write_parts(net::Socket& socket, Bytes header,
                                            const cdr::Writer& writer, std::size_t size) noexcept
{
    Vectors vectors;
    std::size_t count = 0;
    giop::for_each_part(header, writer, [&](Bytes part) {
        vectors[count++] = {const_cast<std::byte*>(part.data()), part.size()};
    });
    return socket.write_now(std::span(vectors.data(), count), size);
}

[[gnu::noinline]] net::IoResult write_in_fragments(net::Socket& socket, Bytes header,
                                                   const cdr::Writer& writer,
                                                   std::size_t fragment_size) noexcept
{
    giop::Fragmenter fragmenter(giop::gather(header, writer), fragment_size);
    giop::Segments part;
    std::size_t sent = 0;
    while (fragmenter.next(part)) {
        net::IoResult written = write_segments(socket, part);
        sent += written.bytes;
        written.bytes = sent;
        if (!written.ok()) return written;
    }
    return {.bytes = sent};
}

} // namespace

net::IoResult transmit(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                       std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + writer.size();
    if (fragment_size != 0 && size > fragment_size) [[unlikely]]
        return write_in_fragments(socket, header, writer, fragment_size);
    if (writer.externals().empty() && header.data() + header.size() == writer.contiguous().data())
        return socket.write_now(Bytes{header.data(), size});
    return write_parts(socket, header, writer, size);
}

net::IoResult write_waiting(net::Socket& socket, std::span<iovec> segments, Deadline deadline,
                            ServingThread* waiter) noexcept
{
    using Status = net::IoResult::Status;
    if (waiter == nullptr && deadline.is_never()) {
        std::size_t size = 0;
        for (const iovec& segment : segments)
            size += segment.iov_len;
        return socket.write_all(segments, size);
    }
    if (waiter == nullptr) return socket.write_all(segments, deadline);
    for (auto left = net::drop_front(segments, 0); !left.empty();) {
        net::IoResult result =
            socket.write(std::span<const iovec>(left), net::WriteFlags::do_not_wait);
        left = net::drop_front(left, result.bytes);
        if (result.status == Status::would_block) result = wait_writable(socket, deadline, waiter);
        if (!result.ok()) return result;
    }
    return {};
}

net::IoResult transmit_rest(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                            std::size_t fragment_size, std::size_t sent, Deadline deadline,
                            ServingThread* waiter) noexcept
{
    giop::Fragmenter fragmenter(giop::gather(header, writer),
                                fragment_size == 0 ? std::numeric_limits<std::size_t>::max()
                                                   : fragment_size);
    giop::Segments part;
    while (fragmenter.next(part)) {
        Vectors vectors;
        const std::size_t count = to_vectors(part, vectors);
        const std::size_t skipped = std::min(sent, part.size());
        sent -= skipped;
        const auto left = net::drop_front(std::span(vectors.data(), count), skipped);
        const net::IoResult written = write_waiting(socket, left, deadline, waiter);
        if (!written.ok()) return written;
    }
    return {};
}

} // namespace kairos::orb
