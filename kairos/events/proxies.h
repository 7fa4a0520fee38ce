// SPDX-License-Identifier: Apache-2.0
//
// The four proxies of a channel (Event Service 1.2, 2.3.4 to 2.3.7), as servants. Any thread.
#pragma once

#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/events/channel.h"

#include <memory>

namespace kairos::events {

/// Make a proxy of the channel. Owned by the caller. Throw what Channel::add throws.
[[nodiscard]] CosEventChannelAdmin::ProxyPushConsumer_ptr
make_push_consumer(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPullConsumer_ptr
make_pull_consumer(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPushSupplier_ptr
make_push_supplier(const std::shared_ptr<Channel>& channel);
[[nodiscard]] CosEventChannelAdmin::ProxyPullSupplier_ptr
make_pull_supplier(const std::shared_ptr<Channel>& channel);

} // namespace kairos::events
