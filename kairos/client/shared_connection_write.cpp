// SPDX-License-Identifier: Apache-2.0
//
// What the thread does that writes to a connection: calls and what was posted, in their order.
#include "kairos/base/assert_held.h"
#include "kairos/client/shared_connection.h"
#include "kairos/orb/orb.h"

#include <utility>

namespace kairos::orb {

/// Until the peer takes no more, nothing is left, or what `own` waits for has come.
void SharedConnection::write(Lock& lock, const SharedCall* own) noexcept
{
    assert_held(mutex_);
    for (;;) {
        if (output_is_empty_ && !posted_.empty()) take_posted();
        if (!output_is_empty_ && !write_rest(lock)) return;
        SharedCall* const call = to_send_.front();
        if (call == nullptr || (own != nullptr && own->outcome)) return;
        if (call->posted_before > posted_taken_) continue; // posted meanwhile, and then this call
        to_send_.remove(*call);
        call->being_sent = true;
        call->sent = SharedCall::Sent::partly; // and may be answered
        lock.unlock();
        put(*call);
        lock.lock();
        call->being_sent = false;
        output_is_empty_ = output_.empty();
        if (output_.broken())
            finish(*call, Outcome::not_executed);
        else if (output_is_empty_)
            note_sent(*call);
        else
            note_partly_sent(*call);
        if (call->outcome || call->is_impatient) wake_locked(*call);
        if (output_.broken()) return fail_sending();
    }
}

/// True if nothing is left of it.
bool SharedConnection::write_rest(Lock& lock) noexcept
{
    assert_held(mutex_);
    // Whoever ends the connection meanwhile cannot know whether the peer has all of it by then.
    SharedCall* const call = std::exchange(partly_sent_, nullptr);
    if (call != nullptr) call->being_sent = true;
    lock.unlock();
    output_.flush(socket_);
    lock.lock();
    output_is_empty_ = output_.empty();
    if (posted_queued_ != 0 && !output_.broken()) posted_queued_ = output_.size();
    if (call != nullptr) {
        call->being_sent = false;
        if (output_.broken())
            finish(*call, Outcome::not_executed);
        else if (output_is_empty_)
            note_sent(*call);
        else if (!call->outcome)
            partly_sent_ = call;
        if (call->outcome || call->is_impatient) wake_locked(*call);
    }
    if (output_.broken()) fail_sending();
    return output_is_empty_ && !output_.broken();
}

bool SharedConnection::send_waiting() noexcept
{
    Lock lock(mutex_);
    const std::uint64_t posted_before = posted_count_;
    do
        write(lock, nullptr);
    while (output_is_empty_ && !posted_.empty() && posted_taken_ < posted_before);
    const bool has_more = has_to_write();
    thread_knows_ = has_more;
    lock.unlock();
    announce();
    return has_more;
}

void SharedConnection::put(SharedCall& call) noexcept
{
    if (call.body == nullptr) return output_.put(socket_, call.header);
    const std::size_t fragment_size = orb_.options().fragment_size;
    output_.put_message(socket_, call.header, *call.body, fragment_size);
}

void SharedConnection::note_sent(SharedCall& call) noexcept
{
    assert_held(mutex_);
    call.sent = SharedCall::Sent::wholly;
    if (call.has_contexts) session_.note_contexts_sent();
    if (!call.answer)
        finish(call, Outcome::ok);
    else if (call.parked && !call.outcome)
        followers_.push_back(call);
}

void SharedConnection::note_partly_sent(SharedCall& call) noexcept
{
    assert_held(mutex_);
    if (!call.outcome) partly_sent_ = &call;
}

/// What was not wholly sent cannot be executed. The answers to the rest may still be there to be
/// read: who reads ends the connection.
void SharedConnection::fail_sending() noexcept
{
    assert_held(mutex_);
    ended_ = true;
    output_is_empty_ = true;
    lose_posted();
    socket_.shutdown_both();
    while (SharedCall* call = to_send_.empty() ? partly_sent_ : to_send_.front()) {
        finish(*call, Outcome::not_executed);
        wake_locked(*call);
    }
}

} // namespace kairos::orb
