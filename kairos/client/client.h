// SPDX-License-Identifier: Apache-2.0
//
// The calling half of an ORB: its connections, and what looks after those that nobody uses and
// after oneways that were not sent at once. No call passes through it but those over connections
// that threads share. Owned by the Orb. Any thread.
#pragma once

#include "kairos/client/asynchronous_calls.h"
#include "kairos/client/backlogs.h"
#include "kairos/client/bidirectional_connections.h"
#include "kairos/client/client_connections.h"
#include "kairos/client/connection_cache.h"
#include "kairos/client/shared_connections.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/sides.h"

#include <memory>

namespace kairos::orb {

class Client final : public ClientSide {
  public:
    explicit Client(Orb& orb)
        : orb_(orb), cache_(orb), asynchronous_(orb), backlogs_(orb), shared_(orb),
          bidirectional_(orb)
    {
    }
    /// Ends the cache's thread first: it looks after the members that follow the cache.
    ~Client() override { cache_.stop(); }

    /// Makes the calling half of an ORB; what Orb's constructor is given.
    [[nodiscard]] static std::unique_ptr<ClientSide> make(Orb& orb)
    {
        return std::make_unique<Client>(orb);
    }
    [[nodiscard]] static Client& of(const Orb& orb) noexcept
    {
        return static_cast<Client&>(orb.client_side());
    }

    [[nodiscard]] ConnectionCache& cache() noexcept { return cache_; }
    /// Returns the connections that belong to one thread or call each.
    [[nodiscard]] ClientConnections& connections() noexcept { return connections_; }
    /// Returns the calls that no thread waits for.
    [[nodiscard]] AsynchronousCalls& asynchronous_calls() noexcept { return asynchronous_; }
    [[nodiscard]] Backlogs& backlogs() noexcept { return backlogs_; }
    /// Returns the connections that threads share.
    [[nodiscard]] SharedConnections& shared_connections() noexcept { return shared_; }

    /// Returns the connections that carry requests in both directions.
    [[nodiscard]] BidirectionalConnections& bidirectional() noexcept { return bidirectional_; }

    void note_unused() noexcept override { cache_.note_unused(); }
    void end() noexcept override;
    void stop() noexcept override { cache_.stop(); }
    void lock_for_fork() noexcept override;
    void unlock_after_fork() noexcept override;
    void start_over() noexcept override;

  private:
    Orb& orb_;
    ConnectionCache cache_; // outlives the connections
    ClientConnections connections_;
    AsynchronousCalls asynchronous_;
    Backlogs backlogs_;
    SharedConnections shared_;
    BidirectionalConnections bidirectional_;
};

} // namespace kairos::orb
