// SPDX-License-Identifier: Apache-2.0
//
// What no ordinary request comes through: waiting for calls of a servant, peers that are slow, and
// the end.
#include "kairos/server/threaded_connection.h"

#include "kairos/net/arrivals.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/transmit.h"
#include "kairos/server/serving.h"

#include <array>
#include <new>
#include <utility>

namespace kairos::orb {

void ThreadedConnection::interrupt() noexcept
{
    interrupted_ = true;
    looks_twice_ = true; // what comes meanwhile can be read all the same
    socket_.shutdown_read();
}

void ThreadedConnection::cut_off() noexcept
{
    if (awaits_owed_) return end_if_stalled();
    broken_ = true;
    congested_ = true;
    socket_.shutdown_both();
}

void ThreadedConnection::end_if_stalled() noexcept
{
    const auto at = socket_.stuck_at();
    looks_alike_ = at && at == stuck_at_ ? looks_alike_ + 1 : 0;
    stuck_at_ = at;
    if (looks_alike_ == stall_looks) socket_.shutdown_both();
}

void ThreadedConnection::wait(const Awaited& awaited, Deadline deadline) noexcept
{
    ++waits_;
    is_behind_ = true;
    note_unsent();
    wait_and_serve(awaited, deadline);
    if (--waits_ != 0) return;
    is_behind_ = broken_ || !output_.empty();
    if (congested_) congested_ = false; // from here on who sends waits
}

void ThreadedConnection::note_unsendable(const net::IoResult& sent) noexcept
{
    is_behind_ = broken_ = true;
    if (sent.status == net::IoResult::Status::would_block) log_late_taking();
}

void ThreadedConnection::send_large(Bytes header, const cdr::Writer& body) noexcept
{
    if (!share_.hold_replies(memory_.reply.capacity() + body.size())) {
        is_behind_ = broken_ = true;
        return;
    }
    const net::IoResult sent = transmit(socket_, header, body, orb_.options().fragment_size);
    if (!sent.ok()) note_unsendable(sent);
    (void)share_.hold_replies(memory_.reply.capacity());
}

void ThreadedConnection::keep_reply_memory(UpcallMemory& memory) noexcept
{
    if (&memory != &memory_ || memory.reply.capacity() > limits::receive_buffer_kept ||
        !share_.may_keep())
        return ServerConnection::keep_reply_memory(memory);
    if (share_.hold_replies(memory.reply.capacity()))
        memory.reply_kept_max = memory.reply.capacity();
}

bool ThreadedConnection::agree_with_peer()
{
    const auto limit = orb_.options().receive_timeout;
    const Deadline deadline = limit.count() == 0 ? Deadline() : Deadline::after(limit);
    const auto agreed = socket_.agree(deadline);
    if (!agreed && deadline.has_passed())
        log_late_rest();
    else if (!agreed && !interrupted_)
        log_no_agreement(agreed.error().reason);
    return agreed.ok();
}

void ThreadedConnection::wait_and_serve(const Awaited& awaited, Deadline deadline) noexcept
{
    bool listens = serve_rest_nested();
    while (!interrupted_) {
        const Ready ready = wait_nested(awaited, listens, deadline);
        if (ready.first || !ready.second || deadline.has_passed()) return;
        listens = go_on_nested();
    }
    wait_and_refuse(awaited, deadline);
}

Ready ThreadedConnection::wait_nested(const Awaited& awaited, bool listens,
                                      Deadline deadline) noexcept
{
    const int held = descriptor_held_nested();
    if (owes()) return wait_and_send(awaited, listens, held, deadline);
    if (held >= 0) return wait_either(awaited, held, deadline);
    const Awaited own{.socket = socket_, .interest = interest_nested(listens)};
    return wait_either(awaited, &own, deadline);
}

void ThreadedConnection::wait_and_refuse(const Awaited& awaited, Deadline deadline) noexcept
{
    auto arrivals = net::Arrivals::at(socket_.descriptor());
    for (bool listens = arrivals.ok();;) {
        listens = listens && serve_arrived();
        const bool looks = listens && !congested_ && descriptor_held_nested() < 0;
        const Ready ready = !looks ? wait_nested(awaited, false, deadline)
                            : owes()
                                ? wait_and_send(awaited, false, arrivals->descriptor(), deadline)
                                : wait_either(awaited, arrivals->descriptor(), deadline);
        if (ready.first || !ready.second || deadline.has_passed()) return;
        if (looks)
            arrivals->forget();
        else
            (void)go_on_nested();
    }
}

bool ThreadedConnection::serve_arrived() noexcept
{
    if (socket_.bypasses_descriptor()) { // where the peer is to say when there is more
        while (!congested_ && socket_.prepare_poll(net::Interest::readable) == net::Interest::none)
            if (!go_on_nested()) return descriptor_held_nested() >= 0;
    } else {
        while (!congested_ && go_on_nested()) {
        }
    }
    return !protocol_.ended() && !broken_;
}

void ThreadedConnection::send_behind(Bytes header, const cdr::Writer& body) noexcept
{
    if (broken_) return;
    if (waits_ == 0) {
        send_unsent();
        if (!broken_) send(header, body);
        return;
    }
    output_.put_message(socket_, header, body, orb_.options().fragment_size);
    note_unsent();
}

void ThreadedConnection::send_unsent() noexcept
{
    while (!output_.empty() && !output_.broken() && socket_.wait_writable(std::nullopt).ok())
        output_.flush(socket_);
    if (output_.broken() || !output_.empty()) broken_ = true;
    is_behind_ = broken_;
}

bool ThreadedConnection::await_rest()
{
    if (interrupted_) return false;
    const auto limit = orb_.options().receive_timeout;
    if (limit.count() == 0) return true;
    const auto look = ReceiveLimit::between_looks(limit);
    if (!std::exchange(limits_reading_, true)) {
        looks_twice_ = true;
        socket_.limit_reading(look);
    }
    is_late_ = rest_was_due(ReceiveLimit::Clock::now());
    if (is_late_) log_late_rest();
    return !is_late_;
}

bool ThreadedConnection::look_again() noexcept
{
    if (protocol_.between_messages()) stop_limiting();
    return true;
}

void ThreadedConnection::stop_limiting() noexcept
{
    limits_reading_ = false;
    looks_twice_ = false;
    if (interrupted_ || owes()) looks_twice_ = true;
    socket_.limit_reading(std::chrono::nanoseconds(0));
}

void ThreadedConnection::send_control(Bytes message) noexcept
{
    if (waits_ != 0) {
        output_.put(socket_, message);
        return note_unsent();
    }
    send_unsent();
    if (is_late_) // it may not read either
        (void)socket_.write(message, net::WriteFlags::do_not_wait);
    else if (!broken_)
        (void)socket_.write_all(message);
}

// --- answers that other threads give -------------------------------------------------------------

class ThreadedConnection::MailedAnswer final : public BoxedAnswer {
  public:
    MailedAnswer(ThreadedConnection& connection, IntrusivePtr<AnswerMail> mail,
                 const net::Address& peer, Account& account) noexcept
        : BoxedAnswer(account), connection_(connection), mail_(std::move(mail)), peer_(peer)
    {
    }
    [[nodiscard]] std::size_t owed_already() const noexcept override { return connection_.owed_; }
    void begin() noexcept override
    {
        ++connection_.owed_;
        connection_.looks_twice_ = true;
    }
    [[nodiscard]] const net::Address* peer_address() const noexcept override { return &peer_; }
    void over() noexcept override { mail_->put(*this); }

