// SPDX-License-Identifier: Apache-2.0
//
// Calls over a connection of the caller's own: taken from those that its thread keeps, or made, and
// given back when the results are read.
#pragma once

#include "kairos/client/carrier.h"
#include "kairos/client/thread_connections.h"

#include <memory>

namespace kairos::orb {

class OwnCarrier final : public Carrier {
  public:
    explicit OwnCarrier(ThreadStorage& storage) noexcept : storage_(&storage) {}

    /// Takes and gives back connections of the thread with this storage from now on.
    void use(ThreadStorage& storage)
    {
        if (connection_) (void)ThreadConnections::of(storage); // for release()
        storage_ = &storage;
    }
    /// Takes an idle connection for a plain call; returns null if there is none.
    [[nodiscard]] ClientConnection* take(const Endpoint& endpoint)
    {
        connection_ = ThreadConnections::of(*storage_).take(endpoint);
        return connection_.get();
    }
    [[nodiscard]] ClientConnection* connection() const noexcept { return connection_.get(); }
    [[nodiscard]] Result<void> reach(const Route& route) override;
    [[nodiscard]] Outcome exchange(Question& question, const Route& route) override;
    /// Gives the connection back, if there is one, for the next call to the same endpoint.
    void release() noexcept override
    {
        // Who has a connection has taken it from those of the thread, or has come to use() them.
        if (connection_) ThreadConnections::find(*storage_)->give_back(std::move(connection_));
    }
    /// Closes the connection.
    void drop() noexcept { connection_.reset(); }

    // --- the two halves of an exchange, for deferred calls ---
    /// Sends the question; returns the request's id, or what it has come to instead.
    [[nodiscard]] Outcome send(Question& question, const Route& route, std::uint32_t& request_id);
    /// Waits for the answer, a Reply or LocateReply, to the request with this id.
    template <typename Answer>
    [[nodiscard]] Outcome receive(std::uint32_t request_id, Answer& answer, Deadline deadline);
    /// Ends an exchange, of a request or a LocateRequest, with this outcome, which it returns. The
    /// connection stays only where it is of use to others or holds the answer.
    Outcome conclude(Outcome outcome, bool is_request, const Route& route);

  private:
    ThreadStorage* storage_;
    std::unique_ptr<ClientConnection> connection_; // busy until the results are read
};

} // namespace kairos::orb
