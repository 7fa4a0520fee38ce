// SPDX-License-Identifier: Apache-2.0
//
// A channel of sensors' readings within a program. One consumer wants what is hot, wherever it is;
// another all that the boiler says. Neither is sent anything else.
#include <kairos/corba/CORBA.h>
#include <kairos/notification/service.h>

#include <iostream>
#include <string>

using namespace CosNotifyChannelAdmin;

namespace {

/// A consumer that pulls what is of this type and fulfils the constraint.
StructuredProxyPullSupplier_ptr subscribe(EventChannel_ptr channel, const char* type,
                                          const char* constraint)
{
    CosNotifyFilter::FilterFactory_var filters = channel->default_filter_factory();
    CosNotifyFilter::Filter_var filter = filters->create_filter("EXTENDED_TCL");
    CosNotifyFilter::ConstraintExpSeq constraints;
    constraints.length(1);
    constraints[0].event_types.length(1);
    constraints[0].event_types[0].domain_name = "Sensors";
    constraints[0].event_types[0].type_name = type;
    constraints[0].constraint_expr = constraint;
    CosNotifyFilter::ConstraintInfoSeq_var added = filter->add_constraints(constraints);

    ConsumerAdmin_var admin = channel->default_consumer_admin();
    ProxyID id = 0;
    ProxySupplier_var proxy = admin->obtain_notification_pull_supplier(STRUCTURED_EVENT, id);
    proxy->add_filter(filter);
    StructuredProxyPullSupplier_var supplier = StructuredProxyPullSupplier::_narrow(proxy);
    supplier->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    return supplier._retn();
}

CosNotification::StructuredEvent reading(const char* sensor, double degrees)
{
    CosNotification::StructuredEvent event;
    event.header.fixed_header.event_type.domain_name = "Sensors";
    event.header.fixed_header.event_type.type_name = "Temperature";
    event.header.fixed_header.event_name = sensor;
    event.filterable_data.length(1);
    event.filterable_data[0].name = "degrees";
    event.filterable_data[0].value <<= degrees;
    return event;
}

void print_all(const char* who, StructuredProxyPullSupplier_ptr supplier)
{
    for (;;) {
        CORBA::Boolean has_event = false;
        CosNotification::StructuredEvent_var event = supplier->try_pull_structured_event(has_event);
        if (!has_event) return;
        double degrees = 0;
        event->filterable_data[0].value >>= degrees;
        std::cout << who << ": " << event->header.fixed_header.event_name.in() << ' ' << degrees
                  << '\n';
    }
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        kairos::notification::NotificationService service(orb);
        KairosNotification::Channel_var channel = service.create_channel("Sensors");
        StructuredProxyPullSupplier_var hot = subscribe(channel, "Temp*", "$degrees > 70");
        StructuredProxyPullSupplier_var boiler =
            subscribe(channel, "Temperature", "$event_name == 'boiler'");

        SupplierAdmin_var admin = channel->default_supplier_admin();
        ProxyID id = 0;
        ProxyConsumer_var proxy = admin->obtain_notification_push_consumer(STRUCTURED_EVENT, id);
        StructuredProxyPushConsumer_var consumer = StructuredProxyPushConsumer::_narrow(proxy);
        consumer->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
        consumer->push_structured_event(reading("roof", 18.5));
        consumer->push_structured_event(reading("boiler", 64));
        consumer->push_structured_event(reading("boiler", 71));
        consumer->push_structured_event(reading("oven", 180));

        print_all("hot", hot);
        print_all("boiler", boiler);
        KairosEvents::Figures figures = channel->figures();
        std::cout << "received " << figures.received << ", delivered " << figures.delivered << '\n';
    }
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "notification_sensors: " << exception.what() << '\n';
    return 1;
}
