// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/channel.h"

namespace kairos::events {

namespace {

/// What a supplier's thread sends of one event, to all consumers together.
constexpr std::size_t octets_at_once_max = std::size_t{64} << 10;

} // namespace

void Channel::publish(const CORBA::Any& data)
{
    note_received();
    if (!recorder_ || recorder_->take(data)) deliver(data);
}

void Channel::deliver(const CORBA::Any& data)
{
    const std::shared_ptr<const Receptions> all = receptions();
    if (all->empty()) return;
    EventPtr event;
    try {
        event = keep(data);
    } catch (...) {
        note_dropped(all->size());
        throw;
    }
    std::size_t octets_at_once = octets_at_once_max;
    for (const Reception& one : *all)
        static_cast<EventReceiver*>(one.receiver)->offer(event, octets_at_once);
}

EventPtr Channel::keep(const CORBA::Any& data)
{
    auto event = std::make_shared<Event>(data);
    if (event->encoded_octets() > limits().event_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the event is larger than events may be");
    if (!event->charge(budget().event_octets))
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                  "as many octets of events wait as may: consumers are slow");
    return event;
}

} // namespace kairos::events
