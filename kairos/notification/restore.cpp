// SPDX-License-Identifier: Apache-2.0
//
// What a service makes of what its store has when it begins: channels with all that is in them,
// whose references are those of before; then who is connected, and the events that wait for them.
#include "kairos/base/log.h"
#include "kairos/notification/filter_servants.h"
#include "kairos/notification/proxies.h"
#include "kairos/notification/service_state.h"
#include "kairos/notification/stored.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kairos::notification {
namespace {

using Action = StoreChange::Action;

struct RestoredProxy {
    NotifyProxy* proxy = nullptr; // which its channel owns
    KairosNotificationStore::Proxy stored;
};

void connect(const std::map<std::uint64_t, RestoredProxy>& proxies, bool consumers)
{
    for (const auto& [key, one] : proxies) {
        if (one.proxy->kind().is_consumers != consumers || !one.stored.is_connected) continue;
        one.proxy->connect_again(one.stored);
    }
}

/// Where objects are.
class Places {
  public:
    explicit Places(Keeper& keeper) : keeper_(keeper) {}

    /// Whether another object is there already, which stays: this one is erased then.
    [[nodiscard]] bool has(const StoredObject& object, const KairosNotificationStore::Id& id)
    {
        const auto* const octets = reinterpret_cast<const char*>(id.get_buffer());
        if (places_.insert(std::string(octets, id.length())).second) return false;
        log::error("notify: the store has two objects at one place: one of them is left out");
        keeper_.write_later({.action = Action::erase_object, .key = object.key});
        return true;
    }

  private:
    Keeper& keeper_;
    std::set<std::string> places_;
};

/// Of ids: no run comes to it, and there is room behind it.
constexpr CORBA::Long id_max = std::numeric_limits<CORBA::Long>::max() / 2;

void require_id(CORBA::Long id)
{
    if (id < 0 || id > id_max) throw CORBA::MARSHAL();
}

void require_ids(const KairosNotificationStore::Settings& of)
{
    require_id(of.last_filter);
    for (CORBA::ULong i = 0; i < of.filters.length(); ++i)
        require_id(std::max(of.filters[i].number, 0)); // below are mapping filters
}

void require_ids(const KairosNotificationStore::Filter& filter)
{
    require_id(filter.last_constraint);
    for (CORBA::ULong i = 0; i < filter.constraints.length(); ++i)
        require_id(filter.constraints[i].constraint_id);
}

/// What is not there any more may have been the last that was given a key.
void note_keys(Keeper& keeper, const KairosNotificationStore::Settings& of)
{
    for (CORBA::ULong i = 0; i < of.filters.length(); ++i)
        keeper.note_key(of.filters[i].which);
}

/// Gives events to those who wait for them. What nobody waits for goes; what there is no room for
/// now, or this program cannot read, stays in the store for a later run.
class WaitingEvents {
  public:
    WaitingEvents(Keeper& keeper, events::ServiceBudget& budget,
                  const std::map<std::uint64_t, RestoredProxy>& proxies,
                  std::chrono::milliseconds mapping_max)
        : keeper_(keeper), budget_(budget), proxies_(proxies),
          mapping_end_(std::chrono::steady_clock::now() + mapping_max)
    {
    }

    /// Nothing is there twice for longer than it takes.
    void give(Stored& all)
    {
        std::map<std::uint64_t, std::vector<std::uint64_t>> waiting; // by event
        for (const StoredWait& one : std::exchange(all.waits, {}))
            waiting[one.event].push_back(one.object);
        for (StoredEvent& event : all.events) {
            give(event, waiting[event.number]);
            waiting.erase(event.number);
            std::string().swap(event.state);
        }
        for (const auto& [event, who] : waiting) // without an event
            for (const std::uint64_t object : who)
                keeper_.write_later(
                    {.action = Action::erase_waiting, .key = object, .other = event});
        if (left_ != 0)
            log::error("notify: the store has " + std::to_string(left_) +
                       " events that cannot be read, or are more than may wait: they stay there, "
                       "and nobody gets them in this run");
        if (unmapped_ != 0)
            log::error("notify: the mapping filters would take too long for the events that wait: "
                       "for " +
                       std::to_string(unmapped_) + " of them they were not asked");
    }

