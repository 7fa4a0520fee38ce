// SPDX-License-Identifier: Apache-2.0
//
// What the objects of a notification service share: its POAs, its couriers, and which channels
// there are. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/service_adapters.h"
#include "kairos/notification/KairosNotification.h"
#include "kairos/notification/channel.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kairos::notification {

/// Which share of several a service is (shares.h), and what is made for it.
struct ShareOf {
    unsigned number; ///< from 1 on
    PortableServer::POA_var named;
    PortableServer::POA_var others;
    CosNotifyChannelAdmin::EventChannelFactory_var factory; ///< of all shares

    /// The ids of its channels are those with its number above so many bits.
    static constexpr int number_bits = 24;
    [[nodiscard]] static unsigned of(CosNotifyChannelAdmin::ChannelID id) noexcept
    {
        return static_cast<unsigned>(id) >> number_bits;
    }
    [[nodiscard]] CosNotifyChannelAdmin::ChannelID first_id() const noexcept
    {
        return static_cast<CosNotifyChannelAdmin::ChannelID>(number << number_bits);
    }
};

class ServiceState {
  public:
    /// `store` may be null. With a factory, unless its POA is to have another name than usual.
    ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits, std::unique_ptr<Store> store,
                 const char* adapter = nullptr);
    /// One of several shares, without a factory of its own.
    ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits, std::unique_ptr<Store> store,
                 ShareOf share);
    ServiceState(const ServiceState&) = delete;
    ServiceState& operator=(const ServiceState&) = delete;
    ~ServiceState();

    /// Calls of a share's objects wait until this, and after discard() are TRANSIENT until then.
    void serve() const { adapters_.serve(); }
    void discard() const noexcept { adapters_.discard(); }
    void begin_to_end() noexcept;
    /// As begin_to_end(), where the store is another's already: no answers are waited for.
    void abandon() noexcept;

    // Those of NotificationService and of the factory. What they return the caller owns.
    [[nodiscard]] KairosNotification::Channel_ptr create(const std::string& name, const Qos& qos,
                                                         const AdminProperties& properties,
                                                         CosNotifyChannelAdmin::ChannelID& id)
    {
        return create(name, qos, properties, id, nullptr, std::nullopt);
    }
    /// `front`, which may be nil, is what its admins say is their channel, where it is given.
    [[nodiscard]] KairosNotification::Channel_ptr create(const std::string& name, const Qos& qos,
                                                         const AdminProperties& properties,
                                                         CosNotifyChannelAdmin::ChannelID& id,
                                                         std::shared_ptr<Recorder> recorder,
                                                         std::optional<CORBA::Object_var> front);
    /// Throws UnsupportedQoS.
    [[nodiscard]] Qos channel_qos(const CosNotification::QoSProperties& wanted) const
    {
        return qos_of_channel(wanted, keeper_ != nullptr, limits());
    }
    [[nodiscard]] CosNotifyChannelAdmin::EventChannel_ptr find(CosNotifyChannelAdmin::ChannelID id);
    [[nodiscard]] CosNotifyChannelAdmin::ChannelIDSeq* ids();
    /// Whether nothing is lost that somebody knows when the store is opened elsewhere: all channels
    /// are kept, and all proxies.
    [[nodiscard]] bool can_move();
    [[nodiscard]] CosNotifyChannelAdmin::EventChannelFactory_ptr factory() const;
    [[nodiscard]] const NotificationLimits& limits() const noexcept { return filters_->limits; }

    /// Ends a channel, and tells who is connected. Throws OBJECT_NOT_EXIST if it has ended.
    void destroy(CosNotifyChannelAdmin::ChannelID id);

  private:
    struct Entry {
        ChannelPtr channel;
        PortableServer::ObjectId_var id;          // of its object
        CORBA::Object_var object;                 // nil while it is made
        std::optional<CORBA::Object_var> front{}; // who clients take it for, if that is another
        bool has_name = false;                    // in its POA
        bool is_in_table = false;                 // by its name
        bool is_restored = false;                 // and was not asked for since
    };

    ServiceState(CORBA::ORB_ptr orb, const NotificationLimits& limits, std::unique_ptr<Store> store,
                 std::optional<ShareOf> share, const char* adapter);
    void begin();
    [[nodiscard]] ChannelPtr enter(const std::string& name, const Qos& qos,
                                   const AdminProperties& properties,
                                   std::shared_ptr<Recorder> recorder);
    void make_object(Entry& entry);
    void place(Entry& entry, PortableServer::Servant servant);
    void place_again(Entry& entry, PortableServer::Servant servant);
    void begin_to_end(bool lets_calls_end) noexcept;
    void let_calls_end(const std::vector<ChannelPtr>& channels) const noexcept;
    void restore();
    void restore(Stored& all);
    [[nodiscard]] ChannelPtr restore_channel(std::uint64_t key,
                                             const KairosNotificationStore::Channel& stored);
    void restore_object(const ChannelPtr& channel, const KairosNotificationStore::Channel& stored,
                        const std::map<std::uint64_t, std::pair<ChannelPtr, AdminPtr>>& admins);
    void end_all() noexcept;
    void end(Entry& entry, bool tells) noexcept;

    const std::optional<ShareOf> share_;
    const std::shared_ptr<FilterBudget> filters_;
    const std::shared_ptr<events::ServiceBudget> budget_;
    const std::shared_ptr<events::Couriers> couriers_;
    const std::shared_ptr<Keeper> keeper_; // null: there is no store
    events::ServiceAdapters adapters_;     // `named` are the factory, and channels with names
    bool has_factory_ = false;
    bool has_table_entry_ = false; // of the factory
    std::mutex mutex_;             // guards what follows; not held while anything is called
    std::map<CosNotifyChannelAdmin::ChannelID, Entry> channels_;
    CosNotifyChannelAdmin::ChannelID last_; // the next one's id
    bool has_ended_ = false;
};

/// Makes the channel's servant, its two first admins and its filter factory, which are objects
/// already. `state` must outlive it.
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_channel_servant(ServiceState& state, const ChannelPtr& channel);
/// Makes the servant of a channel that there was in an earlier run, with its first admins.
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
restore_channel_servant(ServiceState& state, const ChannelPtr& channel, const AdminPtr& consumers,
                        const AdminPtr& suppliers, const PortableServer::ObjectId& filter_factory);
[[nodiscard]] AdminPtr restore_admin(ServiceState& state, const ChannelPtr& channel,
                                     std::uint64_t key,
                                     const KairosNotificationStore::Admin& stored,
                                     const std::function<Settings::Attached(std::uint64_t)>& find);
/// What the channel's objects answer who asks for it; before they are called.
[[nodiscard]] PortableServer::Servant_var<PortableServer::ServantBase>
make_factory_servant(ServiceState& state);

} // namespace kairos::notification
