// SPDX-License-Identifier: Apache-2.0
//
// A notification channel without its objects: its admins, who is connected by which of them, and
// the way of an event from a supplier past the filters to what each consumer has still to get. Any
// thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/events/members.h"
#include "kairos/events/service_adapters.h"
#include "kairos/notification/CosNotifyChannelAdmin.h"
#include "kairos/notification/herald.h"
#include "kairos/notification/keeper.h"
#include "kairos/notification/recorder.h"
#include "kairos/notification/settings.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace kairos::notification {

/// One admin of a channel, and which proxies it has.
class Admin {
  public:
    using Proxies = std::map<CosNotifyChannelAdmin::ProxyID, CORBA::Object_var>;

    Admin(CosNotifyChannelAdmin::AdminID id, bool is_consumers,
          CosNotifyChannelAdmin::InterFilterGroupOperator both, const Qos& qos,
          const std::shared_ptr<Matcher>& matcher)
        : id_(id), is_consumers_(is_consumers), operator_(both),
          settings_(Level::admin, qos, matcher)
    {
    }

    [[nodiscard]] CosNotifyChannelAdmin::AdminID id() const noexcept { return id_; }
    [[nodiscard]] bool is_consumers() const noexcept { return is_consumers_; }
    [[nodiscard]] CosNotifyChannelAdmin::InterFilterGroupOperator both() const noexcept
    {
        return operator_;
    }
    [[nodiscard]] Settings& settings() noexcept { return settings_; }
    /// Its object, owned by the caller; set before clients find the admin.
    [[nodiscard]] CORBA::Object_ptr object() const
    {
        const std::lock_guard lock(mutex_);
        return CORBA::Object::_duplicate(object_.in());
    }
    void set_object(CORBA::Object_ptr object)
    {
        const std::lock_guard lock(mutex_);
        object_ = CORBA::Object::_duplicate(object);
    }

    /// The id of a proxy to come.
    [[nodiscard]] CosNotifyChannelAdmin::ProxyID next_id();
    /// What clients find by their ids: those that have types of the notification service.
    void enter(CosNotifyChannelAdmin::ProxyID id, bool pulls, CORBA::Object_ptr proxy);
    void leave(CosNotifyChannelAdmin::ProxyID id);
    /// Owned by the caller. Throws ProxyNotFound.
    [[nodiscard]] CORBA::Object_ptr find(CosNotifyChannelAdmin::ProxyID id) const;
    [[nodiscard]] CosNotifyChannelAdmin::ProxyIDSeq* ids(bool that_pull) const;
    /// There has been a proxy of this id.
    void note_id(CosNotifyChannelAdmin::ProxyID id);
    /// Proxies that have ended take no place. Ends all; there will be none any more.
    void end(events::Members& members);
    /// A proxy, by its number in the channel, to be ended with the admin. False: it has ended.
    [[nodiscard]] bool take_in(std::uint64_t number);
    void take_out(std::uint64_t number);

  private:
    const CosNotifyChannelAdmin::AdminID id_;
    const bool is_consumers_;
    const CosNotifyChannelAdmin::InterFilterGroupOperator operator_;
    Settings settings_;
    mutable std::mutex mutex_; // guards what follows; not held while anything is called
    CORBA::Object_var object_;
    Proxies pushing_, pulling_;
    std::set<std::uint64_t> numbers_; // of all proxies
    CosNotifyChannelAdmin::ProxyID last_ = 0;
    bool has_ended_ = false;
};
using AdminPtr = std::shared_ptr<Admin>;

/// What filters an event passes on one side of the channel.
[[nodiscard]] bool goes_on(Admin& admin, Settings& proxy, const Passed& passed);

/// What a consumer has still to get.
class Subscriber : public events::Receiver {
  public:
    /// Keeps the event until the consumer has it, if it wants it. Never waits. `is_full`: there is
    /// no room for one more in the channel. Of `octets_at_once` it takes away what it has sent in
    /// this thread.
    virtual void offer(const NotificationPtr& event, const Passed& passed, bool is_full,
                       std::size_t& octets_at_once) = 0;

    /// By what the service's store knows the consumer, if it has it and the consumer wants the
    /// event; else 0.
    [[nodiscard]] virtual std::uint64_t kept_if_wanted(const Notification& event,
                                                       const Passed& passed) const = 0;
    /// Takes an event that has waited for it in an earlier run.
    virtual void take_back(const NotificationPtr& event, const Passed& passed) = 0;
    /// Nothing is sent from here on, but what waits stays. `under_way` is let go when no call is.
    virtual void hold(const std::shared_ptr<void>& under_way) noexcept = 0;

