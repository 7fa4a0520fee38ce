// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/local_ways.h"

#include "kairos/net/host_identity.h"
#include "kairos/orb/transport.h"

#include <algorithm>
#include <functional>

namespace kairos::orb {

using net::Address;
namespace {

void sort(LocalWays::List& list)
{
    std::ranges::stable_sort(list, std::greater<>(),
                             [](const LocalWay& way) { return way.transport->rank(); });
}

} // namespace

LocalWays::LocalWays(const ior::Target& target, bool preferred)
{
    if (!preferred && target.address.port != 0) return;
    const auto* component = ior::find(target.profile->components, ior::tag_local_addresses);
    if (component == nullptr) return;
    const auto local = ior::decode_local_addresses(*component);
    if (!local || local->host != net::this_host()) return;
    for (const ior::LocalAddress& each : local->addresses) {
        const auto address = Address::unix_path(each.path);
        const LocalTransport* const transport = find_transport(each.transport);
        if (!address || transport == nullptr) continue;
        List& list = each.priority == ior::LocalAddress::any_priority ? any_priority_
                                                                      : by_priority_[each.priority];
        list.push_back({transport, *address});
    }
    sort(any_priority_);
    for (auto& [priority, list] : by_priority_)
        sort(list);
}

const LocalWays::List& LocalWays::lowest() const
{
    return by_priority_.empty() ? any_priority_ : by_priority_.begin()->second;
}

const LocalWays::List& LocalWays::at(Priority priority) const
{
    const auto found = by_priority_.find(priority);
    return found == by_priority_.end() ? any_priority_ : found->second;
}

} // namespace kairos::orb
