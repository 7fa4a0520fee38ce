// SPDX-License-Identifier: Apache-2.0
//
// What couriers have in common that call one connected client of a channel: how long a call may
// take, and what becomes of a client that does not answer. Used by one thread at a time.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/invocation.h"
#include "kairos/events/CosEventComm.h"
#include "kairos/events/couriers.h"
#include "kairos/events/members.h"
#include "kairos/events/outcome.h"

#include <cstdint>

namespace kairos::events {

class KAIROS_API ClientCourier : public Courier {
  protected:
    /// `proxy` is what the client is connected to, by its number in the channel.
    ClientCourier(std::shared_ptr<Members> members, std::uint64_t proxy, CORBA::Object_ptr client);

    [[nodiscard]] Members& members() const noexcept { return *members_; }
    /// Returns a call of `operation`, constant data, that ends in time. Throws what
    /// AsynchronousCall::make throws.
    [[nodiscard]] orb::AsynchronousCall& make_call(const orb::Operation& operation);
    /// What came of a call that was made, or of making one; null for results.
    [[nodiscard]] Outcome outcome_of_call(const std::exception_ptr& failure) const noexcept;
    [[nodiscard]] Outcome outcome_of_no_call(const std::exception_ptr& failure) const noexcept
    {
        return outcome_of_making(failure, client_.in());
    }
    /// Notes that a call is over.
    void note_made(const orb::AsynchronousCall& call) noexcept
    {
        was_waited_for_ = call.was_waited_for();
    }
    /// Notes what came of a call. The client may be disconnected when this returns.
    void judge(Outcome outcome, const std::exception_ptr& failure);
    /// Returns true where the time for the next call has come, in a thread that may make it; else
    /// idle() is asked then, there.
    [[nodiscard]] bool may_call();
    /// Returns whether a call that this thread makes is like that of any other: it has no policies
    /// and no priority of its own, and nobody observes calls.
    [[nodiscard]] bool is_anybodys_to_call() const noexcept;
    /// Has no call made for so long.
    void pause(std::chrono::nanoseconds time) noexcept { not_before_ = Clock::now() + time; }

    /// Whether the client stays connected until it says otherwise: one that does not answer is
    /// tried again and again.
    [[nodiscard]] virtual bool is_lasting() const noexcept { return false; }

  private:
    void fail(const std::exception_ptr& failure);

    const std::shared_ptr<Members> members_;
    const std::uint64_t proxy_;
    const CORBA::Object_var client_;
    const bool is_here_;
    bool stays_connected_ = false; // the call
    bool was_waited_for_ = false;  // the last call that was made
    unsigned failures_ = 0;        // one after the other
    Clock::time_point not_before_{};
};

/// What the operations of CosEventComm raise.
inline constexpr orb::ExceptionType disconnected[] = {
    corba::exception_type<CosEventComm::Disconnected>()};

} // namespace kairos::events