    /// Forgets events that have expired.
    virtual void expire() = 0;

  protected:
    ~Subscriber() = default;
};

/// Where an event comes from.
struct Source {
    Admin& admin;
    Settings& proxy;
};

class Channel final : public events::Members {
  public:
    Channel(CosNotifyChannelAdmin::ChannelID id, std::string name, const Qos& qos,
            const AdminProperties& properties, std::shared_ptr<FilterBudget> filters,
            std::shared_ptr<events::ServiceBudget> budget,
            std::shared_ptr<events::Couriers> couriers, const events::ServiceAdapters& adapters,
            std::shared_ptr<Keeper> keeper);

    [[nodiscard]] CosNotifyChannelAdmin::ChannelID id() const noexcept { return id_; }
    [[nodiscard]] const NotificationLimits& own_limits() const noexcept { return filters_->limits; }
    [[nodiscard]] Settings& settings() noexcept { return settings_; }
    [[nodiscard]] const std::shared_ptr<FilterBudget>& filter_budget() const noexcept
    {
        return filters_;
    }
    [[nodiscard]] const std::shared_ptr<Matcher>& matcher() const noexcept { return matcher_; }
    [[nodiscard]] const events::ServiceAdapters& adapters() const noexcept { return adapters_; }

    /// What keeps it and what is in it; null for a channel that ends with the process.
    [[nodiscard]] const std::shared_ptr<Keeper>& keeper() const noexcept { return keeper_; }
    // What the store is to have of it from now on, where it has the channel, and after a change.
    // Throw what Keeper::save throws.
    void save();
    void save(Admin& admin);
    void save(Filter& filter);
    void save(MappingFilter& filter);
    // Have the store forget one that ends. Throw likewise, and then it is there.
    void forget(Settings& ended);
    void forget(Filter& ended);
    void forget(MappingFilter& ended);
    using events::Members::forget;

    /// Who sees its events from here on; before there are clients.
    void set_recorder(std::shared_ptr<Recorder> recorder) { recorder_ = std::move(recorder); }
    [[nodiscard]] bool is_recorded() const noexcept { return recorder_ != nullptr; }
    /// Which events are to be recorded: those that the filter lets through, all if it is null; and
    /// its object, owned by the caller.
    void set_record_filter(FilterPtr filter, CosNotifyFilter::Filter_ptr object);
    [[nodiscard]] CosNotifyFilter::Filter_ptr record_filter() const;

    [[nodiscard]] AdminProperties properties() const;
    void change_properties(const CosNotification::AdminProperties& wanted);

    /// Gives the event to all consumers that are connected now and want it. Where there are any,
    /// throws what encoding it throws, IMP_LIMIT if it is too large or is not to wait, and
    /// NO_RESOURCES where too much waits; and what Keeper::keep throws.
    void publish(const CORBA::Any& event, const Source& source);
    void publish(const CosNotification::StructuredEvent& event, const Source& source);
    /// Gives all to them that it takes, those that are kept after one wait for the store; then
    /// throws what the last one that it did not take has raised, which is COMPLETED_MAYBE if it has
    /// taken others.
    void publish(const CosNotification::EventBatch& batch, const Source& source);

    /// Events that nobody has before they are kept. Used by one thread at a time.
    struct Publication;
    using PublicationPtr = std::shared_ptr<Publication>;
    // As publish(), but they wait for nobody: `over` is called, if at all, when finish() is to be
    // asked again.
    [[nodiscard]] PublicationPtr begin_to_publish(const CORBA::Any& event, const Source& source,
                                                  const std::function<void()>& over);
    /// From the event `next` on, which becomes the first that has no room now. Those that the
    /// channel will never take are passed over.
    [[nodiscard]] PublicationPtr begin_to_publish(const CosNotification::EventBatch& batch,
                                                  CORBA::ULong& next, const Source& source,
                                                  const std::function<void()>& over);
    /// False: not yet. Throws what Keeper::keep throws; then no consumer has any of them.
    [[nodiscard]] bool finish(Publication& publication);

    /// Nothing is sent to consumers from here on, but what waits for them stays. `under_way` is let
    /// go when no call is.
    void hold(const std::shared_ptr<void>& under_way);

