// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/service.h"

#include "kairos/notification/service_state.h"

#include <utility>

namespace kairos::notification {

NotificationService::NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits)
    : state_(std::make_unique<ServiceState>(orb, limits, nullptr))
{
}

NotificationService::NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                                         std::unique_ptr<Store> store)
    : state_(std::make_unique<ServiceState>(orb, limits, std::move(store)))
{
}

NotificationService::NotificationService(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                                         const char* adapter)
    : state_(std::make_unique<ServiceState>(orb, limits, nullptr, adapter))
{
}

NotificationService::~NotificationService() = default;

void NotificationService::begin_to_end() noexcept { state_->begin_to_end(); }

KairosNotification::Channel_ptr NotificationService::create_channel(const std::string& name)
{
    return create_channel(name, {});
}

KairosNotification::Channel_ptr
NotificationService::create_channel(const std::string& name,
                                    const CosNotification::QoSProperties& qos)
{
    CosNotifyChannelAdmin::ChannelID id = 0;
    return state_->create(name, state_->channel_qos(qos), {}, id);
}

KairosNotification::RecordedChannel_ptr
NotificationService::create_channel(const CosNotification::QoSProperties& qos,
                                    const CosNotification::AdminProperties& administration,
                                    std::shared_ptr<Recorder> recorder, CORBA::Object_ptr front)
{
    CosNotifyChannelAdmin::ChannelID id = 0;
    AdminProperties properties;
    change(properties, administration);
    const KairosNotification::Channel_var made =
        state_->create("", state_->channel_qos(qos), properties, id, std::move(recorder),
                       CORBA::Object_var(CORBA::Object::_duplicate(front)));
    return KairosNotification::RecordedChannel::_unchecked_narrow(made.in());
}

CosNotifyChannelAdmin::EventChannelFactory_ptr NotificationService::factory() const
{
    return state_->factory();
}

} // namespace kairos::notification
