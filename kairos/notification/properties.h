// SPDX-License-Identifier: Apache-2.0
//
// Quality of service and properties of administration (CosNotification 1.1, 2.5 and 2.6): what they
// are called, which values they have, and at which of channel, admin, proxy and event they mean
// something. Values.
#pragma once

#include "kairos/corba/TimeBase.h"
#include "kairos/notification/CosNotification.h"
#include "kairos/notification/service_limits.h"

#include <cstdint>
#include <mutex>

namespace kairos::notification {

/// What properties are of.
enum class Level : std::uint8_t { channel, admin, proxy, event };

struct Qos {
    CORBA::Short event_reliability = CosNotification::BestEffort;
    CORBA::Short connection_reliability = CosNotification::BestEffort;
    CORBA::Short priority = CosNotification::DefaultPriority;
    TimeBase::TimeT timeout = 0;
    CORBA::Short order = CosNotification::PriorityOrder;
    CORBA::Short discard = CosNotification::AnyOrder;
    CORBA::Long events_per_consumer = 0; ///< 0: as many as the service permits
    CORBA::Long batch_size = 1;
    TimeBase::TimeT pacing = 0;
    bool start_time_supported = false;
    bool stop_time_supported = true;
    /// No property: whether the channel is kept in a store, and so may promise more; what is below
    /// takes it over. While a channel is made, whether there is a store.
    bool may_persist = false;
};

struct AdminProperties {
    CORBA::Long queue_length = 0; ///< 0, here and below: no limit
    CORBA::Long consumers = 0;
    CORBA::Long suppliers = 0;
    bool reject_new_events = false;
};

/// Sets what a channel is made with; `has_store`: it may be one that is kept, which it is from its
/// beginning to its end or not at all. Throws UnsupportedQoS.
[[nodiscard]] Qos qos_of_channel(const CosNotification::QoSProperties& wanted, bool has_store,
                                 const NotificationLimits& limits);
/// Whether they say that a connection is to outlive the service.
[[nodiscard]] bool asks_to_be_kept(const CosNotification::QoSProperties& wanted);
/// What a store has, with no more than the limits let anybody ask for now.
[[nodiscard]] CosNotification::QoSProperties within(const NotificationLimits& limits,
                                                    CosNotification::QoSProperties stored);
/// Changes `qos` as the properties say, all or nothing. Throws UnsupportedQoS with all that is
/// wrong.
void change(Qos& qos, const CosNotification::QoSProperties& wanted, Level level,
            const NotificationLimits& limits);
/// As above, of a channel. Throws UnsupportedAdmin.
void change(AdminProperties& properties, const CosNotification::AdminProperties& wanted);
/// All that there is at this level. Owned by the caller.
[[nodiscard]] CosNotification::QoSProperties* properties_of(const Qos& qos, Level level);
[[nodiscard]] CosNotification::AdminProperties* properties_of(const AdminProperties& properties);
/// Throws as change() does; else what could be asked for beside what is wanted. Owned by the
/// caller.
[[nodiscard]] CosNotification::NamedPropertyRangeSeq*
validate(const Qos& qos, const CosNotification::QoSProperties& wanted, Level level,
         const NotificationLimits& limits);

} // namespace kairos::notification
