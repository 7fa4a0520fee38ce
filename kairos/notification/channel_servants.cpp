// SPDX-License-Identifier: Apache-2.0
//
// The factory of channels, the channel and its admins (CosNotification 1.1, 3.4.15 to 3.4.18), as
// servants.
#include "kairos/notification/CosNotifyChannelAdmin_skel.h"
#include "kairos/notification/KairosNotification_skel.h"
#include "kairos/notification/administered.h"
#include "kairos/notification/proxies.h"
#include "kairos/notification/service_state.h"

namespace kairos::notification {
namespace {

using namespace CosNotifyChannelAdmin;
using PortableServer::Servant_var;
using PortableServer::ServantBase;

Form form_of(ClientType type)
{
    switch (type) {
    case ANY_EVENT:
        return Form::any;
    case STRUCTURED_EVENT:
        return Form::structured;
    case SEQUENCE_EVENT:
        return Form::sequence;
    }
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "there is no such type of client");
}

/// What the operations of the Event Service cannot raise otherwise.
template <typename Make>
auto within_limits(Make&& make)
{
    try {
        return make();
    } catch (const AdminLimitExceeded&) {
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the channel has as many clients as it wants to have");
    }
}

/// What both kinds of admins have in common. `state` outlives them.
template <typename Skeleton>
class AdminServant : public Administered<Skeleton> {
  public:
    AdminServant(ServiceState& state, const ChannelPtr& channel, AdminPtr admin)
        : state_(state), channel_(channel), admin_(std::move(admin))
    {
    }
    AdminID MyID() override { return admin_->id(); }
    EventChannel_ptr MyChannel() override
    {
        try {
            return state_.find(channel()->id());
        } catch (const ChannelNotFound&) { // it ends, and this with it
            throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        }
    }
    InterFilterGroupOperator MyOperator() override { return admin_->both(); }
    void destroy() override
    {
        const EventChannel_var of = MyChannel();
        if (CORBA::is_nil(of.in())) // it is everybody's who is sent there
            throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO, "what is nobody's channel stays");
        channel()->end_admin(admin_);
    }

  protected:
    /// Throws OBJECT_NOT_EXIST after its end.
    [[nodiscard]] ChannelPtr channel() const
    {
        ChannelPtr channel = channel_.lock();
        if (!channel) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        return channel;
    }
    [[nodiscard]] const AdminPtr& of() const noexcept { return admin_; }

  private:
    [[nodiscard]] Settings& settings() override { return admin_->settings(); }
    void save() override { channel()->save(*admin_); }
    [[nodiscard]] const events::ServiceAdapters& adapters() override
    {
        return channel()->adapters();
    }

    ServiceState& state_;
    const std::weak_ptr<Channel> channel_; // which owns this
    const AdminPtr admin_;
};

class ConsumersServant final : public AdminServant<POA_CosNotifyChannelAdmin::ConsumerAdmin> {
  public:
    using AdminServant::AdminServant;

    CosNotifyFilter::MappingFilter_ptr priority_filter() override
    {
        return this->mapping_filter(MappedProperty::priority);
    }
    void priority_filter(CosNotifyFilter::MappingFilter_ptr value) override
    {
        this->set_mapping_filter(MappedProperty::priority, value);
    }
    CosNotifyFilter::MappingFilter_ptr lifetime_filter() override
    {
        return this->mapping_filter(MappedProperty::lifetime);
    }
    void lifetime_filter(CosNotifyFilter::MappingFilter_ptr value) override
    {
        this->set_mapping_filter(MappedProperty::lifetime, value);
    }

    ProxyIDSeq* pull_suppliers() override { return of()->ids(true); }
    ProxyIDSeq* push_suppliers() override { return of()->ids(false); }
    ProxySupplier_ptr get_proxy_supplier(ProxyID proxy_id) override
    {
        const CORBA::Object_var object = of()->find(proxy_id);
        return ProxySupplier::_unchecked_narrow(object.in());
    }
    ProxySupplier_ptr obtain_notification_pull_supplier(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return obtain(ctype, true, proxy_id);
    }
    ProxySupplier_ptr obtain_notification_push_supplier(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return obtain(ctype, false, proxy_id);
    }
    CosEventChannelAdmin::ProxyPushSupplier_ptr obtain_push_supplier() override
    {
        return within_limits([this] { return make_event_push_supplier(channel(), of()); });
    }
    CosEventChannelAdmin::ProxyPullSupplier_ptr obtain_pull_supplier() override
    {
        return within_limits([this] { return make_event_pull_supplier(channel(), of()); });
    }
    void subscription_change(const CosNotification::EventTypeSeq& added,
                             const CosNotification::EventTypeSeq& removed) override
    {
        of()->settings().change_types(added, removed);
        channel()->save(*of());
    }

  private:
    ProxySupplier_ptr obtain(ClientType ctype, bool pulls, ProxyID& proxy_id)
    {
        return make_proxy_supplier(channel(), of(), form_of(ctype), pulls, proxy_id);
    }
};

