// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/shared_service.h"

#include "kairos/base/log.h"
#include "kairos/events/forwarding_adapters.h"
#include "kairos/notification/CosNotifyChannelAdmin_skel.h"
#include "kairos/notification/service_state.h"
#include "kairos/notification/stored.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::notification {
namespace {

using namespace CosNotifyChannelAdmin;

constexpr const char* shared_factory_name = "NotificationService";

/// Of a channel with a name: every process finds it in the same share. As FNV-1a has it.
unsigned share_of_name(std::string_view name, unsigned count)
{
    std::uint64_t sum = 14'695'981'039'346'656'037U;
    for (const char octet : name)
        sum = (sum ^ static_cast<unsigned char>(octet)) * 1'099'511'628'211U;
    return static_cast<unsigned>(sum % count) + 1;
}

[[noreturn]] void raise_no_share()
{
    throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "this process has no share of the channels now");
}

} // namespace

/// The shares that this process has, and who finds the others.
class SharedState final : public ShareHolder {
  public:
    SharedState(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                std::unique_ptr<Shares> shares, const SharedOptions& options);
    ~SharedState() override { end_all(); }

    bool take(unsigned share, std::unique_ptr<Store> store) override;
    bool give_back(unsigned share) override;
    void drop(unsigned share) override;
    void begin_to_end() noexcept;

    /// One of those that are here, which stays while this is there.
    class Use;
    /// Throws TRANSIENT where it is not here.
    [[nodiscard]] Use use(unsigned share);
    /// One after the other. Throws TRANSIENT where there is none.
    [[nodiscard]] Use use_any();
    [[nodiscard]] bool has(unsigned share) const
    {
        const std::lock_guard lock(mutex_);
        return entries_.contains(share);
    }
    /// Throws ForwardRequest to the factory of a process that has a share, where this has none.
    void forward_unless_any(const PortableServer::ObjectId& id, PortableServer::POA_ptr poa) const;
    [[nodiscard]] EventChannel_ptr find(ChannelID id);
    [[nodiscard]] ChannelIDSeq* ids();
    [[nodiscard]] KairosNotification::Channel_ptr channel(const std::string& name) const;
    [[nodiscard]] EventChannelFactory_ptr factory() const
    {
        return EventChannelFactory::_duplicate(factory_.in());
    }

  private:
    struct Entry {
        std::unique_ptr<ServiceState> state;
        unsigned users = 0;
    };

    void end(unsigned share) noexcept;
    void end_all() noexcept;
    void make_named(ServiceState& state, unsigned share);
    [[nodiscard]] std::vector<std::pair<ChannelID, CORBA::Object_var>> elsewhere(unsigned share);

    const CORBA::ORB_var orb_;
    const NotificationLimits limits_;
    const SharedOptions options_;
    const std::unique_ptr<Shares> shares_;
    IORTable::Table_var table_;
    PortableServer::POA_var adapter_; // of the factory
    std::unique_ptr<events::ForwardingAdapters> adapters_;
    EventChannelFactory_var factory_;
    bool has_table_entry_ = false; // of the factory
    mutable std::mutex mutex_;     // guards what follows; not held while anything is called
    std::condition_variable changed_;
    std::map<unsigned, Entry> entries_;
    unsigned last_used_ = 0; // by who wanted any
    bool has_ended_ = false;
};

class SharedState::Use {
  public:
    /// Must hold the mutex of `of`.
    Use(SharedState& of, Entry& entry) : of_(of), entry_(entry), state_(*entry.state)
    {
        ++entry_.users;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use()
    {
        const std::lock_guard lock(of_.mutex_);
        --entry_.users;
        of_.changed_.notify_all();
    }
    [[nodiscard]] ServiceState* operator->() const noexcept { return &state_; }

  private:
    SharedState& of_;
    Entry& entry_;
    ServiceState& state_; // which nobody ends meanwhile
};

namespace {

class SharedFactory final : public POA_CosNotifyChannelAdmin::EventChannelFactory {
  public:
    explicit SharedFactory(SharedState& state) : state_(state) {}

