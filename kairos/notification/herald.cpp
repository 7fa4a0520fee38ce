// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/herald.h"

#include "kairos/base/assert_held.h"
#include "kairos/corba/invocation.h"
#include "kairos/mapping/marshal.h"
#include "kairos/notification/CosNotifyComm.h"
#include "kairos/orb/operation.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace kairos::notification {
namespace {

constexpr orb::ExceptionType invalid_type[] = {
    corba::exception_type<CosNotifyComm::InvalidEventType>()};
constexpr orb::Operation offer_change("offer_change", orb::Response::required, invalid_type);
constexpr orb::Operation subscription_change("subscription_change", orb::Response::required,
                                             invalid_type);

std::size_t octets_of(const TypePattern& pattern) noexcept
{
    constexpr std::size_t overhead = 64;
    return pattern.first.size() + pattern.second.size() + overhead;
}

std::span<const TypePattern> patterns_of(const EventTypes& types)
{
    static const TypePattern everything("*", "*");
    if (types.are_all()) return {&everything, 1};
    return types.patterns();
}

TypeList difference(const TypeList& from, const TypeList& without)
{
    TypeList rest;
    std::ranges::set_difference(
        from, without, std::back_inserter(rest),
        [](const auto& a, const auto& b) { return a->pattern < b->pattern; });
    return rest;
}

} // namespace

CosNotification::EventTypeSeq sequence_of(const TypeList& types)
{
    CosNotification::EventTypeSeq all;
    all.length(static_cast<CORBA::ULong>(types.size()));
    CORBA::ULong at = 0;
    for (const auto& type : types) {
        all[at].domain_name = type->pattern.first.c_str();
        all[at++].type_name = type->pattern.second.c_str();
    }
    return all;
}

// --- Types ---------------------------------------------------------------------------------------

void TypeTable::add(const EventTypes& types)
{
    const std::span<const TypePattern> patterns = patterns_of(types);
    const std::lock_guard lock(mutex_);
    std::size_t done = 0;
    try {
        for (; done < patterns.size(); ++done)
            count(patterns[done]);
    } catch (...) {
        for (const TypePattern& pattern : patterns.first(done))
            count_down(pattern);
        throw;
    }
}

void TypeTable::count(const TypePattern& pattern)
{
    assert_held(mutex_);
    if (const auto found = counts_.find(pattern); found != counts_.end()) {
        ++found->second;
        return;
    }
    events::Portion octets(octets_, octets_of(pattern));
    if (!octets)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the channel's clients name as many event types as they may");
    auto type = std::make_shared<TableType>();
    type->pattern = pattern;
    type->octets = std::move(octets);
    counts_.emplace(std::move(type), 1);
    present_.reset();
}

void TypeTable::remove(const EventTypes& types) noexcept
{
    const std::lock_guard lock(mutex_);
    for (const TypePattern& pattern : patterns_of(types))
        count_down(pattern);
}

void TypeTable::count_down(const TypePattern& pattern) noexcept
{
    assert_held(mutex_);
    const auto found = counts_.find(pattern);
    if (found == counts_.end() || --found->second != 0) return;
    counts_.erase(found);
    present_.reset();
}

/// One after the other, so that this takes no memory.
void TypeTable::announce() noexcept
{
    std::uint64_t last = 0; // proxies' numbers begin with 1
    for (;;) {
        IntrusivePtr<Herald> herald;
        {
            const std::lock_guard lock(mutex_);
            const auto next = heralds_.upper_bound(last);
            if (next == heralds_.end()) return;
            last = next->first;
            herald = next->second;
        }
        herald->tell();
    }
}

std::shared_ptr<const TypeList> TypeTable::present()
{
    const std::lock_guard lock(mutex_);
    if (!present_) {
        auto types = std::make_shared<TypeList>();
        types->reserve(counts_.size());
        for (const auto& [type, count] : counts_)
            types->push_back(type);
        present_ = std::move(types);
    }
    return present_;
}

void TypeTable::listen(std::uint64_t proxy, IntrusivePtr<Herald> herald)
{
    const std::lock_guard lock(mutex_);
    heralds_.insert_or_assign(proxy, std::move(herald));
}