    /// Makes an admin, which has no object yet. Throws IMP_LIMIT.
    [[nodiscard]] AdminPtr make_admin(bool is_consumers,
                                      CosNotifyChannelAdmin::InterFilterGroupOperator both);
    /// Makes one that there was in an earlier run, with that id.
    [[nodiscard]] AdminPtr restore_admin(bool is_consumers, CosNotifyChannelAdmin::AdminID id,
                                         CosNotifyChannelAdmin::InterFilterGroupOperator both);
    /// Ends it, with its proxies. Throws OBJECT_NOT_EXIST.
    void end_admin(const AdminPtr& admin);
    /// The one of this id whose object there is. Throws AdminNotFound.
    [[nodiscard]] AdminPtr find_admin(bool is_consumers, CosNotifyChannelAdmin::AdminID id) const;
    [[nodiscard]] CosNotifyChannelAdmin::AdminIDSeq* admin_ids(bool is_consumers) const;
    /// As Members::add; also throws AdminLimitExceeded where the channel's properties do not want
    /// one more such proxy.
    [[nodiscard]] CORBA::Object_ptr
    add_client(const PortableServer::Servant_var<PortableServer::ServantBase>& servant,
               events::Proxy& proxy, const PortableServer::ObjectId* id = nullptr);

    /// What the clients of one side offer or want.
    [[nodiscard]] const std::shared_ptr<TypeTable>& types(bool of_consumers) const noexcept
    {
        return types_[of_consumers ? 1 : 0];
    }

    /// Objects of the channel's that end with it: admins and filters. An admin is found from here
    /// on. `id`, if it is not null, is what the object had in an earlier run.
    [[nodiscard]] CORBA::Object_ptr
    activate(const PortableServer::Servant_var<PortableServer::ServantBase>& servant,
             const void* key, const PortableServer::ObjectId* id = nullptr);
    void activate(const PortableServer::Servant_var<PortableServer::ServantBase>& servant,
                  Admin& admin, const PortableServer::ObjectId* id = nullptr);
    /// By which the object of that key is known in its POA; empty where there is none.
    [[nodiscard]] KairosNotificationStore::Id id_of(const void* key) const;
    /// Sets by which id the channel's own object is known in its POA, before there are clients. The
    /// key of the filter factory's object is the channel itself.
    void set_place(const PortableServer::ObjectId& place);
    void deactivate(const void* key);
    /// Ends all admins, proxies and filters.
    void end_all(bool tells);

  private:
    using Servant = PortableServer::Servant_var<PortableServer::ServantBase>;

    [[nodiscard]] CORBA::Object_ptr activate(const Servant& servant, const void* key, Admin* admin,
                                             const PortableServer::ObjectId* id);
    template <typename Ended>
    void forget_kept(Ended& ended);
    template <typename Ended>
    void leave_kept(Ended& ended) noexcept;
    struct Offer;
    template <typename Data>
    void take(const Data& data, const Source& source, Publication& publication);
    void expire_all();
    [[nodiscard]] bool record(const Notification& event);
    void pass_on(const NotificationPtr& event, Passed passed, bool is_full,
                 Publication& publication);
    void complete(Publication& publication);
    void begin_to_keep(Publication& publication, const std::function<void()>& over);
    static void give(const Offer& offer);

    const CosNotifyChannelAdmin::ChannelID id_;
    const std::shared_ptr<FilterBudget> filters_;
    const std::shared_ptr<Matcher> matcher_;
    const events::ServiceAdapters& adapters_; // which outlive the objects that lead here
    const std::shared_ptr<Keeper> keeper_;
    Settings settings_;
    const std::array<std::shared_ptr<TypeTable>, 2> types_; // of suppliers, of consumers
    std::shared_ptr<Recorder> recorder_;                    // null: nobody; set before it is shared
    mutable std::mutex own_mutex_; // guards what follows; not held while anything is called
    FilterPtr record_filter_;
    CosNotifyFilter::Filter_var record_filter_object_;
    AdminProperties properties_;
    std::shared_ptr<events::Allowance> places_; // for events that wait; null: no limit
    std::map<std::pair<bool, CosNotifyChannelAdmin::AdminID>, AdminPtr> admins_;
    std::array<CosNotifyChannelAdmin::AdminID, 2> last_admins_{}; // of suppliers, of consumers
    std::map<const void*, PortableServer::ObjectId_var> objects_;
    KairosNotificationStore::Id place_;
    bool is_over_ = false;
};
/// The id as it is stored, and the other way round.
[[nodiscard]] KairosNotificationStore::Id stored_id(const PortableServer::ObjectId& id);
[[nodiscard]] PortableServer::ObjectId id_of_stored(const KairosNotificationStore::Id& id);
/// Which kind of object a state in the store is of.
enum class StoredKind : std::uint8_t { channel, filter, admin, proxy, mapping_filter };
using ChannelPtr = std::shared_ptr<Channel>;

} // namespace kairos::notification
