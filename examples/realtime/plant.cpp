// SPDX-License-Identifier: Apache-2.0
//
// A plant whose alarms overtake everything else: a thread pool with two lanes, a valve that the
// server declares urgent, a journal that is served at the priority of whoever writes, and two
// clients. Runs without the right to real-time priorities, too, and says so.
#include <kairos/corba/CORBA.h>
#include <kairos/rtcorba/RTPortableServer.h>

#include "plant_skel.h"

#include <cstdlib>
#include <iostream>
#include <thread>

namespace {

constexpr RTCORBA::Priority routine = 1'000;
constexpr RTCORBA::Priority urgent = 30'000;

class DeviceServant : public POA_Device {
  public:
    explicit DeviceServant(RTCORBA::Current_ptr current)
        : current_(RTCORBA::Current::_duplicate(current))
    {
    }
    CORBA::Short handle(const char*) override { return current_->the_priority(); }

  private:
    const RTCORBA::Current_var current_;
};

template <typename T>
T* initial(CORBA::ORB_ptr orb, const char* name)
{
    const CORBA::Object_var object = orb->resolve_initial_references(name);
    return T::_narrow(object);
}

/// A POA of this priority model, whose requests are served by the pool.
RTPortableServer::POA_ptr make_poa(RTPortableServer::POA_ptr root, const char* name,
                                   RTCORBA::RTORB_ptr rtorb, RTCORBA::ThreadpoolId pool,
                                   RTCORBA::PriorityModel model, RTCORBA::Priority priority)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = rtorb->create_threadpool_policy(pool);
    policies[1] = rtorb->create_priority_model_policy(model, priority);
    const PortableServer::POAManager_var manager = root->the_POAManager();
    const PortableServer::POA_var poa = root->create_POA(name, manager, policies);
    return RTPortableServer::POA::_narrow(poa);
}

/// Two threads for routine work, and one that only what is urgent may have; it may borrow the
/// others as well.
RTCORBA::ThreadpoolId make_pool(RTCORBA::RTORB_ptr rtorb)
{
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(2);
    lanes[0] = {routine, 2, 0};
    lanes[1] = {urgent, 1, 0};
    const bool borrows = true;
    const bool buffers = true;
    return rtorb->create_threadpool_with_lanes(256 * 1024, lanes, borrows, buffers, 100, 0);
}

/// From a thread of this priority, over TCP.
void call(CORBA::ORB_ptr client, const std::string& reference, RTCORBA::Priority priority,
          const char* what)
{
    std::thread([&] {
        const RTCORBA::Current_var current = initial<RTCORBA::Current>(client, "RTCurrent");
        current->the_priority(priority);
        const CORBA::Object_var object = client->string_to_object(reference.c_str());
        const Device_var device = Device::_narrow(object);
        const CORBA::Short served = device->handle(what);
        std::cout << what << ": called at " << priority << ", served at " << served << '\n';
    }).join();
}

void run(CORBA::ORB_ptr orb, CORBA::ORB_ptr client)
{
    const RTCORBA::RTORB_var rtorb = initial<RTCORBA::RTORB>(orb, "RTORB");
    const RTCORBA::Current_var current = initial<RTCORBA::Current>(orb, "RTCurrent");
    const RTPortableServer::POA_var root = initial<RTPortableServer::POA>(orb, "RootPOA");
    // Before the first POAManager is active: so the ORB knows that it is to hand requests over.
    const RTCORBA::ThreadpoolId pool = make_pool(rtorb);

    const RTPortableServer::POA_var devices =
        make_poa(root, "devices", rtorb, pool, RTCORBA::SERVER_DECLARED, routine);
    const RTPortableServer::POA_var journals =
        make_poa(root, "journals", rtorb, pool, RTCORBA::CLIENT_PROPAGATED, routine);

    const PortableServer::Servant_var<DeviceServant> device = new DeviceServant(current);
    const PortableServer::ObjectId_var pump = devices->activate_object(device);
    const PortableServer::Servant_var<DeviceServant> other = new DeviceServant(current);
    const PortableServer::ObjectId_var valve =
        devices->activate_object_with_priority(other, urgent);
    const PortableServer::Servant_var<DeviceServant> writer = new DeviceServant(current);
    const PortableServer::ObjectId_var journal = journals->activate_object(writer);

    const PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();

    const auto text_of = [&](RTPortableServer::POA_ptr poa, const PortableServer::ObjectId& id) {
        const CORBA::Object_var object = poa->id_to_reference(id);
        const CORBA::String_var text = orb->object_to_string(object);
        return std::string(text.in());
    };
    call(client, text_of(devices, pump), 500, "pump");
    call(client, text_of(devices, valve), 500, "valve");
    call(client, text_of(journals, journal), 500, "journal");
    call(client, text_of(journals, journal), urgent, "journal");
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const CORBA::ORB_var client = CORBA::ORB_init(argc, argv, "client");
    run(orb, client);
    client->destroy();
    orb->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "plant: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
