// SPDX-License-Identifier: Apache-2.0
//
// Three weather stations are asked at the same time, and nobody waits for any of them: a reply
// handler hears what they say while the program is in ORB::run. Stations and program are in one
// process here, with an ORB each, so that there is one thing to start.
#include "stations_skel.h"

#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

class Station final : public POA_Weather::Station {
  public:
    explicit Station(double temperature) : temperature_(temperature) {}
    CORBA::Double temperature() override
    {
        if (temperature_ < -273.15) throw Weather::OutOfOrder("frozen");
        return temperature_;
    }

  private:
    double temperature_;
};

/// What kairos-idl --ami has made of interface Station: an operation for each reply, and one for
/// each failure.
class Handler final : public POA_Weather::AMI_StationHandler {
  public:
    Handler(CORBA::ORB_ptr orb, int expected) : orb_(orb), missing_(expected) {}

    void temperature(CORBA::Double result) override
    {
        std::cout << result << " degrees\n";
        note();
    }
    void temperature_excep(Messaging::ExceptionHolder* holder) override
    {
        try {
            holder->raise_exception();
        } catch (const Weather::OutOfOrder& exception) {
            std::cout << "out of order: " << exception.why << '\n';
        } catch (const CORBA::SystemException& exception) {
            std::cout << exception._name() << '\n';
        }
        note();
    }

  private:
    void note()
    {
        if (--missing_ == 0) orb_->shutdown(false);
    }
    CORBA::ORB_ptr orb_; // which outlives its servants
    int missing_;
};

PortableServer::POA_var active_root_poa(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return poa;
}

std::string publish(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, Station& station)
{
    const PortableServer::ObjectId_var id = poa->activate_object(&station);
    const CORBA::Object_var reference = poa->id_to_reference(id);
    const CORBA::String_var text = orb->object_to_string(reference);
    return text.in();
}

} // namespace

int main(int argc, char** argv)
{
    const CORBA::ORB_var there = CORBA::ORB_init(argc, argv, "stations");
    Station stations[] = {Station(18.5), Station(21), Station(-300)};
    std::vector<std::string> references;
    const PortableServer::POA_var poa = active_root_poa(there);
    for (Station& station : stations)
        references.push_back(publish(there, poa, station));
    std::thread serving([&] { there->run(); });

    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "program");
    Handler handler(orb, 3);
    const PortableServer::POA_var own = active_root_poa(orb);
    const PortableServer::ObjectId_var id = own->activate_object(&handler);
    const CORBA::Object_var object = own->id_to_reference(id);
    const Weather::AMI_StationHandler_var told = Weather::AMI_StationHandler::_narrow(object);
    for (const std::string& reference : references) {
        const CORBA::Object_var found = orb->string_to_object(reference.c_str());
        const Weather::Station_var station = Weather::Station::_narrow(found);
        station->sendc_temperature(told); // does not wait
    }
    std::cout << "all are asked\n";
    orb->run();

    orb->destroy();
    there->shutdown(true);
    serving.join();
    there->destroy();
}
