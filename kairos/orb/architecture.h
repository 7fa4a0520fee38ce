// SPDX-License-Identifier: Apache-2.0
//
// The concurrency architectures (paper 003; docs/architectures.md) as options and programs know
// them: what each is called and can do. Nothing asks which one it has; how each opens and serves is
// in one file of kairos/server (server/architectures.h). Looked at when an ORB starts.
#pragma once

#include "kairos/base/export.h"

#include <span>
#include <string_view>

namespace kairos::orb {

/// How requests get from connections to servants.
struct KAIROS_API Architecture {
    std::string_view name; ///< as -ORBConcurrency has it

    // The options that mean something to it; others contradict it.
    bool has_threads = false;       ///< -ORBThreads
    bool has_queue = false;         ///< -ORBQueue
    bool is_bounded = false;        ///< -ORBQueueFull
    bool has_order = false;         ///< -ORBDispatching
    bool has_pools = false;         ///< -ORBPools
    bool has_lanes = false;         ///< -ORBLanes: listeners and threads for each priority
    bool pauses_in_streams = false; ///< -ORBStreamPause

    // What programs may do.
    /// The thread that serves is not the one that reads: it may belong to a thread pool of
    /// Real-Time CORBA.
    bool hands_over = false;
    /// Whoever is in ORB::run or perform_work serves, so it cannot be from within a request.
    bool is_served_by_run = false;
    bool has_filters = false;    ///< Orb::add_request_filter
    bool has_dispatcher = false; ///< Orb::set_request_dispatcher
};

namespace architecture {
extern const Architecture thread_per_connection; ///< a thread reads, serves, answers a connection
extern const Architecture reactor;               ///< whoever is in ORB::run serves all
extern const Architecture reactor_per_priority;  ///< a reactor, a thread, an address for each
extern const Architecture leader_followers;      ///< who of a pool finds a request serves it
extern const Architecture worker_pool;           ///< one thread reads, a pool serves from a queue
extern const Architecture thread_per_request;    ///< one thread reads, each request has a thread
extern const Architecture thread_per_object;     ///< one thread reads, each object has a thread
extern const Architecture filter_chain;          ///< one thread reads, filters choose among pools
extern const Architecture custom;                ///< one thread reads, the program says who serves
} // namespace architecture

/// Returns all architectures there are. The first is that of an ORB whose options name none.
[[nodiscard]] KAIROS_API std::span<const Architecture* const> architectures() noexcept;

} // namespace kairos::orb
