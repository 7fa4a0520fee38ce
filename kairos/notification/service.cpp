// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/service.h"

#include "kairos/notification/service_state.h"

namespace kairos::notification {

NotificationService::NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits)
    : state_(std::make_unique<ServiceState>(orb, limits))
{
}

NotificationService::~NotificationService() = default;

void NotificationService::begin_to_end() noexcept { state_->begin_to_end(); }

KairosNotification::Channel_ptr NotificationService::create_channel(const std::string& name)
{
    CosNotifyChannelAdmin::ChannelID id = 0;
    return state_->create(name, {}, {}, id);
}

CosNotifyChannelAdmin::EventChannelFactory_ptr NotificationService::factory() const
{
    return state_->factory();
}

} // namespace kairos::notification
