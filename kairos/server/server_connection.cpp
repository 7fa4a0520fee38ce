// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/server_connection.h"

#include "kairos/base/limits.h"
#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"
#include "kairos/net/linger.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/server/bidirectional_connections.h"
#include "kairos/server/serving.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace kairos::orb {

void drain(net::Socket& socket) noexcept
{
    net::linger_briefly(socket); // who still waits to send finds the end soon
    socket.shutdown_write();
    std::array<std::byte, 4096> dropped;
    for (int i = 0; i < 64; ++i)
        if (!socket.read(dropped, net::ReadFlags::do_not_wait).ok()) return;
}

ServerConnection::ServerConnection(Orb& orb, net::Socket socket, const net::Address& peer)
    : orb_(orb), socket_(std::move(socket)), share_(Serving::of(orb).account(), socket_, peer),
      queue_max_(socket_.receive_queue_max()),
      protocol_(giop::Connection::Role::server, orb.options().message_size_max,
                giop::ReadSizes::of(!queue_max_)),
      peer_(peer)
{
    is_connection = true;
    protocol_.count_with(share_);
}

template <typename Take>
[[gnu::always_inline]] inline ServerConnection::Next ServerConnection::take_each(const Take& take)
{
    giop::MessageRoom room;
    giop::Message& message = room.message;
    while (protocol_.has_bytes()) {
        if (congested_ || holding_) [[unlikely]] {
            if (broken_ || holding_ || !is_bidirectional_) break;
        }
        const giop::Connection::Event event = protocol_.next_received(message);
        if (event == giop::Connection::Event::need_bytes) break;
        if (event != giop::Connection::Event::message) [[unlikely]] {
            if (event != giop::Connection::Event::message_with_gap) return end_with(event);
            if constexpr (std::is_invocable_v<const Take&, const giop::Message&, WithGap>)
                return take(message, WithGap{}); // and what is behind it: the loop stays as it is
            message = protocol_.filled();
        }
        if (const Next next = take(message); next != Next::read) [[unlikely]]
            return next;
    }
    if (broken_ || holding_) return broken_ ? Next::close : Next::hold;
    // What is kept for the peer goes out first.
    return protocol_.ended() && (!congested_ || is_bidirectional_) ? Next::close : Next::read;
}

ServerConnection::Next
ServerConnection::take_messages(const std::function<Next(const giop::Message&)>& take)
{
    return take_each(take);
}

ServerConnection::Next ServerConnection::serve_received(UpcallMemory& memory)
{
    if (holding_) [[unlikely]] {
        if (const Next next = serve_held(memory); next != Next::read) return next;
    }
    return take_each([&](const giop::Message& message, auto... with_gap) {
        const Next next = serve(message, memory, with_gap...);
        if constexpr (sizeof...(with_gap) == 0) return next;
        return next == Next::read ? serve_received(memory) : next;
    });
}

ServerConnection::Next ServerConnection::serve_some_received(UpcallMemory& memory, unsigned most)
{
    const auto within_turn = [&](Next next) {
        const bool is_over = --most == 0 && next == Next::read && !protocol_.between_messages();
        return is_over ? Next::more : next;
    };
    if (holding_) [[unlikely]] {
        if (const Next next = within_turn(serve_held(memory)); next != Next::read) return next;
        most = std::max(most, 1U);
    }
    return take_each([&](const giop::Message& message, auto... with_gap) {
        const Next next = within_turn(serve(message, memory, with_gap...));
        if constexpr (sizeof...(with_gap) == 0) return next;
        return next == Next::read ? serve_some_received(memory, most) : next;
    });
}

ServerConnection::Next ServerConnection::end_with(giop::Connection::Event event)
{
    ended_by_ = event;
    switch (event) {
    case giop::Connection::Event::message_error:
        log::write_limited(log::Level::warning, peer_.host_number(),
                           log::Line() << "peer " << peer_ << " answered MessageError");
        return Next::close;
    case giop::Connection::Event::fault:
        return refuse(giop::describe(protocol_.fault()));
    default:
        return Next::close;
    }
}

[[gnu::always_inline]] inline Served ServerConnection::serve_request(const giop::Message& message,
                                                                     const giop::Request& request,
                                                                     UpcallMemory& memory)
{
    if (!request.contexts.empty() || request.version.minor != text_minor_) [[unlikely]] {
        find_text_form(request);
        if (becomes_bidirectional(message, request)) return Served::elsewhere;
    }
    const Served served = dispatch(orb_, request, text_, *this, memory);
    if (memory.reply.capacity() > memory.reply_kept_max) [[unlikely]]
        keep_reply_memory(memory); // one large reply must not cost its memory for ever
    if (served == Served::held) [[unlikely]]
        hold_back(message);
    return served;
}

[[gnu::always_inline]] inline ServerConnection::Next ServerConnection::next_after(Served served)
{
    switch (served) {
    case Served::yes:
        return Next::read;
    case Served::held:
        return Next::hold;
    case Served::elsewhere:
        return Next::close;
    case Served::malformed:
        note_malformed_arguments();
        return Next::read;
    }
    return Next::close;
}

