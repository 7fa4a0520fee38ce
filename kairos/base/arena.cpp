// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/arena.h"

#include <algorithm>

namespace kairos {

void* Arena::allocate_block(std::size_t size)
{
    constexpr std::size_t first_block = 4096;
    const std::size_t wanted = align_up(std::max({first_block, 2 * capacity_, size}), 64);
    if (block_) retired_.push_back(std::move(block_));
    block_ = std::make_unique_for_overwrite<std::byte[]>(wanted);
    capacity_ = wanted;
    used_ = size;
    return block_.get();
}

} // namespace kairos
