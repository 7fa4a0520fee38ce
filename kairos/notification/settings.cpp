// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/settings.h"

#include "kairos/corba/CORBA.h"

namespace kairos::notification {

Qos Settings::qos() const
{
    const std::lock_guard lock(mutex_);
    return qos_;
}

void Settings::change_qos(const CosNotification::QoSProperties& wanted)
{
    const std::lock_guard lock(mutex_);
    change(qos_, wanted, level_, limits_);
}

CosNotification::QoSProperties* Settings::properties() const
{
    return properties_of(qos(), level_);
}

CosNotification::NamedPropertyRangeSeq*
Settings::validate(const CosNotification::QoSProperties& wanted, Level level) const
{
    return notification::validate(qos(), wanted, level, limits_);
}

void Settings::change_types(const CosNotification::EventTypeSeq& added,
                            const CosNotification::EventTypeSeq& removed)
{
    require_types(added, limits_.types_max);
    require_types(removed, limits_.types_max);
    const std::lock_guard lock(mutex_);
    auto changed = std::make_shared<EventTypes>(*types_);
    changed->change(added, removed);
    if (changed->patterns().size() > limits_.types_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "there are as many event types as may be");
    types_ = std::move(changed);
}

std::shared_ptr<const EventTypes> Settings::types() const
{
    const std::lock_guard lock(mutex_);
    return types_;
}

} // namespace kairos::notification
