// SPDX-License-Identifier: Apache-2.0
//
// Wakes a thread that waits for sockets: rung by any thread, it is readable until it is silenced.
// An eventfd.
#pragma once

#include "kairos/base/result.h"

namespace kairos::net {

class Bell {
  public:
    [[nodiscard]] static Result<Bell> create();
    Bell(Bell&& other) noexcept;
    Bell& operator=(Bell&&) = delete;
    ~Bell();

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    void ring() noexcept;
    void silence() noexcept;

  private:
    explicit Bell(int descriptor) noexcept : descriptor_(descriptor) {}

    int descriptor_;
};

} // namespace kairos::net