class SuppliersServant final : public AdminServant<POA_CosNotifyChannelAdmin::SupplierAdmin> {
  public:
    using AdminServant::AdminServant;

    ProxyIDSeq* pull_consumers() override { return of()->ids(true); }
    ProxyIDSeq* push_consumers() override { return of()->ids(false); }
    ProxyConsumer_ptr get_proxy_consumer(ProxyID proxy_id) override
    {
        const CORBA::Object_var object = of()->find(proxy_id);
        return ProxyConsumer::_unchecked_narrow(object.in());
    }
    ProxyConsumer_ptr obtain_notification_pull_consumer(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return obtain(ctype, true, proxy_id);
    }
    ProxyConsumer_ptr obtain_notification_push_consumer(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return obtain(ctype, false, proxy_id);
    }
    CosEventChannelAdmin::ProxyPushConsumer_ptr obtain_push_consumer() override
    {
        return within_limits([this] { return make_event_push_consumer(channel(), of()); });
    }
    CosEventChannelAdmin::ProxyPullConsumer_ptr obtain_pull_consumer() override
    {
        return within_limits([this] { return make_event_pull_consumer(channel(), of()); });
    }
    void offer_change(const CosNotification::EventTypeSeq& added,
                      const CosNotification::EventTypeSeq& removed) override
    {
        of()->settings().change_types(added, removed);
        channel()->save(*of());
    }

  private:
    ProxyConsumer_ptr obtain(ClientType ctype, bool pulls, ProxyID& proxy_id)
    {
        return make_proxy_consumer(channel(), of(), form_of(ctype), pulls, proxy_id);
    }
};

void activate_admin(ServiceState& state, const ChannelPtr& channel, const AdminPtr& admin,
                    const PortableServer::ObjectId* id = nullptr)
{
    Servant_var<ServantBase> servant;
    if (admin->is_consumers())
        servant = new ConsumersServant(state, channel, admin);
    else
        servant = new SuppliersServant(state, channel, admin);
    channel->activate(servant, *admin, id);
}

AdminPtr make_admin(ServiceState& state, const ChannelPtr& channel, bool is_consumers,
                    InterFilterGroupOperator both)
{
    AdminPtr admin = channel->make_admin(is_consumers, both);
    try {
        activate_admin(state, channel, admin);
        if (channel->keeper()) {
            (void)admin->settings().set_kept(channel->keeper()->next_key());
            channel->save(*admin);
        }
        return admin;
    } catch (...) {
        if (channel->keeper()) // what that has of it means nothing
            channel->keeper()->forget_later([&admin] { return admin->settings().set_kept(0); });
        channel->end_admin(admin);
        throw;
    }
}

/// `Skeleton` is that of KairosNotification::Channel, or of an interface that inherits it.
template <typename Skeleton>
class ChannelServant : public Skeleton {
  public:
    /// The first admin of each kind is made if there is none. `filter_factory` is as the object was
    /// known in an earlier run, or null.
    ChannelServant(ServiceState& state, ChannelPtr channel, AdminPtr consumers, AdminPtr suppliers,
                   const PortableServer::ObjectId* filter_factory)
        : state_(state), channel_(std::move(channel)),
          consumers_(consumers ? std::move(consumers) : make_admin(state, channel_, true, AND_OP)),
          suppliers_(suppliers ? std::move(suppliers) : make_admin(state, channel_, false, AND_OP))
    {
        const Servant_var<ServantBase> filters = make_filter_factory(channel_);
        const CORBA::Object_var object =
            channel_->activate(filters, channel_.get(), filter_factory);
        filters_ = CosNotifyFilter::FilterFactory::_unchecked_narrow(object.in());
    }

    CosNotification::QoSProperties* get_qos() override { return channel_->settings().properties(); }
    void set_qos(const CosNotification::QoSProperties& qos) override
    {
        channel_->settings().change_qos(qos);
        channel_->save();
    }
    void validate_qos(const CosNotification::QoSProperties& required_qos,
                      CosNotification::NamedPropertyRangeSeq_out available_qos) override
    {
        available_qos = channel_->settings().validate(required_qos);
    }
    CosNotification::AdminProperties* get_admin() override
    {
        return properties_of(channel_->properties());
    }
    void set_admin(const CosNotification::AdminProperties& admin) override
    {
        channel_->change_properties(admin);
        channel_->save();
    }

