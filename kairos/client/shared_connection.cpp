// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/shared_connection.h"

#include "kairos/base/assert_held.h"
#include "kairos/client/client.h"
#include "kairos/client/connection_thread.h"
#include "kairos/giop/control.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <poll.h>

namespace kairos::orb {

Result<IntrusivePtr<SharedConnection>>
SharedConnection::open(Orb& orb, Endpoint& endpoint, ConnectionThread* thread, Deadline deadline)
{
    auto place = Client::of(orb).cache().take_place(endpoint);
    if (!place) return place.error();
    auto waker = net::Waker::create();
    if (!waker) return waker.error();
    auto socket = endpoint.connect(
        orb.socket_options(thread_priority(ThreadStorage::current(), orb.priority_mapping())),
        deadline, Endpoint::First::sockets);
    if (!socket) return socket.error();
    return IntrusivePtr<SharedConnection>::adopt(
        new SharedConnection(orb, endpoint, thread, std::move(socket).value(),
                             std::move(waker).value(), std::move(place).value()));
}

SharedConnection::SharedConnection(Orb& orb, Endpoint& endpoint, ConnectionThread* thread,
                                   net::Socket socket, net::Waker waker,
                                   ConnectionCache::Place place)
    : orb_(orb), endpoint_(&endpoint), thread_(thread), socket_(std::move(socket)),
      session_(orb.options().message_size_max, giop::ReadSizes::of(!socket_.receive_queue_max())),
      waker_(std::move(waker)), somebody_writes_(thread != nullptr),
      somebody_reads_(thread != nullptr), last_use_(coarse_now()), place_(std::move(place))
{
}

void SharedConnection::interrupt() noexcept { socket_.shutdown_both(); }

bool SharedConnection::is_used() noexcept
{
    const Lock lock(mutex_);
    return users_ != 0;
}

std::optional<std::chrono::nanoseconds> SharedConnection::idle_since() noexcept
{
    const Lock lock(mutex_);
    return users_ == 0 && !ended_ && posted_size() == 0 ? std::optional(last_use_) : std::nullopt;
}

bool SharedConnection::close_if_idle(std::chrono::nanoseconds before) noexcept
{
    const Lock lock(mutex_);
    if (ended_) return true;
    if (users_ != 0 || last_use_ > before || posted_size() != 0) return false;
    ended_ = true;
    const auto farewell = giop::ClientSession::farewell(peer_version_);
    if (farewell && output_is_empty_) // not within a message that was given up
        (void)socket_.write(Bytes(*farewell), net::WriteFlags::do_not_wait);
    socket_.shutdown_both();
    place_.give_back();
    return true;
}

// --- what calls do -------------------------------------------------------------------------------

SharedConnection::Outcome SharedConnection::exchange(SharedCall& call)
{
    WakeLater next;
    Lock lock(mutex_);
    if (!admit(call, lock)) return Outcome::not_executed;
    if (thread_ != nullptr && !thread_knows_) call_thread(lock);
    while (!call.is_over()) {
        if (!call.outcome && call.deadline().has_passed())
            give_up(call, lock);
        else
            take_part(call, lock);
    }
    next.place = leave(call);
    return *call.outcome;
}

/// Takes the call up; returns false if the connection has ended.
bool SharedConnection::admit(SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    constexpr std::chrono::milliseconds trusted_for{20};
    const auto last = std::exchange(last_use_, coarse_now());
    if (last_use_ - last >= trusted_for && calls_.empty() && !somebody_reads_) look_around(lock);
    if (ended_) return false;
    if (call.answer && !calls_.add(call)) return false;
    call.posted_before = posted_count_;
    call.heard_before = heard_.load(std::memory_order_relaxed);
    call.in_vain_before = in_vain_;
    to_send_.push_back(call);
    ++users_;
    return true;
}

/// Nobody was reading: the peer may have closed meanwhile, and then nothing should be sent.
void SharedConnection::look_around(Lock& lock) noexcept
{
    assert_held(mutex_);
    constexpr int reads_max = 16; // of a peer that goes on and on
    somebody_reads_ = true;
    lock.unlock();
    for (int i = 0; i < reads_max && !has_ended() && read(Wait::no, {}); ++i) {
    }
    lock.lock();
    somebody_reads_ = false;
    if (const net::Parking* place = call_next()) net::Parking::wake(place);
}

/// Tells the connection's thread that there is something to write.
void SharedConnection::call_thread(Lock& lock) noexcept
{
    assert_held(mutex_);
    thread_knows_ = true;
    lock.unlock();
    if (!thread_->attend(*this)) end(Outcome::lost);
    lock.lock();
}

/// One step of a call on its way: what nobody else does, or waiting for who does it.
void SharedConnection::take_part(SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    if (call.outcome) return park(call, lock, {}); // until nobody uses its memory
    if (!call.writes && !somebody_writes_ && has_to_write()) somebody_writes_ = call.writes = true;
    if (call.writes) {
        write(lock, &call);
        if (!has_to_write()) somebody_writes_ = call.writes = false;
        if (call.outcome) return;
    }
    const bool may_read = call.writes || call.sent == SharedCall::Sent::wholly;
    if (!somebody_reads_ && may_read) somebody_reads_ = call.reads = true;
    if (call.writes) return wait_for_peer(call, lock);
    if (!call.reads) return park(call, lock, call.deadline());
    const Deadline deadline = call.deadline();
    lock.unlock();
    (void)read(Wait::until_deadline, deadline);
    lock.lock();
}

/// The peer does not take what it is sent. It may be waiting for us to read.
void SharedConnection::wait_for_peer(SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    const bool reads = call.reads;
    const Deadline deadline = call.deadline();
    writer_waits_ = true;
    lock.unlock();
    const auto left = deadline.left();
    timespec limit{};
    if (left) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*left);
        limit = {.tv_sec = static_cast<std::time_t>(seconds.count()),
                 .tv_nsec = static_cast<long>((*left - seconds).count())};
    }
    const net::Interest to_write = socket_.prepare_poll(net::Interest::writable);
    const net::Interest to_read =
        reads ? socket_.prepare_poll(net::Interest::readable) : net::Interest::none;
    const bool is_ready =
        to_write == net::Interest::none || (reads && to_read == net::Interest::none);
    if (is_ready) limit = {}; // it is only looked
    const auto events = static_cast<short>(net::poll_events(to_write) | net::poll_events(to_read));
    std::array<pollfd, 2> polled{pollfd{.fd = socket_.descriptor(), .events = events, .revents = 0},
                                 pollfd{.fd = waker_.descriptor(), .events = POLLIN, .revents = 0}};
    (void)::ppoll(polled.data(), polled.size(), left || is_ready ? &limit : nullptr, nullptr);
    if (polled[1].revents != 0) waker_.clear();
    const bool came = (polled[0].revents & ~POLLOUT) != 0 || !socket_.is_plain();
    if (reads && came) (void)read(Wait::no, {});
    lock.lock();
    writer_waits_ = false;
}

