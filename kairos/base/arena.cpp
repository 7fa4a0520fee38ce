// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/arena.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kairos {

struct Arena::Retired {
    std::unique_ptr<std::byte[]> block;
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
    const std::size_t wanted = align_up(std::max({first_block, 2 * capacity_, size}), 64);
    auto block = std::make_unique_for_overwrite<std::byte[]>(wanted);
    if (block_ != nullptr) {
        auto retired = std::make_unique<Retired>();
        retired->block.reset(std::exchange(block_, nullptr));
        retired->next.reset(std::exchange(retired_, nullptr));
        retired_ = retired.release();
    }
    block_ = block.release();
    capacity_ = wanted;
    used_ = size;
    return block_;
}

void Arena::give_back() noexcept
{
    free_retired();
    if (capacity_ <= block_kept_max) return;
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
