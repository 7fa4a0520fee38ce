// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/ways.h"

#include "kairos/orb/orb_transports.h"
#include "kairos/orb/transport.h"

#include <algorithm>
#include <utility>

namespace kairos::orb {
namespace {

/// Inserts a way behind those of its transport's rank and of higher ones.
void insert(WayList& ways, Way way)
{
    const auto lower = [rank = way.transport->rank()](const Way& each) {
        return each.transport->rank() < rank;
    };
    ways.insert(std::ranges::find_if(ways, lower), std::move(way));
}

} // namespace

Ways::Ways(const ior::Target& target, const OrbTransports& transports, const WayChoice& choice)
    : choice_(choice),
      takes_local_(choice.takes_local && (choice.prefers_local || target.address.port == 0))
{
    std::vector<std::uint32_t> read; // a component that comes again says nothing
    for (const ior::TaggedComponent& component : target.profile->components) {
        const Transport* const transport = transports.reading(component.tag);
        if (transport == nullptr || std::ranges::count(read, component.tag) != 0) continue;
        read.push_back(component.tag);
        transport->read(component, target, *this);
    }
}

void Ways::add(Way way, Priority priority)
{
    const Transport& by = *way.transport;
    if (by.protects() ? !choice_.takes_protected
                      : by.local() == nullptr && !choice_.takes_unprotected)
        return;
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

WayList Ways::further(const ior::Address& address) const { return joined({}, address); }

WayList Ways::joined(const WayList& unordered, const ior::Address& address) const
{
    WayList ways;
    ways.reserve(unordered.size() + 1);
    for (const Way& way : unordered)
        insert(ways, way);
    if (choice_.takes_unprotected && address.port != 0)
        insert(ways, {transport_reading(Transport::no_tag), address});
    return ways;
}

std::vector<Priority> Ways::priorities() const
{
    std::vector<Priority> all;
    all.reserve(by_priority_.size());
    for (const auto& [priority, ways] : by_priority_)
        all.push_back(priority);
    return all;
}

std::string to_string(const Way& way) { return way.transport->describe(way.address); }

} // namespace kairos::orb
