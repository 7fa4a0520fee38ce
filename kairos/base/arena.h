// SPDX-License-Identifier: Apache-2.0
//
// Memory that lives as long as one request: bump allocation from blocks that are kept from request
// to request, so that the steady state allocates nothing. Owned by one thread.
#pragma once

#include "kairos/base/bytes.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace kairos {

class Arena {
  public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

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
        return reinterpret_cast<T*>(block_.get() + at);
    }

    /// Frees everything at once. A block big enough for all that was used stays for the next time.
    void reset() noexcept
    {
        used_ = 0;
        if (!retired_.empty()) [[unlikely]]
            retired_.clear();
        if (capacity_ > block_kept_max) [[unlikely]] {
            block_.reset();
            capacity_ = 0;
        }
    }

  private:
    /// A block that grew beyond this for one large request is given back.
    static constexpr std::size_t block_kept_max = std::size_t{1} << 20;

    /// Out of line: generated code of every view would have a copy of it.
    [[gnu::cold]] void* allocate_block(std::size_t size);

    std::unique_ptr<std::byte[]> block_;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
    std::vector<std::unique_ptr<std::byte[]>> retired_;
};

} // namespace kairos
