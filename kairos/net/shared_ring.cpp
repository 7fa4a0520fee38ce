// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/shared_ring.h"

#include <algorithm>
#include <cstring>

namespace kairos::net {

/// At most what there is room for; in two parts where it goes round.
std::uint32_t RingWriter::put(std::uint32_t at, const std::byte* from, std::size_t size) noexcept
{
    const std::uint32_t place = at & (capacity_ - 1);
    const std::size_t first = std::min<std::size_t>(size, capacity_ - place);
    std::memcpy(octets_ + place, from, first);
    std::memcpy(octets_, from + first, size - first);
    return at + static_cast<std::uint32_t>(size);
}

std::size_t RingWriter::write(std::span<const iovec> segments, RingWait& reader) noexcept
{
    reader = RingWait::no;
    const std::size_t free = room();
    std::size_t left = free;
    std::uint32_t at = own_;
    for (const iovec& segment : segments) {
        const std::size_t size = std::min(left, segment.iov_len);
        if (size != 0) at = put(at, static_cast<const std::byte*>(segment.iov_base), size);
        left -= size;
        if (left == 0) break;
    }
    if (left == free) return 0;
    own_ = at;
    control_->head.word.store(at, std::memory_order_seq_cst);
    reader = take_waiting(control_->reader_waits.word);
    return free - left;
}

std::size_t RingReader::read(MutableBytes buffer, RingWait& writer, bool peek) noexcept
{
    writer = RingWait::no;
    const std::size_t size = std::min(available(), buffer.size());
    if (size == 0) return 0;
    const std::uint32_t place = own_ & (capacity_ - 1);
    const std::size_t first = std::min<std::size_t>(size, capacity_ - place);
    std::memcpy(buffer.data(), octets_ + place, first);
    std::memcpy(buffer.data() + first, octets_, size - first);
    if (peek) return size;
    own_ += static_cast<std::uint32_t>(size);
    control_->tail.word.store(own_, std::memory_order_seq_cst);
    writer = take_waiting(control_->writer_waits.word);
    return size;
}

} // namespace kairos::net
