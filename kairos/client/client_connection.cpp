// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/client_connection.h"

#include "kairos/base/log.h"
#include "kairos/client/backlogs.h"
#include "kairos/client/client.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/transmit.h"

namespace kairos::orb {

using Event = giop::ClientSession::Event;

Result<std::unique_ptr<ClientConnection>> ClientConnection::open(Orb& orb, Endpoint& endpoint,
                                                                 Deadline deadline)
{
    auto place = Client::of(orb).cache().take_place(endpoint);
    if (!place) return place.error();
    const Priority priority = thread_priority(ThreadStorage::current(), orb.priority_mapping());
    auto socket = endpoint.connect(orb.socket_options(priority), deadline);
    if (!socket) return socket.error();
    return std::unique_ptr<ClientConnection>(
        new ClientConnection(orb, endpoint, std::move(socket).value(), std::move(place).value()));
}

ClientConnection::ClientConnection(Orb& orb, Endpoint& endpoint, net::Socket socket,
                                   ConnectionCache::Place place)
    : orb_(&orb), endpoint_(&endpoint), socket_(std::move(socket)),
      session_(orb.options().message_size_max, giop::ReadSizes::of(!socket_.receive_queue_max())),
      last_use_(coarse_now()), place_(std::move(place))
{
    net::SpinRule spin = orb.options().socket.spin;
    spin.moves = true;
    socket_.spin(spin);
    socket_.spin_for_room(orb.options().room_spin);
    socket_.poll_before_reading();
    if (socket_.bypasses_descriptor()) socket_.offer_blocks(&session_.connection().block_taker());
    Client::of(*orb_).connections().add(*this);
}

ClientConnection::~ClientConnection() { Client::of(*orb_).connections().remove(*this); }

/// Reads by `read` until `next` knows.
template <typename Next, typename Read>
[[gnu::always_inline]] inline ClientConnection::Outcome ClientConnection::await(const Next& next,
                                                                                const Read& read)
{
    for (bool come = session_.has_bytes();; come = true) {
        if (come) {
            const auto event = next();
            if (event == Event::answer) [[likely]]
                return Outcome::ok;
            if (event == Event::ended) [[unlikely]]
                return outcome();
        }
        const net::IoResult got = read();
        if (!got.ok())
            return got.status == net::IoResult::Status::would_block ? Outcome::late : Outcome::lost;
        session_.received(got.bytes);
    }
}

ClientConnection::Outcome ClientConnection::send(Bytes header, const cdr::Writer& body) noexcept
{
    note_contexts_sent();
    // A message of which the kernel did not take every byte can never be executed.
    return transmit_call(socket_, header, body, orb_->options().fragment_size).ok()
               ? Outcome::ok
               : Outcome::not_executed;
}

ClientConnection::Outcome ClientConnection::exchange(Bytes header, const cdr::Writer& body,
                                                     std::uint32_t request_id, giop::Reply& reply,
                                                     ServingThread* waiter) noexcept
{
    note_contexts_sent();
    if (!transmit_call(socket_, header, body, orb_->options().fragment_size).ok()) [[unlikely]]
        return Outcome::not_executed;
    try {
        return await([&] { return session_.next(request_id, reply); },
                     [&] {
                         return waiter != nullptr ? read_serving(*waiter, {})
                                                  : socket_.read(session_.space());
                     });
    } catch (const std::bad_alloc&) { // for a large reply; half of it may have been read
        return Outcome::no_memory;
    }
}

namespace {

ClientConnection::Outcome outcome_of_sending(const net::IoResult& written) noexcept
{
    using Outcome = ClientConnection::Outcome;
    if (written.ok()) return Outcome::ok;
    const bool late = written.status == net::IoResult::Status::would_block;
    return late ? Outcome::not_sent : Outcome::not_executed;
}

} // namespace

ClientConnection::Outcome ClientConnection::send(Bytes header, const cdr::Writer& body,
                                                 Deadline deadline) noexcept
{
    if (backlog_) {
        const Outcome before = send_backlog(deadline);
        if (before != Outcome::ok) return before;
    }
    return outcome_of_sending(
        transmit_call(socket_, header, body, orb_->options().fragment_size, deadline));
}

ClientConnection::Outcome ClientConnection::send(Bytes message, Deadline deadline) noexcept
{
    if (backlog_) {
        const Outcome before = send_backlog(deadline);
        if (before != Outcome::ok) return before;
    }
    iovec segment{const_cast<std::byte*>(message.data()), message.size()};
    return outcome_of_sending(write_call(socket_, std::span(&segment, 1), deadline));
}

ClientConnection::Outcome ClientConnection::send_backlog(Deadline deadline) noexcept
{
    if (backlog_->drain(deadline)) return Outcome::ok;
    return backlog_->broken() ? Outcome::not_executed : Outcome::not_sent;
}

ClientConnection::Outcome ClientConnection::post(Bytes header, const cdr::Writer& body) noexcept
{
    const Options& options = orb_->options();
    if (!backlog_) {
        OutputQueue output;
        output.put_message(socket_, header, body, options.fragment_size);
        if (!output.empty() && !output.broken()) [[unlikely]]
            leave(output);
        return output.broken() ? Outcome::not_executed : Outcome::ok;
    }
    switch (backlog_->post(header, body, options.fragment_size, options.oneways_unsent_max)) {
    case Backlog::Posted::full:
        return Outcome::no_room;
    case Backlog::Posted::broken:
        return Outcome::not_executed;
    case Backlog::Posted::taken:
        break;
    }
    return Client::of(*orb_).backlogs().attend(backlog_) ? Outcome::ok : Outcome::not_executed;
}

void ClientConnection::leave(OutputQueue& output) noexcept
{
    if (auto made = Client::of(*orb_).backlogs().make(socket_, output)) {
        backlog_ = std::move(made).value();
        if (!Client::of(*orb_).backlogs().attend(backlog_)) socket_.shutdown_both();
        return;
    }
    while (!output.empty() && !output.broken() && wait_writable(socket_, {}).ok())
        output.flush(socket_);
}

ClientConnection::Outcome ClientConnection::outcome() noexcept
{
    if (session_.outcome() == Outcome::malformed) {
        log_malformed(*endpoint_, session_.why());
        // To a peer that does not even read it would not matter.
        (void)socket_.write(Bytes(session_.refusal()), net::WriteFlags::do_not_wait);
    }
    return session_.outcome();
}

void log_malformed(const Endpoint& endpoint, std::string_view why) noexcept
{
    log::write_limited(log::Level::error, 0,
                       log::Line() << "malformed message from " << endpoint << ": " << why);
}

template <typename Answer>
ClientConnection::Outcome ClientConnection::receive(std::uint32_t request_id, Answer& answer,
                                                    Deadline deadline, ServingThread* waiter)
{
    return await([&] { return session_.next(request_id, answer); },
                 [&] {
                     return waiter != nullptr ? read_serving(*waiter, deadline)
                                              : socket_.read(session_.space(), deadline);
                 });
}
template ClientConnection::Outcome ClientConnection::receive(std::uint32_t, giop::Reply&, Deadline,
                                                             ServingThread*);
template ClientConnection::Outcome ClientConnection::receive(std::uint32_t, giop::LocateReply&,
                                                             Deadline, ServingThread*);

/// Only the waiter waits: what it was woken for may be gone, and then others want to be served.
net::IoResult ClientConnection::read_serving(ServingThread& waiter, Deadline deadline)
{
    for (;;) {
        waiter.wait({socket_}, deadline);
        const net::IoResult got = socket_.read(session_.space(), net::ReadFlags::do_not_wait);
        if (got.status != net::IoResult::Status::would_block || deadline.has_passed()) return got;
    }
}

ClientConnection::Outcome ClientConnection::poll(std::uint32_t request_id, giop::Reply& reply)
{
    return await([&] { return session_.next(request_id, reply); }, [&] { return read_now(); });
}

void ClientConnection::give_up_reply(giop::Version version) noexcept
{
    const auto message = session_.give_up(version);
    last_use_ = Clock::zero();
    if (has_backlog()) return;
    const net::IoResult sent = socket_.write(Bytes(message), net::WriteFlags::do_not_wait);
    if (sent.ok() && sent.bytes != message.size()) socket_.shutdown_both(); // within a message
}

bool ClientConnection::begin_use() noexcept
{
    std::int64_t since = idle_since_.load(std::memory_order_relaxed);
    while (since > in_use)
        if (idle_since_.compare_exchange_weak(since, in_use, std::memory_order_acquire))
            return true;
    return since == in_use;
}

std::optional<ClientConnection::Clock> ClientConnection::idle_since() const noexcept
{
    const std::int64_t since = idle_since_.load(std::memory_order_relaxed);
    return since > in_use ? std::optional(Clock(since)) : std::nullopt;
}

/// Its user, who finds it closed, waits for the mutex of ClientConnections before it ends it.
bool ClientConnection::close_if_idle(Clock before) noexcept
{
    std::int64_t since = idle_since_.load(std::memory_order_relaxed);
    if (since <= in_use || Clock(since) > before) return false;
    if (!idle_since_.compare_exchange_strong(since, was_closed, std::memory_order_acquire))
        return false;
    close_in_order();
    return true;
}

bool ClientConnection::close_left() noexcept
{
    if (has_backlog()) return false;
    // Closed once, and not where idle_since_ says that it was closed before.
    if (idle_since_.exchange(was_closed, std::memory_order_acquire) != was_closed) close_in_order();
    return true;
}

/// Its user finds it closed: it is not trusted.
void ClientConnection::leave_to_parent() noexcept
{
    idle_since_ = was_closed;
    last_use_ = Clock::zero();
    backlog_.reset();
    socket_.leave_to_parent();
    place_.give_back();
}

void ClientConnection::close_in_order() noexcept
{
    const auto farewell = giop::ClientSession::farewell(session_.peer_version());
    if (farewell && !has_backlog())
        (void)socket_.write(Bytes(*farewell), net::WriteFlags::do_not_wait);
    // What a channel has still to read for itself, such as tickets of TLS: where something is left
    // unread the system resets the connection, and what was sent last may never arrive.
    std::byte octet{};
    if (!socket_.is_plain())
        (void)socket_.read(MutableBytes(&octet, 1), net::ReadFlags::do_not_wait);
    socket_.close();
    place_.give_back();
}

bool ClientConnection::is_open() noexcept
{
    if (session_.expects_late()) {
        try {
            return await([&] { return session_.drop_late(); }, [&] { return read_now(); }) ==
                   Outcome::ok;
        } catch (const std::bad_alloc&) { // for a large one
            return false;
        }
    }
    // Nothing may have arrived while nobody waited: a CloseConnection or the end, if anything.
    std::byte octet{};
    const auto peeked =
        socket_.read(MutableBytes(&octet, 1), net::ReadFlags::peek | net::ReadFlags::do_not_wait);
    return peeked.status == net::IoResult::Status::would_block;
}

} // namespace kairos::orb
