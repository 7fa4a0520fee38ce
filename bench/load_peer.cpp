// SPDX-License-Identifier: Apache-2.0
//
// The ORB program of the priority and concurrency experiments, server and client: two servants, one
// for the high client and one for the low ones, and an observer. Classic C++ mapping alone, so that
// one source is compiled against each ORB. Options -ORB… after the program's own go to the ORB.
// With KAIROS_BENCH_RTCORBA it is a program of Real-Time CORBA instead: clients say their
// priorities, and a thread pool with two lanes serves.
#ifdef KAIROS_BENCH_OMNIORB
#include "cube.hh"
#else
#include "cube.h"
#include "cube_skel.h"
#endif

#ifdef KAIROS_BENCH_RTCORBA
#include "kairos/rtcorba/RTPortableServer.h"
#endif

#include "bench/load_driver.h"
#include "bench/load_servants.h"
#include "bench/orb_program.h"

namespace {

using kairos::bench::CubeCall;
using kairos::bench::Load;
using kairos::bench::reporting;

template <typename Cube>
class CubeServant : public POA_Bench::Cuber {
  public:
    explicit CubeServant(Cube& to) : to_(to) {}
    CORBA::Octet cube(CORBA::Octet number) override { return to_.cube(number); }

  private:
    Cube& to_;
};

class ObserverServant : public POA_Bench::Observer {
  public:
    explicit ObserverServant(kairos::bench::LowCube& low) : low_(low) {}

    void begin(CORBA::ULong compute_us) override
    {
        kairos::bench::forget_arrivals();
        low_.set_compute(compute_us);
    }

    Bench::Findings end() override
    {
        const kairos::bench::Findings seen = kairos::bench::arrivals_seen();
        Bench::Findings findings;
        findings.high_requests = seen.high_requests;
        findings.stamped = seen.stamped;
        findings.inversions = seen.inversions;
        findings.raised = seen.raised != 0;
        return findings;
    }

  private:
    kairos::bench::LowCube& low_;
};

#ifdef KAIROS_BENCH_RTCORBA
// What a portable program of Real-Time CORBA says, and nothing that only this ORB knows.
constexpr RTCORBA::Priority low_priority = 0;
constexpr RTCORBA::Priority high_priority = 13'041; // SCHED_FIFO 40, where the mapping is linear
constexpr CORBA::ULong threads_of_lane = 4;

template <typename T>
T* initial(CORBA::ORB_ptr orb, const char* name)
{
    CORBA::Object_var object = orb->resolve_initial_references(name);
    return T::_narrow(object);
}

/// With a pool of two lanes, and the priorities that clients propagate.
PortableServer::POA_ptr make_poa(CORBA::ORB_ptr orb)
{
    RTCORBA::RTORB_var rtorb = initial<RTCORBA::RTORB>(orb, "RTORB");
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(2);
    lanes[0] = {low_priority, threads_of_lane, 0};
    lanes[1] = {high_priority, threads_of_lane, 0};
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = rtorb->create_threadpool_policy(
        rtorb->create_threadpool_with_lanes(0, lanes, false, false, 0, 0));
    policies[1] = rtorb->create_priority_model_policy(RTCORBA::CLIENT_PROPAGATED, low_priority);
    PortableServer::POA_var root = initial<PortableServer::POA>(orb, "RootPOA");
    PortableServer::POAManager_var manager = root->the_POAManager();
    return root->create_POA("lanes", manager, policies);
}

void take_priority(CORBA::ORB_ptr orb, bool high)
{
    RTCORBA::Current_var current = initial<RTCORBA::Current>(orb, "RTCurrent");
    current->the_priority(high ? high_priority : low_priority);
}
#else
PortableServer::POA_ptr make_poa(CORBA::ORB_ptr orb)
{
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    return PortableServer::POA::_narrow(root);
}

void take_priority(CORBA::ORB_ptr, bool) {}
#endif

CORBA::Object_ptr activate(PortableServer::POA_ptr poa, PortableServer::Servant servant)
{
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    return poa->id_to_reference(id);
}

int serve(CORBA::ORB_ptr orb, bool raises)
{
    kairos::bench::watch_arrivals();
    kairos::bench::HighCube high_cube(raises);
    kairos::bench::LowCube low_cube;
    CubeServant high_servant(high_cube);
    CubeServant low_servant(low_cube);
    ObserverServant observer_servant(low_cube);
    PortableServer::POA_var poa = make_poa(orb);
    CORBA::Object_var high = activate(poa, &high_servant);
    CORBA::Object_var low = activate(poa, &low_servant);
    CORBA::Object_var observer = activate(poa, &observer_servant);
    return kairos::bench::serve(orb, {high.in(), low.in(), observer.in()});
}

class LoadClient {
  public:
    LoadClient(CORBA::ORB_ptr orb, const std::vector<std::string>& references) : orb_(orb)
    {
        CORBA::Object_var high = orb->string_to_object(references[0].c_str());
        CORBA::Object_var low = orb->string_to_object(references[1].c_str());
        CORBA::Object_var observer = orb->string_to_object(references[2].c_str());
        high_ = Bench::Cuber::_narrow(high);
        low_ = Bench::Cuber::_narrow(low);
        observer_ = Bench::Observer::_narrow(observer);
        if (CORBA::is_nil(high_) || CORBA::is_nil(low_) || CORBA::is_nil(observer_))
            throw std::invalid_argument("not references to the benchmark's objects");
    }

    std::string execute(const std::string& line)
    {
        return reporting([&] {
            if (line == "bytes") return bytes();
            const auto load = kairos::bench::parse_load(line);
            if (!load) throw std::invalid_argument("not a load: " + line);
            return run(*load);
        });
    }

  private:
    std::string run(const Load& load)
    {
        const auto connect = [this](bool high) -> CubeCall {
            reporting([&] { take_priority(orb_, high); });
            return [cube = high ? high_.in() : low_.in()](std::uint8_t number) {
                return reporting([&] { return cube->cube(number); });
            };
        };
        const kairos::bench::LoadFigures figures =
            kairos::bench::run_load(load, connect, [&] { observer_->begin(load.compute_us); });
        const Bench::Findings seen = observer_->end();
        return kairos::bench::format_answer(figures, {.high_requests = seen.high_requests,
                                                      .stamped = seen.stamped,
                                                      .inversions = seen.inversions,
                                                      .raised = seen.raised ? 1u : 0u});
    }

    std::string bytes()
    {
        const auto bytes = kairos::bench::bytes_of_a_call([this] { high_->cube(0); });
        return "{\"request_bytes\":" + std::to_string(bytes.request) +
               ",\"reply_bytes\":" + std::to_string(bytes.reply) + "}";
    }

    CORBA::ORB_ptr orb_; // outlives this
    Bench::Cuber_var high_;
    Bench::Cuber_var low_;
    Bench::Observer_var observer_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    const std::string role = arguments.empty() ? "" : arguments[0];
    if (role == "server" && arguments.size() <= 2)
        return serve(orb, arguments.size() == 2 && arguments[1] == "raise");
    if (role == "client" && arguments.size() == 4) {
        int status = 0;
        {
            LoadClient client(orb, {arguments.begin() + 1, arguments.end()});
            status = kairos::bench::serve_lines(
                "client", [&](const std::string& line) { return client.execute(line); });
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-load… server [raise] [-ORB…]\n"
              << "       kairos-bench-load… client HIGH LOW OBSERVER [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
