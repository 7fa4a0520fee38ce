// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transmit.h"

#include "kairos/giop/fragments.h"

namespace kairos::orb {
namespace {

net::IoResult write_segments(net::Socket& socket, const giop::Segments& segments) noexcept
{
    std::array<iovec, giop::Segments::count_max> vectors;
    for (std::size_t i = 0; i < segments.count; ++i) {
        const Bytes segment = segments.list[i];
        vectors[i] = {const_cast<std::byte*>(segment.data()), segment.size()};
    }
    return socket.write_all(std::span(vectors.data(), segments.count));
}

[[gnu::noinline]] net::IoResult write_in_fragments(net::Socket& socket,
                                                   const giop::Segments& message,
                                                   std::size_t fragment_size) noexcept
{
    giop::Fragmenter fragmenter(message, fragment_size);
    giop::Segments part;
    while (fragmenter.next(part))
        if (const auto written = write_segments(socket, part); !written.ok()) return written;
    return {};
}

} // namespace

net::IoResult transmit(net::Socket& socket, Bytes header, const cdr::Writer& writer,
                       std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + writer.size();
    const bool whole = fragment_size == 0 || size <= fragment_size;
    const Bytes body = writer.contiguous();
    if (whole && writer.externals().empty() && header.data() + header.size() == body.data())
        return socket.write_all(Bytes{header.data(), size});
    const giop::Segments segments = giop::gather(header, writer);
    return whole ? write_segments(socket, segments)
                 : write_in_fragments(socket, segments, fragment_size);
}

} // namespace kairos::orb
