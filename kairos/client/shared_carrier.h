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

  private:
    [[nodiscard]] Result<void> reach_both_ways(const Route& route);
    [[nodiscard]] Outcome exchange_both_ways(Question& question, const Route& route);

    IntrusivePtr<SharedConnection> connection_;
    std::unique_ptr<BidirectionalWay> both_ways_; // in place of connection_
    ReplyMemory memory_;                          // the answer
};

} // namespace kairos::orb
