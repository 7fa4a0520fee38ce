// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/reader.h"

#include <algorithm>

namespace kairos::cdr {

namespace {
constexpr std::size_t part_offset = 4; // what the first byte of a part is at, modulo 8
}

Reader::Reader(Bytes bytes, bool little_endian, std::size_t begin,
               std::span<const std::uint32_t> part_begins) noexcept
    : Reader(bytes, little_endian, begin)
{
    if (part_begins.empty()) return;
    size_ = std::clamp(std::size_t{part_begins.front()}, begin, bytes.size());
    later_ = bytes.size() - size_;
    part_begins_ = part_begins;
}

void Reader::enter_next_part() noexcept
{
    const std::size_t begin = part_begins_.front();
    part_begins_ = part_begins_.subspan(1);
    const std::size_t size = part_begins_.empty() ? later_ : part_begins_.front() - begin;
    data_ += size_ - part_offset; // a message's header is in front of all parts
    size_ = part_offset + size;
    offset_ = part_offset;
    later_ -= size;
}

bool Reader::enter_part_with(std::size_t size) noexcept
{
    while (later_ != 0) { // what the present part still has is padding
        enter_next_part();
        if (align_up(offset_, size) + size <= size_) return true;
    }
    fail(Fault::truncated);
    return false;
}

const std::byte* Reader::block_across_parts(std::size_t size, std::size_t alignment) noexcept
{
    std::size_t at = align_up(offset_, alignment);
    while (later_ != 0 && (at > size_ || (at == size_ && size != 0))) {
        enter_next_part();
        at = offset_;
    }
    if (at > size_ || size > size_ - at + later_) {
        fail(Fault::truncated);
        return nullptr;
    }
    const std::byte* const place = data_ + at;
    offset_ = at;
    while (size > size_ - offset_) {
        size -= size_ - offset_;
        enter_next_part();
    }
    offset_ += size;
    return place;
}

} // namespace kairos::cdr
