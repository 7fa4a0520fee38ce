// SPDX-License-Identifier: Apache-2.0
//
// Filters and what makes them (CosNotification 1.1, 3.2), as servants.
#pragma once

#include "kairos/notification/channel.h"

namespace kairos::notification {

/// Makes what makes the channel's filters.
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_filter_factory(const ChannelPtr& channel);

/// The objects of a filter that there was in an earlier run, by which the store knows it.
struct RestoredFilter {
    FilterPtr filter;
    CosNotifyFilter::Filter_var object;
};
[[nodiscard]] RestoredFilter restore_filter(const ChannelPtr& channel, std::uint64_t key,
                                            const KairosNotificationStore::Filter& stored);

/// The objects of a mapping filter that there was in an earlier run, by which the store knows it.
struct RestoredMappingFilter {
    MappingFilterPtr filter;
    CosNotifyFilter::MappingFilter_var object;
};
[[nodiscard]] RestoredMappingFilter
restore_mapping_filter(const ChannelPtr& channel, std::uint64_t key,
                       const KairosNotificationStore::MappingFilter& stored);

/// The filter behind an object of the service whose adapters these are. Throws BAD_PARAM for any
/// other: channels ask nobody else which events pass.
[[nodiscard]] FilterPtr filter_of(const events::ServiceAdapters& adapters,
                                  CosNotifyFilter::Filter_ptr object);
[[nodiscard]] MappingFilterPtr mapping_filter_of(const events::ServiceAdapters& adapters,
                                                 CosNotifyFilter::MappingFilter_ptr object);

} // namespace kairos::notification