  private:
    void give(const StoredEvent& event, const std::vector<std::uint64_t>& who)
    {
        if (who.empty())
            return keeper_.write_later({.action = Action::erase_event, .key = event.number});
        std::shared_ptr<Notification> made;
        try {
            made = stored_event(event.state, keeper_.orb());
            events::Portion none;
            if (!made->charge(budget_.event_octets, none)) made = nullptr;
        } catch (const CORBA::SystemException&) { // nobody wrote it like this
            made = nullptr;
        }
        if (!made) {
            ++left_;
            return;
        }
        // What is let go is erased.
        const std::vector<NotificationPtr> claims = keeper_.keep_on(made, event.number, who);
        Passed passed; // each mapping filter is asked once, as when the event came
        passed.mapping_end = mapping_end_;
        for (std::size_t i = 0; i < who.size(); ++i)
            if (const auto found = proxies_.find(who[i]); found != proxies_.end())
                (void)found->second.proxy->take_back(claims[i], passed);
        if (passed.was_cut) ++unmapped_;
    }

    Keeper& keeper_;
    events::ServiceBudget& budget_;
    const std::map<std::uint64_t, RestoredProxy>& proxies_;
    const std::chrono::steady_clock::time_point mapping_end_;
    std::size_t left_ = 0;
    std::size_t unmapped_ = 0;
};

/// What a key in the store stands for where something is attached.
Settings::Attached attached_of(std::uint64_t key,
                               const std::map<std::uint64_t, RestoredFilter>& filters,
                               const std::map<std::uint64_t, RestoredMappingFilter>& mappings,
                               const std::shared_ptr<Filter>& gone)
{
    if (const auto found = filters.find(key); found != filters.end())
        return {.filter = found->second.filter, .object = found->second.object.in()};
    if (const auto found = mappings.find(key); found != mappings.end())
        return {.filter = gone,
                .mapping = found->second.filter,
                .mapping_object = found->second.object.in()};
    return {.filter = gone};
}

} // namespace

void ServiceState::restore()
{
    try {
        Stored all = keeper_->load();
        restore(all);
    } catch (const std::bad_alloc&) {
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                   "the store of channels has more than there is memory for");
    } catch (const CORBA::UserException& raised) {
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                   "the store of channels has what this service may not have");
    } catch (const CORBA::IMP_LIMIT&) {
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                   "the store of channels has more than this service may have");
    } catch (const CORBA::PERSIST_STORE&) {
        throw;
    } catch (const CORBA::SystemException&) { // as for a reference that is none
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                   "the store of channels has what nobody wrote like this");
    }
}

