// SPDX-License-Identifier: Apache-2.0
#include "kairos/messaging/pollable_set.h"

#include "kairos/corba/orb_state.h"
#include "kairos/dynamic/responses.h"
#include "kairos/messaging/polled.h"
#include "kairos/net/socket.h"

#include <algorithm>
#include <cerrno>
#include <sys/eventfd.h>
#include <utility>

namespace kairos::messaging {
namespace {

using SetLock = std::unique_lock<std::mutex>;

constexpr CORBA::ULong none_there = mapping::omg_minor(1); // of NO_RESPONSE and TIMEOUT

[[noreturn]] void raise_none_there(CORBA::ULong timeout)
{
    if (timeout == 0)
        throw CORBA::NO_RESPONSE(none_there, CORBA::COMPLETED_NO, "none is there yet");
    throw CORBA::TIMEOUT(none_there, CORBA::COMPLETED_NO, "none is there yet");
}

[[noreturn]] void raise_not_sendable()
{
    throw CORBA::MARSHAL(mapping::omg_minor(4), CORBA::COMPLETED_NO, "a DIIPollable is not sent");
}

/// Is readable when a call that is polled has changed since it was made. For one wait.
class Watcher {
  public:
    Watcher() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (event_.descriptor() < 0)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "no descriptor is left to wait with");
        PollingLock& all = polling_lock();
        const SetLock lock(all.mutex);
        all.watchers.push_back(event_.descriptor());
    }
    ~Watcher()
    {
        PollingLock& all = polling_lock();
        const SetLock lock(all.mutex);
        std::erase(all.watchers, event_.descriptor());
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    [[nodiscard]] const net::Socket& event() const noexcept { return event_; }

  private:
    const net::Socket event_;
};

/// Returns the requests of the first DIIPollable among these whose ORB has sent any; null if there
/// are none.
dynamic::Responses* responses_among(const std::vector<CORBA::Pollable_var>& members)
{
    for (const CORBA::Pollable_var& member : members)
        if (const auto* const dii = dynamic_cast<const DiiPollable*>(member.in()); dii != nullptr)
            if (dynamic::Responses* const responses = dii->responses(); responses != nullptr)
                return responses;
    return nullptr;
}

} // namespace

// --- Deferred dynamic requests -------------------------------------------------------------------

dynamic::Responses* DiiPollable::responses() const
{
    CORBA::ORB::State& state = orb_->_kairos_state();
    const std::lock_guard lock(state.mutex);
    return static_cast<dynamic::Responses*>(state.responses.get());
}

CORBA::Boolean DiiPollable::is_ready(CORBA::ULong timeout)
{
    const Deadline deadline = deadline_in(timeout);
    for (;;) {
        dynamic::Responses* const requests = responses();
        if (requests == nullptr) return false;
        if (requests->poll()) return true;
        if (deadline.has_passed() || !requests->await(deadline, nullptr)) return false;
    }
}

CORBA::PollableSet_ptr DiiPollable::create_pollable_set()
{
    return new PollableSet(CORBA::ORB::_duplicate(orb_.in()));
}

CORBA::ValueBase* DiiPollable::_copy_value()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "a DIIPollable cannot be copied");
}

const values::Type& DiiPollable::_kairos_type() const
{
    return CORBA::DIIPollable::_kairos_value_type;
}

void DiiPollable::_kairos_encode(cdr::Writer&) const { raise_not_sendable(); }
void DiiPollable::_kairos_decode(cdr::Reader&) { raise_not_sendable(); }

// --- Sets ----------------------------------------------------------------------------------------

CORBA::DIIPollable* PollableSet::create_dii_pollable() { return new DiiPollable(orb_.in()); }

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
        const std::vector<Member> asked = members();
        if (dynamic::Responses* const responses = responses_among(asked); responses != nullptr) {
            const Watcher watcher; // before it asks: of what changes then it hears
            if (CORBA::Pollable* const ready = take_ready(asked)) return ready;
            if (deadline.has_passed()) raise_none_there(timeout);
            (void)responses->await(deadline, &watcher.event());
            continue;
        }
        std::uint64_t seen = 0;
        {
            const SetLock lock(all.mutex);
            seen = all.changes;
        }
        if (CORBA::Pollable* const ready = take_ready(asked)) return ready;
        SetLock lock(all.mutex);
        const auto changed = [&] { return all.changes != seen; };
        if (deadline.is_never())
            all.changed.wait(lock, changed);
        else if (!all.changed.wait_until(lock, deadline.at(), changed))
            raise_none_there(timeout);
    }
}

std::vector<PollableSet::Member> PollableSet::members()
{
    const std::lock_guard lock(mutex_);
    if (members_.empty()) throw NoPossiblePollable();
    return members_;
}

/// Null if none is ready. What was fetched elsewhere is.
CORBA::Pollable* PollableSet::take_ready(const std::vector<Member>& members)
{
    const auto is_ready = [](const Member& member) {
        try {
            return member->is_ready(0);
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
            return CORBA::Boolean(true);
        }
    };
    for (const Member& member : members) {
        if (!is_ready(member)) continue;
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
