// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/asynchronous.h"

#include "kairos/base/log.h"
#include "kairos/client/call_cancelled.h"
#include "kairos/client/client.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

#include <utility>

namespace kairos::orb {

const char* CallCancelled::what() const noexcept { return "the call was cancelled"; }

AsynchronousCall& AsynchronousCall::make(Reference& target, const Operation& operation)
{
    Orb& orb = target.orb();
    if (orb.is_shut_down())
        raise<CORBA::BAD_INV_ORDER>(minor_code::orb_shut_down, CORBA::COMPLETED_NO);
    AsynchronousCall& call = Client::of(orb).asynchronous_calls().take();
    try {
        call.begin(target, operation);
    } catch (...) {
        call.abandon();
        throw;
    }
    return call;
}

AsynchronousCall::~AsynchronousCall() = default;

void AsynchronousCall::begin(Reference& target, const Operation& operation)
{
    target_ = ReferencePtr(&target);
    storage_.priority = ThreadStorage::current().priority;
    body_.emplace(target, operation, storage_);
    body_->limits_ = limits_of_call(target);
    body_->limits_.architecture = ConnectionArchitecture::active;
    // Of what has no answer the ORB's thread sends a copy: nobody waits until it has gone.
    if (body_->limits_.sync_scope == SyncScope::with_transport)
        body_->limits_.sync_scope = SyncScope::none;
}

void AsynchronousCall::limit(Deadline deadline) noexcept
{
    CallLimits& limits = body_->limits_;
    limits.reply = earlier(limits.reply, deadline);
    limits.request = earlier(limits.request, deadline);
}

void AsynchronousCall::clear() noexcept
{
    call_.reset();
    observation_.reset();
    route_.reset();
    body_.reset();
    failure_ = nullptr;
    is_over_ = false;
    must_not_wait_ = false;
    was_waited_for_ = false;
    may_be_cancelled_ = false;
    is_cancelled_ = false;
    target_ = {};
}

void AsynchronousCall::abandon() noexcept
{
    const ReferencePtr last = target_; // the ORB lives as long
    clear();
    Client::of(orb_).asynchronous_calls().give_back(*this);
}

void AsynchronousCall::send(const CallListener& listener) noexcept
{
    listener_ = listener;
    const ReferencePtr target = target_; // the ORB lives as long as this goes on
    AsynchronousCalls& calls = Client::of(orb_).asynchronous_calls();
    try {
        route_.emplace(body_->route_from(target->forward()));
        if (!orb_.call_observers().empty())
            observation_.emplace(*target, body_->operation_, body_->response_flags(),
                                 body_->limits_.sync_scope);
    } catch (...) {
        failure_ = std::current_exception();
        is_over_ = true;
    }
    if (is_over_)
        calls.post(*this);
    else
        go_on();
    calls.announce();
    if (target->orb().is_shut_down()) calls.end(); // too late for whoever ended the ORB
}

/// From way to way, until the call is under way or over, of which the main thread tells.
void AsynchronousCall::go_on() noexcept
{
    try {
        for (;;) {
            const bool gone =
                observation_ ? body_->observed(*route_, *observation_, [this] { return go_next(); })
                             : go_next();
            if (gone) return;
        }
    } catch (...) {
        note_failure();
    }
    Client::of(orb_).asynchronous_calls().post(*this);
}

bool AsynchronousCall::go_next()
{
    Body& body = *body_;
    Route& route = *route_;
    if (may_be_cancelled_) {
        const std::lock_guard lock(cancel_mutex_);
        raise_if_cancelled();
    }
    if (observation_) observation_->unanswered();
    route.next();
    const cdr::TextForm* const text = route.is_local() ? nullptr : route.target().text;
    if (text != body.environment_.text && !body.text_suits(text)) {
        route.unsuitable();
        return false;
    }
    Invocation::Request request(body, route);
    if (observation_) {
        observation_->begin(route);
        request.added_contexts = observation_->added_contexts();
    }
    if (route.is_local()) {
        note_waiting();
        outcome_ = body.collocated_.emplace(storage_).exchange(request, route);
        Client::of(orb_).asynchronous_calls().post(*this);
        return true;
    }
    SharedCarrier& carrier = body.shared_ ? *body.shared_ : body.shared_.emplace(storage_);
    if (const auto reached = carrier.reach_for_later(route); !reached) {
        route.unreachable(reached.error());
        return false;
    }
    // The reader of the one gives answers only to who waits; a oneway is left to the ORB to send.
    if (carrier.goes_both_ways() || !request.is_answered()) {
        if (carrier.goes_both_ways()) note_waiting();
        outcome_ = carrier.exchange(request, route);
        Client::of(orb_).asynchronous_calls().post(*this);
        return true;
    }
    std::unique_lock<std::mutex> cancelling(cancel_mutex_, std::defer_lock);
    if (may_be_cancelled_) cancelling.lock();
    raise_if_cancelled();
    SharedCall& call = call_.emplace(carrier.next_request_id());
    call.completion = this;
    if (carrier.begin(call, request, route)) return true;
    call_.reset();
    route.closed();
    return false;
}

void AsynchronousCall::note_waiting()
{
    if (must_not_wait_)
        raise<CORBA::REBIND>(minor_code::connect_refused, CORBA::COMPLETED_NO,
                             "the call would have to be waited for");
    was_waited_for_ = true;
}

bool AsynchronousCall::settle()
{
    Body& body = *body_;
    if (!call_ && !route_->is_local())
        return body.settle(*route_, *body.shared_, outcome_, observation());
    if (!call_) return body.settle(*route_, *body.collocated_, outcome_, observation());
    std::unique_lock<std::mutex> cancelling(cancel_mutex_, std::defer_lock);
    if (may_be_cancelled_) cancelling.lock();
    const giop::Outcome outcome = body.shared_->conclude(*call_, body.reply_);
    call_.reset();
    if (may_be_cancelled_) cancelling.unlock();
    return body.settle(*route_, *body.shared_, outcome, observation());
}

/// Under the connection's lock.
void AsynchronousCall::completed() noexcept { Client::of(orb_).asynchronous_calls().post(*this); }

/// In the main thread.
void AsynchronousCall::work() noexcept
{
    if (proceed()) tell();
}

/// What came of the way that was tried last, or of the call.
bool AsynchronousCall::proceed() noexcept
{
    if (!is_over_) {
        try {
            is_over_ = observation_
                           ? body_->observed(*route_, *observation_, [this] { return settle(); })
                           : settle();
        } catch (...) {
            note_failure();
        }
    }
    if (is_over_) return true;
    AsynchronousCalls& calls = Client::of(orb_).asynchronous_calls();
    const ReferencePtr target = target_;
    go_on();
    calls.announce();
    return false;
}

/// Of the exception that is being handled. Observers have heard of that one.
void AsynchronousCall::note_failure() noexcept
{
    failure_ = std::current_exception();
    is_over_ = true;
    if (!may_be_cancelled_) return;
    const std::lock_guard lock(cancel_mutex_);
    if (is_cancelled_) failure_ = std::make_exception_ptr(CallCancelled());
}

/// Must hold cancel_mutex_, where the call may be cancelled. Raises what a call ends with whose
/// time is over.
void AsynchronousCall::raise_if_cancelled() const
{
    if (is_cancelled_) throw CORBA::TIMEOUT(0, CORBA::COMPLETED_NO, "the call was cancelled");
}

void AsynchronousCall::cancel() noexcept
{
    const std::lock_guard lock(cancel_mutex_); // with it call_ stays
    is_cancelled_ = true;
    if (call_) body_->shared_->withdraw(*call_);
}

void AsynchronousCall::leave_to_thread() noexcept
{
    Client::of(orb_).asynchronous_calls().make_ready(*this);
}

void AsynchronousCall::tell() noexcept
{
    const CallListener listener = listener_;
    try {
        listener.ended(listener, *this);
    } catch (...) { // it has said what there is to say
        log::warning("what hears of the end of an asynchronous call has thrown an exception");
    }
    abandon();
}

void AsynchronousCall::refused() noexcept
{
    const CallListener listener = listener_;
    abandon(); // of which observers are told while there is still what it was about
    listener.dropped(listener);
}

} // namespace kairos::orb
