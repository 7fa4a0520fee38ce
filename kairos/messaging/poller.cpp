// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/poller.h"

#include "kairos/messaging/pollable_set.h"
#include "kairos/messaging/polled.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace kairos::messaging {

using orb::AsynchronousCall;
using orb::CallListener;

namespace {

using Lock = std::unique_lock<std::mutex>;

constexpr CORBA::ULong fetched_before = mapping::omg_minor(5); // of OBJECT_NOT_EXIST
constexpr CORBA::ULong not_there = mapping::omg_minor(1);      // of NO_RESPONSE and TIMEOUT

[[noreturn]] void raise_local()
{
    throw CORBA::MARSHAL(mapping::omg_minor(4), CORBA::COMPLETED_NO, "a poller cannot be sent");
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

void Polled::send() noexcept
{
    add_ref(); // the listener's, until the call is gone
    call_->send({.posted = &posted, .ended = nullptr, .dropped = &dropped, .object = this});
}

/// Under the lock of a connection, perhaps.
bool Polled::posted(const CallListener& listener) noexcept
{
    auto& self = *static_cast<Polled*>(listener.object);
    PollingLock& all = polling_lock();
    const Lock lock(all.mutex);
    if (self.is_given_up_) return false;
    self.is_posted_ = true;
    ++all.changes;
    all.changed.notify_all();
    return true;
}

void Polled::dropped(const CallListener& listener) noexcept
{
    static_cast<Polled*>(listener.object)->release();
}

bool Polled::wait(Deadline deadline)
{
    PollingLock& all = polling_lock();
    Lock lock(all.mutex);
    while (state_ == State::under_way) {
        if (is_posted_ && !is_worked_) {
            is_posted_ = false;
            is_worked_ = true;
            AsynchronousCall& call = *call_;
            lock.unlock();
            const bool is_over = call.proceed();
            lock.lock();
            is_worked_ = false;
            if (is_over) state_ = State::over;
            ++all.changes;
            all.changed.notify_all();
        } else if (deadline.is_never()) {
            all.changed.wait(lock);
        } else if (deadline.has_passed()) {
            return false;
        } else {
            all.changed.wait_until(lock, deadline.at());
        }
    }
    return true;
}

Polled::Fetch Polled::fetch(AsynchronousCall*& call)
{
    const Lock lock(polling_lock().mutex);
    if (state_ == State::gone) return Fetch::fetched_before;
    if (state_ == State::under_way) return Fetch::not_there;
    state_ = State::gone;
    call = std::exchange(call_, nullptr);
    return Fetch::fetched;
}

/// Nobody waits, as the poller is gone.
void Polled::give_up() noexcept
{
    AsynchronousCall* call = nullptr;
    {
        const Lock lock(polling_lock().mutex);
        is_given_up_ = true;
        if (state_ == State::over || (state_ == State::under_way && is_posted_))
            call = std::exchange(call_, nullptr);
        state_ = State::gone;
    }
    if (call == nullptr) return; // under way: dropped at its end
    call->abandon();
    release();
}

// --- Pollers -------------------------------------------------------------------------------------

PollerBase::PollerBase(CORBA::Object& target, const IntrusivePtr<RefCounted>& polled)
    : target_(CORBA::Object::_duplicate(&target)), polled_(static_cast<Polled*>(polled.get()))
{
}

PollerBase::~PollerBase() { polled_->give_up(); }

CORBA::Boolean PollerBase::is_ready(CORBA::ULong timeout)
{
    return polled_->wait(deadline_in(timeout));
}

CORBA::PollableSet_ptr PollerBase::create_pollable_set() { return new PollableSet; }

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
    if (polled.operation().name() != operation)
        throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO,
                                   "the poller is that of another operation");
    (void)polled.wait(deadline_in(timeout));
    switch (polled.fetch(call_)) {
    case Polled::Fetch::fetched_before:
        throw CORBA::OBJECT_NOT_EXIST(fetched_before, CORBA::COMPLETED_NO,
                                      "the reply was fetched before");
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
      out_(call_->out())
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
    auto* const polled = new Polled(*call_, operation_);
    copies_.reset();
    call_ = nullptr; // which is the poller's now
    polled->send();
    return IntrusivePtr<RefCounted>::adopt(polled);
}

// --- Sets ----------------------------------------------------------------------------------------

void PollableSet::add_pollable(CORBA::Pollable* potential)
{
    if (potential == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a null Pollable");
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(members_, potential, [](const auto& one) { return one.in(); }) !=
        members_.end())
        throw CORBA::BAD_PARAM(mapping::omg_minor(43), CORBA::COMPLETED_NO,
                               "the Pollable is in the set");
    CORBA::add_ref(potential);
    members_.emplace_back(potential);
}

void PollableSet::remove(CORBA::Pollable* potential)
{
    const std::lock_guard lock(mutex_);
    if (std::erase_if(members_, [&](const auto& one) { return one.in() == potential; }) == 0)
        throw UnknownPollable();
}

CORBA::UShort PollableSet::number_left()
{
    const std::lock_guard lock(mutex_);
    return static_cast<CORBA::UShort>(members_.size());
}

CORBA::Pollable* PollableSet::get_ready_pollable(CORBA::ULong timeout)
{
    const Deadline deadline = deadline_in(timeout);
    PollingLock& all = polling_lock();
    for (;;) {
        std::uint64_t seen = 0;
        {
            const Lock lock(all.mutex);
            seen = all.changes;
        }
        if (CORBA::Pollable* const ready = take_ready()) return ready;
        Lock lock(all.mutex);
        const auto changed = [&] { return all.changes != seen; };
        if (deadline.is_never()) {
            all.changed.wait(lock, changed);
        } else if (!all.changed.wait_until(lock, deadline.at(), changed)) {
            if (timeout == 0)
                throw CORBA::NO_RESPONSE(not_there, CORBA::COMPLETED_NO, "none is there yet");
            throw CORBA::TIMEOUT(not_there, CORBA::COMPLETED_NO, "none is there yet");
        }
    }
}

/// Null if none is ready.
CORBA::Pollable* PollableSet::take_ready()
{
    std::vector<Member> members;
    {
        const std::lock_guard lock(mutex_);
        members = members_;
    }
    if (members.empty()) throw NoPossiblePollable();
    for (const Member& member : members) {
        if (!member->is_ready(0)) continue;
        const std::lock_guard lock(mutex_);
        if (std::erase_if(members_, [&](const auto& one) { return one.in() == member.in(); }) == 0)
            continue; // another thread has taken it
        CORBA::Pollable* const taken = member.in();
        CORBA::add_ref(taken);
        return taken;
    }
    return nullptr;
}

} // namespace kairos::messaging
