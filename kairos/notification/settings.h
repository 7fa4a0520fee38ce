// SPDX-License-Identifier: Apache-2.0
//
// What a client has set at an admin or a proxy: quality of service, filters and mapping filters,
// and which types of events it offers or wants. Any thread.
#pragma once

#include "kairos/notification/KairosNotificationStore.h"
#include "kairos/notification/event_types.h"
#include "kairos/notification/filters.h"
#include "kairos/notification/herald.h"
#include "kairos/notification/mapping_filters.h"
#include "kairos/notification/properties.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace kairos::notification {

class Settings {
  public:
    /// `qos` is what is above it has.
    Settings(Level level, const Qos& qos, const std::shared_ptr<Matcher>& matcher)
        : level_(level), limits_(matcher->budget().limits), octets_(matcher->budget().octets),
          filters_(matcher), qos_(qos), types_(std::make_shared<const EventTypes>())
    {
    }

    /// By which the service's store knows whose they are; 0: it does not. Any thread sets it.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }
    /// Returns what it was.
    std::uint64_t set_kept(std::uint64_t key) noexcept { return kept_.exchange(key); }
    /// What the store has of them, and from there, before they are shared. `find` gives what was
    /// attached by its key, and its object.
    struct Attached {
        FilterPtr filter{};
        CosNotifyFilter::Filter_ptr object = CosNotifyFilter::Filter::_nil(); ///< borrowed
        MappingFilterPtr mapping{};                                           ///< instead
        CosNotifyFilter::MappingFilter_ptr mapping_object =
            CosNotifyFilter::MappingFilter::_nil(); ///< borrowed
    };
    [[nodiscard]] KairosNotificationStore::Settings stored() const;
    void restore(const KairosNotificationStore::Settings& stored,
                 const std::function<Attached(std::uint64_t)>& find);

    /// Whether events are kept that do not say whether they are to be.
    [[nodiscard]] bool persists() const
    {
        return qos().event_reliability == CosNotification::Persistent;
    }

    [[nodiscard]] Qos qos() const;
    void change_qos(const CosNotification::QoSProperties& wanted);
    /// Owned by the caller, as the next.
    [[nodiscard]] CosNotification::QoSProperties* properties() const;
    [[nodiscard]] CosNotification::NamedPropertyRangeSeq*
    validate(const CosNotification::QoSProperties& wanted, Level level) const;
    [[nodiscard]] CosNotification::NamedPropertyRangeSeq*
    validate(const CosNotification::QoSProperties& wanted) const
    {
        return validate(wanted, level_);
    }

    [[nodiscard]] FilterSet& filters() noexcept { return filters_; }
    /// The mapping filter for a property; null where there is none.
    [[nodiscard]] MappingFilterPtr mapping(MappedProperty property) const;
    /// Its object, owned by the caller; nil where there is none.
    [[nodiscard]] CosNotifyFilter::MappingFilter_ptr mapping_object(MappedProperty property) const;
    /// Null: none from here on. Events that wait already stay what they are.
    void set_mapping(MappedProperty property, MappingFilterPtr filter,
                     CosNotifyFilter::MappingFilter_ptr object);
    /// Whether the service's store knows all filters, of both kinds.
    [[nodiscard]] bool are_filters_kept() const;
    /// All or nothing. Throws IMP_LIMIT where that is too much. Tells of it whom that concerns.
    void change_types(const CosNotification::EventTypeSeq& added,
                      const CosNotification::EventTypeSeq& removed);
    [[nodiscard]] std::shared_ptr<const EventTypes> types() const;
    /// The types are among those of the table from here on, until part(). Throws IMP_LIMIT.
    void join(const std::shared_ptr<TypeTable>& table);
    void part() noexcept;

  private:
    struct Mapping {
        MappingFilterPtr filter;
        CosNotifyFilter::MappingFilter_var object;
    };

    const Level level_;
    const NotificationLimits& limits_;
    const std::shared_ptr<events::Allowance> octets_; // for types
    FilterSet filters_;
    std::atomic<std::uint64_t> kept_{0};
    std::atomic<bool> has_mappings_{false}; // changed with mutex_
    mutable std::mutex mutex_;              // guards what follows; outside TypeTable::mutex_
    Qos qos_;
    std::shared_ptr<const EventTypes> types_; // never null
    std::shared_ptr<TypeTable> table_;        // that has them; null: none
    std::array<Mapping, 2> mappings_;         // by the property
};

} // namespace kairos::notification
