// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/timed_upcall.h"

#include "kairos/base/log.h"
#include "kairos/giop/request.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/late_calls.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/timing_context.h"
#include "kairos/orb/upcall.h"

#include <chrono>
#include <exception>
#include <string>

namespace kairos::orb {

using Clock = std::chrono::steady_clock;

void LateCalls::note(const LateCall& call) noexcept
{
    count_.fetch_add(1, std::memory_order_relaxed);
    if (!handler_) return;
    try {
        handler_(call);
    } catch (const std::exception& exception) {
        log::error(log::Line() << "a handler of late calls threw: " << exception.what());
    } catch (...) {
        log::error("a handler of late calls threw something that is no std::exception");
    }
}

TimedUpcall::TimedUpcall(Upcall& upcall, const OperationTiming& timing)
    : upcall_(upcall), timing_(timing),
      released_ns_(std::chrono::nanoseconds(release_of(ArrivalScope::take().value_or(Clock::now()),
                                                       timing, upcall.request().contexts)
                                                .time_since_epoch())
                       .count()),
      refuses_(upcall.orb().options().late_calls == WhenLate::timeout)
{
    if (!refuses_) return;
    if (note_if_late(false)) {
        ended_ = true;
        raise<CORBA::TIMEOUT>(minor_code::late_call, CORBA::COMPLETED_NO,
                              "the deadline passed before the operation could begin");
    }
    upcall.keep_results();
}

TimedUpcall::~TimedUpcall()
{
    if (!ended_) (void)note_if_late(true);
}

void TimedUpcall::end()
{
    ended_ = true;
    const bool late = note_if_late(true);
    if (!refuses_) return;
    if (late && upcall_.request().response_expected() && !upcall_.replied())
        raise<CORBA::TIMEOUT>(minor_code::late_call, CORBA::COMPLETED_YES,
                              "the operation ended after its deadline");
    upcall_.send_kept();
}

bool TimedUpcall::note_if_late(bool executed) noexcept
{
    const auto response = std::chrono::nanoseconds(Clock::now().time_since_epoch()) -
                          std::chrono::nanoseconds(released_ns_);
    const std::chrono::nanoseconds deadline(timing_.deadline);
    if (response <= deadline) return false;
    upcall_.orb().late_calls().note({.operation = timing_.operation,
                                     .deadline = deadline,
                                     .response = response,
                                     .executed = executed});
    return true;
}

} // namespace kairos::orb
