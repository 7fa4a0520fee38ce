// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/call_observation.h"

#include "kairos/client/route.h"
#include "kairos/giop/request.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>

namespace kairos::orb {
namespace {

const ior::TaggedProfile* profile_of(const Route& route)
{
    const auto& profiles = route.place().ior().profiles;
    if (!route.is_local()) return &profiles[route.target().profile_index];
    const auto found = std::ranges::find(profiles, ior::tag_internet_iop, &ior::TaggedProfile::tag);
    return found == profiles.end() ? nullptr : &*found;
}

} // namespace

[[gnu::always_inline]] inline void CallObservation::tell_end(std::size_t observer)
{
    CallObserver& told = *observers_[observer];
    switch (ending().status) {
    case Ending::Status::system_exception:
    case Ending::Status::user_exception:
        return told.receive_exception(*this);
    case Ending::Status::successful:
        if (ending().has_reply) return told.receive_reply(*this);
        [[fallthrough]];
    default:
        return told.receive_other(*this);
    }
}

CallObservation::CallObservation(Reference& target, const Operation& operation,
                                 std::uint8_t response_flags, SyncScope sync_scope)
    : ObservedCall(target, operation), observers_(target.orb().call_observers())
{
    response_expected_ = response_flags != giop::response_flags::none;
    sync_scope_ = operation.response() == Response::required ? SyncScope::with_target : sync_scope;
}

void CallObservation::abandon() noexcept
{
    unanswered();
    (void)tell_ending({.status = Ending::Status::unknown, .has_reply = false},
                      [this](std::size_t observer) { tell_end(observer); });
}

void CallObservation::give_back_contexts() noexcept
{
    request_contexts_->clear();
    ThreadStorage::await_current().context_lists.give_back(std::move(request_contexts_));
}

void CallObservation::begin(const Route& route) { begin(route.place(), profile_of(route)); }

void CallObservation::begin(Reference& place, const ior::TaggedProfile* profile)
{
    end({.status = Ending::Status::transport_retry});
    place_ = &place; // which its reference keeps
    profile_ = profile;
    if (request_contexts_) request_contexts_->clear();
    for (const auto& observer : observers_) {
        guarded([&] { observer->send_request(*this); });
        note_told();
    }
}

void CallObservation::tell(const Ending& ending)
{
    const std::exception_ptr instead =
        tell_ending(ending, [this](std::size_t observer) { tell_end(observer); });
    if (instead) [[unlikely]]
        std::rethrow_exception(instead);
}

} // namespace kairos::orb
