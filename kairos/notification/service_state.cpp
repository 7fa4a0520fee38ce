// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/service_state.h"

#include "kairos/base/log.h"
#include "kairos/notification/proxy.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <utility>
#include <vector>

namespace kairos::notification {
namespace {

using CosNotifyChannelAdmin::ChannelID;

constexpr const char* factory_name = "NotificationService";
constexpr std::size_t name_octets_max = 255;

/// Throws BAD_PARAM for limits with which nothing would ever be done.
const NotificationLimits& checked(const NotificationLimits& limits)
{
    if (limits.quick_threads != 0 && limits.fresh_threads != 0 && limits.patient_threads != 0 &&
        limits.failures_max != 0 && limits.event_tries_max != 0 && limits.batch_max != 0 &&
        limits.queue_max != 0 && limits.admins_max >= 2 && limits.store_waiting_max != 0 &&
        limits.store_patience.count() > 0)
        return limits;
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                           "a notification service needs threads of each kind, tries and queues");
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                           std::unique_ptr<Store> store, const char* adapter)
    : ServiceState(orb, limits, std::move(store), std::nullopt, adapter)
{
}

ServiceState::ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                           std::unique_ptr<Store> store, ShareOf share)
    : ServiceState(orb, limits, std::move(store), std::optional(std::move(share)), nullptr)
{
}

ServiceState::ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                           std::unique_ptr<Store> store, std::optional<ShareOf> share,
                           const char* adapter)
    : share_(std::move(share)), filters_(std::make_shared<FilterBudget>(checked(limits))),
      budget_(std::make_shared<events::ServiceBudget>(limits)),
      couriers_(std::make_shared<events::Couriers>(limits)),
      keeper_(store ? std::make_shared<Keeper>(std::move(store), orb, limits) : nullptr),
      adapters_(share_ ? events::ServiceAdapters(orb, share_->named.in(), share_->others.in())
                       : events::ServiceAdapters(orb, adapter == nullptr ? factory_name : adapter,
                                                 keeper_ != nullptr)),
      last_(share_ ? share_->first_id() : 0)
{
    try {
        if (adapter == nullptr && !share_) begin();
        if (keeper_) restore();
        if (keeper_ && !share_) adapters_.serve();
    } catch (...) {
        end_all(); // whose objects lead to this
        throw;
    }
}

void ServiceState::begin()
{
    const auto servant = make_factory_servant(*this);
    PortableServer::ObjectId_var id;
    const CORBA::Object_var object = adapters_.activate_named(servant.in(), factory_name, id);
    has_factory_ = true;
    try {
        adapters_.bind(factory_name, object.in());
        has_table_entry_ = true;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
}

ServiceState::~ServiceState() { end_all(); }

void ServiceState::end_all() noexcept
{
    begin_to_end();
    couriers_->end();
    std::map<ChannelID, Entry> channels;
    {
        const std::lock_guard lock(mutex_);
        channels.swap(channels_);
    }
    for (auto& [id, entry] : channels)
        end(entry, false);
    if (has_table_entry_) adapters_.unbind(factory_name);
    adapters_.destroy();
    if (share_ && keeper_) keeper_->let_store_go(); // somebody else waits for it
}

void ServiceState::begin_to_end() noexcept { begin_to_end(true); }

void ServiceState::abandon() noexcept { begin_to_end(false); }

void ServiceState::begin_to_end(bool lets_calls_end) noexcept
{
    std::vector<ChannelPtr> channels;
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        is_first = !std::exchange(has_ended_, true);
        for (const auto& [id, entry] : channels_)
            channels.push_back(entry.channel);
    }
    if (keeper_) {
        adapters_.discard();
        if (is_first && lets_calls_end) let_calls_end(channels);
        keeper_->close();
    }
    for (const ChannelPtr& channel : channels)
        channel->end(false);
}