    EventChannel_ptr create_channel(const CosNotification::QoSProperties& initial_qos,
                                    const CosNotification::AdminProperties& initial_admin,
                                    CORBA::Long_out id) override
    {
        const auto share = state_.use_any();
        const Qos qos = share->channel_qos(initial_qos);
        AdminProperties properties;
        change(properties, initial_admin);
        return share->create("", qos, properties, id);
    }
    ChannelIDSeq* get_all_channels() override { return state_.ids(); }
    EventChannel_ptr get_event_channel(ChannelID id) override { return state_.find(id); }

  private:
    SharedState& state_;
};

/// Calls the factory of this process where it has a share.
class FactoryLocator final : public virtual PortableServer::ServantLocator {
  public:
    explicit FactoryLocator(SharedState& state) : state_(state), factory_(new SharedFactory(state))
    {
    }
    PortableServer::Servant preinvoke(const PortableServer::ObjectId& oid,
                                      PortableServer::POA_ptr adapter, const char*,
                                      Cookie&) override
    {
        const CORBA::String_var name = PortableServer::ObjectId_to_string(oid);
        if (std::string_view(name.in()) != shared_factory_name)
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        state_.forward_unless_any(oid, adapter);
        return factory_.in();
    }
    void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*, Cookie,
                    PortableServer::Servant) override
    {
    }

  private:
    SharedState& state_; // which ends the POA that this belongs to
    const PortableServer::Servant_var<SharedFactory> factory_;
};

} // namespace

SharedState::SharedState(CORBA::ORB_ptr orb, const NotificationLimits& limits,
                         std::unique_ptr<Shares> shares, const SharedOptions& options)
    : orb_(CORBA::ORB::_duplicate(orb)), limits_(limits), options_(options),
      shares_(std::move(shares))
{
    (void)qos_of_channel(options.qos, true, limits_);
    CORBA::Object_var object = orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    CORBA::PolicyList policies;
    policies.length(4);
    policies[0] = root->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = root->create_id_assignment_policy(PortableServer::USER_ID);
    policies[2] = root->create_servant_retention_policy(PortableServer::NON_RETAIN);
    policies[3] = root->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    adapter_ = root->create_POA(shared_factory_name, PortableServer::POAManager::_nil(), policies);
    try {
        const PortableServer::ServantLocator_var locator = new FactoryLocator(*this);
        adapter_->set_servant_manager(locator.in());
        adapters_ = std::make_unique<events::ForwardingAdapters>(
            orb, adapter_.in(), shares_->count(),
            [this](unsigned share) { return shares_->address_of(share); });
        const PortableServer::ObjectId_var id =
            PortableServer::string_to_ObjectId(shared_factory_name);
        object = adapter_->create_reference_with_id(
            id.in(), "IDL:omg.org/CosNotifyChannelAdmin/EventChannelFactory:1.0");
        factory_ = EventChannelFactory::_unchecked_narrow(object.in());
        const std::string address = events::address_for_others(object.in(), options.address);
        // Who asks this process by a name does not go to another one first.
        try {
            table_->bind(shared_factory_name, address.c_str());
            has_table_entry_ = true;
        } catch (const IORTable::AlreadyBound&) {
            // The program that this service is part of leads its clients to another one.
        }
        for (const std::string& name : options_.channels) {
            const auto named = KairosNotification::Channel_var(channel(name));
            table_->rebind(name.c_str(),
                           events::address_for_others(named.in(), options.address).c_str());
        }
        adapters_->serve();
        shares_->begin(*this, address);
        const PortableServer::POAManager_var manager = adapter_->the_POAManager();
        manager->activate();
    } catch (...) {
        end_all();
        throw;
    }
}