void ServiceState::restore(Stored& all)
{
    std::map<std::uint64_t, ChannelPtr> channels; // by key
    std::map<std::uint64_t, std::pair<ChannelPtr, AdminPtr>> admins;
    std::map<std::uint64_t, RestoredFilter> filters;
    std::map<std::uint64_t, RestoredMappingFilter> mappings;
    std::map<std::uint64_t, RestoredProxy> proxies;
    Places places(*keeper_);

    std::map<std::uint64_t, KairosNotificationStore::Channel> states;
    for (const StoredObject& object : all.objects)
        if (kind_of(object) == StoredKind::channel) {
            states[object.key] = state_of<KairosNotificationStore::Channel>(object);
            channels[object.key] = restore_channel(object.key, states[object.key]);
        }
    for (const StoredObject& object : all.objects)
        if (kind_of(object) > StoredKind::mapping_filter) throw CORBA::MARSHAL();
    const auto of_kind = [&](StoredKind kind, const auto& make) {
        for (const StoredObject& object : all.objects) {
            if (kind_of(object) != kind) continue;
            if (const auto found = channels.find(object.channel); found != channels.end())
                make(object, found->second);
            else // its channel ended before it was made
                keeper_->write_later({.action = Action::erase_object, .key = object.key});
        }
    };
    of_kind(StoredKind::filter, [&](const StoredObject& object, const ChannelPtr& channel) {
        const auto stored = state_of<KairosNotificationStore::Filter>(object);
        require_ids(stored);
        if (!places.has(object, stored.place))
            filters[object.key] = restore_filter(channel, object.key, stored);
    });
    of_kind(StoredKind::mapping_filter, [&](const StoredObject& object, const ChannelPtr& channel) {
        const auto stored = state_of<KairosNotificationStore::MappingFilter>(object);
        if (!places.has(object, stored.place))
            mappings[object.key] = restore_mapping_filter(channel, object.key, stored);
    });
    // One that was destroyed lets nothing through, wherever it is attached.
    const auto gone = std::make_shared<Filter>(filters_);
    gone->end();
    const std::function<Settings::Attached(std::uint64_t)> find = [&](std::uint64_t key) {
        return attached_of(key, filters, mappings, gone);
    };
    std::set<std::tuple<const Channel*, bool, CORBA::Long>> ids; // of admins
    of_kind(StoredKind::admin, [&](const StoredObject& object, const ChannelPtr& channel) {
        const auto stored = state_of<KairosNotificationStore::Admin>(object);
        require_id(stored.number);
        require_ids(stored.own);
        note_keys(*keeper_, stored.own);
        if (!ids.emplace(channel.get(), stored.is_consumers, stored.number).second)
            throw CORBA::MARSHAL();
        if (places.has(object, stored.place)) return;
        admins[object.key] = {channel, restore_admin(*this, channel, object.key, stored, find)};
    });
    for (const auto& [key, channel] : channels)
        restore_object(channel, states[key], admins);
    of_kind(StoredKind::proxy, [&](const StoredObject& object, const ChannelPtr& channel) {
        auto stored = state_of<KairosNotificationStore::Proxy>(object);
        require_id(stored.number);
        require_ids(stored.own);
        note_keys(*keeper_, stored.own);
        keeper_->note_key(stored.of);
        if (places.has(object, stored.place)) return;
        const auto found = admins.find(stored.of);
        if (found == admins.end() || found->second.first != channel)
            return keeper_->write_later({.action = Action::erase_object, .key = object.key});
        NotifyProxy& proxy = restore_proxy(channel, found->second.second, object.key, stored, find);
        proxies[object.key] = {.proxy = &proxy, .stored = std::move(stored)};
    });
    connect(proxies, true);
    WaitingEvents(*keeper_, *budget_, proxies, limits().restored_mapping_max).give(all);
    connect(proxies, false); // from whom there may be more at once
}

ChannelPtr ServiceState::restore_channel(std::uint64_t key,
                                         const KairosNotificationStore::Channel& stored)
{
    require_id(stored.number);
    if (share_ && ShareOf::of(stored.number) != share_->number) throw CORBA::MARSHAL();
    AdminProperties properties;
    change(properties, stored.administration);
    auto channel = std::make_shared<Channel>(stored.number, stored.name.in(),
                                             channel_qos(within(limits(), stored.qos)), properties,
                                             filters_, budget_, couriers_, adapters_, keeper_);
    (void)channel->settings().set_kept(key);
    const std::lock_guard lock(mutex_);
    if (channels_.contains(stored.number)) throw CORBA::MARSHAL();
    if (channels_.size() >= limits().channels_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the service has as many channels as it may have");
    channels_[stored.number].channel = channel;
    last_ = std::max(last_, stored.number + 1);
    return channel;
}

/// Nobody is served before all is there: so the entry is this thread's.
void ServiceState::restore_object(
    const ChannelPtr& channel, const KairosNotificationStore::Channel& stored,
    const std::map<std::uint64_t, std::pair<ChannelPtr, AdminPtr>>& admins)
{
    AdminPtr first[2]; // of suppliers, of consumers
    for (const auto& [key, one] : admins)
        if (one.first == channel && one.second->id() == 0)
            first[one.second->is_consumers() ? 1 : 0] = one.second;
    const PortableServer::ObjectId factory = id_of_stored(stored.filter_factory);
    const auto servant = restore_channel_servant(*this, channel, first[1], first[0], factory);
    Entry* entry = nullptr;
    {
        const std::lock_guard lock(mutex_);
        entry = &channels_.at(channel->id());
    }
    entry->id = new PortableServer::ObjectId(id_of_stored(stored.place));
    place_again(*entry, servant.in());
    channel->set_place(entry->id.in());
    entry->is_restored = true;
}

} // namespace kairos::notification
