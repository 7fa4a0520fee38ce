// SPDX-License-Identifier: Apache-2.0
//
// Logs that write what they are given by calls, their factory, and iterators, as servants.
#include "kairos/logs/DsEventLogAdmin_skel.h"
#include "kairos/logs/log_servant.h"

namespace kairos::logs {
namespace {

using namespace DsLogAdmin;

/// Qualities that one list may name, known or not.
constexpr CORBA::ULong qualities_max = 16;

class BasicLogServant final : public LogOperations<POA_DsLogAdmin::BasicLog> {
  public:
    using LogOperations::LogOperations;
};

class BasicFactoryServant final : public FactoryOperations<POA_DsLogAdmin::BasicLogFactory> {
  public:
    using FactoryOperations::FactoryOperations;

    BasicLog_ptr create(LogFullActionType full_action, CORBA::ULongLong max_size,
                        LogId_out id) override
    {
        const LogPtr log = make(std::nullopt, full_action, max_size, {});
        id = id_of(log->key());
        return state().object<BasicLog>(log->key());
    }
    BasicLog_ptr create_with_id(LogId id, LogFullActionType full_action,
                                CORBA::ULongLong max_size) override
    {
        return state().object<BasicLog>(make(id, full_action, max_size, {})->key());
    }
};

class EventLogServant final : public LogOperations<POA_DsEventLogAdmin::EventLog> {
  public:
    using LogOperations::LogOperations;

    CosEventChannelAdmin::ConsumerAdmin_ptr for_consumers() override
    {
        return channel()->for_consumers();
    }
    CosEventChannelAdmin::SupplierAdmin_ptr for_suppliers() override
    {
        return channel()->for_suppliers();
    }

  private:
    [[nodiscard]] CosEventChannelAdmin::EventChannel_var channel() const
    {
        return state().event_logs.channel(log()->key());
    }
};

class EventFactoryServant final : public FactoryOperations<POA_DsEventLogAdmin::EventLogFactory> {
  public:
    using EventLog = DsEventLogAdmin::EventLog;
    using FactoryOperations::FactoryOperations;

    DsEventLogAdmin::EventLog_ptr create(LogFullActionType full_action, CORBA::ULongLong max_size,
                                         const CapacityAlarmThresholdList& thresholds,
                                         LogId_out id) override
    {
        const LogPtr log = make(std::nullopt, full_action, max_size, thresholds);
        id = id_of(log->key());
        return state().object<EventLog>(log->key());
    }
    DsEventLogAdmin::EventLog_ptr
    create_with_id(LogId id, LogFullActionType full_action, CORBA::ULongLong max_size,
                   const CapacityAlarmThresholdList& thresholds) override
    {
        return state().object<EventLog>(make(id, full_action, max_size, thresholds)->key());
    }
    CosEventChannelAdmin::ProxyPushSupplier_ptr obtain_push_supplier() override
    {
        return consumers()->obtain_push_supplier();
    }
    CosEventChannelAdmin::ProxyPullSupplier_ptr obtain_pull_supplier() override
    {
        return consumers()->obtain_pull_supplier();
    }

  private:
    [[nodiscard]] CosEventChannelAdmin::ConsumerAdmin_var consumers() const
    {
        const CosEventChannelAdmin::EventChannel_var channel = state().event_logs.announcements();
        return channel->for_consumers();
    }
};

class IteratorServant final : public POA_DsLogAdmin::Iterator {
  public:
    explicit IteratorServant(ServiceState& state) : state_(state) {}

    RecordList* get(CORBA::ULong position, CORBA::ULong how_many) override
    {
        const auto iteration = corba::called_thing(state_.iterations);
        const std::lock_guard lock(iteration->mutex);
        if (position > iteration->numbers.size())
            throw InvalidParam("there are not as many records");
        (void)iteration->log->state(); // it may have ended; nothing that is too old
        RecordList_var list = records(*iteration->log, iteration->numbers, position, how_many);
        (void)iteration->log->settings(); // ended meanwhile: then another may have its id
        return list._retn();
    }
    void destroy() override
    {
        if (!state_.iterations.end(corba::called_number())) corba::raise_no_such_object();
    }

  private:
    ServiceState& state_;
};

} // namespace

void check_attributes(const NVList& list, const ServiceLimits& limits)
{
    if (list.length() > limits.attributes_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "more attributes than a record may have");
    std::set<std::string_view> names;
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        const std::string_view name = list[i].name.in();
        if (name.empty() || !names.insert(name).second)
            throw InvalidAttribute(list[i].name.in(), list[i].value);
    }
}

void check_qos(const QoSList& qos, bool is_durable)
{
    if (qos.length() > qualities_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "there are not as many qualities");
    QoSList denied;
    for (CORBA::ULong i = 0; i < qos.length(); ++i) {
        const bool is_known = qos[i] == QoSNone || qos[i] == QoSFlush || qos[i] == QoSReliability;
        if (is_known && (is_durable || qos[i] == QoSNone)) continue;
        denied.length(denied.length() + 1);
        denied[denied.length() - 1] = qos[i];
    }
    if (denied.length() != 0) throw UnsupportedQoS(denied);
}

RecordList* reply(ServiceState& state, const LogPtr& log, Numbers numbers,
                  const std::vector<RowPtr>& rows, Iterator_out iterator)
{
    iterator = Iterator::_nil();
    RecordList_var list = records(*log, numbers, 0, numbers.size(), rows);
    if (list->length() < numbers.size()) iterator = state.begin(log, std::move(numbers));
    return list._retn();
}

PortableServer::Servant make_factory_servant(ServiceState& state, Kind kind)
{
    if (kind == Kind::event) return new EventFactoryServant(state, kind);
    if (kind == Kind::notify) return make_notify_factory_servant(state);
    return new BasicFactoryServant(state, kind);
}

PortableServer::Servant make_log_servant(ServiceState& state, Kind kind)
{
    if (kind == Kind::event) return new EventLogServant(state, kind);
    if (kind == Kind::notify) return make_notify_log_servant(state);
    return new BasicLogServant(state, kind);
}

PortableServer::Servant make_iterator_servant(ServiceState& state)
{
    return new IteratorServant(state);
}

} // namespace kairos::logs
