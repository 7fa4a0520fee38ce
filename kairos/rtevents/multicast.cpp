// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/multicast.h"

#include "kairos/base/log.h"
#include "kairos/corba/Messaging.h"
#include "kairos/corba/invocation.h"
#include "kairos/datagrams/PortableGroup.h"
#include "kairos/rtevents/channel_state.h"

#include <algorithm>
#include <random>
#include <utility>

namespace kairos::rtevents {
namespace {

/// The type of the event in front: of those below 16, which are no program's, one that is nobody's.
constexpr CORBA::Long mark_type = 15;
/// And its source, which nobody has by chance.
constexpr CORBA::Long mark_source = 0x4B52474D; // "KRGM"

constexpr orb::Operation push_to_group{"push", orb::Response::none, {}};

/// What there is of an event beside its octets.
constexpr std::size_t event_octets = 80;

std::uint64_t random_number()
{
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
}

CORBA::Long upper(std::uint64_t number) noexcept
{
    return static_cast<CORBA::Long>(static_cast<std::uint32_t>(number >> 32));
}
CORBA::Long lower(std::uint64_t number) noexcept
{
    return static_cast<CORBA::Long>(static_cast<std::uint32_t>(number));
}
std::uint64_t whole(CORBA::Long upper, CORBA::Long lower) noexcept
{
    return std::uint64_t{static_cast<std::uint32_t>(upper)} << 32 |
           static_cast<std::uint32_t>(lower);
}

/// The same object, whose oneways say what keeps them from being sent, whatever the ORB's policies.
CORBA::Object_ptr group_of_url(CORBA::ORB_ptr orb, const std::string& url)
{
    const CORBA::Object_var object = orb->string_to_object(url.c_str());
    if (CORBA::is_nil(object.in()))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a multicast group is wanted");
    CORBA::Any scope;
    scope <<= Messaging::SYNC_WITH_TRANSPORT;
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, scope);
    return object->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
}

std::size_t octets_in_message(const EventView& event) noexcept
{
    return event_octets + event.payload.size();
}

/// One whose Any has something in it goes alone: only who encodes it knows how large that is.
std::size_t octets_in_message(const RtecEventComm::Event& event)
{
    const CORBA::TypeCode_var type = event.data.any_value.type();
    const bool is_empty = type->kind() == CORBA::tk_null;
    return event_octets + event.data.payload.length() + (is_empty ? 0 : Multicast::message_octets);
}

void write_with_header(cdr::Writer& out, const EventView& event,
                       const RtecEventComm::EventHeader& header)
{
    write(out, EventView{.header = header, .pad = event.pad, .payload = event.payload});
}

void write_with_header(cdr::Writer& out, const RtecEventComm::Event& event,
                       const RtecEventComm::EventHeader& header)
{
    mapping::encode(out, header);
    mapping::encode(out, event.data);
}

const RtecEventComm::Event& one_of(const RtecEventComm::EventSet& events, std::size_t place)
{
    return events[static_cast<CORBA::ULong>(place)];
}
const EventView& one_of(EventViews events, std::size_t place) { return events[place]; }

} // namespace

RtecEventComm::EventHeader header_of(const Mark& mark) noexcept
{
    RtecEventComm::EventHeader header{};
    header.type = mark_type;
    header.source = mark_source;
    header.eid.id = upper(mark.sender);
    header.eid.tid = lower(mark.sender);
    header.eid.pid = upper(mark.number);
    header.eid.queue_id = lower(mark.number);
    return header;
}

std::optional<Mark> mark_of(const RtecEventComm::EventHeader& header) noexcept
{
    if (header.type != mark_type || header.source != mark_source) return std::nullopt;
    return Mark{.sender = whole(header.eid.id, header.eid.tid),
                .number = whole(header.eid.pid, header.eid.queue_id)};
}

// --- Senders -------------------------------------------------------------------------------------

