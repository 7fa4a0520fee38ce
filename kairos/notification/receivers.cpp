// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/receivers.h"

#include "kairos/base/assert_held.h"
#include "kairos/mapping/marshal.h"

#include <algorithm>
#include <utility>

namespace kairos::notification {
namespace {

using events::disconnected;

constexpr orb::Operation push_any("push", orb::Response::required, disconnected);
constexpr orb::Operation push_structured("push_structured_event", orb::Response::required,
                                         disconnected);
constexpr orb::Operation push_sequence("push_structured_events", orb::Response::required,
                                       disconnected);
constexpr orb::Operation try_pull_any("try_pull", orb::Response::required, disconnected);
constexpr orb::Operation try_pull_structured("try_pull_structured_event", orb::Response::required,
                                             disconnected);
constexpr orb::Operation try_pull_sequence("try_pull_structured_events", orb::Response::required,
                                           disconnected);

const orb::Operation& push_of(Form form) noexcept
{
    return form == Form::any          ? push_any
           : form == Form::structured ? push_structured
                                      : push_sequence;
}

const orb::Operation& try_pull_of(Form form) noexcept
{
    return form == Form::any          ? try_pull_any
           : form == Form::structured ? try_pull_structured
                                      : try_pull_sequence;
}

} // namespace

bool Line::wants(const Notification& event, const Passed& passed) const
{
    const auto is_of_type = [&event](const Settings& of) {
        return of.types()->contain(event.domain_name(), event.type_name());
    };
    return goes_on(*admin, *settings, passed) && is_of_type(*settings) &&
           is_of_type(admin->settings());
}

Mapped Line::mapped(const Notification& event, const Passed& passed) const
{
    Mapped mapped;
    const auto filter_for = [this](MappedProperty property) {
        MappingFilterPtr found = settings->mapping(property);
        // One that was destroyed is none, as after a restart.
        return found && !found->has_ended() ? found : admin->settings().mapping(property);
    };
    if (const MappingFilterPtr filter = filter_for(MappedProperty::priority))
        if (const auto priority = filter->map(event, event.says_priority(), passed))
            mapped.priority = static_cast<std::int16_t>(*priority);
    if (const MappingFilterPtr filter = filter_for(MappedProperty::lifetime))
        if (const auto ticks = filter->map(event, event.says_timeout(), passed))
            mapped.lifetime = duration_of(static_cast<std::uint64_t>(*ticks));
    return mapped;
}

// --- Pushed --------------------------------------------------------------------------------------

PushReceiver::PushReceiver(const Line& line, std::uint64_t proxy, CORBA::Object_ptr consumer,
                           Form form)
    : Pusher(line.channel, proxy, consumer, push_of(form)), line_(line), form_(form),
      qos_(line.settings->qos()), queue_(qos_, line.channel->own_limits())
{
}

void PushReceiver::offer(const NotificationPtr& event, const Passed& passed, bool is_full,
                         std::size_t& octets_at_once)
{
    if (!line_.wants(*event, passed)) return;
    std::size_t expired = 0;
    std::size_t dropped = 0;
    bool begins = false;
    const Mapped mapped = line_.mapped(*event, passed);
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        expired = queue_.expire();
        dropped = queue_.push(event, is_full, mapped);
        begins = !is_suspended_ && becomes_busy();
    }
    members().note_lost(expired);
    if (dropped != 0) members().note_dropped(dropped);
    if (begins) begin(event->encoded_octets(), octets_at_once);
}

/// One that is kept is sent with others as if they were, too.
bool PushReceiver::is_next_lasting() const noexcept
{
    return is_lasting() && std::ranges::any_of(next_, [&](const Queue::Item& one) {
               return one.event->was_kept(); // whatever the channel's property is now
           });
}

