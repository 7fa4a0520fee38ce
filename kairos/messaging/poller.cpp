// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/poller.h"

#include "kairos/base/log.h"
#include "kairos/messaging/pollable_set.h"
#include "kairos/messaging/polled.h"
#include "kairos/orb/orb.h"

#include <cstddef>
#include <new>
#include <sys/eventfd.h>
#include <utility>

namespace kairos::messaging {

using orb::AsynchronousCall;
using orb::CallListener;
using Accepted = orb::MainThread::Accepted;

namespace {

constexpr CORBA::ULong fetched_before = mapping::omg_minor(5); // of OBJECT_NOT_EXIST
constexpr CORBA::ULong not_there = mapping::omg_minor(1);      // of NO_RESPONSE and TIMEOUT

[[noreturn]] void raise_local()
{
    throw CORBA::MARSHAL(mapping::omg_minor(4), CORBA::COMPLETED_NO, "a poller cannot be sent");
}

[[noreturn]] void raise_fetched_before()
{
    throw CORBA::OBJECT_NOT_EXIST(fetched_before, CORBA::COMPLETED_NO,
                                  "the reply was fetched before");
}

} // namespace

Deadline deadline_in(CORBA::ULong milliseconds)
{
    return milliseconds == wait_for_ever ? Deadline()
                                         : Deadline::after(std::chrono::milliseconds(milliseconds));
}

PollingLock& polling_lock() noexcept
{
    alignas(PollingLock) static std::byte room[sizeof(PollingLock)];
    static PollingLock* const lock = new (room) PollingLock; // pollers may outlive everything
    return *lock;
}

// --- The call ------------------------------------------------------------------------------------

void PollingLock::note_change() noexcept
{
    ++changes;
    changed.notify_all();
    for (const int watcher : watchers)
        (void)::eventfd_write(watcher, 1);
}

void Polled::Told::swap(Told& other) noexcept
{
    std::swap(kind, other.kind);
    std::swap(handler, other.handler);
    std::swap(base, other.base);
}

void Polled::send() noexcept
{
    add_ref(); // the listener's, until the call is gone
    call_->send({.posted = &posted, .ended = nullptr, .dropped = &dropped, .object = this});
}

/// Under the lock of a connection, perhaps.
Accepted Polled::posted(const CallListener& listener) noexcept
{
    auto& self = *static_cast<Polled*>(listener.object);
    PollingLock& all = polling_lock();
    const Lock lock(all.mutex);
    if (self.is_given_up_ && !self.is_for_handler()) return Accepted::no;
    self.is_posted_ = true;
    all.note_change();
    return self.leave_to_main_thread();
}

void Polled::dropped(const CallListener& listener) noexcept
{
    static_cast<Polled*>(listener.object)->release();
}

/// Where the reply is for a handler, and there is something to do, or to tell. Must hold the lock
/// of all. Never `no`: what the main thread refuses is left to who polls.
Accepted Polled::leave_to_main_thread() noexcept
{
    if (!is_for_handler() || is_queued_) return Accepted::more;
    if (state_ != State::over && (state_ != State::under_way || !has_work())) return Accepted::more;
    const Accepted accepted = orb_->main_thread().post(*this);
    if (accepted == Accepted::no) return Accepted::more;
    is_queued_ = true;
    add_ref(); // the queue's
    return accepted;
}

/// Has a main thread that waits elsewhere hear of what it was left. Gives the lock back.
void Polled::announce(Accepted accepted, Lock& lock) noexcept
{
    lock.unlock();
    if (accepted == Accepted::first) orb_->resume_held_requests();
}

/// Does what there is to do. Must hold the lock of all, without which it does it.
void Polled::proceed(Lock& lock) noexcept
{
    is_posted_ = false;
    is_worked_ = true;
    AsynchronousCall& call = *call_;
    lock.unlock();
    const bool is_over = call.proceed();
    lock.lock();
    is_worked_ = false;
    if (is_over) state_ = State::over;
    polling_lock().note_change();
}

/// In the main thread.
void Polled::work() noexcept
{
    const auto queues = IntrusivePtr<Polled>::adopt(this);
    Lock lock(polling_lock().mutex);
    is_queued_ = false;
    while (is_for_handler() && state_ == State::under_way && has_work())
        proceed(lock);
    if (!is_for_handler() || state_ != State::over) return; // left to who polls, or who works
    Told told;
    told.swap(told_);
    state_ = State::gone;
    AsynchronousCall& call = *std::exchange(call_, nullptr);
    polling_lock().note_change();
    lock.unlock();
    try {
        tell_end(*told.kind, told.handler, call);
    } catch (...) {
        log::warning("a reply handler could not be told of the end of a call");
    }
    call.abandon();
    release(); // the listener's
}

/// The ORB was shut down: who polls may have it.
void Polled::refused() noexcept
{
    const auto queues = IntrusivePtr<Polled>::adopt(this);
    Told told;
    bool is_given_up = false;
    {
        const Lock lock(polling_lock().mutex);
        is_queued_ = false;
        told.swap(told_);
        is_given_up = is_given_up_;
        polling_lock().note_change();
    }
    if (is_given_up) give_up();
}

Polled::Wait Polled::wait(Deadline deadline)
{
    PollingLock& all = polling_lock();
    Lock lock(all.mutex);
    while (state_ == State::under_way || (state_ == State::over && is_for_handler())) {
        if (state_ == State::under_way && has_work()) {
            proceed(lock);
            if (const Accepted accepted = leave_to_main_thread(); accepted == Accepted::first) {
                announce(accepted, lock);
                lock.lock();
            }
        } else if (deadline.is_never()) {
            all.changed.wait(lock);
        } else if (deadline.has_passed()) {
            return Wait::not_yet;
        } else {
            all.changed.wait_until(lock, deadline.at());
        }
    }
    return state_ == State::over ? Wait::over : Wait::fetched_before;
}

Polled::Fetch Polled::fetch(AsynchronousCall*& call)
{
    const Lock lock(polling_lock().mutex);
    has_own_failure_ = true;
    if (state_ == State::gone) return Fetch::fetched_before;
    if (state_ == State::under_way || is_for_handler()) return Fetch::not_there;
    has_own_failure_ = false;
    state_ = State::gone;
    call = std::exchange(call_, nullptr);
    polling_lock().note_change();
    return Fetch::fetched;
}

/// Nobody waits, as the poller is gone.
void Polled::give_up() noexcept
{
    AsynchronousCall* call = nullptr;
    {
        const Lock lock(polling_lock().mutex);
        is_given_up_ = true;
        if (is_for_handler()) return;
        if (state_ == State::over || (state_ == State::under_way && is_posted_))
            call = std::exchange(call_, nullptr);
        state_ = State::gone;
    }
    if (call == nullptr) return; // under way: dropped at its end
    call->abandon();
    release();
}

void Polled::associate(const CallbackKind& kind, Messaging::ReplyHandler_ptr handler)
{
    Told told; // at the end, the one before
    if (!CORBA::is_nil(handler)) {
        told.handler = kind.narrow(handler);
        if (told.handler == nullptr)
            throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                                   "the reply handler is not one of this interface");
        told.kind = &kind;
        told.base = Messaging::ReplyHandler::_duplicate(handler);
    }
    Lock lock(polling_lock().mutex);
    has_own_failure_ = state_ == State::gone;
    if (state_ == State::gone) {
        lock.unlock();
        raise_fetched_before();
    }
    told.swap(told_);
    polling_lock().note_change();
    announce(leave_to_main_thread(), lock);
}

