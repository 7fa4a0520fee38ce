// SPDX-License-Identifier: Apache-2.0
//
// Keeps idle processors from sleeping, as programs that measure real time do (Linux: PM QoS,
// Documentation/power/pm_qos_interface): they look for work until there is some. To wake one that
// sleeps takes a virtual machine up to half a millisecond, now more, now less, whoever is measured.
#pragma once

#include <cstdint>
#include <fcntl.h>
#include <unistd.h>

namespace kairos::bench {

/// While it exists, all processors of the machine are awake, where the system permits it.
class Wakeful {
  public:
    Wakeful() noexcept : descriptor_(::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC))
    {
        const std::int32_t longest_us = 0; // that it may take to begin
        permitted_ = descriptor_ >= 0 &&
                     ::write(descriptor_, &longest_us, sizeof longest_us) == sizeof longest_us;
    }
    Wakeful(const Wakeful&) = delete;
    Wakeful& operator=(const Wakeful&) = delete;
    ~Wakeful()
    {
        if (descriptor_ >= 0) ::close(descriptor_); // which takes the wish back
    }

    [[nodiscard]] bool permitted() const noexcept { return permitted_; }

  private:
    int descriptor_;
    bool permitted_ = false;
};

} // namespace kairos::bench
