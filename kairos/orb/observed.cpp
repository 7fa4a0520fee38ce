// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/observed.h"

#include "kairos/base/log.h"
#include "kairos/orb/adapter.h"
#include "kairos/orb/call_observer.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>
#include <new>

namespace kairos::orb {

const ContextList& ObservedCall::request_contexts() const noexcept
{
    static const ContextList none;
    return request_contexts_ ? *request_contexts_ : none;
}

void ObservedCall::make_request_contexts()
{
    request_contexts_ = ThreadStorage::current().context_lists.take();
}

std::shared_ptr<void>& Observed::later_state_of(const void* owner)
{
    if (second_state_.first == nullptr) second_state_.first = owner;
    if (second_state_.first == owner) return second_state_.second;
    if (!more_states_) more_states_ = std::make_unique<std::list<State>>();
    const auto known = std::ranges::find(*more_states_, owner, &State::first);
    if (known != more_states_->end()) return known->second;
    return more_states_->emplace_back(owner, nullptr).second;
}

std::exception_ptr Observed::ending_of_current(std::optional<Ending>& ending) noexcept
{
    try {
        raise_as_known();
    } catch (const LocationForward& elsewhere) {
        ending = {.status = Ending::Status::location_forward, .forward = &elsewhere.target};
        return std::current_exception(); // which keeps what the ending refers to
    } catch (const CORBA::SystemException& exception) {
        ending = {.status = Ending::Status::system_exception, .exception = &exception};
        return std::current_exception();
    }
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
