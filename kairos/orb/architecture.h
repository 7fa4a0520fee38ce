// SPDX-License-Identifier: Apache-2.0
//
// A concurrency architecture (paper 003; docs/architectures.md) as the rest of the ORB knows it.
// Each is in one file of server/, which defines its Architecture as well; nothing outside that file
// asks which one it has, only what it can do. Looked at when an ORB starts.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <memory>
#include <span>
#include <string_view>

namespace kairos::orb {

class Orb;
class Server;

/// How requests get from connections to servants.
struct KAIROS_API Architecture {
    std::string_view name; ///< as -ORBConcurrency has it
    /// Listens where the options say; serves nobody yet.
    Result<std::unique_ptr<Server>> (*open)(Orb& orb);

    // The options that mean something to it; others contradict it.
    bool has_threads = false;       ///< -ORBThreads
    bool has_queue = false;         ///< -ORBQueue
    bool is_bounded = false;        ///< -ORBQueueFull
    bool has_order = false;         ///< -ORBDispatching
    bool has_pools = false;         ///< -ORBPools
    bool has_lanes = false;         ///< -ORBLanes: listeners and threads for each priority
    bool pauses_in_streams = false; ///< -ORBStreamPause

    // What programs may do.
    /// Who serves is not who reads: it may be a thread pool of Real-Time CORBA.
    bool hands_over = false;
    /// Whoever is in ORB::run or perform_work serves, so it cannot be from within a request.
    bool is_served_by_run = false;
    bool has_filters = false;    ///< Orb::add_request_filter
    bool has_dispatcher = false; ///< Orb::set_request_dispatcher
};

/// All there are. The first is that of an ORB whose options name none.
[[nodiscard]] KAIROS_API std::span<const Architecture* const> architectures() noexcept;

} // namespace kairos::orb
