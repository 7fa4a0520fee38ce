// SPDX-License-Identifier: Apache-2.0
//
// Memory that lives as long as one request: bump allocation from blocks that are kept from request
// to request, so that the steady state allocates nothing. Owned by one thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"

#include <cstddef>
#include <type_traits>

namespace kairos {

class KAIROS_API Arena {
  public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    /// Uninitialised room for `count` objects of T, which get no destructor call.
    /// `count` must already be justified by bytes received. Valid until `reset`.
    template <typename T>
    [[nodiscard]] T* allocate(std::size_t count)
    {
        static_assert(std::is_trivially_destructible_v<T> &&
                      alignof(T) <= alignof(std::max_align_t));
        const std::size_t at = align_up(used_, alignof(T));
        const std::size_t size = count * sizeof(T);
        if (at > capacity_ || size > capacity_ - at) return static_cast<T*>(allocate_block(size));
        used_ = at + size;
        return reinterpret_cast<T*>(block_ + at);
    }

    /// Frees everything at once. Where all of it was in one block, that stays for the next time;
    /// else the next time begins with one that is big enough for all.
    void reset() noexcept
    {
        used_ = 0;
        if (retired_ != nullptr || capacity_ > block_kept_max) [[unlikely]]
            give_back();
    }
    /// Bytes allocated from the system.
    [[nodiscard]] std::size_t memory_held() const noexcept;

  private:
    /// A block that grew beyond this for one large request is given back.
    static constexpr std::size_t block_kept_max = std::size_t{1} << 20;

    /// Out of line: generated code of every view would have a copy of it.
    [[gnu::cold]] void* allocate_block(std::size_t size);
    [[gnu::cold]] void give_back() noexcept;
    void free_retired() noexcept;

    std::byte* block_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
    std::size_t first_ = 0; // what the first block should have room for
    /// Blocks that were too small, and hold what was allocated before that.
    struct Retired;
    Retired* retired_ = nullptr;
};

} // namespace kairos
