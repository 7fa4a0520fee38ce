// SPDX-License-Identifier: Apache-2.0
//
// Calls over connections that threads share (shared_connection.h), and over those that carry
// requests in both directions (bidirectional_connections.h).
#pragma once

#include "kairos/client/bidirectional_connections.h"
#include "kairos/client/carrier.h"
#include "kairos/client/reply_memory.h"
#include "kairos/client/shared_connection.h"

#include <memory>

namespace kairos::orb {

class SharedCarrier final : public Carrier {
  public:
    explicit SharedCarrier(ThreadStorage& storage) : memory_(storage) {}

    /// Returns whether calls with these limits, of the thread with this storage, go over
    /// connections that threads share.
    [[nodiscard]] static bool carries(const CallLimits& limits,
                                      const ThreadStorage& storage) noexcept;

    [[nodiscard]] Result<void> reach(const Route& route) override;
    [[nodiscard]] Outcome exchange(Question& question, const Route& route) override;
    void release() noexcept override
    {
        connection_ = {};
        both_ways_.reset();
    }

    // --- for calls that nobody waits for ---
    /// Reaches where the route leads, as reach() does, also from within an upcall.
    [[nodiscard]] Result<void> reach_for_later(const Route& route);
    /// Returns whether that is a connection which carries requests in both directions: calls over
    /// it are exchanged, and not begun.
    [[nodiscard]] bool goes_both_ways() const noexcept { return both_ways_ != nullptr; }
    /// Begins to carry a question that is answered, over a connection with a thread, to where it
    /// was reached, and does not wait: `call`, which is new, has an id of `next_request_id`, and
    /// its completion hears of the end, perhaps before this returns. Returns false if the
    /// connection has ended.
    [[nodiscard]] bool begin(SharedCall& call, Question& question, const Route& route);
    /// Ends a call that has begun, and is not yet concluded, unless it is over.
    void withdraw(SharedCall& call) const noexcept { connection_->withdraw(call); }
    [[nodiscard]] std::uint32_t next_request_id() const noexcept
    {
        return connection_->next_request_id();
    }
    /// Returns what became of a call that has begun, after its end, and parses the reply.
    [[nodiscard]] Outcome conclude(const SharedCall& call, giop::Reply& reply) const;

  private:
    [[nodiscard]] Result<void> reach_shared(const Route& route);
    [[nodiscard]] Result<void> reach_both_ways(const Route& route);
    [[nodiscard]] Outcome exchange_both_ways(Question& question, const Route& route);
    void prepare(SharedCall& call, Question& question, const Route& route);

    IntrusivePtr<SharedConnection> connection_;
    std::unique_ptr<BidirectionalWay> both_ways_; // in place of connection_
    ReplyMemory memory_;                          // the answer
};

} // namespace kairos::orb
