// SPDX-License-Identifier: Apache-2.0
//
// Memory that clients of a service take, counted for all of them together: what is kept has a
// charge as long as it lives, wherever it is still used. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace kairos::corba {

/// So many octets at most.
class Octets {
  public:
    explicit Octets(std::size_t max) noexcept : max_(max) {}

    /// Throws NO_RESOURCES, and takes nothing, where there would be more than may be.
    void take(std::size_t count)
    {
        std::size_t before = taken_;
        do {
            if (before > max_ || count > max_ - before)
                throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                          "the service keeps as much as it may");
        } while (!taken_.compare_exchange_weak(before, before + count));
    }
    void give_back(std::size_t count) noexcept { taken_ -= count; }

  private:
    const std::size_t max_;
    std::atomic<std::size_t> taken_{0};
};

/// Octets that somebody has, as long as it lives.
class Charge {
  public:
    /// Throws as Octets::take.
    Charge(std::shared_ptr<Octets> of, std::size_t count) : of_(std::move(of)), count_(count)
    {
        of_->take(count);
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { of_->give_back(count_); }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

  private:
    const std::shared_ptr<Octets> of_;
    const std::size_t count_;
};

} // namespace kairos::corba
