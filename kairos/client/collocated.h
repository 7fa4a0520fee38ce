// SPDX-License-Identifier: Apache-2.0
//
// A call to an object of this process: the encoded request goes straight to the dispatcher and the
// reply straight back, without a socket. Same encoding, same adapter, same exceptions: a servant
// cannot tell the difference. Stations 3 to 7 of the request walk (docs/TOUR.md) are left out.
#pragma once

#include "kairos/client/carrier.h"
#include "kairos/client/reply_memory.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"

namespace kairos::orb {

/// Keeps the reply until the caller has read its results.
class CollocatedCarrier final : public ReplyChannel, public ReplyMemory, public Carrier {
  public:
    explicit CollocatedCarrier(ThreadStorage& storage) : ReplyMemory(storage) { is_local = true; }

    /// Serves the request whose encoded arguments are `arguments`, with an encoded list of service
    /// contexts, and parses the reply unless the
    /// operation is oneway. Blocks while the adapter holds requests.
    void call(Orb& orb, Bytes object_key, const Operation& operation, const cdr::Writer& arguments,
              giop::Reply& reply, Bytes contexts = {});

    // The object is there already.
    [[nodiscard]] Result<void> reach(const Route&) override { return {}; }
    [[nodiscard]] Outcome exchange(Question& question, const Route& route) override;
    void release() noexcept override {}

    void send(Bytes header, const cdr::Writer& body) noexcept override;

  private:
    cdr::Buffer arguments_; // only when they lay in several places
    cdr::Buffer reply_;     // likewise
    MutableBytes message_;
};

} // namespace kairos::orb
