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

/// Whose listen points are believed (bidirectional.h).
enum class BidirectionalPeers {
    own, ///< of a peer only its own addresses
    any, ///< whatever a peer says
};

/// Whether calls go by transports that protect what is sent (Transport::protects).
enum class Protection {
    preferred, ///< where a reference offers it
    required,  ///< in no other way
    never,
};

/// What clients want to know of a server before they send it anything.
enum class ServerCheck {
    name,  ///< that somebody they trust says that it is who the reference names
    chain, ///< that somebody they trust knows it, whoever it is
    no,    ///< nothing
};

/// Whether clients have to show a certificate; or servers, what their authority says of theirs.
enum class ClientCheck {
    no,
    optional, ///< but one that is shown must be good
    required,
};

/// What the -ORBTls… options say: of TLS, which is a library of its own (kairos/tls).
struct TlsOptions {
    Protection client = Protection::preferred;    ///< -ORBTlsClient
    std::string certificate;                      ///< -ORBTlsCertificate, a file; "": none
    std::string key;                              ///< -ORBTlsKey, a file; "": as certificate
    std::string trust = "system";                 ///< -ORBTlsTrust: a file, a folder, "system"
    std::string revocations;                      ///< -ORBTlsRevocations, a file; "": none
    std::string staple;                           ///< -ORBTlsStaple, a file; "": none
    ServerCheck check_server = ServerCheck::name; ///< -ORBTlsVerifyServer
    ClientCheck check_client = ClientCheck::no;   ///< -ORBTlsVerifyClient
    ClientCheck check_staple = ClientCheck::no;   ///< -ORBTlsVerifyStaple
    std::size_t handshakes_max = 1000;            ///< -ORBTlsHandshakes, a second; 0: no limit
    friend bool operator==(const TlsOptions&, const TlsOptions&) = default;
};

/// How long who waits looks for itself with -ORBSpin auto: several times what an answer over this
/// host takes.
inline constexpr std::chrono::microseconds spin_learned_most{50};

/// The options of an ORB. What each means is in option_list.h, beside the name of its option; the
/// defaults are here.
struct Options {
    // --- what calls look at (orb.h) ---
    std::size_t fragment_size = 0;   ///< -ORBFragmentSize, bytes
    bool exception_id_in_any = true; ///< -ORBExceptionIdInAny
    /// Whether connections may be closed while threads keep them: -ORBMaxClientConnections or
    /// -ORBClientIdle was given.
    bool closes_idle_connections = false;