/// What has an answer is not sent again in the next run.
void ServiceState::let_calls_end(const std::vector<ChannelPtr>& channels) const noexcept
{
    struct Calls {
        std::mutex mutex; // guards what follows; inside nobody's
        std::condition_variable changed;
        bool are_over = false;
    };
    try {
        const auto calls = std::make_shared<Calls>();
        // Let go by the last courier that has one under way.
        std::shared_ptr<void> under_way(calls.get(), [calls](void*) {
            const std::lock_guard lock(calls->mutex);
            calls->are_over = true;
            calls->changed.notify_all();
        });
        for (const ChannelPtr& channel : channels)
            if (channel->keeper()) channel->hold(under_way);
        under_way.reset();
        std::unique_lock lock(calls->mutex);
        (void)calls->changed.wait_for(lock, limits().call_timeout,
                                      [&calls] { return calls->are_over; });
    } catch (const std::exception&) { // no memory: some come twice
    }
}

CosNotifyChannelAdmin::EventChannelFactory_ptr ServiceState::factory() const
{
    if (share_) return CosNotifyChannelAdmin::EventChannelFactory::_duplicate(share_->factory.in());
    if (!has_factory_) return CosNotifyChannelAdmin::EventChannelFactory::_nil();
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(factory_name);
    const CORBA::Object_var object = adapters_.named()->id_to_reference(id.in());
    return CosNotifyChannelAdmin::EventChannelFactory::_unchecked_narrow(object.in());
}

/// A place for the channel, which nobody finds before it has its object.
ChannelPtr ServiceState::enter(const std::string& name, const Qos& qos,
                               const AdminProperties& properties,
                               std::shared_ptr<Recorder> recorder)
{
    const std::lock_guard lock(mutex_);
    if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    if (channels_.size() >= limits().channels_max ||
        (share_ && ShareOf::of(last_) != share_->number))
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the service has as many channels as it may have");
    // Before anything is kept of it: what the store has must find its place again.
    if (name == factory_name) throw KairosEvents::NameInUse();
    for (const auto& [id, entry] : channels_)
        if (!name.empty() && entry.channel->name() == name) throw KairosEvents::NameInUse();
    const bool is_kept = qos.connection_reliability == CosNotification::Persistent;
    auto channel = std::make_shared<Channel>(last_, name, qos, properties, filters_, budget_,
                                             couriers_, adapters_, is_kept ? keeper_ : nullptr);
    if (is_kept) (void)channel->settings().set_kept(keeper_->next_key());
    if (recorder) channel->set_recorder(std::move(recorder));
    channels_[last_++].channel = channel;
    return channel;
}

KairosNotification::Channel_ptr ServiceState::create(const std::string& name, const Qos& qos,
                                                     const AdminProperties& properties,
                                                     ChannelID& id,
                                                     std::shared_ptr<Recorder> recorder,
                                                     std::optional<CORBA::Object_var> front)
{
    if (name.size() > name_octets_max) throw KairosEvents::InvalidName();
    {
        const std::lock_guard lock(mutex_);
        for (auto& [number, kept] : channels_) {
            if (name.empty() || kept.channel->name() != name || !kept.is_restored) continue;
            kept.is_restored = false;
            id = number;
            return KairosNotification::Channel::_unchecked_narrow(kept.object.in());
        }
    }
    Entry entry;
    entry.channel = enter(name, qos, properties, std::move(recorder));
    entry.front = std::move(front);
    id = entry.channel->id();
    try {
        make_object(entry);
        auto made = KairosNotification::Channel_var(
            KairosNotification::Channel::_unchecked_narrow(entry.object.in()));
        const std::lock_guard lock(mutex_);
        const auto found = channels_.find(id);
        if (found == channels_.end() || has_ended_)
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        found->second = std::move(entry);
        return made._retn();
    } catch (...) {
        {
            const std::lock_guard lock(mutex_);
            channels_.erase(id);
        }
        if (entry.channel->keeper()) // what the store has of it means nothing without the channel
            keeper_->write_later({.action = StoreChange::Action::erase_channel,
                                  .key = entry.channel->settings().kept()});
        end(entry, false);
        throw;
    }
}

