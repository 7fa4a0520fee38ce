// SPDX-License-Identifier: Apache-2.0
//
// The client's door for observers: who is told of each call that an ORB makes, may add service
// contexts to it, end it or send it elsewhere (docs/observers.md). The points are those of portable
// interceptors (CORBA 3.3 part 1, 16.3.5). An ORB without observers knows nothing of it.
#pragma once

#include "kairos/giop/message.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/observed.h"
#include "kairos/orb/operation.h"
#include "kairos/orb/reference.h"

#include <memory>

namespace kairos::orb {

/// One call, and the attempt at it that is being made: each place that it is sent to, and each time
/// that it is sent there again, is one. Belongs to the calling thread.
class KAIROS_API ObservedCall : public Observed {
  public:
    [[nodiscard]] Orb& orb() const noexcept { return target_.orb(); }
    [[nodiscard]] const Operation& operation() const noexcept { return operation_; }
    /// Returns whether there will be a reply.
    [[nodiscard]] bool response_expected() const noexcept { return response_expected_; }
    /// Returns when a oneway returns.
    [[nodiscard]] SyncScope sync_scope() const noexcept { return sync_scope_; }
    /// Returns the reference that the program calls.
    [[nodiscard]] Reference& target() const noexcept { return target_; }
    /// Returns the reference that this attempt goes to: the target, or where that was forwarded.
    [[nodiscard]] Reference& place() const noexcept { return *place_; }
    /// Returns the profile of place() that this attempt uses; null if that has none.
    [[nodiscard]] const ior::TaggedProfile* profile() const noexcept { return profile_; }
    /// Returns the service contexts that observers add to the request; those of its connection,
    /// priority and time left go besides. Empty when an attempt begins; may be added to in
    /// send_request.
    [[nodiscard]] ContextList& request_contexts()
    {
        if (!request_contexts_) make_request_contexts();
        return *request_contexts_;
    }
    [[nodiscard]] const ContextList& request_contexts() const noexcept;
    /// Returns the service contexts of the reply, at the points that tell of one; views that last
    /// as long as the point.
    [[nodiscard]] const giop::ServiceContexts& reply_contexts() const noexcept
    {
        return reply_contexts_;
    }

  protected:
    ObservedCall(Reference& target, const Operation& operation) noexcept
        : target_(target), operation_(operation), place_(&target)
    {
    }
    ~ObservedCall() = default;

    void make_request_contexts();

    Reference& target_;
    const Operation& operation_;
    bool response_expected_ = true;
    SyncScope sync_scope_ = SyncScope::with_target;
    Reference* place_;
    const ior::TaggedProfile* profile_ = nullptr;
    std::unique_ptr<ContextList> request_contexts_; // null: nobody has asked for it
    giop::ServiceContexts reply_contexts_;
};

/// Hears of all calls of an ORB, in the threads that make them, several at the same time. Every
/// point may make calls of its own, which are observed, too. Points may throw: a
/// CORBA::SystemException ends the call with it, a LocationForward has it made elsewhere, anything
/// else becomes UNKNOWN; the observers that are still to be told of the end are told of that.
class KAIROS_API CallObserver {
  public:
    CallObserver() = default;
    CallObserver(const CallObserver&) = delete;
    CallObserver& operator=(const CallObserver&) = delete;
    virtual ~CallObserver() = default;

    /// An attempt begins. If it throws, no observer behind this one hears of the attempt.
    virtual void send_request(ObservedCall&) {}

    // --- how the attempt ended: one of these for each send_request that returned ---
    virtual void receive_reply(ObservedCall&) {}
    virtual void receive_exception(ObservedCall&) {}
    /// The call goes on elsewhere or once more, or has no reply (Ending::Status).
    virtual void receive_other(ObservedCall&) {}
};

} // namespace kairos::orb
