// SPDX-License-Identifier: Apache-2.0
//
// How many handshakes the servers of one ORB have under way: each costs memory and signatures, and
// whoever comes has shown nothing yet. Any thread.
#pragma once

#include "kairos/base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace kairos::tls {

class Handshakes : public std::enable_shared_from_this<Handshakes> {
  public:
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

    /// Returns a place for one with this host (net::Address::host_number); an error if there is
    /// none.
    [[nodiscard]] Result<Place> begin(std::uint64_t host);

  private:
    void end(std::uint64_t host) noexcept;

    std::mutex mutex_; // guards what follows
    std::size_t count_ = 0;
    std::map<std::uint64_t, std::size_t> by_host_;
};

} // namespace kairos::tls