void SharedConnection::park(SharedCall& call, Lock& lock, Deadline deadline) noexcept
{
    assert_held(mutex_);
    call.parking.prepare();
    call.parked = true;
    if (call.sent == SharedCall::Sent::wholly && !call.outcome) followers_.push_back(call);
    lock.unlock();
    call.parking.park(deadline);
    lock.lock();
    call.parked = false;
    followers_.remove(call);
}

void SharedConnection::give_up(SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    if (call.being_sent || call.being_answered) { // not for long: nobody waits meanwhile
        call.is_impatient = true;
        return park(call, lock, {});
    }
    call.outcome = giop::outcome_when_late(call.sent);
    if (call.answer) note_unanswered(call);
    if (thread_ != nullptr && ended_) call_thread(lock); // which tells of others that ended by that
    if (call.sent == SharedCall::Sent::wholly && call.answer == giop::MessageType::reply)
        cancel(call, lock);
}

/// A peer of which nothing comes while one call after the other waits may be there no more, which
/// the system notices after many minutes: other calls are to have another connection. Those under
/// way wait as long as they like.
void SharedConnection::note_unanswered(const SharedCall& call) noexcept
{
    assert_held(mutex_);
    if (call.heard_before != heard_.load(std::memory_order_relaxed)) return;
    // Of those that no thread waits for a thousand may be late at once, as if they were one.
    if (call.completion != nullptr && call.in_vain_before != in_vain_) return;
    ++in_vain_;
    unanswered_ = heard_in_vain_ == call.heard_before ? unanswered_ + 1 : 1;
    heard_in_vain_ = call.heard_before;
    if (unanswered_ < unanswered_max) return;
    ended_ = true;
    while (SharedCall* const waiting = to_send_.front()) {
        finish(*waiting, Outcome::not_executed);
        wake_locked(*waiting);
    }
}

