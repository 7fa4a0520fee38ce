// SPDX-License-Identifier: Apache-2.0
//
// One connection of a reactor, apart from the loop that all of them share (reactor_loop.h).
#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/reactor_loop.h"

#include <utility>

namespace kairos::orb {

Result<void> ReactorConnection::open()
{
    auto registration = loop_.reactor_->add(socket_.descriptor(), net::Interest::readable, *this);
    if (!registration) return registration.error();
    registration_ = *registration;
    interest_ = net::Interest::readable;
    listens_ = true;
    if (is_awaited()) loop_.note_unfinished();
    listen_for();
    return {};
}

void ReactorConnection::stop_listening() noexcept
{
    loop_.reactor_->remove(registration_);
    listens_ = false;
}

bool ReactorConnection::may_be_lent() const noexcept
{
    return listens_ && !forgotten_ && !closing_ && !ends_ && !holding_ && !broken_ && !congested_ &&
           !turn_links_.linked && socket_.is_plain() && protocol_.between_messages() &&
           !loop_.is_taking(*this);
}

void ReactorConnection::listen_again(Returned why) noexcept
{
    if (!open()) return loop_.forget(*this);
    if (why == Returned::out_of_memory) return run_out_of_memory();
    if (why == Returned::closing) return after(Next::close);
    (void)take();
}

void ReactorConnection::on_ready(net::Readiness readiness) noexcept
{
    if (readiness.hung_up && !readiness.readable && !readiness.writable && !turn_links_.linked)
        return loop_.forget(*this); // nobody is left to hear what is held or queued
    if (congested_) {
        flush(); // perhaps it waited for something else than room
        const bool still = congested_ && !broken_;
        if (still && (!is_bidirectional_ || reads_no_more())) return listen_for();
        // Requests that came before it was full.
        if (reads_no_more()) return after(Next::close);
        if (!still) return (void)take();
    }
    if (turn_links_.linked) return listen_for(); // there is enough to do
    if (!closing_ || reads_on_) read();
}

unsigned ReactorConnection::requests_a_turn() const noexcept
{
    // Within a request of its own each step would copy what is left.
    if (loop_.is_taking_within(*this)) return unlimited;
    return loop_.has_one_connection() ? served_alone_max : 1;
}

void ReactorConnection::take_turn() noexcept
{
    if (std::exchange(at_hand_, false)) [[unlikely]] {
        if (!forgotten_ && !holding_) on_ready({.readable = true, .writable = true});
        return;
    }
    if (forgotten_ || congested_ || holding_ || reads_no_more()) return;
    if (loop_.is_taking(*this)) return take_rest();
    (void)take();
}

void ReactorConnection::read() noexcept
{
    // What fills its space probably has more behind it, which nobody need wait for; but others are
    // to be read too.
    std::size_t left = limits::receive_buffer_streaming;
    for (;;) {
        const std::size_t received = read_once();
        if (received == 0 || received >= left || !loop_.has_one_connection()) return;
        left -= received;
    }
}

/// Serves what it reads. How much that was if there may be more to read, and this still exists.
std::size_t ReactorConnection::read_once() noexcept
{
    std::size_t received = 0;
    bool all = false;
    try {
        if (loop_.is_taking(*this)) [[unlikely]]
            keep_requests_in_progress();
        else
            no_request_in_progress();
        const MutableBytes space = protocol_.space();
        const net::IoResult got = socket_.read(space);
        if (got.status == net::IoResult::Status::would_block) {
            listen_for(); // perhaps for something else
            return 0;
        }
        if (!got.ok()) {
            (void)end_received();
            become_quiet() ? loop_.forget(*this) : after(Next::close);
            return 0;
        }
        received = got.bytes;
        all = received < space.size();
        protocol_.received(received);
    } catch (const std::bad_alloc&) {
        run_out_of_memory();
        return 0;
    }
    ReactorLoop& loop = loop_; // which may have forgotten this connection by then
    const bool goes_on = take();
    if (received >= StreamPause::read_min && loop.turns_.empty()) [[unlikely]]
        loop.pause_after_read(received, all);
    return goes_on && !all ? received : 0;
}

void ReactorConnection::take_rest() noexcept
{
    if (protocol_.between_messages() || congested_ || closing_ || holding_) return;
    try {
        keep_requests_in_progress();
    } catch (const std::bad_alloc&) { // they wait, as those that have not come yet
        return;
    }
    (void)take();
}

bool ReactorConnection::take() noexcept
{
    const ReactorLoop::Taking taking(loop_, *this);
    Next next = Next::close;
    try {
        if (taking.outer == nullptr) [[likely]] {
            next = take_received(loop_.memory_);
        } else {
            auto memory = ThreadStorage::current().upcall_memory.take();
            next = take_received(*memory);
            ThreadStorage::current().upcall_memory.give_back(std::move(memory));
        }
    } catch (const std::bad_alloc&) {
        if (taking.connection != nullptr) run_out_of_memory();
        return false;
    }
    if (taking.connection != nullptr) [[likely]] {
        // Not what a request lies in that is held, or that this is nested in.
        if (protocol_.holds_much() && next == Next::read && taking.outer == nullptr) [[unlikely]]
            protocol_.rest();
        after(next);
    }
    return taking.connection != nullptr && interest_ == net::Interest::readable &&
           !turn_links_.linked;
}

/// Not while it is left unread, or its own request is being served: the peer is not to blame then.
bool ReactorConnection::may_be_late(ReceiveLimit::Clock::time_point now) noexcept
{
    if (forgotten_ || turn_links_.linked || loop_.is_taking(*this)) return false;
    if (congested_) return taking_due(now) <= now;
    if (closing_ || holding_) return false;
    return rest_due(now) <= now;
}

void ReactorConnection::end_if_late(ReceiveLimit::Clock::time_point now) noexcept
{
    if (!may_be_late(now)) return; // others were served meanwhile
    if (congested_) {
        on_ready({.writable = true}); // and goes on, if the peer takes it now
        if (!congested_ || !may_be_late(now)) return;
        log_late_taking();
        return loop_.forget(*this);
    }
    read();
    if (!may_be_late(now)) return;
    log_late_rest();
    send_close_connection();
    after(Next::close);
}

void ReactorConnection::run_out_of_memory() noexcept
{
    end_out_of_memory();
    loop_.forget(*this);
}

void ReactorConnection::resume() noexcept
{
    if (!holding_ || forgotten_) return;
    holding_ = false;
    went_on_ = false;
    (void)take();
}

void ReactorConnection::after(Next next) noexcept
{
    if (!protocol_.between_messages()) [[unlikely]]
        loop_.note_unfinished();
    holding_ = next == Next::hold;
    if (holding_) [[unlikely]]
        loop_.begin_hold(*this);
    if (next == Next::close) {
        closing_ = true;
        reads_on_ = false;
    }
    if (broken_) return loop_.forget(*this);
    if (closing_ && become_quiet()) {
        reads_on_ = false; // nothing is to be answered behind its last words
        if (!congested_) {
            drain(socket_);
            return loop_.forget(*this);
        }
    }
    if (next == Next::more && !congested_) {
        at_hand_ = false;
        return loop_.await_turn(*this);
    }
    listen_for();
}

void ReactorConnection::after_sending() noexcept
{
    if (forgotten_) return;
    after(reads_no_more() ? Next::close : holding_ ? Next::hold : Next::read);
}

void ReactorConnection::listen_for() noexcept
{
    net::Interest interest = net::Interest::readable;
    if (congested_)
        interest = is_bidirectional_ && !holding_ && !reads_no_more()
                       ? net::Interest::readable_and_writable
                       : net::Interest::writable;
    else if (holding_ || reads_no_more() || turn_links_.linked)
        interest = net::Interest::none;
    if (interest != net::Interest::none) {
        interest = socket_.prepare_poll(interest);
        if (interest == net::Interest::none) [[unlikely]] {
            at_hand_ = true;
            return loop_.await_turn(*this);
        }
    }
    if (interest == interest_) [[likely]]
        return;
    interest_ = interest;
    if (congested_) loop_.note_unfinished();
    if (!loop_.reactor_->set_interest(registration_, interest)) broken_ = true;
}

void ReactorConnection::put(Bytes header, const cdr::Writer& body) noexcept
{
    output_.put_message(socket_, header, body, orb_.options().fragment_size);
    note_unsent();
}

/// Requests that still come are refused by whoever would serve them. CloseConnection cannot be sent
/// before those in progress are answered: it would say that none of them was executed, and their
/// servants may be waiting for callers of the requests that are refused.
bool ReactorConnection::close_when_quiet() noexcept
{
    if (!std::exchange(ends_, true)) begin_to_close();
    if (!become_quiet()) return false;
    if (!was_told_) after_sending();
    return true;
}

void ReactorConnection::begin_to_close() noexcept
{
    (void)become_quiet(); // from here on others say when they are done
    if (forgotten_ || broken_ || closing_) return;
    send_close_connection();
    closing_ = true;
    reads_on_ = !become_quiet();
    if (reads_on_ && holding_) return resume();
    was_told_ = !reads_on_;
    if (was_told_ && !congested_) drain(socket_);
    listen_for();
}

void ReactorConnection::say_close() noexcept
{
    if (broken_ || closing_) return;
    send_close_connection();
    closing_ = true;
}

} // namespace kairos::orb
