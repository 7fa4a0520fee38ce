// SPDX-License-Identifier: Apache-2.0
//
// Which calls go over connections that carry requests in both directions (docs/bidirectional.md):
// those back to clients that have offered theirs, and those whose policies have this client offer
// its own, one connection for each endpoint. Owned by the calling half. Any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/connection_cache.h"
#include "kairos/client/route.h"
#include "kairos/orb/bidirectional.h"

#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace kairos::orb {

class ServerSide;

/// A bidirectional connection that a call goes over, and the service contexts of its first request,
/// or of every one, encoded as a list.
struct BidirectionalWay {
    BidirectionalLinkPtr link;
    std::vector<std::byte> contexts;
};

class BidirectionalConnections {
  public:
    explicit BidirectionalConnections(Orb& orb) noexcept : orb_(orb) {}
    BidirectionalConnections(const BidirectionalConnections&) = delete;
    BidirectionalConnections& operator=(const BidirectionalConnections&) = delete;

    /// Returns whether the call goes over such a connection where its route leads now.
    [[nodiscard]] bool carries(const Route& route);
    /// Returns the connection over which it goes; makes it, if it is this client's to offer and the
    /// route says that it may be made. While one thread makes it the others wait.
    [[nodiscard]] Result<BidirectionalWay> take(const Route& route);
    /// Forgets all connections, in a child of the process that has made them.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks

  private:
    struct Slot {
        BidirectionalLinkPtr link;
        std::vector<std::byte> contexts;
        IntrusivePtr<Endpoint> endpoint;
        std::optional<ConnectionCache::Place> place;
        bool is_being_made = false;
    };
    using Lock = std::unique_lock<std::mutex>;

    [[nodiscard]] ServerSide* serving() const noexcept;
    [[nodiscard]] BidirectionalLinkPtr claimed(const Route& route) const noexcept;
    [[nodiscard]] Result<Slot> make(const Route& route) const;
    [[nodiscard]] Result<BidirectionalWay> take_offered(const Route& route);

    Orb& orb_;
    std::mutex mutex_; // guards what follows; not held while connecting
    std::condition_variable made_;
    std::unordered_map<std::uint64_t, Slot> slots_; // by the endpoints' ids
};

} // namespace kairos::orb
