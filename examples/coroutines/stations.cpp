// SPDX-License-Identifier: Apache-2.0
//
// Weather stations asked by coroutines: they read like ordinary calls, and no thread waits for any
// of them. One is asked until its deadline, one until the program has no use for it any more.
// Stations and program are in one process here, with an ORB each, so that there is one thing to
// start.
#include "stations_skel.h"

#include <kairos/messaging/task.h>

#include <chrono>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kairos::messaging::AsyncOptions;
using kairos::messaging::Task;

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

/// What kairos-idl --async has made of interface Station: async(), and what can be awaited of that.
Task<std::string> ask(Weather::Station_ptr station, AsyncOptions options = {})
{
    try {
        const CORBA::Double degrees = co_await station->async(std::move(options)).temperature();
        co_return std::to_string(static_cast<int>(degrees)) + " degrees";
    } catch (const Weather::OutOfOrder& exception) {
        co_return std::string("out of order: ") + exception.why.in();
    } catch (const CORBA::SystemException& exception) {
        co_return exception._name();
    } catch (const kairos::messaging::Cancelled&) {
        co_return "not asked any more";
    }
}

Task<void> ask_all(const std::vector<Weather::Station_var>& stations)
{
    for (const Weather::Station_var& station : stations)
        std::cout << co_await ask(station.in()) << '\n';
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = AsyncOptions().stopped_by(stop.get_token());
    std::cout << co_await ask(stations.front().in(), stopped) << '\n';
    const auto limited = AsyncOptions().within(std::chrono::minutes(1));
    std::cout << co_await ask(stations.front().in(), limited) << '\n';
}

PortableServer::POA_var active_root_poa(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return poa;
}

} // namespace

int main(int argc, char** argv)
{
    const CORBA::ORB_var there = CORBA::ORB_init(argc, argv, "stations");
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv, "program");
    Station servants[] = {Station(18), Station(21), Station(-300)};
    std::vector<Weather::Station_var> stations;
    const PortableServer::POA_var poa = active_root_poa(there);
    for (Station& servant : servants) {
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var made = poa->id_to_reference(id);
        const CORBA::String_var text = there->object_to_string(made);
        const CORBA::Object_var found = orb->string_to_object(text);
        stations.push_back(Weather::Station::_narrow(found));
    }
    std::thread serving([&] { there->run(); });

    ask_all(stations).wait();

    stations.clear();
    orb->destroy();
    there->shutdown(true);
    serving.join();
    there->destroy();
}
