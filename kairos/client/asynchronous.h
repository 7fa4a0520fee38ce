// SPDX-License-Identifier: Apache-2.0
//
// One client call that no thread waits for: it is sent now, over the connection that the ORB's own
// thread writes and reads (connection_thread.h), and when it has ended, the thread that is in
// ORB::run or perform_work tells whoever listens. Forwards, retries and deadlines are those of any
// call (route.h). Nothing belongs to a thread while the call is under way.
//
// A call belongs to who makes it until `send`, and then to the ORB, which keeps its memory for
// another call after the end (asynchronous_calls.h).
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/client/invocation.h"
#include "kairos/orb/main_thread.h"

#include <exception>
#include <mutex>
#include <optional>

namespace kairos::orb {

class AsynchronousCall;

/// Who hears of the end of an asynchronous call: what kairos/messaging makes of a reply handler.
/// It is given by value, and owned by whoever has it.
struct CallListener {
    /// Not null: called in place of the main thread where there is something to do for the call,
    /// under the lock of a connection; then whoever polls calls `proceed`. Returns `no` if nobody
    /// polls any more: the call is dropped; `first` if it has posted work for the main thread of
    /// which a thread that waits elsewhere must hear. Must not call the call.
    MainThread::Accepted (*posted)(const CallListener& listener) noexcept = nullptr;
    /// Called after AsynchronousCall::leave_to_thread, by the thread of a connection, with no lock
    /// held: may call `proceed`.
    void (*ready)(const CallListener& listener) noexcept = nullptr;
    /// Called once, in the thread that tells, with no lock held. Reads the results or asks for the
    /// failure, and gives back what `object` owns. What it throws goes no further.
    void (*ended)(const CallListener& listener, AsynchronousCall& call) = nullptr;
    /// Called instead where nobody is told any more, since the ORB was shut down: gives back what
    /// `object` owns.
    void (*dropped)(const CallListener& listener) noexcept = nullptr;
    void* object = nullptr;
    const void* detail = nullptr; ///< constant data
};

class KAIROS_API AsynchronousCall final : private MainThread::Posted, private Completion {
  public:
    /// Returns a call of `operation`, which must outlive it, on `target`. Throws BAD_INV_ORDER
    /// after the ORB was shut down, TRANSIENT where as many calls are under way as
    /// -ORBAsynchronousCalls allows.
    [[nodiscard]] static AsynchronousCall& make(Reference& target, const Operation& operation);
    /// Gives back a call that was not sent, or that is over and whose listener polls.
    void abandon() noexcept;

    /// Returns the writer of the arguments. None may stay where it is: see cdr::Writer::CopyAll.
    [[nodiscard]] cdr::Writer& out() noexcept { return body_->out(); }
    /// Has the call end by then, if its policies do not end it before. To be called before `send`.
    void limit(Deadline deadline) noexcept;
    /// Has the call use connections that there are, and follow no forward, where the reference is
    /// bound, as Messaging::NO_RECONNECT does, and none of those that carry requests in both
    /// directions, nor call an object of this process: else it is REBIND, and nobody has waited.
    /// To be called before `send`.
    void stay_connected() noexcept
    {
        body_->limits_.rebind = RebindMode::no_reconnect;
        must_not_wait_ = true;
    }
    /// Permits `cancel`. To be called before `send`.
    void permit_cancelling() noexcept { may_be_cancelled_ = true; }
    /// Sends the request; the call belongs to the ORB from here on. What becomes of it, also if it
    /// cannot be sent, the listener hears. Calls an object of this process at once, but the
    /// listener hears of that likewise.
    void send(const CallListener& listener) noexcept;

    /// Does what there is to do for a call of a listener that polls, after `posted`. Returns true
    /// if the call is over; else `posted` says when to call this again, or has said it. Called by
    /// one thread at a time, with no lock held.
    [[nodiscard]] bool proceed() noexcept;
    /// Has the thread of a connection call the listener's `ready`, soon. Called by `posted` alone.
    void leave_to_thread() noexcept;
    /// Has the call end with CallCancelled, unless its results are there already, and tells the
    /// server that nobody waits for them. Between `send` and `abandon`, by any thread, with no lock
    /// held; the listener hears of the end like of any.
    void cancel() noexcept;

    // --- for the listener ---
    /// Returns whether a thread has waited for it: for an object of this process, or for an answer
    /// on a connection that carries requests in both directions.
    [[nodiscard]] bool was_waited_for() const noexcept { return was_waited_for_; }
    /// Returns how the call failed; null if it has results.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
    /// Returns the reader of the results (CallBodies::in).
    [[nodiscard]] cdr::Reader& in() noexcept { return body_->in(); }
    /// Ends the reading of results. Throws CORBA::MARSHAL if they were malformed.
    void finish() { body_->finish(); }

  private:
    friend class AsynchronousCalls;
    /// The call itself, made anew each time.
    class Body : public Invocation {
      public:
        Body(Reference& target, const Operation& operation, ThreadStorage& storage)
            : Invocation(target, operation, storage)
        {
        }
    };

    explicit AsynchronousCall(Orb& orb) noexcept : orb_(orb) {}
    ~AsynchronousCall() override;

    /// Prepares the memory for this call.
    void begin(Reference& target, const Operation& operation);
    /// Forgets what the call was about.
    void clear() noexcept;

    // All of these leave the call to others where it is under way: nothing of it may be touched
    // then.
    void go_on() noexcept;
    /// Goes to the next way; returns true if the call is under way, or over.
    [[nodiscard]] bool go_next();
    void raise_if_cancelled() const;
    /// Notes that this thread waits now. Throws REBIND where it must not.
    void note_waiting();
    void note_failure() noexcept;
    /// Tells the route what came of the way; returns true if the call is over.
    [[nodiscard]] bool settle();
    void tell() noexcept;
    [[nodiscard]] CallObservation* observation() noexcept
    {
        return observation_ ? &*observation_ : nullptr;
    }

    void completed() noexcept override;
    void work() noexcept override;
    void refused() noexcept override;

    Orb& orb_;              // which owns this
    ThreadStorage storage_; // buffers that the body takes, kept from call to call
    ReferencePtr target_;
    CallListener listener_;
    std::optional<Body> body_;
    std::optional<Route> route_;
    std::optional<CallObservation> observation_;
    std::optional<SharedCall> call_; // under way, or ended
    giop::Outcome outcome_{};        // of a call within the process
    bool is_over_ = false;           // with the failure, or results
    bool must_not_wait_ = false;
    bool was_waited_for_ = false;
    bool may_be_cancelled_ = false;
    bool is_cancelled_ = false; // guarded by cancel_mutex_, as is whether there is a call_
    // guards what a call may be cancelled in; outside those of shared connections
    std::mutex cancel_mutex_;
    std::exception_ptr failure_;
    ListLinks<AsynchronousCall> dropped_links_;
    ListLinks<AsynchronousCall> ready_links_;
};

} // namespace kairos::orb
