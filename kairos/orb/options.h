// SPDX-License-Identifier: Apache-2.0
//
// The -ORB… options of ORB_init as values (CORBA 3.3 part 1, 8.5.1). Immutable once the ORB runs.
#pragma once

#include "kairos/base/limits.h"
#include "kairos/base/result.h"
#include "kairos/cdr/codeset_conversion.h"
#include "kairos/ior/profile.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/orb/architecture.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/publish.h"
#include "kairos/orb/quirks.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/urgency.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb {

/// What becomes of a request for which the queue has no place.
enum class WhenQueueFull {
    block,  ///< it waits, and its connection is not read meanwhile
    refuse, ///< it is answered with TRANSIENT at once
};

/// What becomes of a call that ends after the deadline of its IDL.
enum class WhenLate {
    results, ///< it is reported, and answered as any
    timeout, ///< it is reported, and answered with TIMEOUT
};

/// How object adapters find the servants of requests, unless their policies say otherwise.
enum class Demultiplexing { linear, hash, active, delayered };

/// How calls reach objects of their own process and ORB (docs/poa.md, "Calls within the process").
enum class Collocation {
    through_poa, ///< the adapter finds the servant, whose function is called
    direct,      ///< the same, and later calls go to the servant it found
    no,          ///< as remote calls do, by messages, but without sockets
};

/// What CORBA's priorities are to the system until the program says otherwise (priority.h).
enum class InitialMapping {
    linear, ///< they are spread over the native ones
    direct, ///< they are the native ones, 0 to 99, and there are no others
};

/// A priority that a server has threads and addresses for.
struct LaneOption {
    std::int16_t priority = 0; ///< CORBA's, 0 to 32767
    std::size_t threads = 1;   ///< 0: one for each connection
    std::optional<int> cpu{};  ///< the only one that they may run on
};

struct Options {
    // --- what calls look at (orb.h) ---
    /// -ORBFragmentSize bytes: larger GIOP 1.2 messages go out in fragments; 0: never.
    std::size_t fragment_size = 0;
    /// -ORBExceptionIdInAny 0 or 1: whether the repository id of an exception is in front of it in
    /// an Any, as CORBA wants it and omniORB before 4.3 does not.
    bool exception_id_in_any = true;
    /// Whether connections may be closed while threads keep them: -ORBMaxClientConnections or
    /// -ORBClientIdle was given.
    bool closes_idle_connections = false;

