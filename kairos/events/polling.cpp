// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/polling.h"

namespace kairos::events {

void Polling::idle()
{
    if (has_ended_ || is_suspended_ || !may_call()) return;
    try {
        orb::AsynchronousCall& call = make_call(try_pull_);
        try {
            write_arguments(call.out());
        } catch (...) {
            call.abandon();
            throw;
        }
        send(call);
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        judge(outcome_of_no_call(failure), failure);
        wake();
    }
}

void Polling::called(orb::AsynchronousCall& call)
{
    note_made(call);
    std::exception_ptr failure = call.failure();
    if (!failure) {
        try {
            take(call);
        } catch (...) {
            failure = std::current_exception();
        }
    }
    judge(outcome_of_call(failure), failure);
}

void Polling::take(orb::AsynchronousCall& call)
{
    const bool has_event = read_results(call.in());
    call.finish();
    if (!has_event) return pause(members().limits().poll_interval);
    if (has_ended_) return;
    try {
        publish();
    } catch (const CORBA::IMP_LIMIT&) {       // which is of the event, not of its supplier
    } catch (const CORBA::SystemException&) { // nor is this: room, or a store, that there is not
        pause(members().limits().poll_interval);
    }
}

} // namespace kairos::events
