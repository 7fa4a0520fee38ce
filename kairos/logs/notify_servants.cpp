// SPDX-License-Identifier: Apache-2.0
//
// Logs that are notification channels, and their factory (Telecom Log Service 1.1.2, 2.3), as
// servants. What a channel does they have from the channel behind the log.
#include "kairos/logs/DsNotifyLogAdmin_skel.h"
#include "kairos/logs/log_servant.h"

namespace kairos::logs {
namespace {

using namespace CosNotifyChannelAdmin;
using CosNotification::EventTypeSeq;
using CosNotification::NamedPropertyRangeSeq_out;
using CosNotification::QoSProperties;
using CosNotifyFilter::Filter_ptr;
using CosNotifyFilter::FilterID;
using CosNotifyFilter::FilterIDSeq;
using CosNotifyFilter::MappingFilter_ptr;
using DsLogAdmin::CapacityAlarmThresholdList;
using DsLogAdmin::LogFullActionType;
using DsLogAdmin::LogId;
using DsNotifyLogAdmin::NotifyLog;
using DsNotifyLogAdmin::NotifyLog_ptr;

/// What is compared where nobody compares Anys.
std::string octets_of(const KairosLogs::ChannelSettings& channel)
{
    KairosLogs::Settings settings{};
    settings.channel = channel;
    return encapsulated(settings);
}

class NotifyLogServant final : public LogOperations<POA_DsNotifyLogAdmin::NotifyLog> {
  public:
    using LogOperations::LogOperations;

    Filter_ptr get_filter() override { return channel()->record_filter(); }
    void set_filter(Filter_ptr filter) override
    {
        const KairosNotification::RecordedChannel_var of = channel();
        const CosNotifyFilter::Filter_var before = of->record_filter();
        of->record_filter(filter);
        state().event_logs.say_changed(log()->key(), DsLogNotification::filter, before.in(),
                                       filter);
    }

    CosEventChannelAdmin::ConsumerAdmin_ptr for_consumers() override
    {
        return channel()->for_consumers();
    }
    CosEventChannelAdmin::SupplierAdmin_ptr for_suppliers() override
    {
        return channel()->for_suppliers();
    }

    QoSProperties* get_qos() override { return channel()->get_qos(); }
    void set_qos(const QoSProperties& qos) override
    {
        const LogPtr log = this->log();
        change(log, [&qos](KairosNotification::RecordedChannel_ptr of) { of->set_qos(qos); });
    }
    void validate_qos(const QoSProperties& required_qos,
                      NamedPropertyRangeSeq_out available_qos) override
    {
        channel()->validate_qos(required_qos, available_qos);
    }
    CosNotification::AdminProperties* get_admin() override { return channel()->get_admin(); }
    void set_admin(const CosNotification::AdminProperties& admin) override
    {
        const LogPtr log = this->log();
        change(log, [&admin](KairosNotification::RecordedChannel_ptr of) { of->set_admin(admin); });
    }

    /// What makes logs makes no channels that are none.
    EventChannelFactory_ptr MyFactory() override { return EventChannelFactory::_nil(); }
    ConsumerAdmin_ptr default_consumer_admin() override
    {
        return channel()->default_consumer_admin();
    }
    SupplierAdmin_ptr default_supplier_admin() override
    {
        return channel()->default_supplier_admin();
    }
    CosNotifyFilter::FilterFactory_ptr default_filter_factory() override
    {
        return channel()->default_filter_factory();
    }
    ConsumerAdmin_ptr new_for_consumers(InterFilterGroupOperator op, CORBA::Long_out id) override
    {
        return channel()->new_for_consumers(op, id);
    }
    SupplierAdmin_ptr new_for_suppliers(InterFilterGroupOperator op, CORBA::Long_out id) override
    {
        return channel()->new_for_suppliers(op, id);
    }
    ConsumerAdmin_ptr get_consumeradmin(AdminID id) override
    {
        return channel()->get_consumeradmin(id);
    }
    SupplierAdmin_ptr get_supplieradmin(AdminID id) override
    {
        return channel()->get_supplieradmin(id);
    }
    AdminIDSeq* get_all_consumeradmins() override { return channel()->get_all_consumeradmins(); }
    AdminIDSeq* get_all_supplieradmins() override { return channel()->get_all_supplieradmins(); }