bool Senders::note(const Mark& mark)
{
    ++heard_;
    const auto found = all_.find(mark.sender);
    if (found == all_.end()) {
        if (all_.size() == senders_max) forget_one();
        all_[mark.sender] = {
            .first = mark.number, .latest = mark.number, .known = 1, .heard = heard_};
        return true;
    }
    Sender& sender = found->second;
    sender.heard = heard_;
    if (mark.number > sender.latest) {
        const std::uint64_t by = mark.number - sender.latest;
        sender.latest = mark.number;
        if (by > missing_max) {
            sender.first = mark.number;
            sender.known = 1;
            return true;
        }
        lost_ += by - 1;
        sender.known = (by < known_max ? sender.known << by : 0) | 1;
        return true;
    }
    const std::uint64_t behind = sender.latest - mark.number;
    if (behind >= known_max) return true;
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((sender.known & bit) != 0) return false;
    sender.known |= bit;
    if (mark.number > sender.first && lost_ != 0) --lost_; // it was late only
    return true;
}

/// Who has said nothing for the longest time.
void Senders::forget_one()
{
    all_.erase(
        std::ranges::min_element(all_, {}, [](const auto& entry) { return entry.second.heard; }));
}

// --- Multicast -----------------------------------------------------------------------------------

Multicast::Multicast(CORBA::ORB_ptr orb, const std::string& group, std::vector<CORBA::Long> types)
    : url_(group), types_(std::move(types)), own_(random_number()), group_(group_of_url(orb, group))
{
}

void Multicast::join(PortableServer::POA_ptr poa, const PortableServer::ObjectId& id)
{
    const PortableGroup::GOA_var goa = PortableGroup::GOA::_narrow(poa);
    try {
        goa->associate_reference_with_id(group_.in(), id);
    } catch (const PortableGroup::NotAGroupObject&) {
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "that is no multicast group");
    }
    poa_ = PortableServer::POA::_duplicate(poa);
    id_ = new PortableServer::ObjectId(id);
}

void Multicast::leave() noexcept
{
    if (CORBA::is_nil(poa_.in())) return;
    try {
        const PortableGroup::GOA_var goa = PortableGroup::GOA::_narrow(poa_.in());
        goa->disassociate_reference_with_id(group_.in(), id_.in());
    } catch (const std::exception&) {
        // The ORB was destroyed before, and has left all groups.
    }
}

bool Multicast::is_wanted(const RtecEventComm::EventHeader& header) const noexcept
{
    return header.ttl > 0 &&
           (types_.empty() || std::ranges::find(types_, header.type) != types_.end());
}

template <typename One>
bool Multicast::is_sent(const One& event) const
{
    return is_wanted(event.header) && octets_in_message(event) <= event_octets_max;
}

void Multicast::send(EventViews events) noexcept { send_all(events, events.size()); }

void Multicast::send(const RtecEventComm::EventSet& events) noexcept
{
    send_all(events, events.length());
}

/// As many in a message as one should have: the more packets it has, the sooner one is lost.
template <typename Events>
void Multicast::send_all(const Events& events, std::size_t count) noexcept
{
    std::size_t from = 0;
    while (from < count) {
        std::size_t to = from;
        std::size_t sent = 0;
        try {
            std::size_t octets = 0;
            while (to < count) {
                const auto& event = one_of(events, to);
                const std::size_t more = octets_in_message(event);
                if (is_sent(event)) {
                    if (sent != 0 && octets + more > message_octets) break;
                    octets += more;
                    ++sent;
                } else if (is_wanted(event.header)) {
                    note_too_large(more);
                }
                ++to;
            }
            if (sent != 0) send_some(events, from, to);
        } catch (const std::exception& failure) {
            note_not_sent(sent, failure.what());
            to = std::max(to, from + 1);
        }
        from = to;
    }
}

