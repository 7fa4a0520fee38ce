// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/polling.h"

namespace kairos::events {

void Polling::idle()
{
    if (has_read_ && !has_published()) return;
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
    has_read_ = !has_ended_;
}

/// What it has read goes before it is asked for more.
bool Polling::has_published()
{
    if (!may_call()) return false;
    try {
        if (!publish()) {
            (void)may_call(); // it is asked again when that is so
            return false;
        }
    } catch (const CORBA::IMP_LIMIT&) {       // which is of the event, not of its supplier
    } catch (const CORBA::SystemException&) { // nor is this: room that there is not
        pause(members().limits().poll_interval);
    }
    has_read_ = false;
    return true;
}

} // namespace kairos::events
