// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/output_queue.h"

#include "kairos/base/log.h"
#include "kairos/giop/fragments.h"

#include <array>
#include <new>

namespace kairos::orb {

namespace {

/// What the peer takes of it now, also of a socket that blocks.
net::IoResult write_now(net::Socket& socket, Bytes bytes) noexcept
{
    std::size_t written = 0;
    while (written < bytes.size()) {
        net::IoResult result = socket.write(bytes.subspan(written), net::WriteFlags::do_not_wait);
        written += result.bytes;
        if (!result.ok()) {
            result.bytes = written;
            return result;
        }
    }
    return {.bytes = written};
}

} // namespace

void OutputQueue::put(net::Socket& socket, Bytes bytes) noexcept
{
    if (broken_) return;
    if (!bytes_.empty()) return keep(bytes);
    const net::IoResult written = write_now(socket, bytes);
    if (written.ok()) [[likely]]
        return;
    if (written.status == net::IoResult::Status::would_block)
        keep(bytes.subspan(written.bytes));
    else
        broken_ = true;
}

void OutputQueue::keep(Bytes bytes) noexcept
{
    if (bytes_.empty()) ++episodes_;
    try {
        if (sent_ >=
            bytes_.size() - sent_) { // or a peer that is slow for ever would fill the memory
            bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(sent_));
            sent_ = 0;
        }
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    } catch (const std::bad_alloc&) {
        log::error("out of memory for a message that the peer does not take; connection closed");
        broken_ = true;
    }
}

void OutputQueue::put(net::Socket& socket, Bytes header, const cdr::Writer& body,
                      std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + body.size();
    if ((fragment_size == 0 || size <= fragment_size) && body.externals().empty())
        return put(socket, {header.data(), size}); // the header lies in front of the body
    put_parts(socket, header, body, fragment_size);
}

void OutputQueue::put_parts(net::Socket& socket, Bytes header, const cdr::Writer& body,
                            std::size_t fragment_size) noexcept
{
    const std::size_t size = header.size() + body.size();
    giop::Segments part;
    giop::Fragmenter fragmenter(giop::gather(header, body),
                                fragment_size == 0 ? size : fragment_size);
    while (fragmenter.next(part)) {
        std::array<iovec, giop::Segments::count_max> vectors;
        for (std::size_t i = 0; i < part.count; ++i)
            vectors[i] = {const_cast<std::byte*>(part.list[i].data()), part.list[i].size()};
        std::size_t sent = 0;
        if (bytes_.empty() && !broken_) {
            const auto written = socket.write(std::span<const iovec>(vectors.data(), part.count),
                                              net::WriteFlags::do_not_wait);
            sent = written.bytes;
            if (!written.ok() && written.status != net::IoResult::Status::would_block)
                broken_ = true;
        }
        for (const Bytes segment : part.view()) {
            const std::size_t skipped = std::min(sent, segment.size());
            sent -= skipped;
            if (skipped < segment.size()) put(socket, segment.subspan(skipped));
        }
    }
}

void OutputQueue::put_message(net::Socket& socket, Bytes header, const cdr::Writer& body,
                              std::size_t fragment_size) noexcept
{
    if (header.data() + header.size() == body.contiguous().data()) [[likely]]
        put(socket, header, body, fragment_size);
    else
        put_parts(socket, header, body, fragment_size);
}

void OutputQueue::keep_message(Bytes header, const cdr::Writer& body,
                               std::size_t fragment_size) noexcept
{
    giop::Segments part;
    giop::Fragmenter fragmenter(giop::gather(header, body),
                                fragment_size == 0 ? header.size() + body.size() : fragment_size);
    while (fragmenter.next(part))
        for (const Bytes segment : part.view())
            if (!broken_) keep(segment);
}

void OutputQueue::flush(net::Socket& socket) noexcept
{
    const net::IoResult written = write_now(socket, Bytes(bytes_).subspan(sent_));
    sent_ += written.bytes;
    taken_ += written.bytes;
    if (written.status == net::IoResult::Status::would_block) return;
    if (!written.ok()) broken_ = true;
    bytes_ = std::vector<std::byte>(); // not {}, which would keep its memory
    sent_ = 0;
}

} // namespace kairos::orb
