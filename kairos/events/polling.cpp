// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/polling.h"

#include "kairos/mapping/marshal.h"

namespace kairos::events {
namespace {

constexpr orb::Operation try_pull_operation("try_pull", orb::Response::required, disconnected);

} // namespace

void Polling::idle()
{
    if (has_ended_ || !may_call()) return;
    try {
        send(make_call(try_pull_operation));
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
    CORBA::Any data;
    CORBA::Boolean has_event = false;
    mapping::decode(call.in(), data);
    mapping::decode(call.in(), has_event);
    call.finish();
    if (!has_event) return pause(channel().limits().poll_interval);
    if (has_ended_) return;
    try {
        channel().publish(data);
    } catch (const CORBA::IMP_LIMIT&) {    // which is of the event, not of its supplier
    } catch (const CORBA::NO_RESOURCES&) { // nor is this
        pause(channel().limits().poll_interval);
    }
}

} // namespace kairos::events
