// SPDX-License-Identifier: Apache-2.0
//
// Calls that no thread waits for, over a connection that has a thread: whoever ends one tells its
// completion, and the connection's thread looks after their deadlines.
#include "kairos/base/assert_held.h"
#include "kairos/client/client.h"
#include "kairos/client/shared_connection.h"

namespace kairos::orb {

bool SharedConnection::begin(SharedCall& call)
{
    Lock lock(mutex_);
    if (!admit(call, lock)) return false;
    const bool is_timed = !call.deadline().is_never();
    if (is_timed) note_timed(call);
    // The thread must know of a deadline, too. The call may be over when this returns.
    if (!thread_knows_ || is_timed) call_thread(lock);
    return true;
}

/// Tells of a call's end, unless somebody is still using its memory, who tells then.
void SharedConnection::complete(SharedCall& call) noexcept
{
    assert_held(mutex_);
    if (call.is_impatient && !call.outcome && !call.being_sent && !call.being_answered)
        finish(call, giop::outcome_when_late(call.sent));
    if (!call.is_over()) return;
    timed_.remove(call);
    (void)leave(call); // whose roles are the thread's
    call.completion->completed();
}

/// Puts a call where it belongs by its deadline: behind all others, as a rule.
void SharedConnection::note_timed(SharedCall& call) noexcept
{
    assert_held(mutex_);
    call.looked_at = call.deadline();
    SharedCall* before = timed_.back();
    while (before != nullptr && call.looked_at.at() < before->looked_at.at())
        before = before->timed_links.previous;
    timed_.insert_behind(before, call);
    has_timed_.store(true, std::memory_order_relaxed);
}

std::optional<Deadline::Clock::time_point> SharedConnection::end_overdue() noexcept
{
    Lock lock(mutex_);
    while (SharedCall* const call = timed_.front()) {
        if (!call->looked_at.has_passed()) return call->looked_at.at();
        timed_.remove(*call);
        if (call->outcome) continue; // about to be told
        if (!call->deadline().has_passed())
            note_timed(*call); // it was sent meanwhile, and has more time
        else if (call->being_sent || call->being_answered)
            call->is_impatient = true;
        else
            end_late(*call, lock);
    }
    has_timed_.store(false, std::memory_order_relaxed);
    return std::nullopt;
}

void SharedConnection::end_late(SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    const SharedCall::Sent sent = call.sent;
    finish(call, giop::outcome_when_late(sent)); // nobody else knows it from here on
    note_unanswered(call);
    if (sent == SharedCall::Sent::wholly) cancel(call, lock);
    complete(call);
}

void SharedConnection::withdraw(SharedCall& call) noexcept
{
    Lock lock(mutex_);
    if (call.outcome) return; // somebody tells, or has told
    timed_.remove(call);
    if (call.being_sent || call.being_answered) { // not for long
        call.is_impatient = true;
        return;
    }
    const SharedCall::Sent sent = call.sent;
    finish(call, giop::outcome_when_late(sent)); // nobody else knows it from here on
    if (sent == SharedCall::Sent::wholly) cancel(call, lock);
    complete(call);
    call_thread(lock); // which tells what is left to it
}

bool SharedConnection::has_ready() const noexcept
{
    return Client::of(orb_).asynchronous_calls().has_ready();
}

void SharedConnection::tell_ready() const noexcept
{
    Client::of(orb_).asynchronous_calls().tell_ready();
}

void SharedConnection::receive() noexcept
{
    (void)read(Wait::no, {});
    announce();
}

void SharedConnection::announce() noexcept { Client::of(orb_).asynchronous_calls().announce(); }

} // namespace kairos::orb
