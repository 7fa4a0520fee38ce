// SPDX-License-Identifier: Apache-2.0
//
// How many handshakes the servers of one ORB have under way: each costs memory and signatures, and
// whoever comes has shown nothing yet. Any thread.
#pragma once

#include "kairos/base/result.h"

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

    /// Returns how many hosts it has noted.
    [[nodiscard]] std::size_t hosts() const noexcept
    {
        const std::lock_guard lock(mutex_);
        return by_host_.size();
    }

  private:
    struct Host {
        std::size_t under_way = 0;
        Clock::time_point made_up{}; // when all that have begun are made up for
    };
    using Hosts = std::map<std::uint64_t, Host>;

    void end(std::uint64_t host) noexcept;
    void forget_some(Clock::time_point now) noexcept;

    const std::size_t rate_;
    mutable std::mutex mutex_; // guards what follows
    std::size_t count_ = 0;
    Hosts by_host_;               // with something under way, or not made up for
    std::uint64_t looked_at_ = 0; // the last of them, to be forgotten
};

} // namespace kairos::tls
