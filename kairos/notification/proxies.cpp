// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/proxies.h"

#include "kairos/events/CosEventChannelAdmin_skel.h"
#include "kairos/notification/CosNotifyChannelAdmin_skel.h"
#include "kairos/notification/administered.h"

namespace kairos::notification {
namespace {

namespace admin = POA_CosNotifyChannelAdmin;
using namespace CosNotifyChannelAdmin;
using CosNotification::EventBatch;
using CosNotification::EventTypeSeq;
using CosNotification::StructuredEvent;
using PortableServer::ServantBase;

ProxyType type_of(const ProxyKind& kind) noexcept
{
    const bool pulls = kind.pulls;
    switch (kind.form) {
    case Form::any:
        return pulls ? PULL_ANY : PUSH_ANY;
    case Form::structured:
        return pulls ? PULL_STRUCTURED : PUSH_STRUCTURED;
    case Form::sequence:
        return pulls ? PULL_SEQUENCE : PUSH_SEQUENCE;
    }
    return PUSH_ANY;
}

/// What proxies have in common whose types are the notification service's.
template <typename Skeleton>
class OwnProxy : public Administered<Skeleton>, public NotifyProxy {
  public:
    ProxyType MyType() override { return type_; }
    void validate_event_qos(const CosNotification::QoSProperties& required_qos,
                            CosNotification::NamedPropertyRangeSeq_out available_qos) override
    {
        available_qos = line().settings->validate(required_qos, Level::event);
    }

  protected:
    OwnProxy(const ChannelPtr& channel, const AdminPtr& of, const ProxyKind& kind)
        : NotifyProxy(channel, of, kind), type_(type_of(kind))
    {
    }

  private:
    [[nodiscard]] Settings& settings() override { return *line().settings; }
    [[nodiscard]] const events::ServiceAdapters& adapters() override
    {
        return line().channel->adapters();
    }
    void qos_changed() override { apply_qos(); }
    void save() override { keep_state(); }

