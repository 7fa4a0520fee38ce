// SPDX-License-Identifier: Apache-2.0
//
// The ORB program of the priority and concurrency experiments, server and client: two servants, one
// for the high client and one for the low ones, and an observer. Classic C++ mapping alone, so that
// one source is compiled against each ORB. Options -ORB… after the program's own go to the ORB.
#ifdef KAIROS_BENCH_OMNIORB
#include "cube.hh"
#else
#include "cube.h"
#include "cube_skel.h"
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

int serve(CORBA::ORB_ptr orb, bool raises)
{
    kairos::bench::watch_arrivals();
    kairos::bench::HighCube high_cube(raises);
    kairos::bench::LowCube low_cube;
    CubeServant high_servant(high_cube);
    CubeServant low_servant(low_cube);
    ObserverServant observer_servant(low_cube);
    Bench::Cuber_var high = high_servant._this();
    Bench::Cuber_var low = low_servant._this();
    Bench::Observer_var observer = observer_servant._this();
    return kairos::bench::serve(orb, {high.in(), low.in(), observer.in()});
}

class LoadClient {
  public:
    LoadClient(CORBA::ORB_ptr orb, const std::vector<std::string>& references)
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
