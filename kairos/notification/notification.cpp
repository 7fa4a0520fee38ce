// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/notification.h"

#include "kairos/corba/CORBA.h"
#include "kairos/corba/TimeBase.h"
#include "kairos/mapping/marshal.h"
#include "kairos/types/any_access.h"

#include <algorithm>
#include <string_view>

namespace kairos::notification {
namespace {

/// From when UtcT counts, 15 October 1582, to the Unix epoch.
constexpr std::int64_t utc_epoch_s = 12'219'292'800;
constexpr std::uint64_t ticks_in_second = 10'000'000;
/// Of an event that is made in its other form, beside its octets: its TypeCode, its objects.
constexpr std::size_t other_form_octets = 2048;
/// Of a property as it is held, beside its octets.
constexpr std::size_t property_octets = 192;

/// Whether text that was received in it is wide.
bool has_wide(const CORBA::Any& any) noexcept
{
    const types::AnyBytes* const bytes = types::AnyAccess::bytes(any);
    return bytes != nullptr && bytes->has_wide;
}

bool has_wide(const CosNotification::PropertySeq& properties) noexcept
{
    for (CORBA::ULong i = 0; i < properties.length(); ++i)
        if (has_wide(properties[i].value)) return true;
    return false;
}

void require_name(const char* name)
{
    if (std::string_view(name).size() > type_name_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the name of an event's type is too long");
}

} // namespace

std::chrono::nanoseconds duration_of(std::uint64_t ticks) noexcept
{
    constexpr std::uint64_t most = ticks_in_second * 60 * 60 * 24 * 365 * 100;
    return std::chrono::nanoseconds(std::min(ticks, most) * 100);
}

std::chrono::steady_clock::time_point time_of(std::uint64_t utc_ticks)
{
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    const auto now =
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count() / 100) +
        utc_epoch_s * ticks_in_second;
    const auto from_now =
        utc_ticks > now ? duration_of(utc_ticks - now) : -duration_of(now - utc_ticks);
    return std::chrono::steady_clock::now() + from_now;
}

Notification::Notification(const CORBA::Any& data, const EventDefaults& defaults)
    : defaults_(defaults), came_structured_(false), data_(data), encoded_(data_)
{
    const CosNotification::StructuredEvent* inside = nullptr;
    if (data_ >>= inside) event_ = std::make_unique<CosNotification::StructuredEvent>(*inside);
    read_header();
}

Notification::Notification(const CosNotification::StructuredEvent& event,
                           const EventDefaults& defaults)
    : defaults_(defaults), came_structured_(true),
      event_(std::make_unique<CosNotification::StructuredEvent>(event)), encoded_(*event_)
{
    read_header();
}

void Notification::read_header()
{
    octets_ = encoded_.size();
    if (has_wide(data_)) encoded_.note_wide_text();
    priority_ = defaults_.priority;
    std::chrono::nanoseconds timeout = defaults_.timeout;
    if (event_) {
        require_name(event_->header.fixed_header.event_type.domain_name.in());
        require_name(event_->header.fixed_header.event_type.type_name.in());
        const CosNotification::OptionalHeaderFields& fields = event_->header.variable_header;
        if (has_wide(fields) || has_wide(event_->filterable_data) ||
            has_wide(event_->remainder_of_body))
            encoded_.note_wide_text();
        for (CORBA::ULong i = 0; i < fields.length(); ++i) {
            const std::string_view name = fields[i].name.in();
            TimeBase::TimeT ticks = 0;
            const TimeBase::UtcT* time = nullptr;
            CORBA::Short number = 0;
            if (name == CosNotification::Priority && (fields[i].value >>= number)) {
                priority_ = number;
                says_priority_ = true;
            } else if (name == CosNotification::EventReliability && (fields[i].value >>= number)) {
                is_persistent_ = number == CosNotification::Persistent;
            } else if (name == CosNotification::Timeout && (fields[i].value >>= ticks)) {
                timeout = duration_of(ticks);
                says_timeout_ = true;
            } else if (name == CosNotification::StopTime && (fields[i].value >>= time)) {
                stop_time_ = std::min(stop_time_, time_of(time->time));
            }
        }
    }
    deadline_ = stop_time_;
    if (timeout.count() > 0) deadline_ = std::min(deadline_, received_ + timeout);
}

bool Notification::wraps_any() const noexcept
{
    return came_structured_ && type_name() == any_type_name;
}

std::string_view Notification::domain_name() const noexcept
{
    return event_ ? event_->header.fixed_header.event_type.domain_name.in() : "";
}

std::string_view Notification::type_name() const noexcept
{
    return event_ ? event_->header.fixed_header.event_type.type_name.in() : any_type_name;
}

const CORBA::Any& Notification::filterable() const
{
    if (!came_structured_) return data_;
    std::call_once(any_made_, [this] {
        // Taken as if it had been received: what an event was encoded to is copied as it is.
        const cdr::Environment environment;
        cdr::Reader in(encoded_.octets(), native_little_endian);
        in.set_environment(&environment);
        types::AnyAccess::decode_value(
            in, CORBA::TypeCode::_duplicate(CosNotification::_tc_StructuredEvent), made_any_);
        if (!in.ok()) made_any_ <<= *event_;
    });
    return made_any_;
}

const CORBA::Any& Notification::any() const
{
    return wraps_any() ? event_->remainder_of_body : filterable();
}

const CosNotification::StructuredEvent& Notification::structured() const
{
    if (event_) return *event_;
    std::call_once(structured_made_, [this] {
        auto made = std::make_unique<CosNotification::StructuredEvent>();
        made->header.fixed_header.event_type.domain_name = "";
        made->header.fixed_header.event_type.type_name = any_type_name;
        made->header.fixed_header.event_name = "";
        made->remainder_of_body = data_;
        made_event_ = std::move(made);
    });
    return *made_event_;
}

void Notification::encode_any(cdr::Writer& out) const
{
    if (came_structured_)
        mapping::encode(out, any());
    else
        encoded_.write(out, data_);
}

void Notification::encode_structured(cdr::Writer& out) const
{
    if (came_structured_)
        encoded_.write(out, *event_);
    else
        mapping::encode(out, structured());
}

bool Notification::charge(const std::shared_ptr<events::Allowance>& octets,
                          events::Portion& place) noexcept
{
    std::size_t properties = 0;
    if (event_)
        properties =
            std::size_t{event_->header.variable_header.length()} + event_->filterable_data.length();
    octets_charge_ =
        events::Portion(octets, 3 * octets_ + other_form_octets + properties * property_octets);
    if (!octets_charge_) return false;
    place_ = std::move(place);
    return true;
}

} // namespace kairos::notification
