// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/service_state.h"

#include "kairos/events/couriers.h"

#include <utility>
#include <vector>

namespace kairos::events {
namespace {

constexpr const char* factory_name = "EventChannelFactory";
constexpr const char* typed_factory_name = "TypedEventChannelFactory";
constexpr std::size_t name_octets_max = 255;

using PortableServer::ObjectId_var;

/// Throws BAD_PARAM for limits with which nothing would ever be done.
const ServiceLimits& checked(const ServiceLimits& limits)
{
    if (limits.quick_threads != 0 && limits.fresh_threads != 0 && limits.patient_threads != 0 &&
        limits.failures_max != 0 && limits.event_tries_max != 0)
        return limits;
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO,
                           "an event service needs threads of each kind, and tries");
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, const ServiceLimits& limits, const char* adapter)
    : orb_(CORBA::ORB::_duplicate(orb)), limits_(checked(limits)),
      budget_(std::make_shared<ServiceBudget>(limits)),
      couriers_(std::make_shared<Couriers>(limits)),
      adapters_(orb, adapter != nullptr ? adapter : "EventService")
{
    if (adapter != nullptr) return;
    try {
        begin(make_factory_servant(*this).in(), factory_name, has_table_entry_);
        begin(make_typed_factory_servant(*this).in(), typed_factory_name, has_typed_table_entry_);
    } catch (...) {
        if (has_table_entry_) adapters_.unbind(factory_name);
        adapters_.destroy(); // which lead to this
        throw;
    }
}

void ServiceState::begin(PortableServer::Servant factory, const char* name, bool& has_table_entry)
{
    ObjectId_var id;
    const CORBA::Object_var object = adapters_.activate_named(factory, name, id);
    try {
        adapters_.bind(name, object.in());
        has_table_entry = true;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
}

ServiceState::~ServiceState()
{
    begin_to_end();
    couriers_->end();
    std::map<std::uint64_t, Entry> channels;
    {
        const Lock lock(mutex_);
        channels.swap(channels_);
    }
    for (auto& [number, entry] : channels)
        end(entry, false);
    if (has_table_entry_) adapters_.unbind(factory_name);
    if (has_typed_table_entry_) adapters_.unbind(typed_factory_name);
    adapters_.destroy();
}

void ServiceState::begin_to_end() noexcept
{
    std::vector<std::shared_ptr<Members>> channels;
    {
        const Lock lock(mutex_);
        has_ended_ = true;
        for (const auto& [number, entry] : channels_)
            channels.push_back(entry.channel);
    }
    for (const auto& channel : channels)
        channel->end(false);
}

CORBA::Object_ptr ServiceState::named(const char* id) const
{
    const ObjectId_var oid = PortableServer::string_to_ObjectId(id);
    return adapters_.named()->id_to_reference(oid.in());
}

KairosEvents::ChannelFactory_ptr ServiceState::factory() const
{
    const CORBA::Object_var object = named(factory_name);
    return KairosEvents::ChannelFactory::_unchecked_narrow(object.in());
}

KairosEvents::TypedChannelFactory_ptr ServiceState::typed_factory() const
{
    const CORBA::Object_var object = named(typed_factory_name);
    return KairosEvents::TypedChannelFactory::_unchecked_narrow(object.in());
}

/// A place for the channel, which nobody finds before it has its objects.
std::uint64_t ServiceState::enter(const Entry& made)
{
    const std::string& name = made.channel->name();
    const Lock lock(mutex_);
    if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    if (channels_.size() >= limits_.channels_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the service has as many channels as it may have");
    if (!name.empty())
        for (const auto& [number, entry] : channels_)
            if (entry.channel->name() == name) throw KairosEvents::NameInUse();
    channels_[++last_].channel = made.channel;
    return last_;
}

KairosEvents::Channel_ptr ServiceState::create(const std::string& name, const char* place,
                                               std::shared_ptr<Recorder> recorder,
                                               std::shared_ptr<Feed>* feed)
{
    const auto channel = std::make_shared<Channel>(name, limits_, budget_, couriers_,
                                                   adapters_.others(), std::move(recorder));
    const CORBA::Object_var object = create({.channel = channel}, place, [&](std::uint64_t number) {
        return make_servants(*this, number, channel);
    });
    if (feed != nullptr) *feed = std::make_shared<ChannelFeed>(channel);
    return KairosEvents::Channel::_unchecked_narrow(object.in());
}

KairosEvents::TypedChannel_ptr ServiceState::create_typed(const std::string& name,
                                                          const char* place)
{
    const auto channel =
        std::make_shared<TypedChannel>(name, limits_, budget_, couriers_, adapters_.others());
    const CORBA::Object_var object =
        create({.channel = channel, .is_typed = true}, place, [&](std::uint64_t number) {
            return make_typed_servants(*this, adapters_, orb_.in(), number, channel);
        });
    return KairosEvents::TypedChannel::_unchecked_narrow(object.in());
}

CORBA::Object_ptr ServiceState::create(Entry entry, const char* place, const MakeServants& make)
{
    if (entry.channel->name().size() > name_octets_max) throw KairosEvents::InvalidName();
    const std::uint64_t number = enter(entry);
    try {
        CORBA::Object_var object = make_objects(make(number), entry, place);
        const Lock lock(mutex_);
        const auto found = channels_.find(number);
        if (found == channels_.end() || has_ended_)
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        found->second = std::move(entry);
        return object._retn();
    } catch (...) {
        {
            const Lock lock(mutex_);
            channels_.erase(number);
        }
        end(entry, false);
        throw;
    }
}

CORBA::Object_ptr ServiceState::make_objects(const ChannelServants& servants, Entry& entry,
                                             const char* place)
{
    Objects& ids = entry.objects;
    const CORBA::Object_var consumers = adapters_.activate(servants.consumers.in(), ids.consumers);
    const CORBA::Object_var suppliers = adapters_.activate(servants.suppliers.in(), ids.suppliers);
    servants.set_admins(consumers.in(), suppliers.in());
    const std::string& name = entry.channel->name();
    if (name.empty()) return adapters_.activate(servants.channel.in(), ids.channel);
    try {
        CORBA::Object_var object =
            adapters_.activate_named(servants.channel.in(), name.c_str(), ids.channel);
        std::string in_table = place + name;
        adapters_.bind(in_table.c_str(), object.in());
        entry.in_table = std::move(in_table);
        return object._retn();
    } catch (const PortableServer::POA::ObjectAlreadyActive&) { // a factory
        ids.channel = {};
        throw KairosEvents::NameInUse();
    } catch (const IORTable::AlreadyBound&) {
        throw KairosEvents::NameInUse();
    }
}

CORBA::Object_ptr ServiceState::find(const std::string& name, bool is_typed)
{
    ObjectId_var id;
    {
        const Lock lock(mutex_);
        for (const auto& [number, entry] : channels_)
            if (!name.empty() && entry.channel->name() == name && entry.is_typed == is_typed &&
                !entry.in_table.empty())
                id = entry.objects.channel;
    }
    if (id.operator->() == nullptr) throw KairosEvents::NotFound();
    try {
        return adapters_.named()->id_to_reference(id.in());
    } catch (const PortableServer::POA::ObjectNotActive&) {
        throw KairosEvents::NotFound();
    }
}

KairosEvents::NameList* ServiceState::names(bool is_typed)
{
    KairosEvents::NameList_var names = new KairosEvents::NameList;
    const Lock lock(mutex_);
    for (const auto& [number, entry] : channels_) {
        if (entry.in_table.empty() || entry.is_typed != is_typed) continue;
        names->length(names->length() + 1);
        names[names->length() - 1] = entry.channel->name().c_str();
    }
    return names._retn();
}

void ServiceState::destroy(std::uint64_t channel)
{
    Entry entry;
    {
        const Lock lock(mutex_);
        const auto found = channels_.find(channel);
        if (found == channels_.end())
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        entry = std::move(found->second);
        channels_.erase(found);
    }
    end(entry, true);
}

void ServiceState::end(Entry& entry, bool tells) noexcept
{
    entry.channel->end(tells);
    if (!entry.in_table.empty()) adapters_.unbind(entry.in_table.c_str());
    const bool is_named = !entry.channel->name().empty();
    ServiceAdapters::deactivate(is_named ? adapters_.named() : adapters_.others(),
                                entry.objects.channel);
    ServiceAdapters::deactivate(adapters_.others(), entry.objects.consumers);
    ServiceAdapters::deactivate(adapters_.others(), entry.objects.suppliers);
}

} // namespace kairos::events
