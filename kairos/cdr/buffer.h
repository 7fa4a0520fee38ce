// SPDX-License-Identifier: Apache-2.0
//
// Growable bytes for messages. Storage is 64-byte aligned, so a stream that starts at a multiple of
// eight can be read in place with the alignment that CDR promises. Keeps its storage: after the
// first messages nothing is allocated. Owned by one thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"

#include <new>
#include <utility>

namespace kairos::cdr {

class KAIROS_API Buffer {
  public:
    static constexpr std::size_t alignment = 64;

    Buffer() = default;
    explicit Buffer(std::size_t capacity) { reserve(capacity, 0); }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0))
    {
    }
    Buffer& operator=(Buffer&& other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Buffer() { deallocate(); }

    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// Makes room for at least `capacity` bytes and keeps the first `kept` bytes. Grows at least
    /// twofold. Throws std::bad_alloc.
    void reserve(std::size_t capacity, std::size_t kept)
    {
        if (capacity <= capacity_) return;
        const std::size_t doubled = 2 * capacity_;
        const std::size_t grown = align_up(capacity < doubled ? doubled : capacity, alignment);
        auto* data = static_cast<std::byte*>(::operator new(grown, std::align_val_t{alignment}));
        if (kept != 0) std::memcpy(data, data_, kept);
        deallocate();
        data_ = data;
        capacity_ = grown;
    }

    /// Gives the storage back.
    void clear() noexcept
    {
        deallocate();
        data_ = nullptr;
        capacity_ = 0;
    }

  private:
    void deallocate() noexcept
    {
        if (data_ != nullptr) ::operator delete(data_, std::align_val_t{alignment});
    }

    std::byte* data_ = nullptr;
    std::size_t capacity_ = 0;
};

} // namespace kairos::cdr
