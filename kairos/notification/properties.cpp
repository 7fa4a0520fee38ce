// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/properties.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

namespace kairos::notification {
namespace {

using namespace CosNotification;

/// What the values of a property are.
enum class Kind : std::uint8_t { short_number, number, time, boolean, utc };

constexpr unsigned at(Level level) noexcept { return 1U << static_cast<unsigned>(level); }
constexpr unsigned objects = at(Level::channel) | at(Level::admin) | at(Level::proxy);
constexpr unsigned everywhere = objects | at(Level::event);

/// One property. All values are kept as 64-bit integers while they are looked at.
struct Description {
    const char* name;
    Kind kind;
    unsigned levels;  // at which it means something
    std::int64_t low; // what the specification lets values be
    std::int64_t high;
    std::int64_t served_low; // what we serve of it
    std::int64_t served_high;
    std::int64_t (*get)(const Qos&);
    void (*set)(Qos&, std::int64_t);
};

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_long = std::numeric_limits<CORBA::Long>::max();

template <auto Member>
std::int64_t get(const Qos& qos)
{
    return static_cast<std::int64_t>(qos.*Member);
}

template <auto Member>
void set(Qos& qos, std::int64_t value)
{
    using Value = std::remove_reference_t<decltype(qos.*Member)>;
    qos.*Member = static_cast<Value>(value);
}

template <auto Member>
constexpr Description describe_member(const char* name, Kind kind, unsigned levels,
                                      std::int64_t low, std::int64_t high, std::int64_t served_low,
                                      std::int64_t served_high)
{
    return {name, kind, levels, low, high, served_low, served_high, get<Member>, set<Member>};
}

constexpr Description descriptions[] = {
    describe_member<&Qos::event_reliability>(EventReliability, Kind::short_number,
                                             at(Level::channel) | at(Level::event), BestEffort,
                                             Persistent, BestEffort, BestEffort),
    describe_member<&Qos::connection_reliability>(ConnectionReliability, Kind::short_number,
                                                  objects, BestEffort, Persistent, BestEffort,
                                                  BestEffort),
    describe_member<&Qos::priority>(Priority, Kind::short_number, everywhere, LowestPriority,
                                    HighestPriority, LowestPriority, HighestPriority),
    {StartTime, Kind::utc, 0, 0, most, 0, most, nullptr, nullptr},
    {StopTime, Kind::utc, at(Level::event), 0, most, 0, most, nullptr, nullptr},
    describe_member<&Qos::timeout>(Timeout, Kind::time, everywhere, 0, most, 0, most),
    describe_member<&Qos::start_time_supported>(StartTimeSupported, Kind::boolean, objects, 0, 1, 0,
                                                0),
    describe_member<&Qos::stop_time_supported>(StopTimeSupported, Kind::boolean, objects, 0, 1, 1,
                                               1),
    describe_member<&Qos::events_per_consumer>(MaxEventsPerConsumer, Kind::number, objects, 0,
                                               most_long, 0, most_long),
    describe_member<&Qos::order>(OrderPolicy, Kind::short_number, objects, AnyOrder, DeadlineOrder,
                                 AnyOrder, DeadlineOrder),
    describe_member<&Qos::discard>(DiscardPolicy, Kind::short_number, objects, AnyOrder, LifoOrder,
                                   AnyOrder, LifoOrder),
    describe_member<&Qos::batch_size>(MaximumBatchSize, Kind::number, objects, 1, most_long, 1,
                                      most_long),
    describe_member<&Qos::pacing>(PacingInterval, Kind::time, objects, 0, most, 0, most),
};

/// With what this service has less, or this channel more.
Description of_service(Description one, const Qos& qos, Level level,
                       const NotificationLimits& limits) noexcept
{
    const bool is_connection = std::strcmp(one.name, ConnectionReliability) == 0;
    if (qos.may_persist && (is_connection || std::strcmp(one.name, EventReliability) == 0))
        one.served_high = Persistent;
    // The channel is kept already, and what it has.
    if (qos.may_persist && is_connection && level == Level::channel) one.served_low = Persistent;
    const auto at_most = [&one](std::size_t max) {
        one.served_high = std::min(one.served_high, static_cast<std::int64_t>(max));
    };
    if (std::strcmp(one.name, MaxEventsPerConsumer) == 0) at_most(limits.queue_max);
    if (std::strcmp(one.name, MaximumBatchSize) == 0) at_most(limits.batch_max);
    return one;
}

void insert(CORBA::Any& any, Kind kind, std::int64_t value)
{
    switch (kind) {
    case Kind::short_number:
        any <<= static_cast<CORBA::Short>(value);
        break;
    case Kind::number:
        any <<= static_cast<CORBA::Long>(value);
        break;
    case Kind::time:
        any <<= static_cast<TimeBase::TimeT>(value);
        break;
    case Kind::boolean:
        any <<= CORBA::Any::from_boolean(value != 0);
        break;
    case Kind::utc: {
        TimeBase::UtcT time{};
        time.time = static_cast<TimeBase::TimeT>(value);
        any <<= time;
        break;
    }
    }
}

std::int64_t number_of(TimeBase::TimeT time) noexcept
{
    return static_cast<std::int64_t>(std::min<TimeBase::TimeT>(time, most));
}

/// False: the Any has another type.
bool extract(const CORBA::Any& any, Kind kind, std::int64_t& value)
{
    switch (kind) {
    case Kind::short_number: {
        CORBA::Short number = 0;
        return (any >>= number) && ((value = number), true);
    }
    case Kind::number: {
        CORBA::Long number = 0;
        return (any >>= number) && ((value = number), true);
    }
    case Kind::time: {
        TimeBase::TimeT time = 0;
        return (any >>= time) && ((value = number_of(time)), true);
    }
    case Kind::boolean: {
        CORBA::Boolean flag = false;
        return (any >>= CORBA::Any::to_boolean(flag)) && ((value = flag ? 1 : 0), true);
    }
    case Kind::utc: {
        const TimeBase::UtcT* time = nullptr;
        return (any >>= time) && ((value = number_of(time->time)), true);
    }
    }
    return false;
}

/// What is wrong with several properties, gathered.
class Errors {
  public:
    void add(QoSError_code code, const char* name) { (void)next(code, name); }
    void add(QoSError_code code, const char* name, Kind kind, std::int64_t low, std::int64_t high)
    {
        PropertyError& error = next(code, name);
        insert(error.available_range.low_val, kind, low);
        insert(error.available_range.high_val, kind, high);
    }
    [[nodiscard]] bool empty() const { return errors_.length() == 0; }
    [[nodiscard]] const PropertyErrorSeq& all() const noexcept { return errors_; }

