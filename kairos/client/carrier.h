// SPDX-License-Identifier: Apache-2.0
//
// How a call gets to where its route leads, and its answer back: over a connection of the caller's
// own (own_carrier.h), over one that threads share (shared_carrier.h), or within the process
// (collocated.h). Used by one thread at a time.
#pragma once

#include "kairos/base/result.h"
#include "kairos/client/route.h"
#include "kairos/giop/client_session.h"
#include "kairos/orb/operation.h"

namespace kairos::orb {

/// What is asked of a target: a request or a LocateRequest. Belongs to who asks, and stays as it is
/// until the answer is there.
class Question {
  public:
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    /// Returns the encoded header of the message to this target, which goes before `arguments`; it
    /// is valid until the next call. Throws IMP_LIMIT if the message exceeds what GIOP can say.
    [[nodiscard]] virtual Bytes header(const giop::RequestTemplate& target,
                                       std::uint32_t request_id, Bytes contexts) = 0;

    const Operation* operation = nullptr;      ///< null: a LocateRequest
    const cdr::Writer* arguments = nullptr;    ///< null: the header is the whole message
    giop::Reply* reply = nullptr;              ///< where the answer goes; null for a oneway…
    giop::LocateReply* locate_reply = nullptr; ///< …or here
    bool is_posted = false;                    ///< a oneway that may be left to be sent later
    /// Service contexts that observers add, an encoded list: in the header, too, but that within
    /// the process there is none.
    Bytes added_contexts;

    [[nodiscard]] bool is_answered() const noexcept
    {
        return reply != nullptr || locate_reply != nullptr;
    }

  protected:
    Question() = default;
    ~Question() = default;
};

class Carrier {
  public:
    using Outcome = giop::Outcome;

    Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    virtual ~Carrier() = default;

    /// Gets ready to carry to where the route leads: connects, if there is no connection and one
    /// may be made. Returns why that cannot be.
    [[nodiscard]] virtual Result<void> reach(const Route& route) = 0;
    /// Carries the question to where it was reached and waits until it is sent, or for its answer,
    /// which lies in the carrier until that is used again or released.
    [[nodiscard]] virtual Outcome exchange(Question& question, const Route& route) = 0;
    /// Needs no longer what it has reached, nor the answer.
    virtual void release() noexcept = 0;
};

} // namespace kairos::orb
