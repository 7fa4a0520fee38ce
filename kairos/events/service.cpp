// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/service.h"

#include "kairos/events/service_state.h"

namespace kairos::events {

EventService::EventService(CORBA::ORB_ptr orb, const ServiceLimits& limits)
    : state_(std::make_unique<ServiceState>(orb, limits))
{
}

EventService::~EventService() = default;

void EventService::begin_to_end() noexcept { state_->begin_to_end(); }

KairosEvents::Channel_ptr EventService::create_channel(const std::string& name)
{
    return state_->create(name, "");
}

KairosEvents::ChannelFactory_ptr EventService::factory() const { return state_->factory(); }

} // namespace kairos::events
