// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/delivery.h"

#include <utility>

namespace kairos::events {
namespace {

/// Of an event that any thread may encode.
constexpr std::size_t brief_octets = std::size_t{4} << 10;
/// Of a call, about, beside the event.
constexpr std::size_t call_octets = 256;

constexpr orb::Operation push_operation("push", orb::Response::required, disconnected);

} // namespace

Delivery::Delivery(const std::shared_ptr<Channel>& channel, std::uint64_t proxy,
                   CORBA::Object_ptr consumer)
    : ClientCourier(channel, proxy, consumer),
      queue_(channel->limits().queue_max, channel->limits().queue_octets_max)
{
}

void Delivery::offer(const EventPtr& event, std::size_t& octets_at_once)
{
    std::size_t dropped = 0;
    bool wakes = false;
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        dropped = queue_.push(event);
        wakes = !std::exchange(is_busy_, true);
    }
    if (dropped != 0) channel().note_dropped(dropped);
    if (!wakes) return;
    const std::size_t octets = event->encoded_octets() + call_octets;
    if (octets > octets_at_once || event->encoded_octets() > brief_octets || !is_anybodys_to_call())
        return wake();
    octets_at_once -= octets;
    wake_here();
}

void Delivery::end() noexcept
{
    std::size_t left = 0;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        left = queue_.clear();
    }
    channel().note_lost(left);
    wake(); // next_ may wait
}

bool Delivery::is_brief() const noexcept { return next_->encoded_octets() <= brief_octets; }

bool Delivery::has_next()
{
    const std::lock_guard lock(mutex_);
    if (has_ended_) return false;
    if (next_) return true;
    is_busy_ = !queue_.empty();
    if (is_busy_) next_ = queue_.pop();
    return is_busy_;
}

void Delivery::idle()
{
    if (!has_next()) {
        if (next_) channel().note_lost(1);
        return forget_next();
    }
    if (is_guest() && !is_brief()) return wake();
    if (may_call()) send_next();
}

void Delivery::forget_next() noexcept
{
    next_.reset();
    tries_ = 0;
}

void Delivery::send_next()
{
    copy_ = Portion(channel().budget().call_octets, next_->encoded_octets());
    if (!copy_) {
        pause(channel().limits().retry_pause);
        return wake();
    }
    try {
        orb::AsynchronousCall& call = make_call(push_operation);
        try {
            const cdr::Writer::CopyAll copies(call.out());
            next_->encode(call.out());
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

void Delivery::called(orb::AsynchronousCall& call)
{
    note_made(call);
    conclude(call.failure(), true);
}

void Delivery::conclude(const std::exception_ptr& failure, bool is_made)
{
    copy_.reset();
    const Outcome outcome = is_made ? outcome_of_call(failure) : outcome_of_no_call(failure);
    if (!is_kept(outcome, failure)) {
        if (outcome == Outcome::done)
            channel().note_delivered();
        else
            channel().note_lost(1);
        forget_next();
    }
    judge(outcome, failure);
}

/// An event that surely was not received is sent again, unless the consumer is there and does not
/// take it: then it may take others.
bool Delivery::is_kept(Outcome outcome, const std::exception_ptr& failure)
{
    if (outcome == Outcome::put_off || outcome == Outcome::elsewhere) return true;
    if (outcome != Outcome::not_received) return false;
    if (was_reached(failure)) ++tries_;
    return tries_ < channel().limits().event_tries_max;
}

} // namespace kairos::events