void SharedState::end_all() noexcept
{
    begin_to_end();
    for (unsigned share = 1; share <= shares_->count(); ++share)
        end(share);
    try {
        if (has_table_entry_) table_->unbind(shared_factory_name);
        for (const std::string& name : options_.channels)
            table_->unbind(name.c_str());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    try {
        adapter_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

/// All at the same time, or who does not answer in each of them would be waited for in turn.
void SharedState::begin_to_end() noexcept
{
    std::vector<std::pair<Entry*, ServiceState*>> all;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        for (auto& [share, entry] : entries_) {
            if (!entry.state) continue;
            ++entry.users;
            all.emplace_back(&entry, entry.state.get());
        }
    }
    const auto begin = [this](Entry* entry, ServiceState* state) noexcept {
        state->begin_to_end();
        const std::lock_guard lock(mutex_);
        --entry->users;
        changed_.notify_all();
    };
    std::vector<std::thread> threads;
    for (const auto& [entry, state] : all) {
        try {
            threads.emplace_back(begin, entry, state);
        } catch (const std::exception&) { // no thread, or no memory
            begin(entry, state);
        }
    }
    shares_->end(); // waits for what is just taken or given back
    for (std::thread& thread : threads)
        thread.join();
}

bool SharedState::take(unsigned share, std::unique_ptr<Store> store)
{
    PortableServer::POA_var named;
    try {
        const events::ForwardingAdapters::Pair made = adapters_->take(share);
        named = made.named;
        auto state = std::make_unique<ServiceState>(
            orb_.in(), limits_, std::move(store),
            ShareOf{
                .number = share, .named = made.named, .others = made.others, .factory = factory_});
        make_named(*state, share);
        state->serve();
        const std::lock_guard lock(mutex_);
        if (has_ended_) return false;
        entries_[share].state = std::move(state);
        return true;
    } catch (const std::exception& failure) { // of memory or threads, too
        log::error(log::Line() << "notify: share " << share
                               << " cannot be served: " << failure.what());
    }
    try {
        if (!CORBA::is_nil(named.in())) named->destroy(true, true);
    } catch (const CORBA::Exception&) { // the service has done that
    }
    return false;
}

/// Those with a name that belong there, as far as they are not there yet. Where the store fails the
/// share is left, and tried again.
void SharedState::make_named(ServiceState& state, unsigned share)
{
    for (const std::string& name : options_.channels) {
        if (share_of_name(name, shares_->count()) != share) continue;
        try {
            ChannelID id = 0;
            const auto made = KairosNotification::Channel_var(
                state.create(name, state.channel_qos(options_.qos), {}, id));
        } catch (const CORBA::UserException& failure) {
            log::error("notify: the channel " + name + " cannot be made: " + failure.what());
        } catch (const CORBA::IMP_LIMIT&) { // the share has others
            log::error("notify: the channel " + name + " is one too many");
        }
    }
}

bool SharedState::give_back(unsigned share)
{
    if (!use(share)->can_move()) return false;
    {
        const Use given = use(share);
        given->discard();
        if (!given->can_move()) { // something was made meanwhile
            given->serve();
            return false;
        }
    }
    end(share);
    return true;
}

void SharedState::drop(unsigned share)
{
    if (has(share)) use(share)->abandon();
    end(share);
}

/// Nobody begins to use it any more.
void SharedState::end(unsigned share) noexcept
{
    std::unique_ptr<ServiceState> state;
    {
        std::unique_lock lock(mutex_);
        const auto found = entries_.find(share);
        if (found == entries_.end()) return;
        state = std::move(found->second.state);
        changed_.wait(lock, [&found] { return found->second.users == 0; });
        entries_.erase(found);
    }
}

SharedState::Use SharedState::use(unsigned share)
{
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(share);
    if (has_ended_ || found == entries_.end() || !found->second.state) raise_no_share();
    return {*this, found->second};
}

SharedState::Use SharedState::use_any()
{
    const std::lock_guard lock(mutex_);
    if (has_ended_) raise_no_share();
    auto next = entries_.upper_bound(last_used_);
    for (std::size_t i = 0; i < entries_.size(); ++i, ++next) {
        if (next == entries_.end()) next = entries_.begin();
        if (!next->second.state) continue; // it is on its way
        last_used_ = next->first;
        return {*this, next->second};
    }
    raise_no_share();
}

void SharedState::forward_unless_any(const PortableServer::ObjectId& id,
                                     PortableServer::POA_ptr poa) const
{
    {
        const std::lock_guard lock(mutex_);
        if (!entries_.empty()) return;
    }
    for (unsigned share = 1; share <= shares_->count(); ++share) {
        const std::string address = shares_->address_of(share);
        if (address.empty()) continue;
        const CORBA::Object_var here = poa->create_reference_with_id(id, "");
        events::forward_to(orb_.in(), address, here.in());
    }
    raise_no_share();
}

/// The channels of a share that another process has, as the database has them.
std::vector<std::pair<ChannelID, CORBA::Object_var>> SharedState::elsewhere(unsigned share)
{
    std::vector<StoredObject> objects;
    if (shares_->channels(share, objects) != StoreStatus::done)
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the store of channels cannot be read now");
    std::vector<std::pair<ChannelID, CORBA::Object_var>> found;
    for (const StoredObject& object : objects) {
        if (kind_of(object) != StoredKind::channel) continue;
        KairosNotificationStore::Channel stored;
        try {
            stored = state_of<KairosNotificationStore::Channel>(object);
        } catch (const CORBA::SystemException&) { // nobody wrote it like this
            continue;
        }
        const bool is_named = *stored.name.in() != '\0';
        found.emplace_back(stored.number,
                           adapters_->reference(share, is_named, id_of_stored(stored.place),
                                                KairosNotification::Channel::_kairos_id));
    }
    return found;
}

EventChannel_ptr SharedState::find(ChannelID id)
{
    const unsigned share = ShareOf::of(id);
    if (id < 0 || share == 0 || share > shares_->count()) throw ChannelNotFound();
    if (has(share)) return use(share)->find(id);
    for (const auto& [number, object] : elsewhere(share))
        if (number == id) return EventChannel::_unchecked_narrow(object.in());
    throw ChannelNotFound();
}

ChannelIDSeq* SharedState::ids()
{
    std::vector<ChannelID> all;
    for (unsigned share = 1; share <= shares_->count(); ++share) {
        if (has(share)) {
            const ChannelIDSeq_var own = use(share)->ids();
            all.insert(all.end(), own->get_buffer(), own->get_buffer() + own->length());
        } else {
            for (const auto& [number, object] : elsewhere(share))
                all.push_back(number);
        }
    }
    ChannelIDSeq_var ids = new ChannelIDSeq;
    ids->length(static_cast<CORBA::ULong>(all.size()));
    std::ranges::copy(all, ids->get_buffer());
    return ids._retn();
}

KairosNotification::Channel_ptr SharedState::channel(const std::string& name) const
{
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(name.c_str());
    const CORBA::Object_var object =
        adapters_->reference(share_of_name(name, shares_->count()), true, id.in(),
                             KairosNotification::Channel::_kairos_id);
    return KairosNotification::Channel::_unchecked_narrow(object.in());
}

// --- The service ---------------------------------------------------------------------------------

SharedNotificationService::SharedNotificationService(CORBA::ORB_ptr orb,
                                                     const NotificationLimits& limits,
                                                     std::unique_ptr<Shares> shares,
                                                     const SharedOptions& options)
    : state_(std::make_unique<SharedState>(orb, limits, std::move(shares), options))
{
}

SharedNotificationService::~SharedNotificationService() = default;

void SharedNotificationService::begin_to_end() noexcept { state_->begin_to_end(); }

KairosNotification::Channel_ptr SharedNotificationService::channel(const std::string& name) const
{
    return state_->channel(name);
}

EventChannelFactory_ptr SharedNotificationService::factory() const { return state_->factory(); }

} // namespace kairos::notification
