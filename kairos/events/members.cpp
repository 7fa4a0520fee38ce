// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/members.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"
#include "kairos/events/outcome.h"
#include "kairos/events/proxy.h"

#include <algorithm>
#include <utility>

namespace kairos::events {

Members::Members(const char* service, std::string name, const ServiceLimits& limits,
                 std::shared_ptr<ServiceBudget> budget, std::shared_ptr<Couriers> couriers,
                 PortableServer::POA_ptr proxies)
    : service_(service), name_(std::move(name)), limits_(limits), budget_(std::move(budget)),
      couriers_(std::move(couriers)), proxies_(PortableServer::POA::_duplicate(proxies)),
      pulls_(std::make_shared<Allowance>(limits.pulls_max)),
      receptions_(std::make_shared<const Receptions>())
{
}

bool Members::is_proxy(CORBA::Object_ptr object) const
{
    try {
        const PortableServer::ObjectId_var id = proxies_->reference_to_id(object);
        return true;
    } catch (const PortableServer::POA::WrongAdapter&) {
        return false;
    }
}

bool Members::all_are(const std::function<bool(const Proxy&)>& so) const
{
    const Lock lock(mutex_);
    return std::ranges::all_of(members_,
                               [&so](const auto& member) { return so(*member.second.proxy); });
}

CORBA::Object_ptr
Members::add(const PortableServer::Servant_var<PortableServer::ServantBase>& servant, Proxy& proxy,
             std::size_t of_kind_max, const PortableServer::ObjectId* kept)
{
    make_room();
    std::uint64_t number = 0;
    {
        const Lock lock(mutex_);
        if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        if (members_.size() >= of_kind_max && count(proxy.is_consumers()) >= of_kind_max)
            throw TooManyOfKind();
        if (members_.size() >= limits_.proxies_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the channel has as many proxies as it may have");
        Portion place(budget_->proxies, 1);
        if (!place)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the service has as many proxies as it may have");
        number = ++last_;
        proxy.number(number);
        members_.try_emplace(
            number,
            Member{.servant = servant, .proxy = &proxy, .id = {}, .place = std::move(place)});
    }
    try {
        PortableServer::ObjectId_var id;
        if (kept == nullptr) {
            id = proxies_->activate_object(servant.in());
        } else {
            proxies_->activate_object_with_id(*kept, servant.in());
            id = new PortableServer::ObjectId(*kept);
        }
        CORBA::Object_var object = proxies_->id_to_reference(id.in());
        if (keep_id(number, id)) return object._retn();
        proxies_->deactivate_object(id.in()); // the channel has ended meanwhile
        throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    } catch (...) {
        forget(number);
        throw;
    }
}

bool Members::keep_id(std::uint64_t proxy, PortableServer::ObjectId_var& id)
{
    const Lock lock(mutex_);
    const auto found = members_.find(proxy);
    if (found == members_.end()) return false;
    found->second.id = id._retn();
    return true;
}

/// Clients that have gone without a word leave proxies behind.
void Members::make_room()
{
    Member oldest;
    {
        const Lock lock(mutex_);
        if (members_.size() < limits_.proxies_max && !budget_->proxies->is_spent()) return;
        Proxy::Clock::time_point before = Proxy::Clock::now() - limits_.proxy_idle_max;
        auto found = members_.end();
        for (auto one = members_.begin(); one != members_.end(); ++one) {
            const Proxy& proxy = *one->second.proxy;
            if (proxy.last_used() > before || !one->second.proxy->is_idle()) continue;
            before = proxy.last_used();
            found = one;
        }
        if (found == members_.end()) return;
        oldest = take_out(found);
    }
    finish(std::move(oldest), true);
}

bool Members::add_receiver(std::uint64_t proxy, const IntrusivePtr<RefCounted>& owner,
                           Receiver& receiver)
{
    const Lock lock(mutex_);
    if (!members_.contains(proxy)) return false;
    auto changed = std::make_shared<Receptions>(*receptions_);
    changed->push_back({proxy, owner, &receiver});
    receptions_ = std::move(changed);
    return true;
}

Members::Member Members::take_out(std::uint64_t proxy)
{
    const Lock lock(mutex_);
    const auto found = members_.find(proxy);
    if (found == members_.end()) return {};
    return take_out(found);
}

/// All of it or, where there is no memory, nothing.
Members::Member Members::take_out(Table::iterator found)
{
    assert_held(mutex_);
    const auto is_its = [found](const Reception& one) { return one.proxy == found->first; };
    if (std::ranges::any_of(*receptions_, is_its)) {
        auto changed = std::make_shared<Receptions>(*receptions_);
        std::erase_if(*changed, is_its);
        receptions_ = std::move(changed);
    }
    Member member = std::move(found->second);
    members_.erase(found);
    return member;
}

void Members::finish(Member member, bool tells)
{
    member.proxy->end(tells);
    try {
        if (member.id.operator->() != nullptr) proxies_->deactivate_object(member.id.in());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

void Members::retire(std::uint64_t proxy, bool tells)
{
    Member member = take_out(proxy);
    if (member.proxy != nullptr) finish(std::move(member), tells);
}

void Members::give_up(std::uint64_t proxy, CORBA::Object& client, const std::string& reason)
{
    Member member = take_out(proxy);
    if (member.proxy == nullptr) return;
    const char* const who = member.proxy->is_consumers() ? "consumer" : "supplier";
    finish(std::move(member), false);
    given_up_.fetch_add(1, std::memory_order_relaxed);
    std::size_t unsaid = 0;
    if (!may_say(unsaid)) return;
    std::string line = std::string(service_) + ": channel '" + name_ + "': the " + who + " at " +
                       address_of(&client) + " is disconnected: " + reason;
    if (unsaid != 0) line += " (" + std::to_string(unsaid) + " others were not named)";
    log::warning(line);
}

/// Clients can have themselves given up as often as they like.
bool Members::may_say(std::size_t& unsaid)
{
    constexpr std::uint64_t said_at_once = 100;
    constexpr std::chrono::seconds pause{1};
    const auto now = Courier::Clock::now();
    const Lock lock(mutex_);
    if (given_up_ > said_at_once && now - said_at_ < pause) {
        ++unsaid_;
        return false;
    }
    said_at_ = now;
    unsaid = std::exchange(unsaid_, 0);
    return true;
}

void Members::end(bool tells)
{
    Table members;
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        members.swap(members_);
        receptions_ = std::make_shared<const Receptions>();
    }
    for (auto& [number, member] : members)
        finish(std::move(member), tells);
}

void Members::note_dropped(std::size_t count)
{
    if (dropped_.fetch_add(count, std::memory_order_relaxed) != 0) return;
    log::warning(std::string(service_) + ": channel '" + name_ +
                 "' drops events: a consumer is slower than its suppliers, or they are too large");
}

std::size_t Members::count(bool of_consumers) const
{
    assert_held(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [of_consumers](const auto& one) {
            return one.second.proxy->is_consumers() == of_consumers;
        }));
}

KairosEvents::Figures Members::figures()
{
    KairosEvents::Figures figures{};
    figures.received = received_.load(std::memory_order_relaxed);
    figures.delivered = delivered_.load(std::memory_order_relaxed);
    figures.dropped = dropped_.load(std::memory_order_relaxed);
    figures.lost = lost_.load(std::memory_order_relaxed);
    figures.given_up = given_up_.load(std::memory_order_relaxed);
    const Lock lock(mutex_);
    for (const auto& [number, member] : members_)
        if (member.proxy->is_connected())
            ++(member.proxy->is_consumers() ? figures.consumers : figures.suppliers);
    return figures;
}

} // namespace kairos::events
