// SPDX-License-Identifier: Apache-2.0
//
// One client call in two parts: it is sent now, its reply is fetched later. Not on the stack of a
// stub but on the heap of who waits (kairos/dynamic). While it is under way it owns its buffer and
// its connection, so it holds up no other call of the thread that sent it and may be finished by
// another thread. Used by one thread at a time.
#pragma once

#include "kairos/base/export.h"
#include "kairos/client/invocation.h"

#include <exception>

namespace kairos::orb {

/// What an Invocation takes from its thread's storage belongs to the call itself here.
struct OwnStorage {
    ThreadStorage storage;
};

class KAIROS_API DeferredInvocation final : private OwnStorage, private Invocation {
  public:
    /// Prepares a call of `operation` on `target`; both must outlive it.
    DeferredInvocation(Reference& target, const Operation& operation)
        : Invocation(target, operation, OwnStorage::storage)
    {
    }
    /// Gives the connection to the storage of the calling thread, or closes it if the reply has not
    /// been received: nobody waits for it any more.
    ~DeferredInvocation();

    using Invocation::finish;
    using Invocation::in;
    /// Returns the writer of the arguments. None may stay where it is: see cdr::Writer::CopyAll.
    using Invocation::out;

    /// Sends the request and returns when the kernel has it. Serves a call to an object of this
    /// process at once; keeps the reason why a call could not be sent for `receive`.
    void send();
    /// Returns, after `send`, whether `receive` would not have to wait for the reply.
    [[nodiscard]] bool poll();
    /// Ends the call, as the second part of Invocation::invoke; to be called once, after `send`.
    /// Waits for the reply and throws the exceptions that the servant or the ORB raised.
    void receive();
    /// Returns the socket that becomes readable when `poll` should be asked again; null when that
    /// says yes already.
    [[nodiscard]] const net::Socket* socket() const noexcept
    {
        return is_sent_ && !has_reply_ ? &own_.connection()->socket() : nullptr;
    }

    /// Returns the deadline of the reply, after which `poll` says yes in any case.
    [[nodiscard]] Deadline deadline() const noexcept { return limits_.reply; }

  private:
    [[nodiscard]] bool send_to_first();
    void send_otherwise();
    [[gnu::cold]] void send_observed();
    [[nodiscard]] CallObservation* observation() noexcept
    {
        return observation_ ? &*observation_ : nullptr;
    }

    std::optional<CallObservation> observation_; // where somebody observes
    std::optional<Route> route_;                 // that leads to where it was sent
    std::uint32_t request_id_ = 0;
    bool is_sent_ = false;   // else the call is over, without a connection
    bool has_reply_ = false; // with this outcome
    Outcome outcome_ = Outcome::ok;
    bool received_ = false;
    std::exception_ptr exception_; // that a call which is over ended with
};

} // namespace kairos::orb
