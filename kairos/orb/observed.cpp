// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/observed.h"

#include "kairos/base/log.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <new>

namespace kairos::orb {

std::shared_ptr<void>& Observed::state_of(const void* owner)
{
    for (State& state : states_) {
        if (state.first == nullptr) state.first = owner;
        if (state.first == owner) return state.second;
    }
    const auto known = std::ranges::find(more_states_, owner, &State::first);
    if (known != more_states_.end()) return known->second;
    return more_states_.emplace_back(owner, nullptr).second;
}

std::exception_ptr Observed::tell_ending(const Ending& ending) noexcept
{
    std::exception_ptr instead;
    ending_ = ending;
    while (told_ != 0) {
        try {
            guarded([this] { tell_end(--told_); });
        } catch (const LocationForward& elsewhere) {
            ending_ = {.status = Ending::Status::location_forward, .forward = &elsewhere.target};
            instead = std::current_exception(); // which keeps what ending_ refers to
        } catch (const CORBA::SystemException& exception) {
            ending_ = {.status = Ending::Status::system_exception, .exception = &exception};
            instead = std::current_exception();
        }
    }
    ending_ = {};
    return instead;
}

void Observed::raise_as_known()
{
    try {
        throw;
    } catch (const LocationForward&) {
        throw;
    } catch (const CORBA::SystemException&) {
        throw;
    } catch (const std::bad_alloc&) {
        raise<CORBA::NO_MEMORY>(0, CORBA::COMPLETED_MAYBE);
    } catch (const std::exception& exception) {
        log::warning(log::Line() << "an observer threw: " << exception.what());
    } catch (...) {
        log::warning("an observer threw something that is no std::exception");
    }
    raise<CORBA::UNKNOWN>(minor_code::foreign_exception, CORBA::COMPLETED_MAYBE);
}

} // namespace kairos::orb
