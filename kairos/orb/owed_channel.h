// SPDX-License-Identifier: Apache-2.0
//
// Where an answer goes that is given after its request was served (owed_answer.h).
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/orb/reply_channel.h"

#include <cstddef>

namespace kairos::orb {

/// The way of one answer. Used once, by whichever thread gives the answer; where it leads nowhere
/// any more, what is sent is dropped. The server counts the request as under way while this lives.
class OwedChannel : public ReplyChannel, public RefCounted {
  public:
    /// Counts the request's octets until this is gone, where nobody else does. Returns false if too
    /// many are counted. By the thread that serves the request, as what follows.
    [[nodiscard]] virtual bool keep(std::size_t request_octets) noexcept
    {
        (void)request_octets;
        return true;
    }
    /// Returns how many answers its connection owes.
    [[nodiscard]] virtual std::size_t owed_already() const noexcept { return 0; }
    /// Notes that the answer is owed; before that nothing was done. The lock of all answers is
    /// held.
    virtual void begin() noexcept {}

    // --- by who gives the answer ---
    /// Notes that there is no memory for the answer: the caller must hear that there is none.
    virtual void fail() noexcept = 0;
    /// Notes that nothing more is sent.
    virtual void over() noexcept {}

  protected:
    ~OwedChannel() override = default;
};

} // namespace kairos::orb
