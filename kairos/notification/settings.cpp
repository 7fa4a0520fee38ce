// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/settings.h"

#include "kairos/corba/CORBA.h"

#include <algorithm>
#include <utility>

namespace kairos::notification {
namespace {

/// Types, and what is counted for them as long as anybody has them.
struct CountedTypes {
    EventTypes types;
    events::Portion octets;
};

/// In a store mapping filters stand among the others, with these ids, which none of those has.
constexpr CosNotifyFilter::FilterID id_of_mapping(MappedProperty property) noexcept
{
    return property == MappedProperty::priority ? -1 : -2;
}
constexpr MappedProperty mapped_properties[] = {MappedProperty::priority, MappedProperty::lifetime};

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

KairosNotificationStore::Settings Settings::stored() const
{
    KairosNotificationStore::Settings stored;
    const CosNotification::QoSProperties_var qos = properties();
    stored.qos = qos.in();
    const std::shared_ptr<const EventTypes> all = types();
    stored.names_types = all->has_spoken();
    const auto& patterns = all->patterns();
    stored.types.length(static_cast<CORBA::ULong>(patterns.size()));
    for (CORBA::ULong i = 0; i < stored.types.length(); ++i) {
        stored.types[i].domain_name = patterns[i].first.c_str();
        stored.types[i].type_name = patterns[i].second.c_str();
    }
    const auto attachments = filters_.attachments(stored.last_filter);
    stored.filters.length(static_cast<CORBA::ULong>(attachments.size()));
    for (CORBA::ULong i = 0; i < stored.filters.length(); ++i) {
        stored.filters[i].number = attachments[i].id;
        stored.filters[i].which = attachments[i].filter->kept();
    }
    for (const MappedProperty property : mapped_properties) {
        const MappingFilterPtr filter = mapping(property);
        if (!filter) continue;
        const CORBA::ULong at = stored.filters.length();
        stored.filters.length(at + 1);
        stored.filters[at].number = id_of_mapping(property);
        stored.filters[at].which = filter->kept();
    }
    return stored;
}

void Settings::restore(const KairosNotificationStore::Settings& stored,
                       const std::function<Attached(std::uint64_t)>& find)
{
    change_qos(within(limits_, stored.qos));
    if (stored.names_types) {
        CosNotification::EventTypeSeq everything;
        everything.length(1);
        everything[0].domain_name = "*";
        everything[0].type_name = "*";
        const bool wants_none = stored.types.length() == 0;
        change_types(wants_none ? everything : stored.types, {});
        if (wants_none) change_types({}, everything);
    }
    for (CORBA::ULong i = 0; i < stored.filters.length(); ++i) {
        const CosNotifyFilter::FilterID id = stored.filters[i].number;
        const Attached found = find(stored.filters[i].which);
        if (id >= 0) filters_.restore({.id = id, .filter = found.filter}, found.object);
        for (const MappedProperty property : mapped_properties)
            if (id == id_of_mapping(property) && found.mapping && found.mapping->is_for(property))
                set_mapping(property, found.mapping, found.mapping_object);
    }
    filters_.restore_last(stored.last_filter);
}

MappingFilterPtr Settings::mapping(MappedProperty property) const
{
    if (!has_mappings_) return nullptr;
    const std::lock_guard lock(mutex_);
    return mappings_[static_cast<std::size_t>(property)].filter;
}

CosNotifyFilter::MappingFilter_ptr Settings::mapping_object(MappedProperty property) const
{
    const std::lock_guard lock(mutex_);
    return CosNotifyFilter::MappingFilter::_duplicate(
        mappings_[static_cast<std::size_t>(property)].object.in());
}

void Settings::set_mapping(MappedProperty property, MappingFilterPtr filter,
                           CosNotifyFilter::MappingFilter_ptr object)
{
    Mapping changed{.filter = std::move(filter),
                    .object = CosNotifyFilter::MappingFilter::_duplicate(object)};
    const std::lock_guard lock(mutex_); // what was there goes when it is left
    std::swap(mappings_[static_cast<std::size_t>(property)], changed);
    has_mappings_ = mappings_[0].filter || mappings_[1].filter;
}

bool Settings::are_filters_kept() const
{
    if (!filters_.are_kept()) return false;
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(
        mappings_, [](const Mapping& one) { return !one.filter || one.filter->kept() != 0; });
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
