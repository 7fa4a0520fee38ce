// SPDX-License-Identifier: Apache-2.0
#include "kairos/cdr/reader.h"

#include <algorithm>
#include <utility>

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

std::string_view Reader::read_other_string()
{
    const std::uint32_t length = read_length(1);
    if (!ok()) return "";
    const auto* text = reinterpret_cast<const char*>(block(length, 1));
    if (text == nullptr || length == 0 || text[length - 1] != '\0') {
        fail(Fault::string_not_terminated);
        return "";
    }
    return {text, length - 1};
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

bool Reader::enter_next_chunk(std::size_t alignment) noexcept
{
    if (align_up(offset_, alignment) < size_) {
        fail(Fault::truncated); // chunks cut no primitive
        return false;
    }
    offset_ = size_;
    chunks_->next_chunk(*this);
    return ok();
}

void Gap::next_chunk(Reader& in) noexcept { in.leave_chunk(); }

void Gap::leave() noexcept
{
    if (!std::exchange(is_filled_, true)) std::memcpy(place_, octets_.data(), octets_.size());
}

const std::byte* Reader::lent_block(std::size_t size, std::size_t alignment) noexcept
{
    Gap* const gap = chunks_ == nullptr ? nullptr : chunks_->gap();
    if (gap == nullptr || align_up(offset_, alignment) != size_ || gap->octets().size() != size)
        return nullptr;
    offset_ = size_ + size;
    size_ += std::exchange(later_, 0);
    chunks_ = nullptr;
    return gap->octets().data();
}

bool Reader::enter_part_with(std::size_t size) noexcept
{
    if (has_gap()) {
        leave_chunk();
        if (align_up(offset_, size) + size <= size_) return true;
    }
    if (chunks_ != nullptr) {
        while (enter_next_chunk(size))
            if (align_up(offset_, size) + size <= size_) return true;
        return false;
    }
    while (later_ != 0) { // what the present part still has is padding
        enter_next_part();
        if (align_up(offset_, size) + size <= size_) return true;
    }
    fail(Fault::truncated);
    return false;
}

const std::byte* Reader::block_across_chunks(std::size_t size, std::size_t alignment)
{
    if (size == 0) { // padding only: it may end with the chunk
        offset_ = std::min(align_up(offset_, alignment), size_);
        return data_ + offset_;
    }
    if (size > left()) {
        fail(Fault::truncated);
        return nullptr;
    }
    std::byte* gathered = nullptr;
    std::size_t copied = 0;
    while (copied < size) {
        if (align_up(offset_, alignment) >= size_ && !enter_next_chunk(alignment)) return nullptr;
        const std::size_t at = align_up(offset_, alignment);
        if (at >= size_) continue; // a chunk of nothing but padding
        const std::size_t piece = std::min(size - copied, (size_ - at) / alignment * alignment);
        if (piece == 0) {
            fail(Fault::truncated); // chunks cut no primitive
            return nullptr;
        }
        offset_ = at + piece;
        if (piece == size) return data_ + at;
        if (gathered == nullptr) gathered = chunks_->gathered(size);
        std::memcpy(gathered + copied, data_ + at, piece);
        copied += piece;
    }
    return gathered;
}

const std::byte* Reader::block_across_parts(std::size_t size, std::size_t alignment)
{
    if (has_gap()) {
        leave_chunk();
        return block(size, alignment);
    }
    if (chunks_ != nullptr) return block_across_chunks(size, alignment);
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

template bool Reader::read<bool>() noexcept;
template char Reader::read<char>() noexcept;
template std::uint8_t Reader::read<std::uint8_t>() noexcept;
template std::int16_t Reader::read<std::int16_t>() noexcept;
template std::uint16_t Reader::read<std::uint16_t>() noexcept;
template std::int32_t Reader::read<std::int32_t>() noexcept;
template std::uint32_t Reader::read<std::uint32_t>() noexcept;
template std::int64_t Reader::read<std::int64_t>() noexcept;
template std::uint64_t Reader::read<std::uint64_t>() noexcept;
template float Reader::read<float>() noexcept;
template double Reader::read<double>() noexcept;

} // namespace kairos::cdr
