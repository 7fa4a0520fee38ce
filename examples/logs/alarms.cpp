// SPDX-License-Identifier: Apache-2.0
//
// Alarms that are kept: a log that is an event channel writes what a plant reports, with nobody
// connected to hear it, and is asked later; a full log says so to who watches it.
#include <kairos/corba/CORBA.h>
#include <kairos/logs/DsLogNotification.h>
#include <kairos/logs/service.h>

#include <iostream>

namespace {

void report(CosEventChannelAdmin::ProxyPushConsumer_ptr to, const char* text)
{
    CORBA::Any alarm;
    alarm <<= text;
    to->push(alarm);
}

void print(DsLogAdmin::Log_ptr log, const char* constraint)
{
    DsLogAdmin::Iterator_var rest;
    DsLogAdmin::RecordList_var found = log->query(DsLogAdmin::default_grammar, constraint, rest);
    for (CORBA::ULong i = 0; i < found->length(); ++i) {
        const char* text = "";
        found[i].info >>= text;
        std::cout << found[i].id << ": " << text << '\n';
    }
}

void keep_alarms(DsEventLogAdmin::EventLogFactory_ptr logs)
{
    CosEventChannelAdmin::ProxyPullSupplier_var told = logs->obtain_pull_supplier();
    told->connect_pull_consumer(CosEventComm::PullConsumer::_nil());

    DsLogAdmin::CapacityAlarmThresholdList thresholds;
    thresholds.length(1);
    thresholds[0] = 50; // percent
    DsLogAdmin::LogId id = 0;
    DsEventLogAdmin::EventLog_var log = logs->create(DsLogAdmin::wrap, 250, thresholds, id);
    CORBA::Any_var creation = told->pull();

    CosEventChannelAdmin::SupplierAdmin_var suppliers = log->for_suppliers();
    CosEventChannelAdmin::ProxyPushConsumer_var to = suppliers->obtain_push_consumer();
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    report(to, "pump 1 is hot");
    report(to, "valve 7 is stuck");
    report(to, "pump 3 stands still");
    report(to, "pump 1 is cold");

    std::cout << "of pumps:\n";
    print(log, "'pump' ~ $.info and $.id < 4");

    CORBA::Any_var event = told->pull();
    const DsLogNotification::ThresholdAlarm* alarm = nullptr;
    if (event >>= alarm) std::cout << "more than " << alarm->crossed_value << " % are used\n";
    log->destroy();
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        kairos::logs::LogService service(orb); // or with a store: kairos::logs::open_store
        DsEventLogAdmin::EventLogFactory_var logs = service.event_logs();
        keep_alarms(logs);
    }
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "logs_alarms: " << exception.what() << '\n';
    return 1;
}