    // --- the others ---
    std::string orb_id;                           ///< -ORBid
    std::string server_id;                        ///< -ORBServerId
    std::vector<ListenEndpoint> listen_endpoints; ///< -ORBListenEndpoints; empty: iiop://
    std::map<std::string, std::string, std::less<>> initial_references; ///< -ORBInitRef
    std::string default_initial_reference;                              ///< -ORBDefaultInitRef
    const Architecture* concurrency = architectures().front(); ///< -ORBConcurrency; never null
    bool concurrency_given = false; ///< else thread pools may choose another
    /// -ORBMaxClientConnections
    std::size_t client_connections_max = limits::client_connections_max;
    std::chrono::milliseconds client_idle{0};         ///< -ORBClientIdle; 0: none is closed
    std::chrono::milliseconds client_unused{120'000}; ///< -ORBClientUnused; 0: none is closed
    bool binds_early = false;                         ///< -ORBBindEarly
    std::size_t threads = limits::threads;            ///< -ORBThreads
    /// -ORBLanes, ascending. Empty: 0 and the first of real time.
    std::vector<LaneOption> lanes;
    bool real_time_required = false;                          ///< -ORBRealTime
    InitialMapping priority_mapping = InitialMapping::linear; ///< -ORBPriorityMapping
    /// -ORBSchedulingPolicy: what native priorities from 1 on are, whatever the mapping.
    net::SchedulingPolicy scheduling_policy = net::SchedulingPolicy::fifo;
    WhenLate late_calls = WhenLate::results;     ///< -ORBLateCalls
    Dispatching dispatching = Dispatching::fifo; ///< -ORBDispatching
    bool lock_memory = false;                    ///< -ORBLockMemory
    std::size_t stack_bytes = 0;                 ///< -ORBStackSize; 0: the system's default
    bool network_priority = false;               ///< -ORBNetworkPriority
    std::size_t pools = 1;                       ///< -ORBPools
    std::size_t requests_queued_max = limits::requests_queued_max; ///< -ORBQueue
    std::size_t oneways_unsent_max = limits::oneways_unsent_max;   ///< -ORBOnewayQueue, bytes
    std::size_t asynchronous_calls_max = 16'384;                   ///< -ORBAsynchronousCalls
    std::chrono::microseconds stream_pause{20};                    ///< -ORBStreamPause
    std::chrono::microseconds room_spin{50};                       ///< -ORBRoomSpin
    WhenQueueFull when_queue_full = WhenQueueFull::block;          ///< -ORBQueueFull
    /// -ORBSendQueue, -ORBReceiveQueue, -ORBNoDelay, -ORBBusyPoll and -ORBSpin.
    /// Orb::socket_options has them, and more.
    net::SocketOptions socket{.spin = {spin_learned_most, true}};
    std::size_t message_size_max = limits::message_size_max; ///< -ORBMaxMessageSize, bytes
    std::size_t connections_max = limits::connections_max;   ///< -ORBMaxConnections
    std::size_t peer_connections_max = 0; ///< -ORBMaxPeerConnections; 0: see peer_connections()
    /// Returns how many connections of one peer a server accepts. Where there may be many, and
    /// -ORBMaxPeerConnections does not say it, a peer leaves some to others.
    [[nodiscard]] std::size_t peer_connections() const noexcept
    {
        if (peer_connections_max != 0) return peer_connections_max;
        return connections_max < 1000 ? ~std::size_t{0} : connections_max - connections_max / 4;
    }
    std::size_t peer_requests_max = 0; ///< -ORBMaxPeerRequests; 0: no limit
    std::size_t memory = 0;            ///< -ORBMemory, bytes; 0: what memory_max() says
    /// Returns how many octets a server keeps at most for all peers together (account.h). Where
    /// -ORBMemory does not say it, room for the largest message, and for a little of others.
    [[nodiscard]] std::size_t memory_max() const noexcept
    {
        if (memory != 0) return memory;
        return (message_size_max > limits::message_size_max ? message_size_max
                                                            : limits::message_size_max) +
               limits::memory_beside_message;
    }
    Demultiplexing demultiplexing = Demultiplexing::active;    ///< -ORBDemux
    Collocation collocation = Collocation::through_poa;        ///< -ORBCollocation
    std::size_t held_requests_max = limits::held_requests_max; ///< -ORBHoldLimit
    ior::IiopVersion giop_version{1, 2};                       ///< -ORBGIOPVersion
    /// -ORBNativeCharCodeSet. Never null.
    const cdr::CodeSet* native_code_set = cdr::find_code_set(cdr::code_set::iso_8859_1);
    /// -ORBNativeWCharCodeSet. In the program wide characters are wchar_t, which holds Unicode code
    /// points. Never null.
    const cdr::CodeSet* native_wide_code_set = cdr::find_code_set(cdr::code_set::utf_16);
    Quirks quirks;                    ///< -ORBQuirks: with all peers, whatever references say
    std::string profile_types;        ///< -ORBProfileTypes; empty: nothing is measured
    bool counters = false;            ///< -ORBCounters
    int log_level = 1;                ///< -ORBDebug
    bool announces_addresses = false; ///< -ORBDebug was given, with 1 or more
    std::vector<PublishItem> publish{PublishItem{}};   ///< -ORBPublish
    PublishAs publish_as = PublishAs::alternates;      ///< -ORBPublishAs
    std::chrono::milliseconds receive_timeout{60'000}; ///< -ORBReceiveTimeout (receive_limit.h)
    bool prefer_local = true;                          ///< -ORBPreferLocal
    /// -ORBClientTimeout, -ORBConnectTimeout and -ORBConnection: for calls that no policy says it
    /// of.
    CallPolicies call_policies;
    bool plain_keys = false;                                    ///< -ORBPlainKeys
    BidirectionalPeers bidirectional = BidirectionalPeers::own; ///< -ORBBidirectional
    /// -ORBListenEndpoints none: the ORB listens nowhere, and has no listen_endpoints.
    bool listens = true;
    TlsOptions tls;
    std::string access;    ///< -ORBAccess, a file; "": whoever connects may call
    std::string csi;       ///< -ORBCsi, a file; "": nothing of CSIv2 is said or heeded
    std::string multicast; ///< -ORBMulticast, which kairos/datagrams reads; "": as by default
};

/// Takes the -ORB… options out of `arguments` and leaves the others in their order. What they do
/// not say is said by the file of -ORBConfigFile (configuration.h), if there is one. An option that
/// is unknown, lacks its value or has a bad one is an error that names it.
[[nodiscard]] Result<Options> parse_options(std::vector<std::string>& arguments);

/// Returns the options that are not as by default, as a command line would say them: "-ORBThreads 4
/// -ORBQueue 10". Empty if all are.
[[nodiscard]] std::string options_in_force(const Options& options);

/// Returns the URL of an initial reference by -ORBDefaultInitRef: "<default>/<name>" (CORBA 3.3
/// part 1, 8.5.3.3).
[[nodiscard]] std::string default_reference(const Options& options, std::string_view name);

/// Parses "iiop://[1.2@][host][:port][/hostname_in_ior=name]" or "uiop://[path]" or
/// "shmiop://[path]" or that of a transport which the program has added; several are separated by
/// ';'.
[[nodiscard]] Result<std::vector<ListenEndpoint>> parse_listen_endpoints(std::string_view text);

} // namespace kairos::orb