void ServiceState::make_object(Entry& entry)
{
    const auto servant = make_channel_servant(*this, entry.channel);
    if (entry.channel->keeper()) {
        const std::string& name = entry.channel->name();
        PortableServer::ObjectId_var id = name.empty()
                                              ? events::ServiceAdapters::new_id()
                                              : PortableServer::string_to_ObjectId(name.c_str());
        entry.channel->set_place(id.in());
        entry.channel->save();           // before anybody can find it, who may know its name
        if (name.empty()) entry.id = id; // the name's is its own once it is there
    }
    place(entry, servant.in());
}

void ServiceState::place(Entry& entry, PortableServer::Servant servant)
{
    const std::string& name = entry.channel->name();
    if (name.empty()) {
        entry.object = adapters_.activate(servant, entry.id);
    } else {
        try {
            entry.object = adapters_.activate_named(servant, name.c_str(), entry.id);
            entry.has_name = true;
            adapters_.bind(name.c_str(), entry.object.in());
            entry.is_in_table = true;
        } catch (const PortableServer::POA::ObjectAlreadyActive&) { // the factory
            entry.id = {};
            throw KairosEvents::NameInUse();
        } catch (const IORTable::AlreadyBound&) {
            throw KairosEvents::NameInUse();
        }
    }
}

/// Of a channel that the store has. Where the program leads its clients elsewhere by the name, the
/// channel is found by its reference alone: it is no reason for the others not to be there.
void ServiceState::place_again(Entry& entry, PortableServer::Servant servant)
{
    const std::string name = entry.channel->name();
    try {
        return place(entry, servant);
    } catch (const KairosEvents::NameInUse&) {
        log::error("notify: the name of the channel " + name +
                   " is in use: clients do not find it by that");
    }
    if (entry.has_name) return;
    entry.id = events::ServiceAdapters::new_id(); // the name is the service's own
    entry.object = adapters_.activate(servant, entry.id);
}

CosNotifyChannelAdmin::EventChannel_ptr ServiceState::find(ChannelID id)
{
    const std::lock_guard lock(mutex_);
    const auto found = channels_.find(id);
    if (found == channels_.end() || CORBA::is_nil(found->second.object.in()))
        throw CosNotifyChannelAdmin::ChannelNotFound();
    const Entry& entry = found->second;
    const CORBA::Object_var& object = entry.front ? *entry.front : entry.object;
    return CosNotifyChannelAdmin::EventChannel::_unchecked_narrow(object.in());
}

CosNotifyChannelAdmin::ChannelIDSeq* ServiceState::ids()
{
    CosNotifyChannelAdmin::ChannelIDSeq_var ids = new CosNotifyChannelAdmin::ChannelIDSeq;
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : channels_) {
        if (CORBA::is_nil(entry.object.in())) continue;
        ids->length(ids->length() + 1);
        ids[ids->length() - 1] = id;
    }
    return ids._retn();
}

bool ServiceState::can_move()
{
    std::vector<ChannelPtr> channels;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [id, entry] : channels_)
            channels.push_back(entry.channel);
    }
    return std::ranges::all_of(channels, [](const ChannelPtr& channel) {
        return channel->keeper() && channel->all_are([](const events::Proxy& proxy) {
            return static_cast<const NotifyProxy&>(proxy).is_kept();
        });
    });
}

void ServiceState::destroy(ChannelID id)
{
    ChannelPtr kept;
    {
        const std::lock_guard lock(mutex_);
        const auto found = channels_.find(id);
        if (found != channels_.end() && found->second.channel->keeper())
            kept = found->second.channel;
    }
    if (kept)
        keeper_->write(
            {.action = StoreChange::Action::erase_channel, .key = kept->settings().kept()});
    Entry entry;
    {
        const std::lock_guard lock(mutex_);
        const auto found = channels_.find(id);
        if (found == channels_.end())
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        entry = std::move(found->second);
        channels_.erase(found);
    }
    end(entry, true);
}

void ServiceState::end(Entry& entry, bool tells) noexcept
{
    entry.channel->end_all(tells);
    if (entry.is_in_table) adapters_.unbind(entry.channel->name().c_str());
    events::ServiceAdapters::deactivate(entry.has_name ? adapters_.named() : adapters_.others(),
                                        entry.id);
}

} // namespace kairos::notification