  private:
    PropertyError& next(QoSError_code code, const char* name)
    {
        errors_.length(errors_.length() + 1);
        PropertyError& error = errors_[errors_.length() - 1];
        error.code = code;
        error.name = name;
        return error;
    }
    PropertyErrorSeq errors_;
};

/// What nobody needs to know more than so many of.
constexpr CORBA::ULong properties_max = 100;

void require_few(const PropertySeq& wanted)
{
    if (wanted.length() > properties_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "so many properties there are not");
}

/// Returns the value, or notes why it is none.
bool read(const Property& wanted, Kind kind, std::int64_t low, std::int64_t high, Errors& errors,
          std::int64_t& value)
{
    if (!extract(wanted.value, kind, value)) {
        errors.add(BAD_TYPE, wanted.name.in(), kind, low, high);
        return false;
    }
    if (value >= low && value <= high) return true;
    errors.add(BAD_VALUE, wanted.name.in(), kind, low, high);
    return false;
}

void change(Qos& qos, const Property& wanted, Level level, const NotificationLimits& limits,
            Errors& errors)
{
    const auto* const found = std::ranges::find_if(descriptions, [&wanted](const auto& one) {
        return std::strcmp(one.name, wanted.name.in()) == 0;
    });
    if (found == std::end(descriptions)) return errors.add(BAD_PROPERTY, wanted.name.in());
    const Description one = of_service(*found, qos, level, limits);
    if ((one.levels & at(level)) == 0) return errors.add(UNSUPPORTED_PROPERTY, one.name);
    std::int64_t value = 0;
    if (!read(wanted, one.kind, one.low, one.high, errors, value)) return;
    if (value < one.served_low || value > one.served_high)
        return errors.add(UNSUPPORTED_VALUE, one.name, one.kind, one.served_low, one.served_high);
    if (one.set != nullptr) one.set(qos, value);
}

template <typename Sequence>
Property& add_property(Sequence& all, const char* name)
{
    all.length(all.length() + 1);
    Property& made = all[all.length() - 1];
    made.name = name;
    return made;
}

} // namespace

void change(Qos& qos, const QoSProperties& wanted, Level level, const NotificationLimits& limits)
{
    require_few(wanted);
    Qos changed = qos;
    Errors errors;
    for (CORBA::ULong i = 0; i < wanted.length(); ++i)
        change(changed, wanted[i], level, limits, errors);
    if (!errors.empty()) throw UnsupportedQoS(errors.all());
    qos = changed;
}

bool asks_to_be_kept(const QoSProperties& wanted)
{
    bool asks = false;
    for (CORBA::ULong i = 0; i < wanted.length(); ++i) {
        CORBA::Short value = BestEffort;
        if (std::strcmp(wanted[i].name.in(), ConnectionReliability) == 0 &&
            (wanted[i].value >>= value))
            asks = value == Persistent;
    }
    return asks;
}

QoSProperties within(const NotificationLimits& limits, QoSProperties stored)
{
    for (CORBA::ULong i = 0; i < stored.length(); ++i) {
        const std::string_view name = stored[i].name.in();
        const std::size_t max = name == MaxEventsPerConsumer ? limits.queue_max
                                : name == MaximumBatchSize   ? limits.batch_max
                                                             : most_long;
        CORBA::Long value = 0;
        if ((stored[i].value >>= value) && value > 0 && static_cast<std::size_t>(value) > max)
            stored[i].value <<= static_cast<CORBA::Long>(max);
    }
    return stored;
}

/// That an event outlives who is to get it means nothing (CosNotification 1.1, 2.5.5.1).
Qos qos_of_channel(const QoSProperties& wanted, bool has_store, const NotificationLimits& limits)
{
    Qos qos;
    qos.may_persist = has_store && asks_to_be_kept(wanted);
    change(qos, wanted, Level::channel, limits);
    return qos;
}

void change(AdminProperties& properties, const CosNotification::AdminProperties& wanted)
{
    require_few(wanted);
    AdminProperties changed = properties;
    Errors errors;
    for (CORBA::ULong i = 0; i < wanted.length(); ++i) {
        const std::string_view name = wanted[i].name.in();
        std::int64_t value = 0;
        if (name == RejectNewEvents) {
            if (read(wanted[i], Kind::boolean, 0, 1, errors, value))
                changed.reject_new_events = value != 0;
            continue;
        }
        CORBA::Long* const number = name == MaxQueueLength ? &changed.queue_length
                                    : name == MaxConsumers ? &changed.consumers
                                    : name == MaxSuppliers ? &changed.suppliers
                                                           : nullptr;
        if (number == nullptr)
            errors.add(BAD_PROPERTY, wanted[i].name.in());
        else if (read(wanted[i], Kind::number, 0, most_long, errors, value))
            *number = static_cast<CORBA::Long>(value);
    }
    if (!errors.empty()) throw UnsupportedAdmin(errors.all());
    properties = changed;
}

QoSProperties* properties_of(const Qos& qos, Level level)
{
    QoSProperties_var all = new QoSProperties;
    for (const Description& one : descriptions)
        if ((one.levels & at(level)) != 0 && one.get != nullptr)
            insert(add_property(*all, one.name).value, one.kind, one.get(qos));
    return all._retn();
}

CosNotification::AdminProperties* properties_of(const AdminProperties& properties)
{
    AdminProperties_var all = new CosNotification::AdminProperties;
    add_property(*all, MaxQueueLength).value <<= properties.queue_length;
    add_property(*all, MaxConsumers).value <<= properties.consumers;
    add_property(*all, MaxSuppliers).value <<= properties.suppliers;
    add_property(*all, RejectNewEvents).value <<=
        CORBA::Any::from_boolean(properties.reject_new_events);
    return all._retn();
}

NamedPropertyRangeSeq* validate(const Qos& qos, const QoSProperties& wanted, Level level,
                                const NotificationLimits& limits)
{
    Qos changed = qos;
    change(changed, wanted, level, limits);
    NamedPropertyRangeSeq_var ranges = new NamedPropertyRangeSeq;
    for (const Description& all : descriptions) {
        const Description one = of_service(all, qos, level, limits);
        bool is_wanted = false;
        for (CORBA::ULong i = 0; i < wanted.length(); ++i)
            is_wanted = is_wanted || std::strcmp(wanted[i].name.in(), one.name) == 0;
        if (is_wanted || (one.levels & at(level)) == 0) continue;
        ranges->length(ranges->length() + 1);
        NamedPropertyRange& made = ranges[ranges->length() - 1];
        made.name = one.name;
        insert(made.range.low_val, one.kind, one.served_low);
        insert(made.range.high_val, one.kind, one.served_high);
    }
    return ranges._retn();
}

} // namespace kairos::notification