Messaging::ReplyHandler_ptr Polled::associated() const
{
    const Lock lock(polling_lock().mutex);
    return Messaging::ReplyHandler::_duplicate(told_.base.in());
}

void Polled::note_own_failure(bool is_own) noexcept
{
    const Lock lock(polling_lock().mutex);
    has_own_failure_ = is_own;
}

bool Polled::has_own_failure() const noexcept
{
    const Lock lock(polling_lock().mutex);
    return has_own_failure_;
}

// --- Pollers -------------------------------------------------------------------------------------

PollerBase::PollerBase(CORBA::Object& target, const IntrusivePtr<RefCounted>& polled,
                       const CallbackKind& callback)
    : target_(CORBA::Object::_duplicate(&target)), polled_(static_cast<Polled*>(polled.get())),
      callback_(callback)
{
}

PollerBase::~PollerBase() { polled_->give_up(); }

CORBA::Boolean PollerBase::is_ready(CORBA::ULong timeout)
{
    const Polled::Wait state = polled_->wait(deadline_in(timeout));
    polled_->note_own_failure(state == Polled::Wait::fetched_before);
    if (state == Polled::Wait::fetched_before) raise_fetched_before();
    return state == Polled::Wait::over;
}

CORBA::PollableSet_ptr PollerBase::create_pollable_set()
{
    return new PollableSet(target_->_get_orb());
}

