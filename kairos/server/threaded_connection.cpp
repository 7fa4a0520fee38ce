// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/threaded_connection.h"

#include "kairos/orb/thread_storage.h"
#include "kairos/orb/transmit.h"

namespace kairos::orb {

ThreadedConnection::ThreadedConnection(Orb& orb, net::Socket socket, const net::Address& peer,
                                       const Transport& transport, std::optional<Priority> priority)
    : ServerConnection(orb, std::move(socket), peer), is_local_(transport.local() != nullptr),
      priority_(priority),
      // Whoever encrypts what it sends takes longer for that than for waking somebody.
      stream_pause_(!is_local_ && !transport.protects() && !priority
                        ? StreamPause::of(orb.options())
                        : StreamPause(std::chrono::microseconds(0)))
{
    const net::SpinRule& spin = orb.options().socket.spin;
    if (!spin.learns || !priority_) socket_.spin(spin); // real time's threads do what they are told
    if (is_local_) socket_.poll_before_reading();
}

inline bool ThreadedConnection::serve_once()
{
    if (no_request_in_progress()) [[unlikely]]
        send_unsent();
    const MutableBytes space = protocol_.space();
    if (!protocol_.between_messages()) [[unlikely]] {
        if (!await_rest()) return false;
    } else if (looks_twice_.load(std::memory_order_relaxed)) [[unlikely]] {
        if (interrupted_) return false;
        // Where reads that are limited cost more than this.
        if (is_local_) stop_limiting();
        if (mail_) await_request();
        if (interrupted_) return false;
    }
    const net::IoResult got = socket_.read(space);
    if (!got.ok()) [[unlikely]] {
        if (got.status == net::IoResult::Status::would_block) return look_again();
        ended_ = !interrupted_ && end_received();
        return false;
    }
    protocol_.received(got.bytes);
    Next next = serve_received(memory_);
    while (next == Next::hold) [[unlikely]] {
        hold.wait();
        next = serve_received(memory_);
    }
    ended_ = next == Next::close;
    if (got.bytes >= StreamPause::read_min) [[unlikely]]
        stream_pause_.pause_after_read({.bytes = got.bytes,
                                        .all = got.bytes < space.size(),
                                        .queue_max = queue_max_,
                                        .in_part = message_in_part()});
    return next == Next::read;
}

void ThreadedConnection::run()
{
    socket_.limit_writing(orb_.options().receive_timeout);
    memory_.reply_kept_max = Account::free_octets;
    try {
        ThreadStorage::current().serving_thread = this;
        if (priority_) ThreadStorage::current().priority = priority_;
        if (socket_.bypasses_descriptor()) socket_.offer_blocks(&protocol_.block_taker());
        if (socket_.is_agreeing() && !agree_with_peer()) return;
        while (serve_once()) {
        }
        if (owes() && interrupted_) await_owed();
    } catch (const std::bad_alloc&) {
        end_out_of_memory();
        return;
    }
    if (is_left_) return;
    send_unsent();
    // Unless the peer has said that it closes, or was told why we do.
    if (!ended_ && !broken_) send_close_connection();
    socket_.offer_blocks(nullptr);
    drain(socket_);
}

void ThreadedConnection::send(Bytes header, const cdr::Writer& body) noexcept
{
    stream_pause_.note_reply();
    if (is_behind_) [[unlikely]]
        return send_behind(header, body);
    // Nobody but the peer itself waits for this thread.
    if (header.size() + body.size() > in_one_piece_max_) [[unlikely]]
        return send_large(header, body);
    if (const net::IoResult sent = transmit(socket_, header, body, 0); !sent.ok()) [[unlikely]]
        note_unsendable(sent);
}

} // namespace kairos::orb
