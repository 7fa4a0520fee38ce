// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/client_courier.h"

#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>

namespace kairos::events {

ClientCourier::ClientCourier(std::shared_ptr<Members> members, std::uint64_t proxy,
                             CORBA::Object_ptr client)
    : Courier(members->couriers(), Lane::fresh), members_(std::move(members)), proxy_(proxy),
      client_(CORBA::Object::_duplicate(client)), is_here_(is_here(client))
{
}

orb::AsynchronousCall& ClientCourier::make_call(const orb::Operation& operation)
{
    orb::AsynchronousCall& call =
        orb::AsynchronousCall::make(corba::reference_of(*client_.in()), operation);
    call.limit(Deadline::after(members_->limits().call_timeout));
    stays_connected_ = lane() == Lane::quick;
    if (stays_connected_) call.stay_connected();
    return call;
}

/// A client that asks for another connection by itself has refused the call.
Outcome ClientCourier::outcome_of_call(const std::exception_ptr& failure) const noexcept
{
    const Outcome outcome = outcome_of(failure, client_.in());
    return outcome == Outcome::elsewhere && !stays_connected_ ? Outcome::refused : outcome;
}

bool ClientCourier::is_anybodys_to_call() const noexcept
{
    const orb::Orb& orb = corba::reference_of(*client_.in()).orb();
    const orb::ThreadStorage& thread = orb::ThreadStorage::current();
    return !thread.priority && thread.call_policies(orb) == nullptr && orb.call_observers().empty();
}

bool ClientCourier::may_call()
{
    if (!is_in_lane()) {
        wake();
        return false;
    }
    if (Clock::now() >= not_before_) return true;
    wake_at(not_before_);
    return false;
}

void ClientCourier::judge(Outcome outcome, const std::exception_ptr& failure)
{
    switch (outcome) {
    case Outcome::done:
        failures_ = 0;
        if (is_here_ || was_waited_for_) return move_to(Lane::fresh);
        corba::reference_of(*client_.in()).note_bound(); // from here on no call connects by itself
        return move_to(Lane::quick);
    case Outcome::refused: // which is an answer
        if (is_lasting()) return fail(failure);
        if (++failures_ < members_->limits().failures_max)
            return pause(members_->limits().retry_pause);
        return members_->give_up(proxy_, *client_.in(), text_of(failure));
    case Outcome::not_received:
    case Outcome::unanswered:
        return fail(failure);
    case Outcome::gone:
        return members_->give_up(proxy_, *client_.in(), text_of(failure));
    case Outcome::put_off:
        return pause(members_->limits().retry_pause);
    case Outcome::elsewhere: // it is to be connected, as a new one
        return move_to(Lane::fresh);
    case Outcome::over:
        if (is_lasting()) return pause(members_->limits().retry_pause); // until its service ends
        return members_->forget(proxy_);
    }
}

void ClientCourier::fail(const std::exception_ptr& failure)
{
    const ServiceLimits& limits = members_->limits();
    constexpr unsigned doublings_max = 6;
    if (is_lasting())
        failures_ = std::min(failures_ + 1, doublings_max + 1);
    else if (++failures_ >= limits.failures_max)
        return members_->give_up(proxy_, *client_.in(), text_of(failure));
    move_to(Lane::patient);
    pause(limits.retry_pause * (1U << std::min(failures_ - 1, doublings_max)));
}

} // namespace kairos::events
