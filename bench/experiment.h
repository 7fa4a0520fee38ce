// SPDX-License-Identifier: Apache-2.0
//
// The experiments, and what they have in common: which systems take part, how often, where.
// Systems are interleaved (A B C A B C …) so that a disturbance of the machine meets all of them,
// and ratios are taken within a round before their median is.
#pragma once

#include "bench/report.h"
#include "bench/systems.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace kairos::bench {

/// Told what is being done now and how much of it is over, between 0 and 1.
using Progress = std::function<void(double done, const std::string& what)>;

struct CommonOptions {
    std::vector<System> systems;
    std::filesystem::path program_directory;
    unsigned rounds = 1;
    Pinning pinning = Pinning::free;
    Progress progress = [](double, const std::string&) {};
};

struct LatencyOptions : CommonOptions {
    std::uint32_t calls = 1000;       ///< timed calls per row and round
    std::vector<std::uint32_t> units; ///< how many units the twoway rows send
    std::vector<Payload> payloads;
    bool within_host = false;  ///< the systems are those of local_systems()
    bool by_datagrams = false; ///< the systems are those of datagram_systems(): oneways only
};

struct TtcpOptions : CommonOptions {
    std::vector<std::uint32_t> buffers; ///< bytes of user data per call
    std::vector<std::uint32_t> queues;  ///< socket queue bytes; 0 is the system's default
    std::vector<Payload> payloads;      ///< for ORBs; sockets send octets
    std::vector<Direction> directions;
    std::uint64_t megabytes = 288; ///< user data per point, in all rounds together
    /// … or this many calls, whichever is less: 67 MB in buffers of 1 K; smaller ones would take
    /// hours.
    std::uint32_t calls_max = 65'536;
    unsigned connections = 8; ///< per point, one after the other; the rounds are spread over them
    /// Rounds that are not timed, of all points in turn, ahead of those of each set of connections;
    /// at least one. TCP's windows grow with a connection; and a virtual machine's processor that
    /// idles is woken through its host, which learns within some ten milliseconds of traffic that
    /// waiting a little is cheaper: whoever was measured first would pay.
    std::chrono::milliseconds warm_up{100};
};

/// Of connecting_systems().
struct ConnectingOptions : CommonOptions {
    std::uint32_t connections = 200; ///< made per system and round, one after the other
    std::uint32_t idle = 1000;       ///< that idle while the server's memory is looked at
};

struct CountersOptions : CommonOptions {
    std::uint32_t calls = 1000;      ///< N of the difference between N and 2 N calls
    bool instructions = true;        ///< run under valgrind as well
    bool instructions_of_all = true; ///< of all calls that are counted, or of null calls alone
};

struct AsynchronousOptions : CommonOptions {
    std::uint32_t calls = 10'000;        ///< per system and round
    std::uint32_t counted_calls = 1'000; ///< N of the difference between N and 2 N calls; 0: none
};

struct EventsOptions : CommonOptions {
    std::uint32_t events = 20'000; ///< that consumers get, together, per system and round
    /// Events that the consumer of high priority gets per round while others flood; 0: none.
    std::uint32_t high_events = 100;
    std::uint32_t kept_events = 3000; ///< pushed into a channel that is kept, per round; 0: none
};

struct SpinningOptions : CommonOptions {
    std::uint32_t calls = 20'000;             ///< timed calls per system, load and round
    std::vector<std::uint32_t> busy{0, 1, 2}; ///< threads beside them that never stop, per load
};

struct ModernOptions : CommonOptions {
    std::uint32_t calls = 2000;      ///< null calls per system, place and round
    double megabytes = 32;           ///< of data per system, size and round
    std::uint32_t threads = 16;      ///< of a client, with a connection each
    std::uint32_t duration_ms = 300; ///< for which these call, per system and round
};

struct ParamOptions : CommonOptions {
    std::uint32_t calls = 500;         ///< timed calls per operation and round
    std::uint32_t counted_calls = 500; ///< N of the difference between N and 2 N calls
    double marshal_ms = 2;             ///< of marshalling alone per role and round, about
};

struct MarshalOptions : CommonOptions {
    std::vector<std::uint32_t> buffers; ///< bytes of a sequence's elements
    std::vector<Payload> payloads;
    double megabytes = 16; ///< marshalled per point and round
};

struct DemuxOptions : CommonOptions {
    std::vector<std::uint32_t> servants; ///< how many, in ascending order
    std::uint32_t requests = 100'000;    ///< timed per point and round; fewer where each is long
    bool instructions = true;            ///< run some points under valgrind as well
    std::uint32_t calls = 1000;          ///< end to end per pattern and round; 0: none
};

struct NamingOptions : CommonOptions {
    std::uint32_t calls = 2000; ///< timed per subject and round
};

/// Low clients that call at a rate, or as fast as they can.
struct LowLoad {
    std::uint32_t clients = 0;
    bool flood = false;
    std::uint32_t compute_us = 0; ///< of their servant, each call
};

struct PriorityOptions : CommonOptions {
    std::uint32_t calls = 4000; ///< of the high client per load, in all rounds together
    std::uint32_t high_hz = 20;
    std::uint32_t low_hz = 10;
    std::vector<LowLoad> loads;
    bool idle_sleeps = false; ///< processors that have nothing to do, as deep as the system likes
};

struct ConcurrencyOptions : CommonOptions {
    std::vector<std::uint32_t> threads; ///< of clients, with a connection each where the ORB lets
    std::uint32_t duration_ms = 1000;   ///< of each number of threads and round
    std::uint32_t idle_connections = 10'000;
    std::uint32_t active_connections = 1000; ///< calling among those that idle
};

