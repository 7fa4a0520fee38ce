// SPDX-License-Identifier: Apache-2.0
//
// The twelve proxies of notification channels (CosNotification 1.1, 3.4.1 to 3.4.14), and the four
// of event channels, as servants. Any thread.
#pragma once

#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/notification/proxy.h"

#include <functional>

namespace kairos::notification {

/// A proxy that there was in an earlier run, which is not connected yet. Owned by the channel.
[[nodiscard]] NotifyProxy&
restore_proxy(const ChannelPtr& channel, const AdminPtr& admin, std::uint64_t key,
              const KairosNotificationStore::Proxy& stored,
              const std::function<Settings::Attached(std::uint64_t)>& find);

/// Make a proxy of the admin. Owned by the caller. Throw what Channel::add_client throws, and
/// OBJECT_NOT_EXIST after the admin's end.
[[nodiscard]] CosNotifyChannelAdmin::ProxyConsumer_ptr
make_proxy_consumer(const ChannelPtr& channel, const AdminPtr& admin, Form form, bool pulls,
                    CosNotifyChannelAdmin::ProxyID& id);
[[nodiscard]] CosNotifyChannelAdmin::ProxySupplier_ptr
make_proxy_supplier(const ChannelPtr& channel, const AdminPtr& admin, Form form, bool pulls,
                    CosNotifyChannelAdmin::ProxyID& id);
[[nodiscard]] CosEventChannelAdmin::ProxyPushConsumer_ptr
make_event_push_consumer(const ChannelPtr& channel, const AdminPtr& admin);
[[nodiscard]] CosEventChannelAdmin::ProxyPullConsumer_ptr
make_event_pull_consumer(const ChannelPtr& channel, const AdminPtr& admin);
[[nodiscard]] CosEventChannelAdmin::ProxyPushSupplier_ptr
make_event_push_supplier(const ChannelPtr& channel, const AdminPtr& admin);
[[nodiscard]] CosEventChannelAdmin::ProxyPullSupplier_ptr
make_event_pull_supplier(const ChannelPtr& channel, const AdminPtr& admin);

} // namespace kairos::notification
