// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/callback.h"

#include "kairos/base/log.h"
#include "kairos/client/asynchronous.h"
#include "kairos/messaging/exception_holder.h"
#include "kairos/messaging/polled.h"

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

void ended(const CallListener& listener, AsynchronousCall& call)
{
    try {
        if (listener.object != nullptr) // a nil handler does not want to know
            tell_end(*static_cast<const CallbackKind*>(listener.detail), listener.object, call);
    } catch (...) {
        release_handler(listener);
        throw;
    }
    release_handler(listener);
}

} // namespace

void tell_end(const CallbackKind& kind, void* handler, AsynchronousCall& call)
{
    std::exception_ptr failure = call.failure();
    if (!failure) {
        try {
            Reply reply(call);
            return kind.replied(kind, reply, handler);
        } catch (...) { // the results cannot be read
            failure = std::current_exception();
        }
    }
    const Messaging::ExceptionHolder_var holder = make_exception_holder(failure);
    kind.failed(kind, holder.in(), handler);
}

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
