// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/typed_channel.h"

#include "kairos/cdr/text_form.h"

namespace kairos::events {
namespace {

/// Of an event, beside its arguments and its name.
constexpr std::size_t event_octets = 256;
/// What a supplier's thread sends of one event, to all consumers together.
constexpr std::size_t typed_octets_at_once_max = std::size_t{64} << 10;

/// Never used: each event has its own.
constexpr orb::Operation no_operation;

/// Whether arguments of unknown types are at the beginning of a body in the form that all of them
/// are kept in: that of GIOP 1.2, without any conversion of text.
template <typename Stream>
bool has_usual_form(const Stream& stream, std::size_t offset) noexcept
{
    const cdr::Environment* const environment = stream.environment();
    return offset % 8 == 0 && cdr::text_form(stream) == nullptr &&
           (environment == nullptr || environment->giop_minor == 2);
}

[[noreturn]] void raise_other_form()
{
    throw CORBA::MARSHAL(0, CORBA::COMPLETED_NO,
                         "a typed channel passes arguments on as they are: byte order, GIOP 1.2 "
                         "and code sets have to be those of its own process");
}

} // namespace

TypedEvent::TypedEvent(orb::Upcall& upcall) : name_(upcall.operation()), operation_(name_)
{
    cdr::Reader& in = upcall.in();
    if (in.has_gap()) in.leave_chunk(); // what lies in shared memory is copied to its place
    const std::size_t size = in.left();
    if (size != 0 && !(in.is_native() && has_usual_form(in, in.offset()))) raise_other_form();
    arguments_.resize(size);
    if (const std::byte* const body = in.block(size, 1)) arguments_.assign(body, body + size);
    upcall.arguments_read();
}

std::size_t TypedEvent::octets() const noexcept
{
    return event_octets + name_.size() + arguments_.size();
}

void TypedEvent::write(cdr::Writer& out) const
{
    if (arguments_.empty()) return;
    if (!has_usual_form(out, out.phase())) raise_other_form();
    // There may be wide text in them.
    if (const cdr::Environment* const environment = out.environment())
        environment->wide_text_written = true;
    out.write_bulk(arguments_, 1);
}

void TypedChannel::publish(const std::string& interface, orb::Upcall& upcall)
{
    note_received();
    std::vector<const Reception*> users;
    const std::shared_ptr<const Receptions> all = receptions();
    for (const Reception& one : *all)
        if (static_cast<TypedReceiver*>(one.receiver)->interface() == interface)
            users.push_back(&one);
    if (users.empty()) return;
    std::shared_ptr<TypedEvent> event;
    try {
        if (upcall.in().left() > limits().event_octets_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the event is larger than events may be");
        event = std::make_shared<TypedEvent>(upcall);
        if (!event->charge(budget().event_octets))
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO,
                                      "as many octets of events wait as may: consumers are slow");
    } catch (...) {
        note_dropped(users.size());
        throw;
    }
    std::size_t octets_at_once = typed_octets_at_once_max;
    for (const Reception* const one : users)
        static_cast<TypedReceiver*>(one->receiver)->offer(event, octets_at_once);
}

TypedDelivery::TypedDelivery(const std::shared_ptr<TypedChannel>& channel, std::uint64_t proxy,
                             CORBA::Object_ptr consumer, std::string interface)
    : Pusher(channel, proxy, consumer, no_operation), interface_(std::move(interface)),
      queue_(channel->limits().queue_max, channel->limits().queue_octets_max)
{
}

void TypedDelivery::offer(const TypedEventPtr& event, std::size_t& octets_at_once)
{
    std::size_t dropped = 0;
    bool begins = false;
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        dropped = queue_.push(event);
        begins = becomes_busy();
    }
    if (dropped != 0) members().note_dropped(dropped);
    if (begins) begin(event->encoded_octets(), octets_at_once);
}

bool TypedDelivery::take_next(std::optional<Clock::time_point>& /*later*/)
{
    if (queue_.empty()) return false;
    next_ = queue_.pop();
    return true;
}

} // namespace kairos::events
