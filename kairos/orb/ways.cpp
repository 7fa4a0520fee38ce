// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/ways.h"

#include "kairos/orb/transport.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace kairos::orb {
namespace {

WayList joined(WayList ways, const ior::Address& address)
{
    for (Way& way : ways_by_tcp(address))
        ways.push_back(std::move(way));
    std::ranges::stable_sort(ways, std::greater<>(),
                             [](const Way& way) { return way.transport->rank(); });
    return ways;
}

} // namespace

Ways::Ways(const ior::Target& target, bool prefers_local)
    : takes_local_(prefers_local || target.address.port == 0)
{
    std::vector<std::uint32_t> read; // a component that comes again says nothing
    for (const ior::TaggedComponent& component : target.profile->components) {
        const Transport* const transport = transport_of_tag(component.tag);
        if (transport == nullptr || std::ranges::count(read, component.tag) != 0) continue;
        read.push_back(component.tag);
        transport->read(component, target, *this);
    }
}

void Ways::add(Way way, Priority priority)
{
    (priority == Transport::any_priority ? any_priority_ : by_priority_[priority])
        .push_back(std::move(way));
}

WayList Ways::lowest(const ior::Address& address) const
{
    return joined(by_priority_.empty() ? any_priority_ : by_priority_.begin()->second, address);
}

WayList Ways::at(Priority priority, const ior::Address& address) const
{
    const auto found = by_priority_.find(priority);
    return joined(found == by_priority_.end() ? any_priority_ : found->second, address);
}

std::vector<Priority> Ways::priorities() const
{
    std::vector<Priority> all;
    for (const auto& [priority, ways] : by_priority_)
        all.push_back(priority);
    return all;
}

WayList ways_by_tcp(const ior::Address& address)
{
    if (address.port == 0) return {};
    return {{transport_of_tag(Transport::no_tag), address}};
}

std::string to_string(const Way& way) { return way.transport->describe(way.address); }

} // namespace kairos::orb