Messaging::ReplyHandler_ptr PollerBase::associated_handler() { return polled_->associated(); }

void PollerBase::associated_handler(Messaging::ReplyHandler_ptr handler)
{
    polled_->associate(callback_, handler);
}

CORBA::Boolean PollerBase::is_from_poller() { return polled_->has_own_failure(); }

CORBA::Object_ptr PollerBase::operation_target() { return CORBA::Object::_duplicate(target_.in()); }

char* PollerBase::operation_name()
{
    return CORBA::string_dup(std::string(polled_->operation().name()).c_str());
}

CORBA::ValueBase* PollerBase::_copy_value()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "a poller cannot be copied");
}

const values::Type& PollerBase::_kairos_type() const
{
    return Messaging::Poller::_kairos_value_type;
}

void PollerBase::_kairos_encode(cdr::Writer&) const { raise_local(); }
void PollerBase::_kairos_decode(cdr::Reader&) { raise_local(); }

// --- Replies -------------------------------------------------------------------------------------

FetchedReply::FetchedReply(PollerBase& poller, std::string_view operation, CORBA::ULong timeout)
{
    Polled& polled = *poller.polled_;
    if (polled.operation().name() != operation) {
        polled.note_own_failure(true);
        throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO,
                                   "the poller is that of another operation");
    }
    (void)polled.wait(deadline_in(timeout));
    switch (polled.fetch(call_)) {
    case Polled::Fetch::fetched_before:
        raise_fetched_before();
    case Polled::Fetch::not_there:
        if (timeout == 0)
            throw CORBA::NO_RESPONSE(not_there, CORBA::COMPLETED_NO, "there is no reply yet");
        throw CORBA::TIMEOUT(not_there, CORBA::COMPLETED_NO, "there is no reply yet");
    case Polled::Fetch::fetched:
        break;
    }
    polled.release(); // the listener's; the poller has another
    const std::exception_ptr failure = call_->failure();
    if (!failure) return;
    call_->abandon();
    std::rethrow_exception(failure);
}

FetchedReply::~FetchedReply() { call_->abandon(); }
cdr::Reader& FetchedReply::in() noexcept { return call_->in(); }
void FetchedReply::finish() { call_->finish(); }

// --- Sending -------------------------------------------------------------------------------------

PollingCall::PollingCall(CORBA::Object& target, const orb::Operation& operation)
    : call_(&AsynchronousCall::make(corba::reference_of(target), operation)), operation_(operation),
      orb_(corba::reference_of(target).orb()), out_(call_->out())
{
    copies_.emplace(out_);
}

PollingCall::~PollingCall()
{
    copies_.reset();
    if (call_ != nullptr) call_->abandon();
}

IntrusivePtr<RefCounted> PollingCall::send()
{
    auto* const polled = new Polled(*call_, operation_, orb_);
    copies_.reset();
    call_ = nullptr; // which is the poller's now
    polled->send();
    return IntrusivePtr<RefCounted>::adopt(polled);
}

} // namespace kairos::messaging
