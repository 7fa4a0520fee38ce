// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/pusher.h"

#include <utility>

namespace kairos::events {
namespace {

/// Of an event that any thread may encode.
constexpr std::size_t brief_octets = std::size_t{4} << 10;
/// Whether the consumer has said that it will not have this event; else it may have it later.
bool is_about_event(const std::exception_ptr& failure) noexcept
{
    try {
        std::rethrow_exception(failure);
    } catch (const CORBA::MARSHAL&) {
    } catch (const CORBA::BAD_PARAM&) {
    } catch (const CORBA::DATA_CONVERSION&) {
    } catch (const CORBA::CODESET_INCOMPATIBLE&) {
    } catch (const CORBA::IMP_LIMIT&) {
    } catch (const CORBA::BAD_OPERATION&) {
    } catch (...) {
        return false;
    }
    return true;
}

/// Of a call, about, beside the event.
constexpr std::size_t call_octets = 256;

} // namespace

Pusher::Pusher(std::shared_ptr<Members> members, std::uint64_t proxy, CORBA::Object_ptr consumer,
               const orb::Operation& push)
    : ClientCourier(std::move(members), proxy, consumer), push_(push)
{
}

void Pusher::begin(std::size_t octets, std::size_t& octets_at_once)
{
    if (octets + call_octets > octets_at_once || octets > brief_octets || !is_anybodys_to_call())
        return wake();
    octets_at_once -= octets + call_octets;
    wake_here();
}

void Pusher::end() noexcept
{
    std::size_t left = 0;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        left = clear();
    }
    members().note_lost(left);
    wake(); // what is next may wait
}

void Pusher::hold(std::shared_ptr<void> under_way) noexcept
{
    {
        const std::lock_guard lock(mutex_);
        is_held_ = true;
        if (is_busy_) under_way_ = std::move(under_way);
    }
    wake(); // it may be in a pause
}

bool Pusher::is_brief() const noexcept { return next_octets() <= brief_octets; }

bool Pusher::has_next(std::optional<Clock::time_point>& later, bool& has_ended)
{
    std::shared_ptr<void> over; // without the lock
    const std::lock_guard lock(mutex_);
    over.swap(under_way_);
    has_ended = has_ended_;
    if (has_ended_) return false;
    is_busy_ = false;
    if (is_held_ || is_held()) return false;
    if (const std::size_t expired = forget_expired(); expired != 0) {
        members().note_lost(expired);
        if (next_count() == 0) tries_ = 0;
    }
    is_busy_ = next_count() != 0 || take_next(later);
    return is_busy_;
}

void Pusher::idle()
{
    std::optional<Clock::time_point> later;
    bool has_ended = false;
    if (!has_next(later, has_ended)) {
        if (has_ended) {
            members().note_lost(next_count());
            drop_next();
            // What is late may be years away, and would keep this as long.
            if (std::exchange(is_late_, false)) wake_at(Clock::now());
        } else if (later) {
            wake_at(*later);
            is_late_ = true;
        }
        return;
    }
    if (is_guest() && !is_brief()) return wake();
    if (may_call()) send_next();
}

void Pusher::drop_next() noexcept
{
    forget_next();
    tries_ = 0;
}

void Pusher::send_next()
{
    copy_ = Portion(members().budget().call_octets, next_octets());
    if (!copy_) {
        pause(members().limits().retry_pause);
        return wake();
    }
    try {
        orb::AsynchronousCall& call = make_call(next_operation());
        try {
            const cdr::Writer::CopyAll copies(call.out());
            write_next(call.out());
        } catch (...) {
            call.abandon();
            throw;
        }
        send(call);
    } catch (...) {
        conclude(std::current_exception(), false);
        wake();
    }
}

void Pusher::called(orb::AsynchronousCall& call)
{
    note_made(call);
    conclude(call.failure(), true);
}

void Pusher::conclude(const std::exception_ptr& failure, bool is_made)
{
    copy_.reset();
    const Outcome outcome = is_made ? outcome_of_call(failure) : outcome_of_no_call(failure);
    if (!is_kept(outcome, failure)) {
        if (outcome == Outcome::done)
            members().note_delivered(next_count());
        else
            members().note_lost(next_count());
        drop_next();
    }
    judge(outcome, failure);
}

/// An event that surely was not received is sent again, unless the consumer is there and does not
/// take it: then it may take others.
bool Pusher::is_kept(Outcome outcome, const std::exception_ptr& failure)
{
    if (outcome == Outcome::put_off || outcome == Outcome::elsewhere) return true;
    if (is_next_lasting()) {
        if (outcome == Outcome::not_received || outcome == Outcome::unanswered ||
            outcome == Outcome::over)
            return true;
        if (outcome != Outcome::refused) return false;
        // Who refuses it with every try is not kept from the next one.
        return !is_about_event(failure) || ++tries_ < members().limits().event_tries_max;
    }
    if (outcome != Outcome::not_received) return false;
    if (was_reached(failure)) ++tries_;
    return tries_ < members().limits().event_tries_max;
}

} // namespace kairos::events
