// SPDX-License-Identifier: Apache-2.0
//
// Tells of what arrives at a socket, each time anew: also where that stays readable for ever,
// because its reading was shut down, and octets come all the same (as they do with TCP on Linux).
#pragma once

#include "kairos/base/result.h"

#include <utility>

namespace kairos::net {

class Arrivals {
  public:
    /// Watches for arrivals at this descriptor, which must outlive the result. What is there
    /// already has arrived.
    [[nodiscard]] static Result<Arrivals> at(int descriptor);
    Arrivals(Arrivals&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Arrivals& operator=(Arrivals&&) = delete;
    ~Arrivals();

    /// Readable when something has arrived since the last forget().
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// To be called before the socket is read until nothing is left.
    void forget() noexcept;

  private:
    explicit Arrivals(int descriptor) noexcept : descriptor_(descriptor) {}

    int descriptor_;
};

} // namespace kairos::net
