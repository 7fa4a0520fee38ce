// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/service.h"

#include "kairos/events/service_state.h"

#include <utility>

namespace kairos::events {

EventService::EventService(CORBA::ORB_ptr orb, const ServiceLimits& limits)
    : state_(std::make_unique<ServiceState>(orb, limits))
{
}

EventService::EventService(CORBA::ORB_ptr orb, const ServiceLimits& limits, const char* adapter)
    : state_(std::make_unique<ServiceState>(orb, limits, adapter))
{
}

EventService::~EventService() = default;

void EventService::begin_to_end() noexcept { state_->begin_to_end(); }

KairosEvents::Channel_ptr EventService::create_channel(const std::string& name)
{
    return state_->create(name, "");
}

KairosEvents::Channel_ptr EventService::create_channel(std::shared_ptr<Recorder> recorder)
{
    return state_->create("", "", std::move(recorder));
}

KairosEvents::Channel_ptr EventService::create_channel(const std::string& name,
                                                       std::shared_ptr<Recorder> recorder,
                                                       std::shared_ptr<Feed>& feed)
{
    return state_->create(name, "", std::move(recorder), &feed);
}

KairosEvents::TypedChannel_ptr EventService::create_typed_channel(const std::string& name)
{
    return state_->create_typed(name, "");
}

KairosEvents::TypedChannelFactory_ptr EventService::typed_factory() const
{
    return state_->typed_factory();
}

KairosEvents::ChannelFactory_ptr EventService::factory() const { return state_->factory(); }

} // namespace kairos::events
