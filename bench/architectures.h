// SPDX-License-Identifier: Apache-2.0
//
// The one table of the pairs of architectures that experiments compare: how the server serves
// (-ORBConcurrency) and how the client connects (-ORBConnection). A new architecture is a line in
// architectures.cpp. Of the lines, those count whose options this ORB accepts. All pairs together
// would take hours, so those that are not lines are measured where --peers asks for them.
#pragma once

#include "bench/systems.h"

#include <span>
#include <string>
#include <vector>

namespace kairos::bench {

struct Architecture {
    std::string option; ///< what --peers calls it
    std::string name;   ///< what reports call it
    std::vector<std::string> server_arguments;
    std::vector<std::string> client_arguments;
    bool realtime = false;       ///< meant to keep priorities: judged by the bars for that
    bool servant_raises = false; ///< what threads cannot do by configuration the servant does
};

/// What is measured if nothing else is asked for.
[[nodiscard]] std::span<const Architecture> architectures();

/// Every way to serve with every way to connect, as "worker-pool+active".
[[nodiscard]] std::span<const Architecture> architecture_pairs();

/// Whether the ORB accepts the architecture's options.
[[nodiscard]] bool known(const Architecture& architecture);

/// Nothing for systems that are no architecture of ours.
[[nodiscard]] const Architecture* architecture_of(const System& system);

/// What --peers calls the portable program of Real-Time CORBA: clients that propagate their
/// priorities, and a thread pool of two lanes, of which each has four threads.
inline constexpr std::string_view rt_corba_lanes = "rt-corba-lanes";

/// Raw sockets, with real-time threads too; every architecture; the program of Real-Time CORBA;
/// omniORB.
[[nodiscard]] std::span<const System> priority_systems();

/// The same without what only threads' priorities tell apart; omniORB also with as many
/// connections as threads, which it shares otherwise.
[[nodiscard]] std::span<const System> concurrency_systems();

/// The same for null calls: what they cost is counted.
[[nodiscard]] std::span<const System> whitebox_systems();

/// All pairs, for the priority and concurrency experiments.
[[nodiscard]] std::span<const System> load_pairs();

/// All pairs, for null calls.
[[nodiscard]] std::span<const System> whitebox_pairs();

} // namespace kairos::bench