  private:
    /// Changes the log's channel, and has the store have it. Where it cannot, the channel is again
    /// as it is there. Others may do the same at once: who comes last writes what there is.
    template <typename Set>
    void change(const LogPtr& log, const Set& set)
    {
        const KairosNotification::RecordedChannel_var of = channel();
        set(of.in());
        try {
            for (;;) {
                const KairosLogs::ChannelSettings now = settings_of(of.in());
                if (octets_of(now) == octets_of(log->settings()->channel)) return;
                log->change([&now](Settings& settings, const LogState& /*state*/) {
                    settings.channel = now;
                });
            }
        } catch (...) {
            take_back(log, of.in());
            throw;
        }
    }
    static void take_back(const LogPtr& log, KairosNotification::RecordedChannel_ptr of) noexcept
    {
        try {
            const std::shared_ptr<const Settings> kept = log->settings();
            of->set_qos(kept->channel.qos);
            of->set_admin(kept->channel.administration);
        } catch (const CORBA::Exception&) { // they end
        }
    }
    [[nodiscard]] KairosNotification::RecordedChannel_var channel() const
    {
        return state().event_logs.notify_channel(log()->key());
    }
};

/// Its consumers are those of what logs say of themselves.
class NotifyFactoryServant final
    : public FactoryOperations<POA_DsNotifyLogAdmin::NotifyLogFactory> {
  public:
    using FactoryOperations::FactoryOperations;

    NotifyLog_ptr create(LogFullActionType full_action, CORBA::ULongLong max_size,
                         const CapacityAlarmThresholdList& thresholds,
                         const QoSProperties& initial_qos,
                         const CosNotification::AdminProperties& initial_admin,
                         CORBA::ULong_out id) override
    {
        const LogPtr log = make(std::nullopt, full_action, max_size, thresholds,
                                {.qos = initial_qos, .administration = initial_admin});
        id = id_of(log->key());
        return state().object<NotifyLog>(log->key());
    }
    NotifyLog_ptr create_with_id(LogId id, LogFullActionType full_action, CORBA::ULongLong max_size,
                                 const CapacityAlarmThresholdList& thresholds,
                                 const QoSProperties& initial_qos,
                                 const CosNotification::AdminProperties& initial_admin) override
    {
        const LogPtr log = make(id, full_action, max_size, thresholds,
                                {.qos = initial_qos, .administration = initial_admin});
        return state().object<NotifyLog>(log->key());
    }

    QoSProperties* get_qos() override { return consumers()->get_qos(); }
    void set_qos(const QoSProperties& qos) override { consumers()->set_qos(qos); }
    void validate_qos(const QoSProperties& required_qos,
                      NamedPropertyRangeSeq_out available_qos) override
    {
        consumers()->validate_qos(required_qos, available_qos);
    }
    void subscription_change(const EventTypeSeq& added, const EventTypeSeq& removed) override
    {
        consumers()->subscription_change(added, removed);
    }
    FilterID add_filter(Filter_ptr new_filter) override
    {
        return consumers()->add_filter(new_filter);
    }
    void remove_filter(FilterID filter) override { consumers()->remove_filter(filter); }
    Filter_ptr get_filter(FilterID filter) override { return consumers()->get_filter(filter); }
    FilterIDSeq* get_all_filters() override { return consumers()->get_all_filters(); }
    void remove_all_filters() override { consumers()->remove_all_filters(); }

    AdminID MyID() override { return consumers()->MyID(); }
    EventChannel_ptr MyChannel() override { return consumers()->MyChannel(); }
    InterFilterGroupOperator MyOperator() override { return consumers()->MyOperator(); }
    MappingFilter_ptr priority_filter() override { return consumers()->priority_filter(); }
    void priority_filter(MappingFilter_ptr value) override { consumers()->priority_filter(value); }
    MappingFilter_ptr lifetime_filter() override { return consumers()->lifetime_filter(); }
    void lifetime_filter(MappingFilter_ptr value) override { consumers()->lifetime_filter(value); }
    ProxyIDSeq* pull_suppliers() override { return consumers()->pull_suppliers(); }
    ProxyIDSeq* push_suppliers() override { return consumers()->push_suppliers(); }
    ProxySupplier_ptr get_proxy_supplier(ProxyID proxy_id) override
    {
        return consumers()->get_proxy_supplier(proxy_id);
    }
    ProxySupplier_ptr obtain_notification_pull_supplier(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return consumers()->obtain_notification_pull_supplier(ctype, proxy_id);
    }
    ProxySupplier_ptr obtain_notification_push_supplier(ClientType ctype,
                                                        CORBA::Long_out proxy_id) override
    {
        return consumers()->obtain_notification_push_supplier(ctype, proxy_id);
    }
    CosEventChannelAdmin::ProxyPushSupplier_ptr obtain_push_supplier() override
    {
        return consumers()->obtain_push_supplier();
    }
    CosEventChannelAdmin::ProxyPullSupplier_ptr obtain_pull_supplier() override
    {
        return consumers()->obtain_pull_supplier();
    }
    void destroy() override
    {
        throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO, "what makes logs ends with its service");
    }

  private:
    [[nodiscard]] ConsumerAdmin_var consumers() const
    {
        const EventChannel_var channel = state().event_logs.notify_announcements();
        return channel->default_consumer_admin();
    }
};

} // namespace

PortableServer::Servant make_notify_factory_servant(ServiceState& state)
{
    return new NotifyFactoryServant(state, Kind::notify);
}

PortableServer::Servant make_notify_log_servant(ServiceState& state)
{
    return new NotifyLogServant(state, Kind::notify);
}

} // namespace kairos::logs