void TypeTable::ignore(std::uint64_t proxy) noexcept
{
    IntrusivePtr<Herald> left; // until the lock is left
    const std::lock_guard lock(mutex_);
    const auto found = heralds_.find(proxy);
    if (found == heralds_.end()) return;
    left = std::move(found->second);
    heralds_.erase(found);
}

// --- Who tells of them ---------------------------------------------------------------------------

/// Clients that have not answered yet wait for each other, and for no one else.
Herald::Herald(const std::shared_ptr<events::Couriers>& couriers, CORBA::Object_ptr client,
               bool of_offers, std::shared_ptr<TypeTable> types,
               std::shared_ptr<events::Allowance> call_octets, const events::ServiceLimits& limits)
    : Courier(couriers, events::Lane::patient), client_(CORBA::Object::_duplicate(client)),
      of_offers_(of_offers), is_here_(events::is_here(client)), types_(std::move(types)),
      call_octets_(std::move(call_octets)), limits_(limits)
{
}

std::size_t Herald::Change::octets() const noexcept
{
    std::size_t octets = 0;
    for (const TypeList* types : {&added, &removed})
        for (const auto& type : *types)
            octets += octets_of(type->pattern);
    return octets;
}

std::shared_ptr<const TypeList> Herald::speak(bool speaks)
{
    const std::lock_guard lock(mutex_);
    // First, so that what changes after present() is told.
    speaks_ = speaks;
    told_ = speaks ? types_->present() : nullptr;
    return told_;
}

/// What came and has gone since is not worth a word.
std::optional<Herald::Change> Herald::next()
{
    const std::lock_guard lock(mutex_);
    if (!told_) return std::nullopt;
    std::shared_ptr<const TypeList> present = types_->present();
    if (present == told_) return std::nullopt;
    Change change{.added = difference(*present, *told_), .removed = difference(*told_, *present)};
    known_ = std::exchange(told_, std::move(present));
    if (change.added.empty() && change.removed.empty()) return std::nullopt;
    return change;
}

void Herald::idle()
{
    if (!is_in_lane()) return wake();
    if (Clock::now() < not_before_) return wake_at(not_before_);
    try {
        if (const std::optional<Change> change = next()) send(*change);
    } catch (...) {
        conclude(events::outcome_of_making(std::current_exception(), client_.in()));
        wake();
    }
}

void Herald::send(const Change& change)
{
    copy_ = events::Portion(call_octets_, change.octets());
    if (!copy_) {
        conclude(events::Outcome::put_off);
        return wake();
    }
    orb::AsynchronousCall& call = orb::AsynchronousCall::make(
        corba::reference_of(*client_.in()), of_offers_ ? offer_change : subscription_change);
    try {
        call.limit(Deadline::after(limits_.call_timeout));
        stays_connected_ = lane() == events::Lane::quick;
        if (stays_connected_) call.stay_connected();
        mapping::encode(call.out(), sequence_of(change.added));
        mapping::encode(call.out(), sequence_of(change.removed));
    } catch (...) {
        call.abandon();
        throw;
    }
    Courier::send(call);
}

void Herald::called(orb::AsynchronousCall& call)
{
    const std::exception_ptr& failure = call.failure();
    const events::Outcome outcome = events::outcome_of(failure, client_.in());
    if (outcome == events::Outcome::elsewhere && !stays_connected_)
        return conclude(events::Outcome::refused);
    if (outcome == events::Outcome::done && call.was_waited_for()) {
        conclude(outcome);
        return move_to(events::Lane::fresh);
    }
    conclude(outcome);
}

void Herald::conclude(events::Outcome outcome)
{
    copy_.reset();
    std::shared_ptr<const TypeList> known = std::exchange(known_, nullptr);
    switch (outcome) {
    case events::Outcome::done:
        if (is_here_) return move_to(events::Lane::fresh);
        corba::reference_of(*client_.in()).note_bound(); // no call connects by itself any more
        return move_to(events::Lane::quick);
    case events::Outcome::put_off:
        not_before_ = Clock::now() + limits_.retry_pause;
        break;
    case events::Outcome::elsewhere: // it is to be connected, as a new one
        move_to(events::Lane::patient);
        break;
    default:
        (void)speak(false); // it finds out by asking
        return;
    }
    const std::lock_guard lock(mutex_);
    if (told_ && known) told_ = std::move(known);
}

} // namespace kairos::notification
