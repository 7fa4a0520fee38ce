// SPDX-License-Identifier: Apache-2.0
//
// Pushes three readings into a channel of any ORB's:
//     kairos events > channel.ior &
//     events_supplier "$(cat channel.ior)"
#include "weather.h"

#include <kairos/corba/CORBA.h>
#include <kairos/events/CosEventChannelAdmin.h>

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    CosEventChannelAdmin::EventChannel_var channel =
        CosEventChannelAdmin::EventChannel::_narrow(object);
    CosEventChannelAdmin::SupplierAdmin_var admin = channel->for_suppliers();
    CosEventChannelAdmin::ProxyPushConsumer_var consumer = admin->obtain_push_consumer();
    consumer->connect_push_supplier(CosEventComm::PushSupplier::_nil()); // nobody to be told
    for (double degrees : {18.5, 21.0, 19.75}) {
        Weather::Reading reading;
        reading.station = "roof";
        reading.degrees = degrees;
        CORBA::Any event;
        event <<= reading;
        consumer->push(event);
    }
    consumer->disconnect_push_consumer();
} catch (const CORBA::Exception& exception) {
    std::cerr << "events_supplier: " << exception.what() << '\n';
    return 1;
}
