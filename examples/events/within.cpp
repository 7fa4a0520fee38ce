// SPDX-License-Identifier: Apache-2.0
//
// A channel within a program, one supplier that pushes, and two consumers that pull.
#include "weather.h"

#include <kairos/corba/CORBA.h>
#include <kairos/events/service.h>

#include <iostream>

namespace {

CosEventChannelAdmin::ProxyPullSupplier_ptr join(KairosEvents::Channel_ptr channel)
{
    CosEventChannelAdmin::ConsumerAdmin_var admin = channel->for_consumers();
    CosEventChannelAdmin::ProxyPullSupplier_var supplier = admin->obtain_pull_supplier();
    supplier->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    return supplier._retn();
}

void print_next(const char* who, CosEventChannelAdmin::ProxyPullSupplier_ptr supplier)
{
    CORBA::Any_var event = supplier->pull();
    const Weather::Reading* reading = nullptr;
    if (event.in() >>= reading)
        std::cout << who << ": " << reading->station.in() << ' ' << reading->degrees << '\n';
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    {
        kairos::events::EventService service(orb);
        KairosEvents::Channel_var channel = service.create_channel("Weather");
        CosEventChannelAdmin::ProxyPullSupplier_var first = join(channel);
        CosEventChannelAdmin::ProxyPullSupplier_var second = join(channel);

        CosEventChannelAdmin::SupplierAdmin_var admin = channel->for_suppliers();
        CosEventChannelAdmin::ProxyPushConsumer_var consumer = admin->obtain_push_consumer();
        consumer->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        Weather::Reading reading;
        reading.station = "roof";
        reading.degrees = 18.5;
        CORBA::Any event;
        event <<= reading;
        consumer->push(event);

        print_next("first", first);
        print_next("second", second);
        KairosEvents::Figures figures = channel->figures();
        std::cout << "received " << figures.received << ", delivered " << figures.delivered << '\n';
    }
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "events_within: " << exception.what() << '\n';
    return 1;
}
