// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/service.h"

#include "kairos/base/bytes.h"
#include "kairos/base/log.h"
#include "kairos/codec/octets.h"
#include "kairos/logs/schedule.h"
#include "kairos/logs/service_state.h"

#include <algorithm>
#include <utility>

namespace kairos::logs {
namespace {

using PortableServer::ObjectId_var;
using PortableServer::POA_var;

/// Of factories: the keys of their corbaloc URLs, and of their POA.
constexpr const char* factory_names[kind_count] = {"BasicLogFactory", "EventLogFactory",
                                                   "NotifyLogFactory"};
constexpr const char* adapter_names[kind_count] = {"Basic", "Event", "Notify"};
constexpr Kind all_kinds[] = {Kind::basic, Kind::event, Kind::notify};

/// A POA whose objects are logs, by their keys, which later runs have again.
POA_var make_log_poa(PortableServer::POA_ptr parent, const char* name,
                     PortableServer::Servant servant)
{
    const PortableServer::Servant_var<PortableServer::ServantBase> owner = servant;
    CORBA::PolicyList policies;
    policies.length(5);
    policies[0] = parent->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = parent->create_id_uniqueness_policy(PortableServer::MULTIPLE_ID);
    policies[2] = parent->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[3] = parent->create_request_processing_policy(PortableServer::USE_DEFAULT_SERVANT);
    policies[4] = parent->create_lifespan_policy(PortableServer::PERSISTENT);
    const PortableServer::POAManager_var manager = parent->the_POAManager();
    POA_var poa = parent->create_POA(name, manager.in(), policies);
    poa->set_servant(servant);
    return poa;
}

KairosLogs::Settings decoded_settings(const KeptLog& kept)
{
    KairosLogs::Settings settings;
    std::string octets = kept.settings;
    // An earlier version had no such logs, nor settings of channels: zeros are two empty lists.
    constexpr std::size_t alignment = sizeof(CORBA::ULong);
    if (kind_of(kept.key) != Kind::notify)
        octets.resize(align_up(octets.size(), alignment) + 2 * sizeof(CORBA::ULong));
    const Bytes bytes(reinterpret_cast<const std::byte*>(octets.data()), octets.size());
    CORBA::Boolean little_endian = false;
    codec::OctetReader(bytes, !bytes.empty() && bytes[0] == std::byte{1})
        .get(little_endian)
        .get(settings);
    return settings;
}

} // namespace

ServiceState::ServiceState(CORBA::ORB_ptr orb, std::unique_ptr<Store> store,
                           const ServiceLimits& limits, std::shared_ptr<const Clock> clock)
    : iterations(limits.iterators_max, limits.idle_max), event_logs(*this),
      around_(std::make_shared<Surroundings>()),
      found_(std::make_shared<corba::Octets>(limits.found_of_all_max))
{
    around_->orb = CORBA::ORB::_duplicate(orb);
    around_->limits = limits;
    around_->clock = clock ? std::move(clock) : std::make_shared<const Clock>();
    around_->store = store ? std::move(store) : make_memory_store(limits.memory_octets_max);
    load();
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const POA_var root = PortableServer::POA::_narrow(object.in());
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = root->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = root->create_id_assignment_policy(PortableServer::USER_ID);
    factories_ = root->create_POA("LogService", PortableServer::POAManager::_nil(), policies);
    try {
        begin_to_serve();
    } catch (...) {
        destroy_adapters(); // which lead to this
        event_logs.end();
        throw;
    }
}

void ServiceState::load()
{
    std::vector<KeptLog> kept;
    std::vector<LogKey> last_keys;
    if (around_->store->load(kept, last_keys) != StoreStatus::done)
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO, "the store of logs cannot be read");
    for (const LogKey key : last_keys)
        if (key >> 32 < kind_count) last_ids_[key >> 32] = id_of(key);
    for (const KeptLog& one : kept) {
        try {
            if (one.key >> 32 >= kind_count) throw CORBA::MARSHAL();
            logs_[one.key] = std::make_shared<Log>(around_, one, decoded_settings(one));
        } catch (const CORBA::MARSHAL&) {
            throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_NO,
                                       "the store has a log that nobody wrote like this");
        }
    }
}

