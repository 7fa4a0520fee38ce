// SPDX-License-Identifier: Apache-2.0
//
// How many handshakes the servers of one ORB have under way: each costs memory and signatures, and
// whoever comes has shown nothing yet. Any thread.
#pragma once

#include "kairos/base/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace kairos::tls {

class Handshakes : public std::enable_shared_from_this<Handshakes> {
  public:
    using Clock = std::chrono::steady_clock;

    /// One host may begin so many a second, and limits::handshakes_burst times that at once; 0: as
    /// many as it likes.
    explicit Handshakes(std::size_t rate = 0) noexcept : rate_(rate) {}

    /// A place among them; given back when it ends.
    class Place {
      public:
        Place() = default;
        Place(Place&& other) noexcept = default;
        Place& operator=(Place&& other) noexcept
        {
            std::swap(of_, other.of_);
            std::swap(host_, other.host_);
            return *this;
        }
        ~Place()
        {
            if (of_) of_->end(host_);
        }

      private:
        friend class Handshakes;
        Place(std::shared_ptr<Handshakes> of, std::uint64_t host) : of_(std::move(of)), host_(host)
        {
        }

        std::shared_ptr<Handshakes> of_;
        std::uint64_t host_ = 0;
    };

    /// Returns a place for one with this host (net::Address::host_number), which begins now; an
    /// error if there is none.
    [[nodiscard]] Result<Place> begin(std::uint64_t host, Clock::time_point now = Clock::now());

  private:
    void end(std::uint64_t host) noexcept;
    [[nodiscard]] bool is_too_fast(std::uint64_t host, Clock::time_point now) noexcept;

    /// Hosts that fall into one of these places are one to the limit of how many begin.
    static constexpr std::size_t paces = 1024;

    const std::size_t rate_;
    std::mutex mutex_; // guards what follows
    std::size_t count_ = 0;
    std::map<std::uint64_t, std::size_t> by_host_;
    std::array<Clock::time_point, paces> paces_{}; // when all that have begun are made up for
};

} // namespace kairos::tls
