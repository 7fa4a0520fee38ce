// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/deferred.h"

#include "kairos/orb/adapter.h"
#include "kairos/orb/orb.h"

#include <new>

namespace kairos::orb {

DeferredInvocation::~DeferredInvocation()
{
    if (!received_) own_.drop();
    own_.use(ThreadStorage::current());
    own_.release();
}

void DeferredInvocation::send()
{
    limits_ = limits_of_call(reference_);
    own_.use(ThreadStorage::current());
    if (!reference_.orb().call_observers().empty()) return send_observed();
    is_sent_ = send_to_first();
    if (!is_sent_) send_otherwise();
}

/// The ordinary way knows every place to try, and how to say that none will do.
void DeferredInvocation::send_otherwise()
{
    own_.drop();
    try {
        invoke_limited(observation());
    } catch (...) {
        exception_ = std::current_exception();
    }
}

void DeferredInvocation::send_observed()
{
    observation_.emplace(reference_, operation_, response_flags(), limits_.sync_scope);
    try {
        is_sent_ = observation_->during([this] { return send_to_first(); });
    } catch (const LocationForward& elsewhere) { // an observer's
        (void)reference_.set_forward(route_->orb().make_reference(elsewhere.target), false);
    } catch (...) {
        exception_ = std::current_exception();
        return;
    }
    if (!is_sent_) send_otherwise();
}

bool DeferredInvocation::send_to_first()
{
    Reference* const forward = reference_.forward(); // which keeps it
    route_.emplace(reference_, forward, limits_, storage_, Route::Purpose::call);
    if (route_->orb().is_shut_down() || route_->is_local() || !route_->next_here()) return false;
    const cdr::TextForm* const text = route_->target().text;
    if (text != environment_.text && !text_suits(text)) return false;
    if (observation_) observation_->begin(*route_);
    if (!own_.reach(*route_)) return false;
    Request request(*this, *route_);
    if (observation_) request.added_contexts = observation_->added_contexts();
    return own_.send(request, *route_, request_id_) == Outcome::ok;
}

bool DeferredInvocation::poll()
{
    if (!is_sent_ || has_reply_) return true;
    try {
        outcome_ = own_.connection()->poll(request_id_, reply_);
        if (outcome_ == Outcome::late && !limits_.reply.has_passed()) return false;
    } catch (const std::bad_alloc&) { // for a large reply; half of it may have been read
        outcome_ = Outcome::no_memory;
    }
    has_reply_ = true;
    return true;
}

void DeferredInvocation::receive()
{
    received_ = true;
    if (exception_) std::rethrow_exception(exception_);
    if (!is_sent_) return;
    own_.use(ThreadStorage::current());
    if (!has_reply_) outcome_ = own_.receive(request_id_, reply_, limits_.reply);
    own_.conclude(outcome_, true, *route_);
    has_reply_ = true;
    // Elsewhere, or once more, if it was not executed.
    const auto end = [this] { return settle(*route_, own_, outcome_, observation()); };
    const bool is_done = observation_ ? observed(*route_, *observation_, end) : end();
    if (!is_done) run(*route_, observation());
}

} // namespace kairos::orb
