// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/watched_connection.h"

#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/server/leader_followers.h"

#include <new>
#include <utility>

namespace kairos::orb {

void WatchedConnection::send(Bytes header, const cdr::Writer& body) noexcept
{
    output_.put_message(socket_, header, body, orb_.options().fragment_size);
    note_unsent();
}

Result<void> WatchedConnection::open()
{
    if (socket_.is_agreeing()) note_rest();
    const net::Interest interest = prepared(net::Interest::readable);
    pass_on();
    return server_.poller().add(socket_.descriptor(), interest, static_cast<Watched*>(this));
}

/// What is at hand already is for whoever finds that the descriptor can be written, as it can
/// always be, behind what was ready before.
net::Interest WatchedConnection::prepared(net::Interest interest) const noexcept
{
    const net::Interest wanted = socket_.prepare_poll(interest);
    return wanted == net::Interest::none ? net::Interest::writable : wanted;
}

/// Nothing of this may be touched any more unless it fails.
bool WatchedConnection::watch(net::Interest interest) noexcept
{
    net::SharedPoller& poller = server_.poller();
    const int descriptor = socket_.descriptor();
    interest = prepared(interest);
    pass_on();
    return poller.watch(descriptor, interest, static_cast<Watched*>(this)).ok();
}

void WatchedConnection::on_ready(net::Readiness readiness, UpcallMemory& memory) noexcept
{
    if (!output_.empty()) {
        // What is not plain may have waited for something else than room.
        if (readiness.writable || !socket_.is_plain()) output_.flush(socket_);
        note_unsent();
        if (congested_ || closing_) return after(closing_ ? Next::close : Next::read);
        return serve(memory); // requests that came before it was full
    }
    if (std::exchange(held_, false) || std::exchange(has_more_, false)) return serve(memory);
    if (receive()) serve(memory);
}

/// Reads once; returns false if the connection is watched again, or gone.
bool WatchedConnection::receive()
{
    try {
        no_request_in_progress();
        const net::IoResult got = socket_.read(protocol_.space());
        if (got.ok()) {
            protocol_.received(got.bytes);
            return true;
        }
        if (got.status == net::IoResult::Status::would_block) {
            after(Next::read);
        } else {
            receive_end();
        }
    } catch (const std::bad_alloc&) {
        end_out_of_memory();
        server_.forget(*this);
    }
    return false;
}

/// Nothing more comes: the peer has ended it, or its message was late.
void WatchedConnection::receive_end()
{
    if (is_late_) {
        end_late();
        return after(Next::close);
    }
    (void)end_received();
    server_.forget(*this);
}

void WatchedConnection::serve(UpcallMemory& memory) noexcept
{
    Next next = Next::close;
    const auto stops = [this] { return server_.line().is_stopping(); };
    try {
        next = serve_turn(memory, server_.requests_a_turn(), stops);
        while (next == Next::hold) {
            held_ = true;
            stop_waiting_for_rest();
            if (server_.keep_held(*this)) return;
            held_ = false;
            next = serve_turn(memory, server_.requests_a_turn(), stops);
        }
    } catch (const std::bad_alloc&) {
        end_out_of_memory();
        return server_.forget(*this);
    }
    after(next);
}

void WatchedConnection::go_on() noexcept
{
    // It can always be written: the thread that finds that goes on.
    if (!watch(net::Interest::writable)) socket_.shutdown_both();
}

void WatchedConnection::stop_watching() noexcept { server_.poller().remove(socket_.descriptor()); }

void WatchedConnection::after(Next next) noexcept
{
    if (is_left_) return server_.forget(*this);
    if (next == Next::close) closing_ = true;
    has_more_ = next == Next::more && !congested_;
    if (has_more_)
        stop_waiting_for_rest(); // it is here, perhaps
    else if (is_awaited() || congested_ || rest_due_.load(std::memory_order_relaxed) != never)
        [[unlikely]]
        note_rest();
    else if (protocol_.holds_much()) [[unlikely]]
        protocol_.rest();
    if (broken_) return server_.forget(*this);
    if (closing_ && !congested_) {
        drain(socket_);
        return server_.forget(*this);
    }
    // It can always be written: whoever finds that, behind what was ready before, goes on.
    if (!watch(congested_ || has_more_ ? net::Interest::writable : net::Interest::readable))
        server_.forget(*this);
}

/// Not the peer is to blame for what follows.
void WatchedConnection::stop_waiting_for_rest() noexcept
{
    rest_due_ = never;
    receive_limit_.stop_reading();
}

/// Before it is watched again.
void WatchedConnection::note_rest() noexcept
{
    const auto now = ReceiveLimit::Clock::now();
    bool reads = !congested_ && !closing_; // else the peer is not to blame
    if (!reads) {
        receive_limit_.stop_reading();
    } else if (rest_was_due(now)) {
        end_late();
        reads = false;
    }
    const Due due = reads ? rest_due(now) : taking_due(now);
    rest_due_ = due;
    if (due != never) server_.note_unfinished();
}

/// What a channel has to say belongs to the thread that has the connection.
bool WatchedConnection::is_at_descriptor(net::Interest interest) const noexcept
{
    return !socket_.bypasses_descriptor() &&
           net::wait_at(socket_.descriptor(), net::poll_events(interest),
                        std::chrono::nanoseconds(0))
               .ok();
}

/// What came in time is still read, whoever reads it: reading ends behind it.
bool WatchedConnection::look_at_rest(ReceiveLimit::Clock::time_point now) noexcept
{
    const Due due = rest_due_;
    if (due == never) return false;
    if (due > now || !is_nobodys() || is_late_) return true;
    if (congested_) {
        if (is_at_descriptor(net::Interest::writable)) return true; // somebody will
        is_late_ = true;
        log_late_taking();
        socket_.shutdown_both();
        return true;
    }
    if (is_at_descriptor(net::Interest::readable)) return true; // somebody will
    is_late_ = true;
    socket_.shutdown_read();
    return true;
}

void WatchedConnection::end_late()
{
    log_late_rest();
    send_close_connection();
    closing_ = true;
}

void WatchedConnection::say_close() noexcept
{
    if (broken_ || closing_) return;
    send_close_connection();
    closing_ = true;
    if (!congested_) drain(socket_);
}

} // namespace kairos::orb
