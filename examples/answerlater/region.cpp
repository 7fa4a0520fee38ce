// SPDX-License-Identifier: Apache-2.0
//
// Servants that answer later. A station has its response handlers wait until something is measured,
// which the main thread does; a region is a coroutine, which asks two stations and returns when
// both have answered. No thread of the server waits for any of that. Servers and program are in one
// process here, with an ORB each, so that there is one thing to start.
#include "region_skel.h"

#include <kairos/messaging/task.h>

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kairos::messaging::Task;

/// What kairos-idl --amh has made of interface Station: the operation is given a handler.
class Station final : public POA_Weather::AMH_Station {
  public:
    void temperature(Weather::AMH_StationResponseHandler_ptr _tao_rh) override
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(Weather::AMH_StationResponseHandler::_duplicate(_tao_rh));
        changed_.notify_all();
    }
    /// Waits until somebody asks; answers.
    void measure(double degrees)
    {
        const auto handler = next();
        std::cout << "measured " << static_cast<int>(degrees) << '\n';
        handler->temperature(degrees);
    }
    void fail(const char* why)
    {
        Weather::AMH_StationExceptionHolder holder(new Weather::OutOfOrder(why));
        next()->temperature_excep(&holder);
    }

  private:
    Weather::AMH_StationResponseHandler_var next()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty(); });
        auto first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }

    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::deque<Weather::AMH_StationResponseHandler_var> waiting_;
};

/// What kairos-idl --async has made of interface Region: the operation is a coroutine.
class Region final : public POA_Weather::Async_Region {
  public:
    explicit Region(std::vector<Weather::Station_var> stations) : stations_(std::move(stations)) {}
    Task<CORBA::Double> mean() override
    {
        CORBA::Double sum = 0;
        for (const Weather::Station_var& station : stations_)
            sum += co_await station->async().temperature();
        co_return sum / static_cast<double>(stations_.size());
    }

  private:
    const std::vector<Weather::Station_var> stations_;
};

/// Makes a servant an object of one ORB; returns its reference for another.
CORBA::Object_var activated(CORBA::ORB_ptr there, PortableServer::Servant servant,
                            CORBA::ORB_ptr here)
{
    const CORBA::Object_var object = there->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var made = poa->id_to_reference(id);
    const CORBA::String_var text = there->object_to_string(made);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return here->string_to_object(text);
}

void print_mean(Weather::Region_ptr region)
{
    try {
        std::cout << region->mean() << " degrees on average\n";
    } catch (const Weather::OutOfOrder& exception) {
        std::cout << "out of order: " << exception.why.in() << '\n';
    }
}

} // namespace

int main()
{
    int argc = 3;
    const char* arguments[] = {"region", "-ORBConcurrency", "worker-pool", nullptr};
    const CORBA::ORB_var there = CORBA::ORB_init(argc, const_cast<char**>(arguments), "stations");
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, const_cast<char**>(arguments), "program");
    Station servants[2];
    std::vector<Weather::Station_var> stations;
    for (Station& servant : servants) {
        const CORBA::Object_var found = activated(there.in(), &servant, orb.in());
        stations.push_back(Weather::Station::_unchecked_narrow(found));
    }
    Region servant(std::move(stations));
    const CORBA::Object_var found = activated(there.in(), &servant, orb.in());
    const Weather::Region_var region = Weather::Region::_unchecked_narrow(found);
    std::thread serving([&] { there->run(); });

    std::thread asking([&] {
        print_mean(region.in());
        print_mean(region.in());
    });
    servants[0].measure(18);
    servants[1].measure(21);
    servants[0].fail("frozen");
    asking.join();

    there->shutdown(true);
    serving.join();
    there->destroy();
    orb->destroy();
}
