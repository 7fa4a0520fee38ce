// SPDX-License-Identifier: Apache-2.0
//
// The measured program for calls within a process: an ORB, an object and a stub. The options
// -ORBCollocation … say how it calls. "call" makes the calls, "latency" times them.
#include "bench.h"
#include "bench_skel.h"

// These speak the ORB's names.
#include "bench/latency_servant.h"
#include "bench/orb_program.h"

#include "bench/marshal_timing.h"

#include <algorithm>

namespace kairos::bench {
namespace {

/// Short batches: one that the scheduler interrupted does not count for more than any other.
double median_ns(Bench::Latency_ptr target, std::uint32_t calls)
{
    constexpr std::uint32_t batches = 25;
    std::vector<double> ns;
    for (std::uint32_t batch = 0; batch < batches; ++batch)
        ns.push_back(ns_per(std::max(calls / batches, 1u), [target] { target->ping(); }));
    return median(std::move(ns));
}

std::string answer(Bench::Latency_ptr target, const Order& order)
{
    return reporting([&] {
        double ns = 0;
        if (order.verb == Verb::latency)
            ns = median_ns(target, order.exercise.calls);
        else if (order.verb == Verb::call)
            repeat(order.exercise.calls, [target] { target->ping(); });
        else
            throw std::invalid_argument("this program calls its own object only");
        return "{\"ns_per_call\":" + std::to_string(ns) + "}";
    });
}

int run(CORBA::ORB_ptr orb)
{
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    LatencyServant servant;
    Bench::Latency_var target = servant._this();
    const int status =
        serve_orders("collocated", [&](const Order& order) { return answer(target, order); });
    orb->destroy();
    return status;
}

} // namespace
} // namespace kairos::bench

int main(int count, char** arguments)
{
    return kairos::bench::orb_main(count, arguments,
                                   [](CORBA::ORB_ptr orb, const std::vector<std::string>&) {
                                       return kairos::bench::run(orb);
                                   });
}