  private:
    ~MailedAnswer() override = default;

    ThreadedConnection& connection_; // to be used by its own thread
    const IntrusivePtr<AnswerMail> mail_;
    const net::Address peer_;
};

/// Not within a request that waits: there the thread sends nothing else before that goes on.
IntrusivePtr<OwedChannel> ThreadedConnection::owe()
{
    if (waits_ != 0) return {};
    if (!mail_) {
        auto waker = net::Waker::create();
        if (!waker) return {};
        mail_ = make_intrusive<AnswerMail>(std::move(waker).value());
    }
    return IntrusivePtr<OwedChannel>::adopt(
        new MailedAnswer(*this, mail_, peer_, Serving::of(orb_).account()));
}

void ThreadedConnection::send_given() noexcept
{
    mail_->take([this](const BoxedAnswer& answer) {
        --owed_;
        try {
            cdr::Buffer buffer;
            answer.pass_on(buffer,
                           [this](Bytes header, const cdr::Writer& body) { send(header, body); });
        } catch (const std::bad_alloc&) {
            log_out_of_memory();
            is_behind_ = broken_ = true;
            socket_.shutdown_both();
        }
    });
}

void ThreadedConnection::await_request() noexcept
{
    while (owes()) {
        const Awaited own{.socket = socket_};
        const Ready ready = wait_either(own, mail_->descriptor(), Deadline());
        if (ready.second) send_given();
        if (ready.first) return;
    }
    if (!limits_reading_) looks_twice_ = false;
    if (interrupted_) looks_twice_ = true;
}

/// Until the peer has gone, too: its end is seen, where it can be read no more.
void ThreadedConnection::await_owed() noexcept
{
    awaits_owed_ = true;
    while (owes() && !broken_) {
        std::array<pollfd, 2> polled{{{.fd = mail_->descriptor(), .events = POLLIN, .revents = 0},
                                      {.fd = socket_.descriptor(), .events = 0, .revents = 0}}};
        poll_until(polled, Deadline());
        if (polled[0].revents != 0)
            send_given();
        else if (polled[1].revents != 0)
            return;
    }
}

Ready ThreadedConnection::wait_and_send(const Awaited& awaited, bool listens, int instead,
                                        Deadline deadline) noexcept
{
    const Awaited own{.socket = socket_, .interest = interest_nested(listens)};
    std::array<pollfd, 3> polled{};
    if (!prepare(awaited, polled[0])) return {.first = true, .second = false};
    polled[1] = {.fd = instead, .events = POLLIN, .revents = 0};
    if (instead < 0 && own.interest != net::Interest::none && !prepare(own, polled[1]))
        return {.first = false, .second = true};
    polled[2] = {.fd = mail_->descriptor(), .events = POLLIN, .revents = 0};
    poll_until(polled, deadline);
    if (polled[2].revents != 0) send_given();
    return {.first = polled[0].revents != 0, .second = polled[1].revents != 0};
}

} // namespace kairos::orb
