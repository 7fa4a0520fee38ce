// SPDX-License-Identifier: Apache-2.0
//
// What all channels of a service have together at most: clients may make as many channels as they
// like, so that what each of them may have bounds little. Any thread.
#pragma once

#include "kairos/events/service_limits.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace kairos::events {

/// So much of something.
class Allowance {
  public:
    explicit Allowance(std::size_t max) noexcept : max_(max) {}

    /// Returns false, and takes nothing, where there would be more than may be; what is more alone
    /// has all.
    [[nodiscard]] bool take(std::size_t count) noexcept
    {
        std::size_t before = taken_.load(std::memory_order_relaxed);
        do {
            if (before != 0 && (before > max_ || count > max_ - before)) return false;
        } while (!taken_.compare_exchange_weak(before, before + count, std::memory_order_relaxed));
        return true;
    }
    void give_back(std::size_t count) noexcept
    {
        taken_.fetch_sub(count, std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_spent() const noexcept
    {
        return taken_.load(std::memory_order_relaxed) >= max_;
    }

  private:
    const std::size_t max_;
    std::atomic<std::size_t> taken_{0};
};

/// What somebody has of one, given back at its end. Owned by one thread at a time.
class Portion {
  public:
    Portion() = default;
    /// Has nothing where nothing is left. The allowance lives as long as its owner, who is shared.
    Portion(std::shared_ptr<Allowance> of, std::size_t count) noexcept
        : of_(of->take(count) ? std::move(of) : nullptr), count_(count)
    {
    }
    Portion(Portion&& other) noexcept : of_(std::move(other.of_)), count_(other.count_) {}
    Portion& operator=(Portion&& other) noexcept
    {
        std::swap(of_, other.of_);
        std::swap(count_, other.count_);
        return *this;
    }
    Portion(const Portion&) = delete;
    Portion& operator=(const Portion&) = delete;
    ~Portion() { reset(); }

    void reset() noexcept
    {
        if (const auto of = std::exchange(of_, nullptr)) of->give_back(count_);
    }
    explicit operator bool() const noexcept { return of_ != nullptr; }

  private:
    std::shared_ptr<Allowance> of_;
    std::size_t count_ = 0;
};

struct ServiceBudget {
    explicit ServiceBudget(const ServiceLimits& limits)
        : proxies(std::make_shared<Allowance>(limits.proxies_of_all_max)),
          pulls(std::make_shared<Allowance>(limits.pulls_of_all_max)),
          connects(std::make_shared<Allowance>(limits.connects_of_all_max)),
          event_octets(std::make_shared<Allowance>(limits.octets_of_all_max)),
          call_octets(std::make_shared<Allowance>(limits.octets_of_all_max))
    {
    }

    const std::shared_ptr<Allowance> proxies;
    const std::shared_ptr<Allowance> pulls;
    const std::shared_ptr<Allowance> connects;     ///< of typed consumers, while they are asked
    const std::shared_ptr<Allowance> event_octets; ///< of events that wait, each counted once
    const std::shared_ptr<Allowance> call_octets;  ///< of their copies in calls under way
};

} // namespace kairos::events