void ServiceState::begin_to_serve()
{
    const PortableServer::POAManager_var manager = factories_->the_POAManager();
    iterators_ =
        corba::make_numbered_poa(factories_.in(), "Iterators", make_iterator_servant(*this));
    CORBA::Object_var object = around_->orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    for (const Kind kind : all_kinds) {
        const auto place = static_cast<std::size_t>(kind);
        adapters_[place] =
            make_log_poa(factories_.in(), adapter_names[place], make_log_servant(*this, kind));
        const PortableServer::Servant_var<PortableServer::ServantBase> servant =
            make_factory_servant(*this, kind);
        const ObjectId_var id = PortableServer::string_to_ObjectId(factory_names[place]);
        factories_->activate_object_with_id(id.in(), servant.in());
    }
    for (const Kind kind : {Kind::event, Kind::notify}) {
        for (const LogPtr& log : logs(kind)) {
            try {
                event_logs.open(log);
            } catch (const CORBA::Exception& failure) { // its records can be read all the same
                log::error("log service: log " + std::to_string(id_of(log->key())) +
                           " has no channel: " + failure.what());
            }
        }
    }
    manager->activate();
    for (const Kind kind : all_kinds)
        bind(kind);
}

void ServiceState::bind(Kind kind)
{
    const CORBA::Object_var object = factory(kind);
    const CORBA::String_var reference = around_->orb->object_to_string(object.in());
    const auto place = static_cast<std::size_t>(kind);
    try {
        table_->bind(factory_names[place], reference.in());
        is_bound_[place] = true;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
}

ServiceState::~ServiceState()
{
    event_logs.begin_to_end();
    for (std::size_t place = 0; place < kind_count; ++place) {
        try {
            if (is_bound_[place]) table_->unbind(factory_names[place]);
        } catch (const CORBA::Exception&) {
            // The ORB was destroyed before, or the program has unbound it.
        }
    }
    destroy_adapters();
    event_logs.end();
}

void ServiceState::destroy_adapters() noexcept
{
    try {
        factories_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

CORBA::Object_ptr ServiceState::factory(Kind kind) const
{
    const ObjectId_var id =
        PortableServer::string_to_ObjectId(factory_names[static_cast<std::size_t>(kind)]);
    return factories_->id_to_reference(id.in());
}

DsLogAdmin::Log_ptr ServiceState::reference(LogKey key) const
{
    if (kind_of(key) == Kind::event) return object<DsEventLogAdmin::EventLog>(key);
    if (kind_of(key) == Kind::notify) return object<DsNotifyLogAdmin::NotifyLog>(key);
    return object<DsLogAdmin::BasicLog>(key);
}

KairosLogs::Settings ServiceState::first_settings() const
{
    KairosLogs::Settings settings;
    settings.qos.length(1);
    settings.qos[0] =
        around_->store->is_durable() ? DsLogAdmin::QoSReliability : DsLogAdmin::QoSNone;
    settings.max_record_life = 0;
    settings.max_size = 0;
    settings.full_action = DsLogAdmin::halt;
    settings.administrative_state = DsLogAdmin::unlocked;
    settings.forwarding_state = DsLogAdmin::on;
    settings.interval = {0, 0};
    return settings;
}

LogPtr ServiceState::create(Kind kind, std::optional<DsLogAdmin::LogId> id,
                            const KairosLogs::Settings& settings)
{
    LogKey key = 0;
    {
        const std::lock_guard lock(mutex_);
        if (logs_.size() >= around_->limits.logs_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the service has as many logs as it may have");
        DsLogAdmin::LogId& last = last_ids_[static_cast<std::size_t>(kind)];
        DsLogAdmin::LogId chosen = id ? *id : last;
        if (!id) do
                ++chosen;
            while (logs_.contains(key_of(kind, chosen)));
        key = key_of(kind, chosen);
        if (!logs_.emplace(key, nullptr).second) throw DsLogAdmin::LogIdAlreadyExists();
        if (!id) last = chosen;
    }
    try {
        const KeptLog kept{.key = key};
        auto log = std::make_shared<Log>(around_, kept, settings);
        if (kind != Kind::basic) event_logs.open(log); // which says whether it can be as is wanted
        log->enter(!id);
        {
            const std::lock_guard lock(mutex_);
            logs_[key] = log;
        }
        event_logs.say_created(key);
        return log;
    } catch (...) {
        event_logs.close(key);
        const std::lock_guard lock(mutex_);
        logs_.erase(key);
        throw;
    }
}

LogPtr ServiceState::find(LogKey key) const
{
    const std::lock_guard lock(mutex_);
    const auto found = logs_.find(key);
    return found == logs_.end() ? nullptr : found->second;
}

LogPtr ServiceState::called(Kind kind) const
{
    const LogKey key = corba::called_number();
    LogPtr log = kind_of(key) == kind && key >> 32 < kind_count ? find(key) : nullptr;
    if (log == nullptr) corba::raise_no_such_object();
    return log;
}

std::vector<LogPtr> ServiceState::logs(Kind kind) const
{
    std::vector<LogPtr> logs;
    const std::lock_guard lock(mutex_);
    for (auto at = logs_.lower_bound(key_of(kind, 0));
         at != logs_.end() && kind_of(at->first) == kind; ++at)
        if (at->second != nullptr) logs.push_back(at->second);
    return logs;
}

void ServiceState::destroy(const LogPtr& log)
{
    if (!log->end()) corba::raise_no_such_object();
    event_logs.close(log->key()); // while nobody can make another log of this key
    {
        const std::lock_guard lock(mutex_);
        logs_.erase(log->key());
    }
    event_logs.say_deleted(log->key());
}

DsLogAdmin::Iterator_ptr ServiceState::begin(const LogPtr& log, Numbers numbers)
{
    const auto iteration = std::make_shared<RecordIteration>();
    iteration->log = log;
    // Clients may never end theirs: those that were not used for the longest time make room.
    const bool may_fit = numbers.size() <= around_->limits.found_of_all_max;
    while (iteration->charge == nullptr) {
        try {
            iteration->charge = std::make_unique<const corba::Charge>(found_, numbers.size());
        } catch (const CORBA::NO_RESOURCES&) {
            if (!may_fit || !iterations.end_least_used()) throw;
        }
    }
    iteration->numbers = std::move(numbers);
    return corba::numbered_reference<DsLogAdmin::Iterator>(iterators_.in(),
                                                           iterations.begin(iteration));
}

LogService::LogService(CORBA::ORB_ptr orb, std::unique_ptr<Store> store,
                       const ServiceLimits& limits, std::shared_ptr<const Clock> clock)
    : state_(std::make_unique<ServiceState>(orb, std::move(store), limits, std::move(clock)))
{
}

LogService::~LogService() = default;

DsLogAdmin::BasicLogFactory_ptr LogService::basic_logs() const
{
    const CORBA::Object_var object = state_->factory(Kind::basic);
    return DsLogAdmin::BasicLogFactory::_unchecked_narrow(object.in());
}

DsEventLogAdmin::EventLogFactory_ptr LogService::event_logs() const
{
    const CORBA::Object_var object = state_->factory(Kind::event);
    return DsEventLogAdmin::EventLogFactory::_unchecked_narrow(object.in());
}

DsNotifyLogAdmin::NotifyLogFactory_ptr LogService::notify_logs() const
{
    const CORBA::Object_var object = state_->factory(Kind::notify);
    return DsNotifyLogAdmin::NotifyLogFactory::_unchecked_narrow(object.in());
}

void LogService::begin_to_end() noexcept { state_->event_logs.begin_to_end(); }

} // namespace kairos::logs
