// SPDX-License-Identifier: Apache-2.0
//
// What a channel and its gateways make of arbitrary bytes: what a consumer says that it wants, in
// either byte order, and then sets of events. Where a set is read in place it is what decoding
// makes of it, and what is written of that is read again the same; a plain filter takes as many of
// its events as collecting them does; nothing is kept beyond its bounds; and what observers are
// told of the filter makes a filter that takes all that it takes. And what a channel in a multicast
// group makes of who says that he sends what.
#include "fuzz/bounds.h"
#include "kairos/base/check.h"
#include "kairos/mapping/marshal.h"
#include "kairos/rtevents/event_types.h"
#include "kairos/rtevents/event_views.h"
#include "kairos/rtevents/filter.h"
#include "kairos/rtevents/multicast.h"

#include <cstring>
#include <optional>
#include <vector>

namespace cdr = kairos::cdr;
namespace mapping = kairos::mapping;
namespace rtevents = kairos::rtevents;
using kairos::Bytes;
using rtevents::Filter;

namespace {

constexpr std::size_t sets_max = 4;
constexpr CORBA::ULong events_max = 64; // of a set, that a filter is asked about

template <typename Value>
std::vector<std::byte> encoded(const Value& value)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll all(out);
    mapping::encode(out, value);
    return {out.contiguous().begin(), out.contiguous().end()};
}

std::vector<std::byte> written(rtevents::EventViews views)
{
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    const cdr::Writer::CopyAll all(out);
    out.write(static_cast<CORBA::ULong>(views.size()));
    for (const rtevents::EventView& view : views)
        rtevents::write(out, view);
    return {out.contiguous().begin(), out.contiguous().end()};
}

/// Nothing where it is malformed.
std::optional<RtecEventComm::EventSet> read_set(cdr::Reader& in)
{
    cdr::Reader in_place = in;
    std::vector<rtevents::EventView> views;
    const bool is_in_place = rtevents::read(in_place, views);
    RtecEventComm::EventSet events;
    try {
        mapping::decode(in, events);
    } catch (const CORBA::SystemException&) {
        KAIROS_CHECK(!is_in_place);
        return {};
    }
    if (!in.ok()) {
        KAIROS_CHECK(!is_in_place);
        return {};
    }
    if (!is_in_place) return events; // an Any has something in it
    KAIROS_CHECK(in_place.offset() == in.offset());
    const std::vector<std::byte> again = written(views);
    KAIROS_CHECK(again == encoded(events));
    cdr::Reader second(again, kairos::native_little_endian);
    std::vector<rtevents::EventView> others;
    KAIROS_CHECK(rtevents::read(second, others) && written(others) == again);
    for (CORBA::ULong i = 0; i < events.length() && i < events_max; ++i)
        KAIROS_CHECK(encoded(rtevents::value_of(views[i])) == encoded(events[i]));
    return events;
}

/// As a channel's observers, and so gateways, are told of it.
RtecEventChannelAdmin::DependencySet told(const Filter& filter)
{
    std::vector<Filter::Wish> wishes;
    filter.add_wishes(wishes);
    RtecEventChannelAdmin::DependencySet all;
    all.length(static_cast<CORBA::ULong>(wishes.size()));
    for (CORBA::ULong i = 0; i < wishes.size(); ++i) {
        all[i] = {};
        all[i].event.header.type = wishes[i].type;
        all[i].event.header.source = wishes[i].source;
    }
    return all;
}

void give(const Filter& filter, const std::optional<Filter>& wider, Filter::Collected& collected,
          const RtecEventComm::EventSet& events)
{
    for (CORBA::ULong i = 0; i < events.length() && i < events_max; ++i) {
        Filter::Shared event(events[i]);
        const Filter::Outcome outcome = filter.take(collected, event);
        KAIROS_CHECK(outcome.events.size() <= Filter::members_max * Filter::collected_max + 1000);
        for (const std::size_t timeout : outcome.begin_anew)
            KAIROS_CHECK(timeout < filter.timeouts().size());
        if (!filter.is_plain()) continue;
        const bool accepts = filter.accepts(events[i].header);
        KAIROS_CHECK(outcome.events.size() == (accepts ? 1u : 0u));
        if (accepts && wider) KAIROS_CHECK(wider->accepts(events[i].header));
    }
    for (std::size_t timeout = 0; timeout < filter.timeouts().size(); ++timeout) {
        const RtecEventComm::Event end{};
        Filter::Shared event(end);
        (void)filter.end_time(collected, timeout, event);
    }
}

void try_filter(const RtecEventChannelAdmin::DependencySet& dependencies, cdr::Reader& in)
{
    std::optional<Filter> filter;
    try {
        filter.emplace(dependencies);
    } catch (const CORBA::BAD_PARAM&) {
        return;
    }
    std::optional<Filter> wider;
    // Types that mean something as dependencies are no wishes; other channels refuse them.
    try {
        wider.emplace(told(*filter));
    } catch (const CORBA::BAD_PARAM&) {
        wider.reset();
    }
    Filter::Collected collected = filter->begin();
    for (std::size_t i = 0; i < sets_max && in.ok() && in.left() != 0; ++i) {
        const auto events = read_set(in);
        if (!events) return;
        give(*filter, wider, collected, *events);
    }
}

/// Each of a set is as the first of a message; what is not taken has come before.
void note_senders(cdr::Reader& in)
{
    rtevents::Senders senders;
    std::vector<rtevents::EventView> views;
    while (in.ok() && in.left() != 0 && rtevents::read(in, views))
        for (const rtevents::EventView& view : views) {
            const auto mark = rtevents::mark_of(view.header);
            if (!mark) continue;
            KAIROS_CHECK(rtevents::mark_of(rtevents::header_of(*mark)) == mark);
            const std::uint64_t before = senders.lost();
            if (senders.note(*mark))
                KAIROS_CHECK(!senders.note(*mark) || senders.lost() == before);
            else
                KAIROS_CHECK(senders.lost() == before);
            KAIROS_CHECK(senders.size() <= rtevents::Senders::senders_max);
            KAIROS_CHECK(senders.lost() <= before + rtevents::Senders::missing_max);
        }
}

} // namespace

/// A dependency is an event with an Any and some numbers of 72 octets; a node of the filter stays
/// beside it, and what is collected for each, and events are there as they came, as views and as
/// values.
kairos::fuzz::Bounds kairos::fuzz::bounds()
{
    return {.octets_each = 64,
            .octets_beside = std::size_t{1} << 20,
            .comparisons_each = 20'000,
            .comparisons_beside = 1'000'000};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 8) return 0;
    // The stream begins at a multiple of eight, as a message's body does.
    std::vector<std::uint64_t> aligned(size / 8 + 1);
    std::memcpy(aligned.data(), data + 1, size - 1);
    const Bytes bytes{reinterpret_cast<const std::byte*>(aligned.data()), size - 1};
    cdr::Reader in(bytes, (data[0] & 1) != 0);
    if ((data[0] & 4) != 0) {
        note_senders(in);
        return 0;
    }
    if ((data[0] & 2) != 0) {
        (void)read_set(in);
        return 0;
    }
    RtecEventChannelAdmin::ConsumerQOS wishes;
    try {
        mapping::decode(in, wishes);
        if (in.ok()) try_filter(wishes.dependencies, in);
    } catch (const CORBA::SystemException&) { // as in any request that is malformed
    }
    return 0;
}
