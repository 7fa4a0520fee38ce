// SPDX-License-Identifier: Apache-2.0
//
// Wakes a thread that waits for sockets, from any thread: readable from wake() until clear(). An
// eventfd.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

namespace kairos::net {

/// Any thread may wake and clear it.
class KAIROS_API Waker {
  public:
    [[nodiscard]] static Result<Waker> create();
    Waker(Waker&& other) noexcept;
    Waker& operator=(Waker&&) = delete;
    ~Waker();

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    void wake() noexcept;
    void clear() noexcept;

  private:
    explicit Waker(int descriptor) noexcept : descriptor_(descriptor) {}

    int descriptor_;
};

} // namespace kairos::net