template <typename Events>
void Multicast::send_some(const Events& events, std::size_t from, std::size_t to)
{
    corba::Invocation call(*group_.in(), push_to_group);
    cdr::Writer& out = call.out();
    std::size_t sent = 0;
    for (std::size_t i = from; i < to; ++i)
        sent += is_sent(one_of(events, i)) ? 1 : 0;
    {
        const cdr::Writer::CopyAll all(out); // packets are made of few pieces
        out.write(static_cast<CORBA::ULong>(sent + 1));
        write(out, EventView{.header = header_of({own_, last_.fetch_add(1) + 1}),
                             .pad = 0,
                             .payload = {}});
        for (std::size_t i = from; i < to; ++i) {
            if (!is_sent(one_of(events, i))) continue;
            RtecEventComm::EventHeader header = one_of(events, i).header;
            --header.ttl;
            write_with_header(out, one_of(events, i), header);
        }
    }
    if (out.size() > event_octets_max) return note_too_large(out.size()); // by what its Any has
    call.invoke();
    sent_.fetch_add(sent, std::memory_order_relaxed);
}

/// An event, which is alone in its message.
void Multicast::note_too_large(std::size_t octets)
{
    note_not_sent(1, std::to_string(octets) + " octets are more than " +
                         std::to_string(event_octets_max) + ", which a group takes of an event");
}

void Multicast::note_not_sent(std::size_t events, std::string_view why) noexcept
{
    not_sent_.fetch_add(events, std::memory_order_relaxed);
    log::write_limited(log::Level::warning, 0,
                       log::Line() << "real-time events: " << events << " not sent to " << url_
                                   << ": " << why);
}

Multicast::Taken Multicast::take(const RtecEventComm::EventHeader& first, std::size_t count)
{
    const auto mark = mark_of(first);
    if (!mark) {
        received_.fetch_add(count, std::memory_order_relaxed);
        return {};
    }
    if (mark->sender == own_) {
        own_heard_.fetch_add(1, std::memory_order_relaxed);
        return {.is_new = false, .is_marked = true};
    }
    std::uint64_t missing = 0;
    bool is_new = false;
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t before = senders_.lost();
        is_new = senders_.note(*mark);
        if (senders_.lost() > before) missing = senders_.lost();
    }
    if (missing != 0)
        log::write_limited(log::Level::warning, 0,
                           log::Line() << "real-time events: messages to " << url_
                                       << " were lost, or are late: " << missing << " so far");
    if (is_new)
        received_.fetch_add(count - 1, std::memory_order_relaxed);
    else
        repeated_.fetch_add(1, std::memory_order_relaxed);
    return {.is_new = is_new, .is_marked = true};
}

MulticastFigures Multicast::figures() const noexcept
{
    MulticastFigures figures{.sent = sent_,
                             .not_sent = not_sent_,
                             .received = received_,
                             .own = own_heard_,
                             .repeated = repeated_};
    const std::lock_guard lock(mutex_);
    figures.lost = senders_.lost();
    return figures;
}

// --- What the channel does with it ---------------------------------------------------------------

/// They do not go to the group again.
void ChannelState::take_from_group(const EventSet& events)
{
    if (events.length() == 0) return;
    const Multicast::Taken taken = multicast_->take(events[0].header, events.length());
    if (!taken.is_new) return;
    const CORBA::ULong first = taken.is_marked ? 1 : 0;
    EventSet others;
    others.length(events.length() - first);
    for (CORBA::ULong i = 0; i < others.length(); ++i) {
        others[i] = events[i + first];
        others[i].header.ttl = std::min(others[i].header.ttl, Multicast::ttl_max);
    }
    publish(others, false);
}

void ChannelState::take_from_group(std::span<EventView> events)
{
    if (events.empty()) return;
    const Multicast::Taken taken = multicast_->take(events.front().header, events.size());
    if (!taken.is_new) return;
    for (EventView& each : events)
        each.header.ttl = std::min(each.header.ttl, Multicast::ttl_max);
    publish(events.subspan(taken.is_marked ? 1 : 0), false);
}

} // namespace kairos::rtevents
