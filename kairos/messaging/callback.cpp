// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/callback.h"

#include "kairos/base/log.h"
#include "kairos/client/asynchronous.h"
#include "kairos/messaging/exception_holder.h"

#include <exception>
#include <string>
#include <utility>

namespace kairos::messaging {
namespace {

using orb::AsynchronousCall;
using orb::CallListener;

void release_handler(const CallListener& listener) noexcept
{
    if (listener.object != nullptr)
        static_cast<const CallbackKind*>(listener.detail)->release(listener.object);
}

/// Tells the handler. A nil one does not want to know.
void tell_end(const CallListener& listener, AsynchronousCall& call)
{
    if (listener.object == nullptr) return;
    const auto& kind = *static_cast<const CallbackKind*>(listener.detail);
    std::exception_ptr failure = call.failure();
    if (!failure) {
        try {
            Reply reply(call);
            return kind.replied(kind, reply, listener.object);
        } catch (...) { // the results cannot be read
            failure = std::current_exception();
        }
    }
    const Messaging::ExceptionHolder_var holder = make_exception_holder(failure);
    kind.failed(kind, holder.in(), listener.object);
}

void ended(const CallListener& listener, AsynchronousCall& call)
{
    try {
        tell_end(listener, call);
    } catch (...) {
        release_handler(listener);
        throw;
    }
    release_handler(listener);
}

} // namespace

Reply::Reply(AsynchronousCall& call) noexcept : call_(call), in_(call.in()) {}

void Reply::finish() { call_.finish(); }

void tell(const std::function<void()>& handler) noexcept
{
    try {
        handler();
    } catch (const CORBA::Exception& exception) {
        log::warning(std::string("a reply handler raises ") + exception.what());
    } catch (const std::exception& exception) {
        log::warning(std::string("a reply handler throws ") + exception.what());
    } catch (...) {
        log::warning("a reply handler throws what is no exception");
    }
}

CallbackCall::CallbackCall(CORBA::Object& target, const orb::Operation& operation)
    : call_(&AsynchronousCall::make(corba::reference_of(target), operation)), out_(call_->out())
{
    copies_.emplace(out_);
}

CallbackCall::~CallbackCall()
{
    copies_.reset();
    if (call_ != nullptr) call_->abandon();
}

void CallbackCall::send_to(const CallbackKind& kind, void* handler) noexcept
{
    copies_.reset(); // the call may be over, and its memory another's, when this returns
    std::exchange(call_, nullptr)
        ->send({.ended = &ended, .dropped = &release_handler, .object = handler, .detail = &kind});
}

} // namespace kairos::messaging