    const ProxyType type_;
};

/// Of one for a supplier.
template <typename Skeleton>
class ForSupplier : public OwnProxy<Skeleton> {
  public:
    using OwnProxy<Skeleton>::OwnProxy;
    SupplierAdmin_ptr MyAdmin() override
    {
        const CORBA::Object_var object = this->line().admin->object();
        return SupplierAdmin::_unchecked_narrow(object.in());
    }
    EventTypeSeq* obtain_subscription_types(ObtainInfoMode mode) override
    {
        return this->obtain_types(mode);
    }
    void offer_change(const EventTypeSeq& added, const EventTypeSeq& removed) override
    {
        this->change_types(added, removed);
    }
};

/// Of one for a consumer.
template <typename Skeleton>
class ForConsumer : public OwnProxy<Skeleton> {
  public:
    using OwnProxy<Skeleton>::OwnProxy;
    ConsumerAdmin_ptr MyAdmin() override
    {
        const CORBA::Object_var object = this->line().admin->object();
        return ConsumerAdmin::_unchecked_narrow(object.in());
    }
    EventTypeSeq* obtain_offered_types(ObtainInfoMode mode) override
    {
        return this->obtain_types(mode);
    }
    void subscription_change(const EventTypeSeq& added, const EventTypeSeq& removed) override
    {
        this->change_types(added, removed);
    }
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
};

/// One whose client may be left alone for a while.
template <typename Base>
class Suspendable : public Base {
  public:
    using Base::Base;
    void suspend_connection() override { this->suspend(); }
    void resume_connection() override { this->resume(); }
};

CORBA::Any* any_of(const std::vector<NotificationPtr>& events)
{
    return events.empty() ? new CORBA::Any : new CORBA::Any(events.front()->any());
}

StructuredEvent* structured_of(const std::vector<NotificationPtr>& events)
{
    return events.empty() ? new StructuredEvent : new StructuredEvent(events.front()->structured());
}

EventBatch* batch_of_events(const std::vector<NotificationPtr>& events)
{
    CosNotification::EventBatch_var batch = new EventBatch;
    batch->length(static_cast<CORBA::ULong>(events.size()));
    for (CORBA::ULong i = 0; i < batch->length(); ++i)
        batch[i] = events[i]->structured();
    return batch._retn();
}

// --- For suppliers that push ---------------------------------------------------------------------

constexpr orb::Operation end_push_supplier("disconnect_push_supplier");
constexpr orb::Operation end_structured_push_supplier("disconnect_structured_push_supplier");
constexpr orb::Operation end_sequence_push_supplier("disconnect_sequence_push_supplier");

class AnyPushConsumer final : public ForSupplier<admin::ProxyPushConsumer> {
  public:
    AnyPushConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : ForSupplier(channel, of, {.farewell = end_push_supplier})
    {
    }
    void connect_any_push_supplier(CosEventComm::PushSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void push(const CORBA::Any& data) override { publish(data); }
    void disconnect_push_consumer() override { disconnect(); }
};

class StructuredPushConsumer final : public ForSupplier<admin::StructuredProxyPushConsumer> {
  public:
    StructuredPushConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : ForSupplier(channel, of,
                      {.form = Form::structured, .farewell = end_structured_push_supplier})
    {
    }
    void
    connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void push_structured_event(const StructuredEvent& event) override { publish(event); }
    void disconnect_structured_push_consumer() override { disconnect(); }
};

class SequencePushConsumer final : public ForSupplier<admin::SequenceProxyPushConsumer> {
  public:
    SequencePushConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : ForSupplier(channel, of, {.form = Form::sequence, .farewell = end_sequence_push_supplier})
    {
    }
    void connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void push_structured_events(const EventBatch& batch) override { publish_batch(batch); }
    void disconnect_sequence_push_consumer() override { disconnect(); }
};

class EventPushConsumer final : public POA_CosEventChannelAdmin::ProxyPushConsumer,
                                public NotifyProxy {
  public:
    EventPushConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : NotifyProxy(channel, of, {.farewell = end_push_supplier})
    {
    }
    void connect_push_supplier(CosEventComm::PushSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void push(const CORBA::Any& data) override { publish(data); }
    void disconnect_push_consumer() override { disconnect(); }
};

// --- For suppliers that are pulled from ----------------------------------------------------------

constexpr orb::Operation end_pull_supplier("disconnect_pull_supplier");
constexpr orb::Operation end_structured_pull_supplier("disconnect_structured_pull_supplier");
constexpr orb::Operation end_sequence_pull_supplier("disconnect_sequence_pull_supplier");

class AnyPullConsumer final : public Suspendable<ForSupplier<admin::ProxyPullConsumer>> {
  public:
    AnyPullConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(channel, of, {.pulls = true, .farewell = end_pull_supplier})
    {
    }
    void connect_any_pull_supplier(CosEventComm::PullSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void disconnect_pull_consumer() override { disconnect(); }
};

class StructuredPullConsumer final
    : public Suspendable<ForSupplier<admin::StructuredProxyPullConsumer>> {
  public:
    StructuredPullConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(
              channel, of,
              {.pulls = true, .form = Form::structured, .farewell = end_structured_pull_supplier})
    {
    }
    void
    connect_structured_pull_supplier(CosNotifyComm::StructuredPullSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void disconnect_structured_pull_consumer() override { disconnect(); }
};

class SequencePullConsumer final
    : public Suspendable<ForSupplier<admin::SequenceProxyPullConsumer>> {
  public:
    SequencePullConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(
              channel, of,
              {.pulls = true, .form = Form::sequence, .farewell = end_sequence_pull_supplier})
    {
    }
    void connect_sequence_pull_supplier(CosNotifyComm::SequencePullSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void disconnect_sequence_pull_consumer() override { disconnect(); }
};

class EventPullConsumer final : public POA_CosEventChannelAdmin::ProxyPullConsumer,
                                public NotifyProxy {
  public:
    EventPullConsumer(const ChannelPtr& channel, const AdminPtr& of)
        : NotifyProxy(channel, of, {.pulls = true, .farewell = end_pull_supplier})
    {
    }
    void connect_pull_supplier(CosEventComm::PullSupplier_ptr supplier) override
    {
        connect_client(supplier);
    }
    void disconnect_pull_consumer() override { disconnect(); }
};

// --- For consumers that are pushed to ------------------------------------------------------------

constexpr orb::Operation end_push_consumer("disconnect_push_consumer");
constexpr orb::Operation end_structured_push_consumer("disconnect_structured_push_consumer");
constexpr orb::Operation end_sequence_push_consumer("disconnect_sequence_push_consumer");

class AnyPushSupplier final : public Suspendable<ForConsumer<admin::ProxyPushSupplier>> {
  public:
    AnyPushSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(channel, of, {.is_consumers = true, .farewell = end_push_consumer})
    {
    }
    void connect_any_push_consumer(CosEventComm::PushConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    void disconnect_push_supplier() override { disconnect(); }
};

class StructuredPushSupplier final
    : public Suspendable<ForConsumer<admin::StructuredProxyPushSupplier>> {
  public:
    StructuredPushSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(channel, of,
                      {.is_consumers = true,
                       .form = Form::structured,
                       .farewell = end_structured_push_consumer})
    {
    }
    void
    connect_structured_push_consumer(CosNotifyComm::StructuredPushConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    void disconnect_structured_push_supplier() override { disconnect(); }
};

class SequencePushSupplier final
    : public Suspendable<ForConsumer<admin::SequenceProxyPushSupplier>> {
  public:
    SequencePushSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : Suspendable(channel, of,
                      {.is_consumers = true,
                       .form = Form::sequence,
                       .farewell = end_sequence_push_consumer})
    {
    }
    void connect_sequence_push_consumer(CosNotifyComm::SequencePushConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    void disconnect_sequence_push_supplier() override { disconnect(); }
};

class EventPushSupplier final : public POA_CosEventChannelAdmin::ProxyPushSupplier,
                                public NotifyProxy {
  public:
    EventPushSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : NotifyProxy(channel, of, {.is_consumers = true, .farewell = end_push_consumer})
    {
    }
    void connect_push_consumer(CosEventComm::PushConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    void disconnect_push_supplier() override { disconnect(); }
};

// --- For consumers that pull ---------------------------------------------------------------------

constexpr orb::Operation end_pull_consumer("disconnect_pull_consumer");
constexpr orb::Operation end_structured_pull_consumer("disconnect_structured_pull_consumer");
constexpr orb::Operation end_sequence_pull_consumer("disconnect_sequence_pull_consumer");

class AnyPullSupplier final : public ForConsumer<admin::ProxyPullSupplier> {
  public:
    AnyPullSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : ForConsumer(channel, of,
                      {.is_consumers = true, .pulls = true, .farewell = end_pull_consumer})
    {
    }
    void connect_any_pull_consumer(CosEventComm::PullConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    CORBA::Any* pull() override { return any_of(fetch(1, true)); }
    CORBA::Any* try_pull(CORBA::Boolean_out has_event) override
    {
        const std::vector<NotificationPtr> events = fetch(1, false);
        has_event = !events.empty();
        return any_of(events);
    }
    void disconnect_pull_supplier() override { disconnect(); }
};

class StructuredPullSupplier final : public ForConsumer<admin::StructuredProxyPullSupplier> {
  public:
    StructuredPullSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : ForConsumer(channel, of,
                      {.is_consumers = true,
                       .pulls = true,
                       .form = Form::structured,
                       .farewell = end_structured_pull_consumer})
    {
    }
    void
    connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    StructuredEvent* pull_structured_event() override { return structured_of(fetch(1, true)); }
    StructuredEvent* try_pull_structured_event(CORBA::Boolean_out has_event) override
    {
        const std::vector<NotificationPtr> events = fetch(1, false);
        has_event = !events.empty();
        return structured_of(events);
    }
    void disconnect_structured_pull_supplier() override { disconnect(); }
};

class SequencePullSupplier final : public ForConsumer<admin::SequenceProxyPullSupplier> {
  public:
    SequencePullSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : ForConsumer(channel, of,
                      {.is_consumers = true,
                       .pulls = true,
                       .form = Form::sequence,
                       .farewell = end_sequence_pull_consumer})
    {
    }
    void connect_sequence_pull_consumer(CosNotifyComm::SequencePullConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    EventBatch* pull_structured_events(CORBA::Long max_number) override
    {
        return batch_of_events(fetch(batch_of(max_number), true));
    }
    EventBatch* try_pull_structured_events(CORBA::Long max_number,
                                           CORBA::Boolean_out has_event) override
    {
        const std::vector<NotificationPtr> events = fetch(batch_of(max_number), false);
        has_event = !events.empty();
        return batch_of_events(events);
    }
    void disconnect_sequence_pull_supplier() override { disconnect(); }
};

class EventPullSupplier final : public POA_CosEventChannelAdmin::ProxyPullSupplier,
                                public NotifyProxy {
  public:
    EventPullSupplier(const ChannelPtr& channel, const AdminPtr& of)
        : NotifyProxy(channel, of,
                      {.is_consumers = true, .pulls = true, .farewell = end_pull_consumer})
    {
    }
    void connect_pull_consumer(CosEventComm::PullConsumer_ptr consumer) override
    {
        connect_client(consumer);
    }
    CORBA::Any* pull() override { return any_of(fetch(1, true)); }
    CORBA::Any* try_pull(CORBA::Boolean_out has_event) override
    {
        const std::vector<NotificationPtr> events = fetch(1, false);
        has_event = !events.empty();
        return any_of(events);
    }
    void disconnect_pull_supplier() override { disconnect(); }
};

// --- Making them ---------------------------------------------------------------------------------

/// `id` is set where clients find it by that.
template <typename Proxy>
CORBA::Object_ptr make(const ChannelPtr& channel, const AdminPtr& of, bool pulls = false,
                       ProxyID* id = nullptr)
{
    auto* const made = new Proxy(channel, of);
    const PortableServer::Servant_var<ServantBase> servant = made;
    if (id != nullptr) made->set_id(*id = of->next_id());
    CORBA::Object_var object = channel->add_client(servant, *made);
    if (id != nullptr) of->enter(*id, pulls, object.in());
    if (!of->take_in(made->member())) {
        channel->forget(made->member());
        throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    }
    if (!channel->keeper()) return object._retn();
    try {
        const PortableServer::ObjectId_var place =
            channel->adapters().others()->reference_to_id(object.in());
        made->set_place(stored_id(place.in()));
        made->keep_state();
    } catch (...) {
        channel->forget(made->member());
        throw;
    }
    return object._retn();
}

/// As it was.
template <typename Proxy>
NotifyProxy& make_again(const ChannelPtr& channel, const AdminPtr& of, std::uint64_t key,
                        const KairosNotificationStore::Proxy& stored,
                        const std::function<Settings::Attached(std::uint64_t)>& find)
{
    auto* const made = new Proxy(channel, of);
    const PortableServer::Servant_var<ServantBase> servant = made;
    made->line().settings->restore(stored.own, find);
    made->restore(key, stored);
    const PortableServer::ObjectId id = id_of_stored(stored.place);
    const CORBA::Object_var object = channel->add_client(servant, *made, &id);
    if (stored.number != 0) of->enter(stored.number, stored.pulls, object.in());
    (void)of->take_in(made->member());
    return *made;
}

template <typename Any, typename Structured, typename Sequence>
CORBA::Object_ptr make(const ChannelPtr& channel, const AdminPtr& of, Form form, bool pulls,
                       ProxyID& id)
{
    switch (form) {
    case Form::any:
        return make<Any>(channel, of, pulls, &id);
    case Form::structured:
        return make<Structured>(channel, of, pulls, &id);
    case Form::sequence:
        return make<Sequence>(channel, of, pulls, &id);
    }
    throw CORBA::BAD_PARAM();
}

} // namespace

NotifyProxy& restore_proxy(const ChannelPtr& channel, const AdminPtr& admin, std::uint64_t key,
                           const KairosNotificationStore::Proxy& stored,
                           const std::function<Settings::Attached(std::uint64_t)>& find)
{
    using Make = NotifyProxy& (*)(const ChannelPtr&, const AdminPtr&, std::uint64_t,
                                  const KairosNotificationStore::Proxy&,
                                  const std::function<Settings::Attached(std::uint64_t)>&);
    // Of consumers or not, that pull or not; those of the Event Service, then by the form.
    static constexpr Make makes[2][2][4] = {
        {{make_again<EventPushConsumer>, make_again<AnyPushConsumer>,
          make_again<StructuredPushConsumer>, make_again<SequencePushConsumer>},
         {make_again<EventPullConsumer>, make_again<AnyPullConsumer>,
          make_again<StructuredPullConsumer>, make_again<SequencePullConsumer>}},
        {{make_again<EventPushSupplier>, make_again<AnyPushSupplier>,
          make_again<StructuredPushSupplier>, make_again<SequencePushSupplier>},
         {make_again<EventPullSupplier>, make_again<AnyPullSupplier>,
          make_again<StructuredPullSupplier>, make_again<SequencePullSupplier>}}};
    const std::size_t form = stored.number == 0                ? 0
                             : stored.form == ANY_EVENT        ? 1
                             : stored.form == STRUCTURED_EVENT ? 2
                                                               : 3;
    return makes[admin->is_consumers() ? 1 : 0][stored.pulls ? 1 : 0][form](channel, admin, key,
                                                                            stored, find);
}

ProxyConsumer_ptr make_proxy_consumer(const ChannelPtr& channel, const AdminPtr& of, Form form,
                                      bool pulls, ProxyID& id)
{
    const CORBA::Object_var object =
        pulls ? make<AnyPullConsumer, StructuredPullConsumer, SequencePullConsumer>(channel, of,
                                                                                    form, pulls, id)
              : make<AnyPushConsumer, StructuredPushConsumer, SequencePushConsumer>(
                    channel, of, form, pulls, id);
    return ProxyConsumer::_unchecked_narrow(object.in());
}

ProxySupplier_ptr make_proxy_supplier(const ChannelPtr& channel, const AdminPtr& of, Form form,
                                      bool pulls, ProxyID& id)
{
    const CORBA::Object_var object =
        pulls ? make<AnyPullSupplier, StructuredPullSupplier, SequencePullSupplier>(channel, of,
                                                                                    form, pulls, id)
              : make<AnyPushSupplier, StructuredPushSupplier, SequencePushSupplier>(
                    channel, of, form, pulls, id);
    return ProxySupplier::_unchecked_narrow(object.in());
}

CosEventChannelAdmin::ProxyPushConsumer_ptr make_event_push_consumer(const ChannelPtr& channel,
                                                                     const AdminPtr& of)
{
    const CORBA::Object_var object = make<EventPushConsumer>(channel, of);
    return CosEventChannelAdmin::ProxyPushConsumer::_unchecked_narrow(object.in());
}

CosEventChannelAdmin::ProxyPullConsumer_ptr make_event_pull_consumer(const ChannelPtr& channel,
                                                                     const AdminPtr& of)
{
    const CORBA::Object_var object = make<EventPullConsumer>(channel, of);
    return CosEventChannelAdmin::ProxyPullConsumer::_unchecked_narrow(object.in());
}

CosEventChannelAdmin::ProxyPushSupplier_ptr make_event_push_supplier(const ChannelPtr& channel,
                                                                     const AdminPtr& of)
{
    const CORBA::Object_var object = make<EventPushSupplier>(channel, of);
    return CosEventChannelAdmin::ProxyPushSupplier::_unchecked_narrow(object.in());
}

CosEventChannelAdmin::ProxyPullSupplier_ptr make_event_pull_supplier(const ChannelPtr& channel,
                                                                     const AdminPtr& of)
{
    const CORBA::Object_var object = make<EventPullSupplier>(channel, of);
    return CosEventChannelAdmin::ProxyPullSupplier::_unchecked_narrow(object.in());
}

} // namespace kairos::notification
