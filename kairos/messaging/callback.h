// SPDX-License-Identifier: Apache-2.0
//
// What the sendc_ functions of `kairos-idl --ami` are made of (CORBA 3.3 part 1, 17.6): the call
// that is sent, and how its reply gets to the reply handler. The call itself is
// client/asynchronous.h.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/corba/stub.h"
#include "kairos/messaging/exception_holder.h"

#include "kairos/messaging/MessagingAMI.h"

#include <functional>
#include <optional>

namespace kairos::orb {
class AsynchronousCall;
} // namespace kairos::orb

namespace kairos::messaging {

/// A reply that is there, as generated code reads it.
class KAIROS_API Reply {
  public:
    explicit Reply(orb::AsynchronousCall& call) noexcept;
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;

    /// Returns the reader of the results: return value, then inout and out in the order of the IDL.
    /// Views into it last as long as this object.
    [[nodiscard]] cdr::Reader& in() noexcept { return in_; }
    /// Ends the reading of results; to be called when all are read. Throws CORBA::MARSHAL if they
    /// were malformed.
    void finish();

  private:
    orb::AsynchronousCall& call_;
    cdr::Reader& in_;
};

/// Calls a reply handler. What that throws nobody waits for: it becomes a line in the log.
KAIROS_API void tell(const std::function<void()>& handler) noexcept;

/// How the end of a call of one operation gets to a handler of whatever class. Constant data.
struct CallbackKind {
    /// Reads the results and calls the handler's operation. Throws where they cannot be read,
    /// before it calls.
    void (*replied)(const CallbackKind& kind, Reply& reply, void* handler);
    void (*failed)(const CallbackKind& kind, Messaging::ExceptionHolder* holder, void* handler);
    /// Gives up the reference to the handler, which is not null.
    void (*release)(void* handler);
    /// Returns the handler as one of the class of this call, with a count of its own; null if it is
    /// none. May ask the handler's process.
    void* (*narrow)(Messaging::ReplyHandler_ptr handler);
};

/// How the end of a call of one operation gets to a handler of this class. Constant data.
template <typename Handler>
class Callback : public CallbackKind {
  public:
    constexpr Callback(void (*replied_function)(Reply&, Handler&),
                       void (Handler::*failed_operation)(Messaging::ExceptionHolder*)) noexcept
        : CallbackKind{&call_replied, &call_failed, &give_up, &narrowed},
          replied_(replied_function), failed_(failed_operation)
    {
    }

  private:
    static const Callback& self(const CallbackKind& kind) noexcept
    {
        return static_cast<const Callback&>(kind);
    }
    static void call_replied(const CallbackKind& kind, Reply& reply, void* handler)
    {
        self(kind).replied_(reply, *static_cast<Handler*>(handler));
    }
    static void call_failed(const CallbackKind& kind, Messaging::ExceptionHolder* holder,
                            void* handler)
    {
        tell([&] { (static_cast<Handler*>(handler)->*self(kind).failed_)(holder); });
    }
    static void give_up(void* handler) { CORBA::release(static_cast<Handler*>(handler)); }
    static void* narrowed(Messaging::ReplyHandler_ptr handler) { return Handler::_narrow(handler); }

    void (*replied_)(Reply&, Handler&);
    void (Handler::*failed_)(Messaging::ExceptionHolder*);
};

/// One asynchronous call, on the stack of its sendc_ function. Used by one thread.
class KAIROS_API CallbackCall {
  public:
    /// Prepares a call of `operation`, which is constant data, on `target`. Throws NO_IMPLEMENT for
    /// a local object, BAD_INV_ORDER after the ORB was shut down, and TRANSIENT where as many calls
    /// are under way as -ORBAsynchronousCalls allows.
    CallbackCall(CORBA::Object& target, const orb::Operation& operation);
    /// Gives the call up if it was not sent.
    ~CallbackCall();
    CallbackCall(const CallbackCall&) = delete;
    CallbackCall& operator=(const CallbackCall&) = delete;

    /// Returns the writer of the arguments, which are copied.
    [[nodiscard]] cdr::Writer& out() noexcept { return out_; }
    /// Sends the request. `callback` is constant data; `handler`, which may be nil, is duplicated,
    /// and hears of the end of the call while the program is in ORB::run or perform_work.
    template <typename Handler>
    void send(const Callback<Handler>& callback, Handler* handler) noexcept
    {
        send_to(callback, Handler::_duplicate(handler));
    }

  private:
    void send_to(const CallbackKind& kind, void* handler) noexcept;

    orb::AsynchronousCall* call_;
    cdr::Writer& out_;
    std::optional<cdr::Writer::CopyAll> copies_;
};

} // namespace kairos::messaging