    EventChannelFactory_ptr MyFactory() override { return state_.factory(); }
    ConsumerAdmin_ptr default_consumer_admin() override { return consumers_of(consumers_); }
    SupplierAdmin_ptr default_supplier_admin() override { return suppliers_of(suppliers_); }
    CosNotifyFilter::FilterFactory_ptr default_filter_factory() override
    {
        return CosNotifyFilter::FilterFactory::_duplicate(filters_.in());
    }
    ConsumerAdmin_ptr new_for_consumers(InterFilterGroupOperator op, CORBA::Long_out id) override
    {
        const AdminPtr admin = make_admin(state_, channel_, true, op);
        id = admin->id();
        return consumers_of(admin);
    }
    SupplierAdmin_ptr new_for_suppliers(InterFilterGroupOperator op, CORBA::Long_out id) override
    {
        const AdminPtr admin = make_admin(state_, channel_, false, op);
        id = admin->id();
        return suppliers_of(admin);
    }
    ConsumerAdmin_ptr get_consumeradmin(AdminID id) override
    {
        return consumers_of(channel_->find_admin(true, id));
    }
    SupplierAdmin_ptr get_supplieradmin(AdminID id) override
    {
        return suppliers_of(channel_->find_admin(false, id));
    }
    AdminIDSeq* get_all_consumeradmins() override { return channel_->admin_ids(true); }
    AdminIDSeq* get_all_supplieradmins() override { return channel_->admin_ids(false); }

    CosEventChannelAdmin::ConsumerAdmin_ptr for_consumers() override
    {
        return consumers_of(consumers_);
    }
    CosEventChannelAdmin::SupplierAdmin_ptr for_suppliers() override
    {
        return suppliers_of(suppliers_);
    }
    void destroy() override { state_.destroy(channel_->id()); }

    ChannelID MyID() override { return channel_->id(); }
    char* name() override { return CORBA::string_dup(channel_->name().c_str()); }
    KairosEvents::Figures figures() override { return channel_->figures(); }

  protected:
    [[nodiscard]] const ChannelPtr& channel() const noexcept { return channel_; }

  private:
    static ConsumerAdmin_ptr consumers_of(const AdminPtr& admin)
    {
        const CORBA::Object_var object = admin->object();
        return ConsumerAdmin::_unchecked_narrow(object.in());
    }
    static SupplierAdmin_ptr suppliers_of(const AdminPtr& admin)
    {
        const CORBA::Object_var object = admin->object();
        return SupplierAdmin::_unchecked_narrow(object.in());
    }

    ServiceState& state_;
    const ChannelPtr channel_;
    const AdminPtr consumers_;
    const AdminPtr suppliers_;
    CosNotifyFilter::FilterFactory_var filters_;
};

class PlainServant final : public ChannelServant<POA_KairosNotification::Channel> {
  public:
    using ChannelServant::ChannelServant;
};

class RecordedServant final : public ChannelServant<POA_KairosNotification::RecordedChannel> {
  public:
    using ChannelServant::ChannelServant;

    CosNotifyFilter::Filter_ptr record_filter() override { return channel()->record_filter(); }
    void record_filter(CosNotifyFilter::Filter_ptr value) override
    {
        FilterPtr filter;
        if (!CORBA::is_nil(value)) filter = filter_of(channel()->adapters(), value);
        channel()->set_record_filter(std::move(filter), value);
    }
};

class FactoryServant final : public POA_CosNotifyChannelAdmin::EventChannelFactory {
  public:
    explicit FactoryServant(ServiceState& state) : state_(state) {}

    EventChannel_ptr create_channel(const CosNotification::QoSProperties& initial_qos,
                                    const CosNotification::AdminProperties& initial_admin,
                                    CORBA::Long_out id) override
    {
        const Qos qos = state_.channel_qos(initial_qos);
        AdminProperties properties;
        change(properties, initial_admin);
        return state_.create("", qos, properties, id);
    }
    ChannelIDSeq* get_all_channels() override { return state_.ids(); }
    EventChannel_ptr get_event_channel(ChannelID id) override { return state_.find(id); }

  private:
    ServiceState& state_;
};

} // namespace

Servant_var<ServantBase> make_channel_servant(ServiceState& state, const ChannelPtr& channel)
{
    if (channel->is_recorded())
        return new RecordedServant(state, channel, nullptr, nullptr, nullptr);
    return new PlainServant(state, channel, nullptr, nullptr, nullptr);
}

Servant_var<ServantBase> restore_channel_servant(ServiceState& state, const ChannelPtr& channel,
                                                 const AdminPtr& consumers,
                                                 const AdminPtr& suppliers,
                                                 const PortableServer::ObjectId& filter_factory)
{
    return new PlainServant(state, channel, consumers, suppliers, &filter_factory);
}

AdminPtr restore_admin(ServiceState& state, const ChannelPtr& channel, std::uint64_t key,
                       const KairosNotificationStore::Admin& stored,
                       const std::function<Settings::Attached(std::uint64_t)>& find)
{
    AdminPtr admin = channel->restore_admin(stored.is_consumers, stored.number, stored.both);
    admin->settings().restore(stored.own, find);
    (void)admin->settings().set_kept(key);
    const PortableServer::ObjectId id = id_of_stored(stored.place);
    activate_admin(state, channel, admin, &id);
    return admin;
}

Servant_var<ServantBase> make_factory_servant(ServiceState& state)
{
    return new FactoryServant(state);
}

} // namespace kairos::notification