/// Of a request that is like the others, whose arguments begin in front of the block, that stays
/// where it is.
ServerConnection::Next ServerConnection::serve(const giop::Message& message, UpcallMemory& memory,
                                               WithGap)
{
    giop::RequestRoom room;
    giop::Request& request = room.request;
    const bool is_plain = message.type == giop::MessageType::request &&
                          giop::parse(message, request) == cdr::Fault::none &&
                          request.contexts.empty() && request.version.minor == text_minor_ &&
                          protocol_.enter_gap(request.body);
    if (!is_plain) return serve(protocol_.filled(), memory);
    holding_ = false;
    // Of this message, whatever else is handed out meanwhile: what an adapter activator calls may
    // have others be served, before the request is held.
    cdr::Reader arguments = request.body;
    giop::MessageHeader header;
    (void)giop::parse_header(message.bytes.data(), header); // it was looked at before
    giop::Message whole = message;
    whole.bytes = {message.bytes.data(), giop::header_size + header.size};
    const Served served = serve_request(message, request, memory);
    if (served == Served::held) {
        arguments.leave_chunk(); // the block is copied to its place
        held_ = whole;
    }
    return next_after(served);
}

ServerConnection::Next ServerConnection::serve(const giop::Message& message, UpcallMemory& memory)
{
    holding_ = false;
    switch (message.type) {
    case giop::MessageType::request: {
        giop::RequestRoom room;
        giop::Request& request = room.request;
        const cdr::Fault fault = giop::parse(message, request);
        if (fault != cdr::Fault::none) [[unlikely]]
            return refuse(cdr::describe(fault));
        return next_after(serve_request(message, request, memory));
    }
    case giop::MessageType::locate_request: {
        giop::LocateRequest request;
        const cdr::Fault fault = giop::parse(message, request);
        if (fault != cdr::Fault::none) return refuse(cdr::describe(fault));
        answer_locate(orb_, request, *this, memory);
        return Next::read;
    }
    default: // CancelRequest: requests are served in order, so this one came too late
        return Next::read;
    }
}

void ServerConnection::keep_reply_memory(UpcallMemory& memory) noexcept
{
    memory.reply.clear();
    (void)share_.hold_replies(output_.size());
}

/// The caller was told, and where the next message begins is known: the connection lives on. One
/// line a connection, or a peer could fill the log.
void ServerConnection::note_malformed_arguments()
{
    if (had_malformed_arguments_.exchange(true)) return;
    log::write_limited(log::Level::error, peer_.host_number(),
                       log::Line()
                           << "malformed arguments from " << peer_
                           << "; answered with MARSHAL, as will be others, which are not logged");
}

void ServerConnection::find_text_form(const giop::Request& request)
{
    // GIOP 1.0 does not know the context (CORBA 3.3 part 2, 7.10.2.5). A client may send it again,
    // as some do until the first reply is there: what it says is what it does from then on.
    const auto data =
        request.version.minor == 0 ? std::nullopt : request.contexts.find(code_sets_context_id);
    if (data) {
        const auto announced = decode_code_set_context(*data);
        if (announced) code_sets_ = announced;
    }
    if (!data && request.version.minor == text_minor_) return;
    text_minor_ = request.version.minor;
    text_ = orb_.code_sets().form_of(text_minor_, code_sets_);
}

ServerConnection::Next ServerConnection::refuse(std::string_view why)
{
    log::write_limited(log::Level::error, peer_.host_number(),
                       log::Line() << "malformed message from " << peer_ << ": " << why
                                   << "; connection closed");
    const auto message = giop::message_error(protocol_.error_version());
    send_control(Bytes(message));
    return Next::close;
}

/// Leaves the connection, with this request and what came behind it, to who reads connections with
/// requests in both directions. Not from within a request, whose reply goes out here.
bool ServerConnection::becomes_bidirectional(const giop::Message& message,
                                             const giop::Request& request)
{
    if (!offered_listen_points(orb_, request, *this)) return false;
    const auto unread = protocol_.unread();
    if (!unread || !kept_.empty() || !output_.empty() || owes()) return false;
    auto socket = socket_.duplicate();
    if (!socket) return false;
    Adopted adopted{.socket = std::move(socket).value(),
                    .peer = peer_,
                    .received = whole(message),
                    .code_sets = code_sets_};
    adopted.received.insert(adopted.received.end(), unread->begin(), unread->end());
    stop_watching();
    is_left_ = true;
    broken_ = true;
    if (!Serving::of(orb_).adopt(std::move(adopted))) socket_.shutdown_both();
    return true;
}

giop::Outcome ServerConnection::outcome_of_end() const noexcept
{
    switch (ended_by_) {
    case giop::Connection::Event::closed:
        return giop::Outcome::not_executed;
    case giop::Connection::Event::message_error:
        return giop::Outcome::message_error;
    case giop::Connection::Event::fault:
        return giop::Outcome::malformed;
    default:
        return giop::Outcome::lost;
    }
}

