// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/local_ways.h"

#include "kairos/net/host_identity.h"

#include <algorithm>

namespace kairos::orb {

using net::Address;

LocalWays::LocalWays(const ior::Target& target, bool preferred)
{
    if (!preferred && target.address.port != 0) return;
    const auto* component = ior::find(target.profile->components, ior::tag_local_addresses);
    if (component == nullptr) return;
    const auto local = ior::decode_local_addresses(*component);
    if (!local || local->host != net::this_host()) return;
    for (const ior::LocalAddress& each : local->addresses) {
        if (each.transport != ior::LocalAddress::Transport::unix_socket) continue;
        const auto address = Address::unix_path(each.path);
        if (!address) continue;
        if (each.priority != ior::LocalAddress::any_priority)
            by_priority_.emplace_back(each.priority, *address);
        else if (any_priority_.family() == Address::Family::none)
            any_priority_ = *address;
    }
    std::ranges::stable_sort(by_priority_, {}, &std::pair<Priority, Address>::first);
}

Address LocalWays::lowest() const
{
    return by_priority_.empty() ? any_priority_ : by_priority_.front().second;
}

Address LocalWays::at(Priority priority) const
{
    for (const auto& [of, address] : by_priority_)
        if (of == priority) return address;
    return any_priority_;
}

} // namespace kairos::orb