struct WhiteboxOptions : CommonOptions {
    std::uint32_t calls = 1000; ///< N of the difference between N and 2 N calls
};

struct FootprintOptions : CommonOptions {
    std::vector<std::string> levels{"-O2", "-Os"}; ///< of optimisation
    bool services = true; ///< the OMG's services as well, which takes minutes
    bool programs = true; ///< and a minimal client and server with their libraries
};

/// The papers' powers of two, 1 … 1024.
[[nodiscard]] std::vector<std::uint32_t> unit_counts();
/// Paper 000's servants, 1, 100 … 500, and 10,000 and 100,000.
[[nodiscard]] std::vector<std::uint32_t> servant_counts();
/// The papers' buffers: 1 byte, then 1 K … 128 K.
[[nodiscard]] std::vector<std::uint32_t> buffer_sizes();

[[nodiscard]] Result<Report> run_latency(const LatencyOptions& options);
[[nodiscard]] Result<Report> run_ttcp(const TtcpOptions& options);
/// Of connecting_systems(), of which the first is what the others are compared with.
[[nodiscard]] Result<Report> run_connecting(const ConnectingOptions& options);
[[nodiscard]] Result<Report> run_counters(const CountersOptions& options);
/// Of interceptors_systems(), of which the first is what the others are compared with.
[[nodiscard]] Result<Report> run_interceptors(const CountersOptions& options);
/// Of gateway_systems().
[[nodiscard]] Result<Report> run_gateway(const LatencyOptions& options);
/// Of asynchronous_systems().
[[nodiscard]] Result<Report> run_asynchronous(const AsynchronousOptions& options);
/// Of events_systems().
[[nodiscard]] Result<Report> run_events(const EventsOptions& options);
/// Of spinning_systems().
[[nodiscard]] Result<Report> run_spinning(const SpinningOptions& options);
/// Of modern_systems().
[[nodiscard]] Result<Report> run_modern(const ModernOptions& options);
[[nodiscard]] Result<Report> run_param(const ParamOptions& options);
[[nodiscard]] Result<Report> run_marshal(const MarshalOptions& options);
[[nodiscard]] Result<Report> run_demux(const DemuxOptions& options);
[[nodiscard]] Result<Report> run_naming(const NamingOptions& options);
[[nodiscard]] Result<Report> run_priority(const PriorityOptions& options);
[[nodiscard]] Result<Report> run_concurrency(const ConcurrencyOptions& options);
[[nodiscard]] Result<Report> run_whitebox(const WhiteboxOptions& options);
[[nodiscard]] Result<Report> run_footprint(const FootprintOptions& options);

/// The columns that each experiment's table shows.
[[nodiscard]] std::vector<Column> latency_columns();
/// Of local_systems().
[[nodiscard]] std::vector<Column> local_latency_columns();
[[nodiscard]] std::vector<Column> ttcp_columns();
[[nodiscard]] std::vector<Column> connecting_columns();
[[nodiscard]] std::vector<Column> counters_columns();
[[nodiscard]] std::vector<Column> interceptors_columns();
[[nodiscard]] std::vector<Column> gateway_columns();
[[nodiscard]] std::vector<Column> asynchronous_columns();
[[nodiscard]] std::vector<Column> events_columns();
[[nodiscard]] std::vector<Column> spinning_columns();
[[nodiscard]] std::vector<Column> modern_columns();
[[nodiscard]] std::vector<Column> param_columns();
[[nodiscard]] std::vector<Column> marshal_columns();
[[nodiscard]] std::vector<Column> demux_columns();
[[nodiscard]] std::vector<Column> naming_columns();
[[nodiscard]] std::vector<Column> priority_columns();
[[nodiscard]] std::vector<Column> concurrency_columns();
[[nodiscard]] std::vector<Column> whitebox_columns();
[[nodiscard]] std::vector<Column> footprint_columns();

/// Paper 003's low clients at their rate; flooding; and flooding servants that compute.
[[nodiscard]] std::vector<LowLoad> priority_loads();

/// "8K", "128K", "default" for 0.
[[nodiscard]] std::string size_name(std::uint32_t bytes);

/// The systems that take part; for each that is not installed the report gets a row saying so. An
/// error when none is.
[[nodiscard]] Result<std::vector<System>> installed_systems(const CommonOptions& options,
                                                            Report& report);

/// A system that takes part and its two running programs.
struct Contestant {
    System system;
    RunningSystem running;
};

/// Starts the installed systems.
[[nodiscard]] Result<std::vector<Contestant>>
start_contestants(const CommonOptions& options, std::uint32_t queue_bytes, Report& report);

/// A row for a system that takes no part.
[[nodiscard]] Row absent_row(const System& system, const CommonOptions& options,
                             const std::string& status);

/// The bytes of one call's messages: those of the first ORB that takes part, else estimated. Raw
/// sockets then move as many.
[[nodiscard]] Result<Exercise> with_message_bytes(Exercise exercise,
                                                  std::vector<Contestant>& contestants);

/// Has the client time calls, and adds "cpu_us": what both sides took of processors, for each.
[[nodiscard]] Result<RunningSystem::Figures> time_calls(RunningSystem& running,
                                                        const Exercise& exercise);

/// One figure of all rounds.
[[nodiscard]] std::vector<double> values_of(const std::vector<RunningSystem::Figures>& rounds,
                                            const std::string& figure);

/// The median of a figure's ratio to another system's, taken round by round: both sides saw the
/// machine in the same state.
[[nodiscard]] double median_ratio(const std::vector<RunningSystem::Figures>& mine,
                                  const std::vector<RunningSystem::Figures>& other,
                                  const std::string& figure);

} // namespace kairos::bench
