// SPDX-License-Identifier: Apache-2.0
//
// Prints the readings that a channel of any ORB's pushes, until it is disconnected:
//     kairos events > channel.ior &
//     events_consumer "$(cat channel.ior)"
#include "weather.h"

#include <kairos/corba/CORBA.h>
#include <kairos/events/CosEventChannelAdmin.h>
#include <kairos/events/CosEventComm_skel.h>

#include <iostream>

namespace {

class Printer : public POA_CosEventComm::PushConsumer {
  public:
    explicit Printer(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    void push(const CORBA::Any& data) override
    {
        const Weather::Reading* reading = nullptr;
        if (data >>= reading)
            std::cout << reading->station.in() << ": " << reading->degrees << std::endl;
    }
    void disconnect_push_consumer() override { orb_->shutdown(false); }

  private:
    const CORBA::ORB_var orb_;
};

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argv[1]);
    CosEventChannelAdmin::EventChannel_var channel =
        CosEventChannelAdmin::EventChannel::_narrow(object);
    object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    PortableServer::Servant_var<Printer> printer = new Printer(orb);
    CosEventComm::PushConsumer_var consumer = printer->_this();
    CosEventChannelAdmin::ConsumerAdmin_var admin = channel->for_consumers();
    CosEventChannelAdmin::ProxyPushSupplier_var supplier = admin->obtain_push_supplier();
    supplier->connect_push_consumer(consumer);
    orb->run();
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "events_consumer: " << exception.what() << '\n';
    return 1;
}
