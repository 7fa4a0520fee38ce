// SPDX-License-Identifier: Apache-2.0
//
// A call to an object of this process: the encoded request goes straight to the dispatcher and the
// reply straight back, without a socket. Same encoding, same adapter, same exceptions: a servant
// cannot tell the difference. Stations 3 to 7 of the request walk (docs/TOUR.md) are left out.
#pragma once

#include "kairos/client/reply_memory.h"
#include "kairos/giop/message.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"

namespace kairos::orb {

/// Receives the reply and keeps it until the caller has read its results.
class CollocatedReply final : public ReplyChannel, public ReplyMemory {
  public:
    explicit CollocatedReply(Lane& lane) : ReplyMemory(lane) { is_local = true; }

    /// Serves the request whose encoded arguments are `arguments`. Blocks while the adapter holds
    /// requests.
    void call(Orb& orb, Bytes object_key, const Operation& operation, const cdr::Writer& arguments);

    /// Returns the reply message; empty after a oneway.
    [[nodiscard]] MutableBytes message() const noexcept { return message_; }

    void send(Bytes header, const cdr::Writer& body) noexcept override;

  private:
    cdr::Buffer arguments_; // only when they lay in several places
    cdr::Buffer reply_;     // likewise
    MutableBytes message_;
};

} // namespace kairos::orb
