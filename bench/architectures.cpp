// SPDX-License-Identifier: Apache-2.0
#include "bench/architectures.h"

#include "bench/realtime.h"
#include "kairos/orb/options.h"
#include "kairos/orb/priority.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kairos::bench {
namespace {

Architecture served_by(const char* concurrency)
{
    return {.option = concurrency,
            .name = concurrency,
            .server_arguments = {"-ORBConcurrency", concurrency},
            .client_arguments = {}};
}

/// All that -ORBConnection knows.
constexpr const char* client_architectures[] = {"non-multiplexed", "leader-followers", "active"};

/// The server's with a client that connects so.
Architecture pair_of(const Architecture& server, const std::string& client)
{
    Architecture pair = server;
    pair.option += "+" + client;
    pair.name += " + " + client;
    pair.client_arguments = {"-ORBConnection", client};
    // On a connection that threads share, one waits for what another sends, whoever comes first.
    pair.realtime = server.realtime && client == "non-multiplexed";
    return pair;
}

/// With a lane for the high client, whose thread has the priority that this leads to. `threads` is
/// how many each lane has, as -ORBLanes says it.
Architecture with_lanes(std::string_view threads = {})
{
    Architecture architecture = served_by("reactor-per-priority");
    orb::Priority high = 0;
    (void)orb::LinearPriorityMapping().to_corba(high_priority, high);
    architecture.server_arguments.insert(
        architecture.server_arguments.end(),
        {"-ORBLanes", fmt::format("0{},{}{}", threads, high, threads)});
    architecture.realtime = true;
    return architecture;
}

/// Connections have threads of their own.
Architecture with_threads_in_lanes()
{
    Architecture architecture = with_lanes(":each");
    architecture.option += "-each";
    architecture.name = architecture.option;
    return architecture;
}

/// Without -ORBConnection, each thread of the client has a connection of its own.
std::vector<Architecture> make_architectures()
{
    return {
        served_by("thread-per-connection"),
        {.option = "raised",
         .name = "thread-per-connection, servant raises itself",
         .server_arguments = {"-ORBConcurrency", "thread-per-connection"},
         .client_arguments = {},
         .realtime = true,
         .servant_raises = true},
        with_lanes(),
        with_threads_in_lanes(),
        served_by("reactor"),
        served_by("worker-pool"),
        served_by("leader-followers"),
        served_by("thread-per-request"),
        served_by("thread-per-object"),
        served_by("filter-chain"),
        pair_of(served_by("thread-per-connection"), "leader-followers"),
        pair_of(served_by("thread-per-connection"), "active"),
    };
}

std::vector<Architecture> known_among(std::vector<Architecture> listed)
{
    std::erase_if(listed, [](const Architecture& each) { return !known(each); });
    return listed;
}

/// Of what the options choose alone: no servant raises itself.
std::vector<Architecture> make_pairs()
{
    std::vector<Architecture> pairs;
    for (const Architecture& server : architectures()) {
        if (server.servant_raises || !server.client_arguments.empty()) continue;
        for (const char* client : client_architectures)
            pairs.push_back(pair_of(server, client));
    }
    return pairs;
}

System load_system(const Architecture& architecture)
{
    System system{.option = architecture.option,
                  .name = "kairos",
                  .architecture = architecture.name,
                  .program = "kairos-bench-load",
                  .server_arguments = architecture.server_arguments,
                  .client_arguments = architecture.client_arguments,
                  .orb = true};
    // More than the experiments open, so that none is turned away.
    system.server_arguments.insert(
        system.server_arguments.end(),
        {"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBMaxConnections", "20000"});
    if (architecture.servant_raises)
        system.server_arguments.insert(system.server_arguments.begin(), "raise");
    return system;
}

/// Which architecture serves is what the pool of the program comes to.
const Architecture& lanes_of_pool()
{
    static const Architecture architecture{.option = std::string(rt_corba_lanes),
                                           .name = std::string(rt_corba_lanes),
                                           .server_arguments = {},
                                           .client_arguments = {},
                                           .realtime = true};
    return architecture;
}

System rt_corba_system()
{
    System system = load_system(lanes_of_pool());
    system.program = "kairos-bench-load-rtcorba";
    return system;
}

System raw_system(const char* option, const char* name, std::vector<std::string> server_arguments)
{
    return {.option = option,
            .name = name,
            .architecture = "a thread for each connection",
            .program = "kairos-bench-load-raw",
            .server_arguments = std::move(server_arguments),
            .client_arguments = {},
            .orb = false};
}

System omniorb_system(const char* option, const char* architecture,
                      std::vector<std::string> client_arguments)
{
    return {.option = option,
            .name = "omniorb",
            .architecture = architecture,
            .program = "kairos-bench-load-omniorb",
            .server_arguments = {"-ORBendPoint", "giop:tcp:127.0.0.1:"},
            .client_arguments = std::move(client_arguments),
            .orb = true};
}

std::vector<System> make_priority_systems()
{
    std::vector<System> systems{raw_system("raw", "raw-tcp", {}),
                                raw_system("raw-realtime", "raw-tcp real-time", {"raise"})};
    for (const Architecture& architecture : architectures())
        systems.push_back(load_system(architecture));
    systems.push_back(rt_corba_system());
    systems.push_back(omniorb_system("omniorb", "thread-per-connection, 5 connections", {}));
    return systems;
}

std::vector<System> make_concurrency_systems()
{
    std::vector<System> systems{raw_system("raw", "raw-tcp", {})};
    for (const Architecture& architecture : architectures())
        if (!architecture.servant_raises) systems.push_back(load_system(architecture));
    systems.push_back(omniorb_system("omniorb", "thread-per-connection, 5 connections", {}));
    systems.push_back(omniorb_system("omniorb-unshared", "thread-per-connection",
                                     {"-ORBmaxGIOPConnectionPerServer", "4096"}));
    return systems;
}

/// The same with the program that makes null calls.
System null_call_system(const Architecture& architecture)
{
    System system = load_system(architecture);
    system.program = "kairos-bench-orb";
    return system;
}

std::vector<System> make_pair_systems(System (*system_of)(const Architecture&))
{
    std::vector<System> systems;
    for (const Architecture& pair : architecture_pairs())
        systems.push_back(system_of(pair));
    return systems;
}

std::vector<System> make_whitebox_systems()
{
    System raw = raw_system("raw", "raw-tcp", {"tcp"});
    raw.program = "kairos-bench-raw";
    std::vector<System> systems{std::move(raw)};
    for (const Architecture& architecture : architectures())
        if (!architecture.servant_raises) systems.push_back(null_call_system(architecture));
    systems.push_back(omniorb_system("omniorb", "thread-per-connection", {}));
    systems.back().program = "kairos-bench-omniorb";
    return systems;
}

} // namespace