bool ServerConnection::end_received()
{
    peer_ended_ = true;
    if (share_.was_cut_off()) [[unlikely]] {
        end_out_of_memory();
        return true;
    }
    if (socket_.is_agreeing()) {
        const std::string_view why = socket_.refusal();
        log_no_agreement(why.empty() ? "it ended before it had agreed" : why);
        return true;
    }
    if (protocol_.ended() || protocol_.between_messages()) return false;
    (void)refuse("the connection ended within a message");
    return true;
}

/// Shaking hands counts as a message that never goes on: it is to be done within the limit.
std::optional<giop::Unfinished> ServerConnection::unfinished() const noexcept
{
    if (!socket_.is_agreeing()) return protocol_.unfinished();
    return giop::Unfinished{.begins_at = std::numeric_limits<std::uint64_t>::max(), .octets = 0};
}

void ServerConnection::log_no_agreement(std::string_view why) const noexcept
{
    log::write_limited(log::Level::warning, peer_.host_number(),
                       log::Line() << "connection from " << peer_ << " refused: " << why);
}

ReceiveLimit::Clock::time_point
ServerConnection::rest_due(ReceiveLimit::Clock::time_point now) noexcept
{
    const auto limit = orb_.options().receive_timeout;
    if (limit.count() == 0) return ReceiveLimit::Clock::time_point::max();
    return receive_limit_.due(unfinished(), limit, now);
}

bool ServerConnection::rest_was_due(ReceiveLimit::Clock::time_point now) noexcept
{
    const auto limit = orb_.options().receive_timeout;
    return limit.count() != 0 && receive_limit_.was_due(unfinished(), limit, now);
}

void ServerConnection::note_congestion() noexcept
{
    congestion_.store(output_.episodes(), std::memory_order_relaxed);
    taken_.store(output_.taken(), std::memory_order_relaxed);
    if (!share_.hold_replies(output_.size())) broken_ = true;
    if (congested_ == output_.empty()) congested_ = !output_.empty(); // seldom: it is a barrier
}

ReceiveLimit::Clock::time_point
ServerConnection::taking_due(ReceiveLimit::Clock::time_point now) noexcept
{
    const auto limit = orb_.options().receive_timeout;
    if (limit.count() == 0 || !congested_) return ReceiveLimit::Clock::time_point::max();
    return taking_limit_.due(
        giop::Unfinished{.begins_at = congestion_.load(std::memory_order_relaxed),
                         .octets = taken_.load(std::memory_order_relaxed)},
        limit, now);
}

void ServerConnection::log_late_taking() const noexcept
{
    log::write_limited(log::Level::warning, peer_.host_number(),
                       log::Line() << "connection from " << peer_
                                   << " closed: what it was sent was not taken within "
                                      "-ORBReceiveTimeout");
}

void ServerConnection::end_out_of_memory() noexcept
{
    if (!share_.was_cut_off()) return log_out_of_memory();
    log::write_limited(log::Level::warning, peer_.host_number(),
                       log::Line() << "connection from " << peer_
                                   << " closed: too much is held for its host (-ORBMemory)");
    if (!broken_) send_close_connection();
}

void ServerConnection::log_out_of_memory() const noexcept
{
    log::write_limited(log::Level::error, peer_.host_number(),
                       log::Line() << "out of memory for a message from " << peer_
                                   << "; connection closed");
}

void ServerConnection::log_late_rest() const
{
    if (socket_.is_agreeing())
        return log_no_agreement("nothing was agreed within -ORBReceiveTimeout");
    const auto message = protocol_.unfinished();
    const std::size_t came = message ? message->octets : 0;
    log::write_limited(
        log::Level::warning, peer_.host_number(),
        log::Line() << "connection from " << peer_ << " closed: " << came
                    << " octets of a message came, and not the rest within -ORBReceiveTimeout");
}

void ServerConnection::send_close_connection() noexcept
{
    if (socket_.is_agreeing()) return;
    const auto message = giop::close_connection(protocol_.error_version());
    send_control(Bytes(message));
}

void ServerConnection::send_rest_of(std::vector<ServerConnection*> congested)
{
    std::vector<pollfd> polled;
    const Deadline end = Deadline::after(end_max);
    while (!congested.empty() && !end.has_passed()) {
        Deadline deadline = Deadline::after(stall_max);
        polled.resize(congested.size());
        for (std::size_t i = 0; i < congested.size(); ++i)
            if (!prepare({congested[i]->socket_, net::Interest::writable}, polled[i])) {
                polled[i].fd = -1; // it is ready
                deadline = Deadline::after({});
            }
        poll_until(polled, deadline);
        bool any = false;
        for (std::size_t i = 0; i < congested.size(); ++i) {
            if (polled[i].revents == 0 && polled[i].fd >= 0) continue;
            any = true;
            congested[i]->flush();
        }
        if (!any) return;
        std::erase_if(congested, [](const ServerConnection* each) {
            return !each->congested_ || each->broken_;
        });
    }
}

} // namespace kairos::orb