void PushReceiver::take_back(const NotificationPtr& event, const Passed& passed)
{
    bool begins = false;
    const Mapped mapped = line_.mapped(*event, passed);
    {
        const std::lock_guard lock(mutex_);
        queue_.put_back(event, mapped);
        begins = !is_suspended_ && becomes_busy();
    }
    if (begins) wake();
}

void PushReceiver::expire()
{
    std::size_t expired = 0;
    {
        const std::lock_guard lock(mutex_);
        expired = queue_.expire();
    }
    members().note_lost(expired);
}

void PushReceiver::suspend(bool is_suspended)
{
    const std::lock_guard lock(mutex_);
    is_suspended_ = is_suspended;
}

std::size_t PushReceiver::change(const Qos& qos)
{
    const std::lock_guard lock(mutex_);
    const std::size_t dropped = queue_.change(qos);
    qos_ = qos;
    return dropped;
}

std::size_t PushReceiver::forget_expired() noexcept
{
    assert_held(mutex_);
    if (next_.empty()) return 0;
    const Clock::time_point now = Clock::now();
    return std::erase_if(next_, [&](const Queue::Item& one) {
        return queue_.deadline_of(*one.event, one.mapped) <= now;
    });
}

bool PushReceiver::take_next(std::optional<Clock::time_point>& later)
{
    assert_held(mutex_);
    if (queue_.empty()) return false;
    std::size_t max = 1;
    if (form_ == Form::sequence) {
        max = static_cast<std::size_t>(qos_.batch_size);
        if (queue_.size() < max && qos_.pacing != 0) {
            const Clock::time_point due = queue_.waits_since() + duration_of(qos_.pacing);
            if (Clock::now() < due) {
                later = due;
                return false;
            }
        }
    }
    members().note_lost(queue_.pop(max, next_));
    return !next_.empty();
}

std::size_t PushReceiver::next_octets() const noexcept
{
    std::size_t octets = 0;
    for (const Queue::Item& one : next_)
        octets += one.event->encoded_octets();
    return octets;
}

void PushReceiver::write_next(cdr::Writer& out) const
{
    if (form_ == Form::any) return next_.front().event->encode_any(out);
    if (form_ == Form::sequence) out.write(static_cast<CORBA::ULong>(next_.size()));
    for (const Queue::Item& one : next_)
        one.event->encode_structured(out);
}

// --- Fetched -------------------------------------------------------------------------------------

PullReceiver::PullReceiver(const Line& line)
    : line_(line), queue_(line.settings->qos(), line.channel->own_limits())
{
}

void PullReceiver::offer(const NotificationPtr& event, const Passed& passed, bool is_full,
                         std::size_t& /*octets_at_once*/)
{
    if (!line_.wants(*event, passed)) return;
    std::size_t expired = 0;
    std::size_t dropped = 0;
    const Mapped mapped = line_.mapped(*event, passed);
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        expired = queue_.expire();
        dropped = queue_.push(event, is_full, mapped);
        turns_.wake_all();
    }
    line_.channel->note_lost(expired);
    if (dropped != 0) line_.channel->note_dropped(dropped);
}

std::vector<NotificationPtr> PullReceiver::take(std::size_t max, std::uint64_t turn)
{
    assert_held(mutex_);
    std::vector<NotificationPtr> taken;
    if (has_ended_ || !turns_.is_on(turn)) return taken;
    given_.clear(); // who asks for more has had them
    std::vector<Queue::Item> items;
    line_.channel->note_lost(queue_.pop(max, items));
    for (Queue::Item& one : items)
        taken.push_back(std::move(one.event));
    if (line_.settings->kept() != 0) given_ = taken;
    return taken;
}

std::vector<NotificationPtr> PullReceiver::take(std::size_t max)
{
    const events::PullTurns::Lock lock(mutex_);
    return take(max, turns_.begin());
}