bool known(const Architecture& architecture)
{
    std::vector<std::string> server = architecture.server_arguments;
    std::vector<std::string> client = architecture.client_arguments;
    return orb::parse_options(server).ok() && orb::parse_options(client).ok();
}

std::span<const Architecture> architectures()
{
    static const std::vector<Architecture> all = known_among(make_architectures());
    return all;
}

std::span<const Architecture> architecture_pairs()
{
    static const std::vector<Architecture> all = known_among(make_pairs());
    return all;
}

const Architecture* architecture_of(const System& system)
{
    if (system.name != "kairos") return nullptr;
    if (system.option == rt_corba_lanes) return &lanes_of_pool();
    for (const auto& all : {architectures(), architecture_pairs()}) {
        const auto found = std::ranges::find(all, system.option, &Architecture::option);
        if (found != all.end()) return &*found;
    }
    return nullptr;
}

std::span<const System> priority_systems()
{
    static const std::vector<System> systems = make_priority_systems();
    return systems;
}

std::span<const System> concurrency_systems()
{
    static const std::vector<System> systems = make_concurrency_systems();
    return systems;
}

std::span<const System> whitebox_systems()
{
    static const std::vector<System> systems = make_whitebox_systems();
    return systems;
}

std::span<const System> load_pairs()
{
    static const std::vector<System> systems = make_pair_systems(load_system);
    return systems;
}

std::span<const System> whitebox_pairs()
{
    static const std::vector<System> systems = make_pair_systems(null_call_system);
    return systems;
}

} // namespace kairos::bench
