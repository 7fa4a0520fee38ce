// SPDX-License-Identifier: Apache-2.0
//
// What a connection does while one of its requests waits for a call of its own, and with requests
// that are held.
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/server_connection.h"

#include <new>
#include <utility>

namespace kairos::orb {

void ServerConnection::hold_back(const giop::Message& message)
{
    // This one came first, and what was served while it waited for a call is held, too.
    if (holding_) held_behind_.push_back(held_);
    held_ = message;
    holding_ = true;
}

ServerConnection::Next ServerConnection::serve_held(UpcallMemory& memory)
{
    Next next = serve(held_, memory);
    while (next == Next::read && !holding_ && !held_behind_.empty()) {
        held_ = held_behind_.back();
        held_behind_.pop_back();
        next = serve(held_, memory);
    }
    if (!holding_) hold.end();
    return next;
}

void ServerConnection::keep_requests_in_progress()
{
    // Nothing new is in progress if a few octets came, or none (shared memory): a peer that knocks
    // again and again must not cost memory each time.
    if (protocol_.has_messages()) kept_.push_back(protocol_.keep_messages());
    hold.end(); // a request that was held is being served: it does not wait any more
}

net::Interest ServerConnection::interest_nested(bool listens) const noexcept
{
    if (broken_) return net::Interest::none;
    if (congested_) return net::Interest::writable;
    return listens && !holding_ && may_serve_nested() ? net::Interest::readable
                                                      : net::Interest::none;
}

int ServerConnection::descriptor_held_nested() noexcept
{
    if (!holding_ || !may_serve_nested()) return -1;
    if (!held_waker_) {
        auto waker = net::Waker::create();
        if (!waker) return -1;
        held_waker_.emplace(std::move(waker).value());
    }
    return hold.tell(*held_waker_) ? held_waker_->descriptor() : -1;
}

bool ServerConnection::go_on_nested() noexcept
{
    if (!congested_) return serve_nested(holding_ ? From::hold : From::socket);
    flush();
    return congested_ || serve_rest_nested(); // which came before it was full
}

bool ServerConnection::serve_nested(From from) noexcept
{
    if (holding_ != (from == From::hold)) return false;
    if (from == From::received && protocol_.between_messages()) return true;
    if (!may_serve_nested() || (from == From::hold && !hold.may_go_on())) return false;
    try {
        ThreadStorage& storage = ThreadStorage::current();
        auto memory = storage.upcall_memory.take();
        if (from != From::hold) keep_requests_in_progress();
        if (from == From::socket) {
            const net::IoResult got = socket_.read(protocol_.space(), net::ReadFlags::do_not_wait);
            if (!got.ok()) return got.status == net::IoResult::Status::would_block;
            protocol_.received(got.bytes);
        }
        const Next next = serve_received(*memory);
        storage.upcall_memory.give_back(std::move(memory));
        return next == Next::read;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

} // namespace kairos::orb
