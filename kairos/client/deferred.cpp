// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/deferred.h"

#include "kairos/client/thread_connections.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

using Outcome = ClientConnection::Outcome;

DeferredInvocation::~DeferredInvocation()
{
    if (!connection_ || !received_) return;
    note_end_of_use();
    ThreadConnections::of(Lane::current()).give_back(std::move(connection_));
}

void DeferredInvocation::send()
{
    Reference* const forward = reference_.forward(); // which keeps it
    Reference& reference = forward == nullptr ? reference_ : *forward;
    following_ = forward;
    limits_ = limits_of_call(reference_);
    if (send_to(reference)) return;
    // The ordinary way knows every place to try, and how to say that none will do.
    try {
        invoke_limited();
    } catch (...) {
        exception_ = std::current_exception();
    }
}

bool DeferredInvocation::send_to(Reference& reference)
{
    if (reference.orb().is_shut_down() || reference.is_local() || reference.targets().empty())
        return false;
    const Target& target =
        (reference.has_priorities() ? targets_by_priority(reference) : reference.targets()).front();
    propagates_priority_ = reference.propagates_priority();
    if (target.text != environment_.text && !text_suits(target)) return false;
    connection_ = ThreadConnections::of(Lane::current()).take_open(*target.endpoint);
    if (!connection_ && !make_connection<Way::limited>(target)) return false;
    request_id_ = connection_->next_request_id();
    if (!send_request(target.by_key)) {
        connection_.reset();
        return false;
    }
    sent_to_ = &target;
    sent_by_ = &reference;
    return true;
}

bool DeferredInvocation::send_request(const giop::RequestTemplate& header)
{
    const Bytes prefix = prepend_header<Way::limited>(header, request_id_);
    connection_->note_contexts_sent();
    if (prefix.empty())
        raise<CORBA::IMP_LIMIT>(minor_code::message_too_large, CORBA::COMPLETED_NO,
                                "the request exceeds 4 GiB");
    return connection_->send(prefix, out_, limits_.request) == Outcome::ok;
}

bool DeferredInvocation::poll()
{
    try {
        return poll_connection();
    } catch (const std::bad_alloc&) {
        lose_memory();
        return true;
    }
}

bool DeferredInvocation::poll_connection()
{
    if (sent_to_ == nullptr || has_reply_) return true;
    const auto outcome = connection_->poll(request_id_, reply_);
    if (!outcome && !limits_.reply.has_passed()) return false;
    outcome_ = outcome.value_or(Outcome::late);
    has_reply_ = true;
    return true;
}

/// For a large reply, half of which may have been read: the call is over.
void DeferredInvocation::lose_memory()
{
    connection_.reset();
    sent_to_ = nullptr;
    exception_ = std::make_exception_ptr(
        CORBA::NO_MEMORY(0, CORBA::COMPLETED_MAYBE, "no memory for the reply"));
}

void DeferredInvocation::receive()
{
    received_ = true;
    if (exception_) std::rethrow_exception(exception_);
    if (sent_to_ == nullptr) return;
    const Outcome outcome = receive_reply();
    if (outcome == Outcome::ok) {
        note_bound();
        const Step step = accept();
        if (step == Step::done) return;
        refuse_to_rebind();
        (void)(step == Step::forward ? follow_forward() : fall_back());
    } else {
        if (outcome == Outcome::late) raise_late(Lane::current(), sent_to_->by_key.version());
        connection_.reset();
        if (outcome != Outcome::not_executed) raise_lost(outcome);
        ThreadConnections::of(Lane::current())
            .close(*sent_to_->endpoint); // as in Invocation::call_remote
    }
    invoke_limited(); // elsewhere, or once more: it was not executed
}

Outcome DeferredInvocation::receive_reply()
{
    try {
        lane_.serving_thread = Lane::current().serving_thread;
        if (!has_reply_) outcome_ = Invocation::receive<Way::limited>(request_id_);
        if (outcome_ == Outcome::ok && reply_.status == giop::ReplyStatus::needs_addressing_mode)
            outcome_ = exchange<Way::limited>(readdressed(*sent_by_, *sent_to_));
    } catch (const std::bad_alloc&) {
        lose_memory();
        std::rethrow_exception(exception_);
    }
    return outcome_;
}

} // namespace kairos::orb
