// SPDX-License-Identifier: Apache-2.0
//
// What Messaging::RebindPolicy keeps calls on a bound reference from doing (CORBA 3.3 part 1,
// 17.2.2).
#include "kairos/client/invocation.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

bool Invocation::may_connect() const noexcept
{
    return limits_.rebind != RebindMode::no_reconnect || !reference_.is_bound();
}

void Invocation::note_bound() noexcept
{
    const bool was_called = reply_.status == giop::ReplyStatus::no_exception ||
                            reply_.status == giop::ReplyStatus::user_exception;
    if (limits_.rebind != RebindMode::transparent && was_called) reference_.note_bound();
}

void Invocation::refuse_to_rebind() const
{
    if (limits_.rebind == RebindMode::transparent || !reference_.is_bound()) return;
    raise<CORBA::REBIND>(minor_code::forward_refused, CORBA::COMPLETED_NO,
                         "the object is no longer where its reference is bound");
}

void Invocation::refuse_to_reconnect() const
{
    if (may_connect()) return;
    raise<CORBA::REBIND>(minor_code::connect_refused, CORBA::COMPLETED_NO,
                         "this thread has no connection to where the reference is bound");
}

} // namespace kairos::orb
