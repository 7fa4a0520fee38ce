// SPDX-License-Identifier: Apache-2.0
//
// The mission computer of an aircraft (paper 003, 3.2.4): four rate groups, each with a client
// thread that calls the operations of its rate, a lane of the server, connections and a priority of
// its own. The rates are those of avionics.idl; the priorities are what the analysis makes of them.
//     scheduling_avionics [--seconds N]
#include "avionics_skel.h"

#include <kairos/corba/CORBA.h>
#include <kairos/orb/late_calls.h>
#include <kairos/orb/priority.h>
#include <kairos/rtcorba/RTPortableServer.h>
#include <kairos/sched/analysis.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

namespace {

using Nanoseconds = std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// --- What is called ------------------------------------------------------------------------------

/// Works a tenth of the worst case that the IDL allows: this is no aircraft's computer.
void work_on(std::string_view operation)
{
    for (const auto& timing : POA_Aircraft::_kairos_timings()) {
        if (timing.operation != operation) continue;
        const auto end = Clock::now() + Nanoseconds(timing.worst_case / 10);
        while (Clock::now() < end) {
        }
    }
}

class AircraftServant final : public POA_Aircraft {
    void read_sensors() override { work_on("Aircraft::read_sensors"); }
    void control_flight() override { work_on("Aircraft::control_flight"); }
    void navigate() override { work_on("Aircraft::navigate"); }
    void refresh_display() override { work_on("Aircraft::refresh_display"); }
    void diagnose() override { work_on("Aircraft::diagnose"); }
};

/// What a client can call, by the names of the IDL.
const std::map<std::string, void (Aircraft::*)(), std::less<>> operations{
    {"Aircraft::read_sensors", &Aircraft::read_sensors},
    {"Aircraft::control_flight", &Aircraft::control_flight},
    {"Aircraft::navigate", &Aircraft::navigate},
    {"Aircraft::refresh_display", &Aircraft::refresh_display},
    {"Aircraft::diagnose", &Aircraft::diagnose},
};

// --- Who calls, and how urgently -----------------------------------------------------------------

struct RateGroup {
    Nanoseconds period{};
    CORBA::Short priority = 0;
    std::vector<std::string> operations{}; ///< the most urgent first
};

/// The analysis of what the IDL says. Throws where a deadline would be missed.
std::vector<RateGroup> rate_groups()
{
    namespace sched = kairos::sched;
    sched::OperationSet set;
    for (const auto& timing : POA_Aircraft::_kairos_timings()) {
        const auto added = set.add({.name = std::string(timing.operation),
                                    .worst_case_time = Nanoseconds(timing.worst_case),
                                    .period = Nanoseconds(timing.period),
                                    .criticality = sched::Criticality{timing.criticality},
                                    .importance = sched::Importance{timing.importance}});
        if (!added) throw std::runtime_error(added.error().reason);
    }
    const auto analysis = sched::analyse(set, {.policy = sched::Policy::rms});
    if (!analysis) throw std::runtime_error(analysis.error().reason);
    if (!analysis->schedulable) throw std::runtime_error("the operations cannot all be in time");

    const kairos::orb::LinearPriorityMapping mapping;
    std::vector<RateGroup> groups;
    for (const sched::Task& task : analysis->tasks) {
        if (groups.empty() || groups.back().period != task.period) {
            groups.push_back({.period = task.period});
            if (!mapping.to_corba(task.priority.os_priority, groups.back().priority))
                throw std::runtime_error("no CORBA priority for a rate group");
        }
        groups.back().operations.push_back(set[task.operation].name);
    }
    return groups;
}

/// Calls everything of a group once a period, so many times.
void fly(CORBA::ORB_ptr orb, const std::string& reference, const RateGroup& group, long cycles)
{
    const CORBA::Object_var service = orb->resolve_initial_references("RTCurrent");
    const RTCORBA::Current_var current = RTCORBA::Current::_narrow(service);
    current->the_priority(group.priority);
    const CORBA::Object_var object = orb->string_to_object(reference.c_str());
    const Aircraft_var aircraft = Aircraft::_unchecked_narrow(object);
    CORBA::PolicyList_var inconsistent;
    aircraft->_validate_connection(inconsistent.out()); // now, not in the first cycle
    auto release = Clock::now();
    for (long cycle = 0; cycle < cycles; ++cycle, release += group.period) {
        std::this_thread::sleep_until(release);
        for (const std::string& name : group.operations)
            (aircraft.in()->*operations.find(name)->second)();
    }
}

// --- The server ----------------------------------------------------------------------------------

CORBA::ORB_ptr make_server(const std::vector<RateGroup>& groups)
{
    std::set<CORBA::Short> priorities;
    for (const RateGroup& group : groups)
        priorities.insert(group.priority);
    std::string lanes;
    for (const CORBA::Short priority : priorities)
        lanes += (lanes.empty() ? "" : ",") + std::to_string(priority);
    std::vector<std::string> options{
        "server", "-ORBConcurrency",     "reactor-per-priority", "-ORBLanes",
        lanes,    "-ORBListenEndpoints", "iiop://127.0.0.1"};
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(options.size());
    return CORBA::ORB_init(count, arguments.data(), "server");
}

void run(CORBA::ORB_ptr client, long seconds)
{
    const std::vector<RateGroup> groups = rate_groups();
    const CORBA::ORB_var server = make_server(groups);
    std::atomic<int> late{0};
    server->_kairos_set_late_call_handler([&late](const kairos::orb::LateCall& call) {
        ++late;
        std::cerr << call.operation << " took " << call.response.count() / 1000 << " µs\n";
    });
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableServer::Servant_var<AircraftServant> servant = new AircraftServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server->object_to_string(object);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    std::vector<std::thread> threads;
    for (const RateGroup& group : groups)
        threads.emplace_back(fly, client, reference.in(), std::cref(group),
                             seconds * (Nanoseconds(std::chrono::seconds(1)) / group.period));
    for (std::thread& thread : threads)
        thread.join();
    for (const RateGroup& group : groups) {
        const long rate = Nanoseconds(std::chrono::seconds(1)) / group.period;
        std::cout << rate << " Hz, priority " << group.priority << ":";
        for (const std::string& name : group.operations)
            std::cout << ' ' << name;
        std::cout << '\n';
    }
    std::cerr << late << " late\n";
    server->destroy();
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var client = CORBA::ORB_init(argc, argv);
    const bool given = argc == 3 && std::string_view(argv[1]) == "--seconds";
    run(client, given ? std::atol(argv[2]) : 1);
    client->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "avionics: " << exception.what() << '\n';
    return EXIT_FAILURE;
} catch (const std::exception& exception) {
    std::cerr << "avionics: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
