// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/arena.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kairos {

struct Arena::Retired {
    std::unique_ptr<std::byte[]> block;
    std::size_t capacity;
    std::unique_ptr<Retired> next;
};

Arena::~Arena()
{
    free_retired();
    delete[] block_;
}

void* Arena::allocate_block(std::size_t size)
{
    constexpr std::size_t first_block = 4096;
    // Twice as much each time, but not for long: what one large value took says nothing about the
    // next, and a peer may have chosen it.
    constexpr std::size_t step_max = std::size_t{16} << 10;
    const std::size_t step =
        block_ == nullptr ? std::max(first_block, first_) : std::min(2 * capacity_, step_max);
    const std::size_t wanted = align_up(std::max(step, size), 64);
    auto block = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (block_ != nullptr) {
        auto retired = std::make_unique<Retired>();
        retired->block.reset(std::exchange(block_, nullptr));
        retired->capacity = capacity_;
        retired->next.reset(std::exchange(retired_, nullptr));
        retired_ = retired.release();
    }
    block_ = block.release();
    capacity_ = wanted;
    used_ = size;
    return block_;
}

std::size_t Arena::memory_held() const noexcept
{
    std::size_t held = capacity_;
    for (const Retired* each = retired_; each != nullptr; each = each->next.get())
        held += each->capacity;
    return held;
}

void Arena::give_back() noexcept
{
    const std::size_t held = memory_held();
    first_ = held <= block_kept_max ? held : 0; // so much is the exception
    free_retired();
    delete[] std::exchange(block_, nullptr);
    capacity_ = 0;
}

void Arena::free_retired() noexcept
{
    // One after the other: each ends the next, and there may be many.
    std::unique_ptr<Retired> rest(std::exchange(retired_, nullptr));
    while (rest != nullptr)
        rest = std::move(rest->next);
}

} // namespace kairos