    // --- the others ---
    std::string orb_id;
    std::vector<ListenEndpoint> listen_endpoints; ///< -ORBListenEndpoints, -ORBEndpoint
    std::map<std::string, std::string, std::less<>> initial_references; ///< -ORBInitRef name=url
    /// -ORBDefaultInitRef url: where the initial references are that -ORBInitRef does not name.
    std::string default_initial_reference;
    const Architecture* concurrency = architectures().front(); ///< -ORBConcurrency; never null
    bool concurrency_given = false; ///< else thread pools may choose another
    /// -ORBMaxClientConnections: for one more, the idle one that was used least recently is closed.
    std::size_t client_connections_max = limits::client_connections_max;
    /// -ORBClientIdle milliseconds: connections that nobody has used for so long are closed; 0:
    /// none is.
    std::chrono::milliseconds client_idle{0};
    /// -ORBClientUnused milliseconds: connections to a server that no reference has led to for so
    /// long are closed; 0: none is.
    std::chrono::milliseconds client_unused{120'000};
    /// -ORBBindEarly 0 or 1: whether references that a program makes of URLs, or of the names of
    /// initial references, are connected at once.
    bool binds_early = false;
    /// -ORBThreads: how many threads of a pool serve at the same time, or how many there may be of
    /// those that belong to requests or objects.
    std::size_t threads = limits::threads;
    /// -ORBLanes priority[:threads|:each][@cpu],…: of reactor-per-priority, ascending. Empty: 0 and
    /// the first of real time.
    std::vector<LaneOption> lanes;
    /// -ORBRealTime wanted or required: whether an ORB goes on without the priorities of its lanes
    /// and of Real-Time CORBA, or memory that is locked, where the process may not have them.
    bool real_time_required = false;
    /// -ORBPriorityMapping linear or direct: until RTCORBA's PriorityMappingManager has another.
    InitialMapping priority_mapping = InitialMapping::linear;
    /// -ORBSchedulingPolicy fifo or rr: what native priorities from 1 on are, whatever the mapping.
    net::SchedulingPolicy scheduling_policy = net::SchedulingPolicy::fifo;
    WhenLate late_calls = WhenLate::results; ///< -ORBLateCalls results or timeout
    /// -ORBDispatching fifo, rms, edf, llf or muf: which of the requests that wait goes first.
    Dispatching dispatching = Dispatching::fifo;
    bool lock_memory = false;    ///< -ORBLockMemory 0 or 1
    std::size_t stack_bytes = 0; ///< -ORBStackSize, of the ORB's threads; 0: the system's default
    /// -ORBNetworkPriority 0 or 1: packets say the priority of their requests.
    bool network_priority = false;
    /// -ORBPools: how many pools the filters choose among.
    std::size_t pools = 1;
    /// -ORBQueue: requests that wait for a pool, or for an object's thread.
    std::size_t requests_queued_max = limits::requests_queued_max;
    /// -ORBOnewayQueue bytes: of oneways with SYNC_NONE that a peer has not taken, for each
    /// connection. The next one is refused with TRANSIENT.
    std::size_t oneways_unsent_max = limits::oneways_unsent_max;
    /// -ORBStreamPause: how long a thread of thread-per-connection, or that in ORB::run of a
    /// reactor, sleeps when it has read all there was of a stream of oneways. 0: until more comes.
    std::chrono::microseconds stream_pause{20};
    /// -ORBRoomSpin: how long who calls stays awake while the server does not take what it sends,
    /// before it sleeps (net/room_spin.h). 0: not at all.
    std::chrono::microseconds room_spin{50};
    WhenQueueFull when_queue_full = WhenQueueFull::block; ///< -ORBQueueFull block or refuse
    /// -ORBSendQueue, -ORBReceiveQueue (bytes), -ORBNoDelay (0 or 1), -ORBBusyPoll and -ORBSpin
    /// (microseconds). Orb::socket_options has them, and more.
    net::SocketOptions socket;
    std::size_t message_size_max = limits::message_size_max; ///< -ORBMaxMessageSize bytes
    std::size_t connections_max = limits::connections_max;   ///< -ORBMaxConnections
    /// -ORBMemory bytes: what a server keeps for all peers together (account.h). 0: what
    /// memory_max() says.
    std::size_t memory = 0;
    /// Room for the largest message, and for a little of others.
    [[nodiscard]] std::size_t memory_max() const noexcept
    {
        if (memory != 0) return memory;
        return (message_size_max > limits::message_size_max ? message_size_max
                                                            : limits::message_size_max) +
               limits::memory_beside_message;
    }
    /// -ORBDemux linear, hash, active or delayered.
    Demultiplexing demultiplexing = Demultiplexing::active;
    /// -ORBCollocation direct, through-poa or no.
    Collocation collocation = Collocation::through_poa;
    /// -ORBHoldLimit: requests that wait for their POAManagers at the same time; the next is
    /// refused with TRANSIENT.
    std::size_t held_requests_max = limits::held_requests_max;
    /// -ORBGIOPVersion 1.0, 1.1 or 1.2: the version published in references, and the highest used.
    ior::IiopVersion giop_version{1, 2};
    /// -ORBNativeCharCodeSet: what the program's chars are. Never null.
    const cdr::CodeSet* native_code_set = cdr::find_code_set(cdr::code_set::iso_8859_1);
    /// -ORBNativeWCharCodeSet: what wide characters are preferred to travel in. In the program
    /// they are wchar_t, which holds Unicode code points. Never null.
    const cdr::CodeSet* native_wide_code_set = cdr::find_code_set(cdr::code_set::utf_16);
    /// -ORBQuirks name,…: with all peers, whatever their references say.
    Quirks quirks;
    /// -ORBProfileTypes FILE: where what instrumented code measures is written; empty: nowhere.
    std::string profile_types;
    bool counters = false; ///< -ORBCounters 0 or 1: count requests served, and say so at the end
    int log_level = 1;     ///< -ORBDebug 0…3: errors; and warnings; and events; and details
    bool announces_addresses = false;                ///< -ORBDebug was given, with 1 or more
    std::vector<PublishItem> publish{PublishItem{}}; ///< -ORBPublish
    PublishAs publish_as = PublishAs::alternates;    ///< -ORBPublishAs alternates or profiles
    /// -ORBReceiveTimeout milliseconds: how long a server waits for the rest of a message that has
    /// begun, or for the memory of a connection that is to have some (receive_limit.h); 0: for
    /// ever.
    std::chrono::milliseconds receive_timeout{60'000};
    /// -ORBPreferLocal 0 or 1: whether clients go to a server of their own host by its local
    /// address. One that has no other is reached by that in any case.
    bool prefer_local = true;
    /// -ORBClientTimeout, -ORBConnectTimeout (milliseconds), -ORBConnection (non-multiplexed,
    /// leader-followers or active): for calls that no policy says it of.
    CallPolicies call_policies;
    /// -ORBPlainKeys 0 or 1: whether references to persistent objects have readable keys, and such
    /// keys are understood.
    bool plain_keys = false;
};

/// Takes the -ORB… options out of `arguments` and leaves the others in their order. What they do
/// not say is said by the file of -ORBConfigFile (configuration.h), if there is one. An option that
/// is unknown, lacks its value or has a bad one is an error that names it.
[[nodiscard]] Result<Options> parse_options(std::vector<std::string>& arguments);

/// The URL of an initial reference by -ORBDefaultInitRef: "<default>/<name>" (CORBA 3.3 part 1,
/// 8.5.3.3).
[[nodiscard]] std::string default_reference(const Options& options, std::string_view name);

/// "iiop://[1.2@][host][:port][/hostname_in_ior=name]" or "uiop://[path]" or "shmiop://[path]" or
/// that of a transport which the program has added; several are separated by ';'.
[[nodiscard]] Result<std::vector<ListenEndpoint>> parse_listen_endpoints(std::string_view text);

} // namespace kairos::orb
