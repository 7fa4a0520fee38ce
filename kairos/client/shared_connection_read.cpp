// SPDX-License-Identifier: Apache-2.0
//
// What the thread does that reads from a connection: replies go to whose they are.
#include "kairos/base/log.h"
#include "kairos/client/shared_connection.h"

#include <new>

namespace kairos::orb {

bool SharedConnection::read(Wait wait, Deadline deadline) noexcept
{
    try {
        const MutableBytes space = session_.space();
        const net::IoResult got = wait == Wait::no
                                      ? socket_.read(space, net::ReadFlags::do_not_wait)
                                  : deadline.is_never() ? socket_.read(space)
                                                        : socket_.read(space, deadline);
        if (got.status == net::IoResult::Status::would_block) return false;
        if (!got.ok()) {
            end(Outcome::lost);
            return true;
        }
        heard_.store(heard_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        session_.received(got.bytes);
        take_received();
    } catch (const std::bad_alloc&) {
        log::error(log::Line() << "out of memory for what " << *endpoint_
                               << " sends; connection closed");
        end(Outcome::lost);
    }
    return true;
}

void SharedConnection::take_received()
{
    for (giop::Answer answer;;) {
        switch (session_.next(answer)) {
        case giop::ClientSession::Event::answer:
            deliver(answer);
            break;
        case giop::ClientSession::Event::need_bytes:
            return;
        case giop::ClientSession::Event::ended:
            if (session_.outcome() == Outcome::malformed) refuse();
            return end(session_.outcome());
        }
    }
}

/// To who waits for it, if anybody does.
void SharedConnection::deliver(const giop::Answer& answer)
{
    SharedCall* const call = claim(answer);
    if (call == nullptr) return;
    Outcome outcome = Outcome::ok;
    try {
        call->reply->take(answer.message, session_.connection());
    } catch (const std::bad_alloc&) {
        outcome = Outcome::no_memory;
    }
    WakeLater owner;
    const Lock lock(mutex_);
    call->being_answered = false;
    peer_version_ = answer.message.version;
    finish(*call, outcome);
    if (call->completion != nullptr) return complete(*call);
    call->parking.call();
    if (call->parked) owner.place = &call->parking;
}

/// The call that this answers. It stays until its `being_answered` is taken back.
SharedCall* SharedConnection::claim(const giop::Answer& answer) noexcept
{
    const Lock lock(mutex_);
    auto* const call = static_cast<SharedCall*>(calls_.claim(answer));
    if (call == nullptr) return nullptr;
    followers_.remove(*call);
    call->being_answered = true;
    return call;
}

/// Tells the peer that what it sent cannot be understood, and the log why. The message waits for
/// its turn like any, but not for a peer that does not read.
void SharedConnection::refuse() noexcept
{
    constexpr std::chrono::milliseconds enough{100};
    log_malformed(*endpoint_, session_.why());
    const auto message = session_.refusal();
    SharedCall refusal(next_request_id());
    refusal.header = Bytes(message);
    if (thread_ != nullptr) { // which this is
        const Lock lock(mutex_);
        if (output_is_empty_) put(refusal);
        fail_sending();
    }
    refusal.send_by = Deadline::after(enough);
    (void)exchange(refusal);
}

} // namespace kairos::orb