std::vector<NotificationPtr> PullReceiver::wait(std::size_t max, Deadline deadline)
{
    events::PullTurns::Lock lock(mutex_);
    const std::uint64_t turn = turns_.begin();
    for (;;) {
        turns_.wait(
            lock, turn, [this] { return has_ended_ || !queue_.empty(); }, deadline);
        std::vector<NotificationPtr> taken = take(max, turn);
        // What there was may have expired.
        if (!taken.empty() || has_ended_ || !turns_.is_on(turn) || deadline.has_passed())
            return taken;
    }
}

void PullReceiver::take_back(const NotificationPtr& event, const Passed& passed)
{
    const Mapped mapped = line_.mapped(*event, passed);
    const std::lock_guard lock(mutex_);
    queue_.put_back(event, mapped);
    turns_.wake_all();
}

void PullReceiver::expire()
{
    std::size_t expired = 0;
    {
        const std::lock_guard lock(mutex_);
        expired = queue_.expire();
    }
    line_.channel->note_lost(expired);
}

std::size_t PullReceiver::change(const Qos& qos)
{
    const std::lock_guard lock(mutex_);
    return queue_.change(qos);
}

void PullReceiver::end() noexcept
{
    std::size_t left = 0;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        left = queue_.clear();
        given_.clear();
        turns_.wake_all();
    }
    line_.channel->note_lost(left);
}

// --- Of suppliers --------------------------------------------------------------------------------

SupplierPolling::SupplierPolling(Line line, std::uint64_t proxy, CORBA::Object_ptr supplier,
                                 Form form)
    : Polling(line.channel, proxy, supplier, try_pull_of(form)), line_(std::move(line)), form_(form)
{
}

void SupplierPolling::write_arguments(cdr::Writer& out) const
{
    if (form_ == Form::sequence) out.write(line_.settings->qos().batch_size);
}

bool SupplierPolling::read_results(cdr::Reader& in)
{
    CORBA::Boolean has_event = false;
    if (form_ == Form::any) {
        mapping::decode(in, any_);
    } else if (form_ == Form::structured) {
        batch_.length(1);
        mapping::decode(in, batch_[0]);
    } else {
        mapping::decode(in, batch_);
    }
    mapping::decode(in, has_event);
    return has_event;
}

bool SupplierPolling::publish()
{
    if (line_.channel->keeper()) return publish_kept();
    if (form_ == Form::any)
        line_.channel->publish(std::exchange(any_, {}), line_.source());
    else
        line_.channel->publish(std::exchange(batch_, {}), line_.source());
    return true;
}

/// The thread waits for no disk, and what the channel cannot take now it has later, before the
/// supplier is asked for more.
bool SupplierPolling::publish_kept()
{
    Channel& channel = *line_.channel;
    try {
        if (!publication_) {
            const IntrusivePtr<SupplierPolling> self(this);
            const auto over = [self] { self->wake(); };
            publication_ = form_ == Form::any
                               ? channel.begin_to_publish(any_, line_.source(), over)
                               : channel.begin_to_publish(batch_, next_, line_.source(), over);
        }
        if (!channel.finish(*publication_)) return false;
        publication_.reset();
        published_ = next_;
        if (form_ != Form::any && published_ < batch_.length()) {
            pause(channel.limits().poll_interval);
            return false;
        }
    } catch (const CORBA::NO_RESOURCES&) {
        if (is_left()) return false;
    } catch (const CORBA::NO_MEMORY&) {
        if (is_left()) return false;
    } catch (const CORBA::PERSIST_STORE&) {
        if (is_left()) return false;
    } catch (const CORBA::TRANSIENT&) {
        if (is_left()) return false;
    } catch (const CORBA::SystemException&) { // which is of the event
    }
    forget();
    return true;
}

/// Whether it is tried again later; not for a supplier that has gone.
bool SupplierPolling::is_left()
{
    publication_.reset();
    next_ = published_;
    pause(line_.channel->limits().poll_interval);
    return !has_ended();
}

void SupplierPolling::forget()
{
    publication_.reset();
    any_ = {};
    batch_ = {};
    published_ = next_ = 0;
}

} // namespace kairos::notification
