// SPDX-License-Identifier: Apache-2.0
//
// What the sendp_ functions and the pollers of `kairos-idl --ami` are made of (CORBA 3.3 part 1,
// 17.8 and 17.9): a reply that whoever has the poller fetches when it is there. No thread has to be
// in ORB::run for that. Any thread may use a poller; one of them gets the reply.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/stub.h"
#include "kairos/messaging/callback.h"

#include "kairos/messaging/MessagingAMI.h"

#include <optional>
#include <string_view>

namespace kairos::orb {
class AsynchronousCall;
class Orb;
} // namespace kairos::orb

namespace kairos::messaging {

class Polled;

/// Base of the pollers that generated code has: all that is the same for all interfaces. Copies
/// and messages cannot have one, as the reply comes to this process.
class KAIROS_API PollerBase : public virtual Messaging::Poller,
                              public virtual CORBA::DefaultValueRefCountBase {
  public:
    CORBA::Boolean is_ready(CORBA::ULong timeout) override;
    CORBA::PollableSet_ptr create_pollable_set() override;
    CORBA::Object_ptr operation_target() override;
    char* operation_name() override;
    Messaging::ReplyHandler_ptr associated_handler() override;
    /// Throws BAD_PARAM for a handler of another interface, OBJECT_NOT_EXIST after the reply was
    /// fetched, or given to a handler.
    void associated_handler(Messaging::ReplyHandler_ptr handler) override;
    CORBA::Boolean is_from_poller() override;

    /// Throws NO_IMPLEMENT.
    CORBA::ValueBase* _copy_value() override;
    [[nodiscard]] const values::Type& _kairos_type() const override;
    /// Both throw MARSHAL.
    void _kairos_encode(cdr::Writer& out) const override;
    void _kairos_decode(cdr::Reader& in) override;

  protected:
    /// Polls a call that PollingCall::send has sent; `callback`, which is constant data, says how a
    /// handler hears of its end.
    PollerBase(CORBA::Object& target, const IntrusivePtr<RefCounted>& polled,
               const CallbackKind& callback);
    /// Gives the reply up if nobody has fetched it, and no handler waits for it.
    ~PollerBase() override;

  private:
    friend class FetchedReply;

    const CORBA::Object_var target_;
    const IntrusivePtr<Polled> polled_;
    const CallbackKind& callback_;
};

/// The reply of a poller, on the stack of the function that fetches it.
class KAIROS_API FetchedReply {
  public:
    /// Waits so many milliseconds for the reply, 0xFFFFFFFF for ever. Throws what the call has
    /// raised; BAD_OPERATION if this is not the operation that was called, OBJECT_NOT_EXIST if the
    /// reply was fetched before, NO_RESPONSE or, where it has waited, TIMEOUT if there is none.
    FetchedReply(PollerBase& poller, std::string_view operation, CORBA::ULong timeout);
    ~FetchedReply();
    FetchedReply(const FetchedReply&) = delete;
    FetchedReply& operator=(const FetchedReply&) = delete;

    /// Returns the reader of the results, whose views last as long as this object.
    [[nodiscard]] cdr::Reader& in() noexcept;
    /// Ends the reading of results. Throws CORBA::MARSHAL if they were malformed.
    void finish();

  private:
    orb::AsynchronousCall* call_ = nullptr;
};

/// One call whose reply is polled, on the stack of its sendp_ function. Used by one thread.
class KAIROS_API PollingCall {
  public:
    /// Prepares a call of `operation`, which is constant data, on `target`. Throws as CallbackCall
    /// does.
    PollingCall(CORBA::Object& target, const orb::Operation& operation);
    /// Gives the call up if it was not sent.
    ~PollingCall();
    PollingCall(const PollingCall&) = delete;
    PollingCall& operator=(const PollingCall&) = delete;

    /// Returns the writer of the arguments, which are copied.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }
    /// Sends the request; returns what a poller is made of.
    [[nodiscard]] IntrusivePtr<RefCounted> send();

  private:
    orb::AsynchronousCall* call_;
    const orb::Operation& operation_;
    orb::Orb& orb_;
    cdr::Writer& out_;
    std::optional<cdr::Writer::CopyAll> copies_;
};

} // namespace kairos::messaging
