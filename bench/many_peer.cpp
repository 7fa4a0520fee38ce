// SPDX-License-Identifier: Apache-2.0
//
// The measured program for demultiplexing end to end: a server with as many objects as it is told,
// and a client that calls them in one of paper 000's patterns (§3.7). One source for each ORB, in
// the classic C++ mapping. Options -ORB… after the program's own go to the ORB.
#ifdef KAIROS_BENCH_OMNIORB
#include "bench.hh"
#else
#include "bench.h"
#include "bench_skel.h"
#endif

// These speak the ORB's names.
#include "bench/latency_servant.h"
#include "bench/orb_program.h"

#include "bench/demux_peer.h"

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kairos::bench::Exercise;
using kairos::bench::LatencySummary;
using kairos::bench::reporting;

int serve(CORBA::ORB_ptr orb, std::size_t count)
{
    std::vector<kairos::bench::LatencyServant> servants(count);
    std::vector<Bench::Latency_var> references;
    std::vector<CORBA::Object_ptr> objects;
    for (kairos::bench::LatencyServant& servant : servants) {
        references.push_back(servant._this());
        objects.push_back(references.back().in());
    }
    return kairos::bench::serve(orb, objects);
}

/// Calls everything it has a reference to; an order's request_bytes are the pattern's number.
class ManyClient final : public kairos::bench::Client {
  public:
    ManyClient(CORBA::ORB_ptr orb, const std::vector<std::string>& references)
    {
        for (const std::string& reference : references) {
            CORBA::Object_var object = orb->string_to_object(reference.c_str());
            objects_.push_back(Bench::Latency::_narrow(object));
            if (CORBA::is_nil(objects_.back()))
                throw std::invalid_argument("not a reference to one of the benchmark's objects");
        }
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        return reporting([&] {
            const auto servants = kairos::bench::servants_of(
                kairos::bench::pattern_numbered(exercise.request_bytes),
                static_cast<std::uint32_t>(objects_.size()), exercise.calls);
            std::size_t next = 0;
            const auto once = [&] {
                objects_[servants[next]]->ping();
                next = next + 1 == servants.size() ? 0 : next + 1;
            };
            kairos::bench::repeat(kairos::bench::warm_up_calls, once);
            return kairos::bench::time_each(exercise.calls, once);
        });
    }

    double ttcp_seconds(const Exercise&) override { return refuse(); }
    void call(const Exercise&) override { refuse(); }
    kairos::bench::MessageBytes message_bytes(const Exercise&) override
    {
        refuse();
        return {};
    }

  private:
    static double refuse() { throw std::invalid_argument("this program measures latency only"); }

    std::vector<Bench::Latency_var> objects_;
};

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 2 && arguments[0] == "server")
        return serve(orb, std::stoul(arguments[1]));
    if (arguments.size() > 1 && arguments[0] == "client") {
        int status = 0;
        {
            ManyClient client(orb, {arguments.begin() + 1, arguments.end()});
            status = kairos::bench::serve_orders(client);
        }
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-many… server COUNT [-ORB…]\n"
              << "       kairos-bench-many… client REFERENCE… [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv) { return kairos::bench::orb_main(argc, argv, run); }
