// SPDX-License-Identifier: Apache-2.0
//
// What the thread does that reads from a connection: replies go to whose they are.
#include "kairos/base/log.h"
#include "kairos/client/shared_connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"

#include <new>
#include <string>

namespace kairos::orb {

bool SharedConnection::read(Wait wait, Deadline deadline) noexcept
{
    try {
        const MutableBytes space = protocol_.space();
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
        protocol_.received(got.bytes);
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
    giop::Message message;
    for (;;) {
        switch (protocol_.next(message)) {
        case giop::Connection::Event::message:
            if (!deliver(message)) return;
            break;
        case giop::Connection::Event::need_bytes:
            return;
        case giop::Connection::Event::closed:
            return end(Outcome::not_executed);
        case giop::Connection::Event::message_error:
            return end(Outcome::message_error);
        case giop::Connection::Event::fault:
            return refuse(giop::describe(protocol_.fault()));
        }
    }
}

/// To who waits for it, if anybody does. False if it could not be understood.
bool SharedConnection::deliver(const giop::Message& message)
{
    giop::Reply reply;
    giop::LocateReply locate_reply;
    const bool locates = message.type == giop::MessageType::locate_reply;
    const cdr::Fault fault =
        locates ? giop::parse(message, locate_reply) : giop::parse(message, reply);
    if (fault != cdr::Fault::none) {
        refuse(cdr::describe(fault));
        return false;
    }
    SharedCall* const call =
        claim(message.type, locates ? locate_reply.request_id : reply.request_id);
    if (call == nullptr) return true; // given up, or never made
    Outcome outcome = Outcome::ok;
    try {
        call->reply->take(message, protocol_);
    } catch (const std::bad_alloc&) {
        outcome = Outcome::no_memory;
    }
    WakeLater owner;
    const Lock lock(mutex_);
    call->being_answered = false;
    speaks_1_2_ = message.version >= giop::version_1_2;
    finish(*call, outcome);
    call->parking.call();
    if (call->parked) owner.place = &call->parking;
    return true;
}

/// The call that this answers. It stays until its `being_answered` is taken back.
SharedCall* SharedConnection::claim(giop::MessageType type, std::uint32_t request_id) noexcept
{
    const Lock lock(mutex_);
    SharedCall** const place = find(request_id);
    if (place == nullptr) return nullptr;
    SharedCall* const call = *place;
    const bool not_begun = call->sent == SharedCall::Sent::no && !call->being_sent;
    if (call->answer != type || not_begun) return nullptr; // the peer has made it up
    forget(*call);
    followers_.remove(*call);
    call->being_answered = true;
    return call;
}

/// Tells the peer that what it sent cannot be understood, and the log why. The message waits for
/// its turn like any, but not for a peer that does not read.
void SharedConnection::refuse(std::string_view why) noexcept
{
    constexpr std::chrono::milliseconds enough{100};
    log::write_limited(log::Level::error, 0,
                       log::Line() << "malformed message from " << *endpoint_ << ": " << why);
    const auto message = giop::message_error(protocol_.error_version());
    SharedCall refusal(next_request_id());
    refusal.header = Bytes(message);
    if (thread_ != nullptr) { // which this is
        const Lock lock(mutex_);
        if (unsent_is_empty_) put(refusal);
        fail_sending();
    }
    refusal.send_by = Deadline::after(enough);
    (void)exchange(refusal);
    end(Outcome::malformed);
}

} // namespace kairos::orb
