// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/settings.h"

#include "kairos/corba/CORBA.h"

#include <utility>

namespace kairos::notification {
namespace {

/// Types, and what is counted for them as long as anybody has them.
struct CountedTypes {
    EventTypes types;
    events::Portion octets;
};

std::size_t octets_of_types(const EventTypes& types) noexcept
{
    std::size_t octets = 0;
    for (const auto& [domain, type] : types.patterns())
        octets += domain.size() + type.size() + sizeof(TypePattern);
    return octets;
}

} // namespace

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
    std::shared_ptr<TypeTable> table;
    {
        const std::lock_guard lock(mutex_);
        auto changed = std::make_shared<CountedTypes>();
        changed->types = *types_;
        changed->types.change(added, removed);
        changed->octets = events::Portion(octets_, octets_of_types(changed->types));
        if (changed->types.patterns().size() > limits_.types_max || !changed->octets)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "there are as many event types as may be");
        if (table_) {
            table_->add(changed->types);
            table_->remove(*types_);
        }
        types_ = {changed, &changed->types};
        table = table_;
    }
    if (table) table->announce();
}

void Settings::join(const std::shared_ptr<TypeTable>& table)
{
    {
        const std::lock_guard lock(mutex_);
        if (table_) return;
        table->add(*types_);
        table_ = table;
    }
    table->announce();
}

void Settings::part() noexcept
{
    std::shared_ptr<TypeTable> table;
    {
        const std::lock_guard lock(mutex_);
        if (!table_) return;
        table_->remove(*types_);
        table.swap(table_);
    }
    table->announce();
}

std::shared_ptr<const EventTypes> Settings::types() const
{
    const std::lock_guard lock(mutex_);
    return types_;
}

} // namespace kairos::notification
