// SPDX-License-Identifier: Apache-2.0
//
// A time as a descriptor, for who waits for descriptors anyway: readable from then on until it is
// cleared. A timerfd: while none is set, nobody looks at a clock. Any thread.
#pragma once

#include "kairos/base/result.h"

#include <chrono>

namespace kairos::net {

class Alarm {
  public:
    [[nodiscard]] static Result<Alarm> create();
    Alarm(Alarm&& other) noexcept;
    Alarm& operator=(Alarm&&) = delete;
    ~Alarm();

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// Sets the alarm to `time`, more than zero, from now, in place of what was set before.
    void set(std::chrono::nanoseconds time) noexcept;
    void clear() noexcept;

  private:
    explicit Alarm(int descriptor) noexcept : descriptor_(descriptor) {}
    void set_to(std::chrono::nanoseconds time) noexcept;

    int descriptor_;
};

} // namespace kairos::net