/// Tells the peer that nobody waits for the reply any more (CORBA 3.3 part 2, 9.4.4), unless it
/// does not even take what it was sent before.
void SharedConnection::cancel(const SharedCall& call, Lock& lock) noexcept
{
    assert_held(mutex_);
    if (ended_ || posted_size() != 0 || !output_is_empty_) return;
    const giop::Version version{std::to_integer<std::uint8_t>(call.header[4]),
                                std::to_integer<std::uint8_t>(call.header[5])};
    posted_.keep(Bytes(giop::cancel_request(version, call.request_id)));
    if (posted_.broken()) return fail_sending();
    ++posted_count_;
    if (thread_ != nullptr) {
        if (!thread_knows_) call_thread(lock);
    } else if (!somebody_writes_) {
        somebody_writes_ = true;
        write(lock, &call);
        somebody_writes_ = false;
    }
}

/// Ends a call's part in the connection; returns who is to be woken.
const net::Parking* SharedConnection::leave(SharedCall& call) noexcept
{
    assert_held(mutex_);
    calls_.remove(call);
    to_send_.remove(call);
    if (partly_sent_ == &call) partly_sent_ = nullptr;
    --users_;
    last_use_ = coarse_now();
    if (call.reads) somebody_reads_ = false;
    if (call.writes) somebody_writes_ = false;
    if (ended_ && users_ == 0) { // also where nobody but its calls has given the peer up
        lose_posted();
        socket_.shutdown_both();
    }
    return call_next();
}

/// Calls somebody to a role that nobody has and that is needed. One is enough: who comes to write
/// also reads if nobody does, and calls the next when it leaves. Whose message waits to be written
/// is parked, unless it writes. What is left of a message that was given up waits for the next
/// call.
const net::Parking* SharedConnection::call_next() noexcept
{
    assert_held(mutex_);
    SharedCall* next = nullptr;
    if (!somebody_writes_ && has_to_write())
        next = to_send_.empty() ? partly_sent_ : to_send_.front();
    if (next == nullptr && !somebody_reads_) {
        next = followers_.front();
        if (next == nullptr && writer_waits_) waker_.wake();
    }
    if (next == nullptr) return nullptr;
    next->parking.call();
    return &next->parking;
}

// --- the end -------------------------------------------------------------------------------------

void SharedConnection::end(Outcome outcome) noexcept
{
    {
        const Lock lock(mutex_);
        read_out_ = true;
        fail_sending();
        calls_.take_all([&](giop::PendingRequest& request) {
            auto& call = static_cast<SharedCall&>(request);
            finish(call, outcome);
            wake_locked(call);
        });
    }
    announce();
}

// --- calls ---------------------------------------------------------------------------------------

void SharedConnection::finish(SharedCall& call, Outcome outcome) noexcept
{
    assert_held(mutex_);
    calls_.remove(call);
    to_send_.remove(call);
    followers_.remove(call);
    if (partly_sent_ == &call) partly_sent_ = nullptr;
    if (!call.outcome) call.outcome = outcome;
}

void SharedConnection::wake_locked(SharedCall& call) noexcept
{
    assert_held(mutex_);
    if (call.completion != nullptr) return complete(call);
    call.parking.call();
    if (call.parked) net::Parking::wake(&call.parking);
}

} // namespace kairos::orb
