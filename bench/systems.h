// SPDX-License-Identifier: Apache-2.0
//
// What is measured: each system is a server program and a client program that speak the line
// protocol, whatever lies between them. Starting a system starts both and connects them.
#pragma once

#include "bench/exercise.h"
#include "bench/process.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::bench {

class TlsKeys;

enum class Pinning { free, same, split };

struct System {
    std::string option;       ///< what --peers calls it
    std::string name;         ///< what reports call it
    std::string architecture; ///< the part of the variant that is the system's own
    std::string program;      ///< the file name of both its programs
    std::vector<std::string> server_arguments;
    std::vector<std::string> client_arguments;
    bool orb = false; ///< knows the payload types, and the bytes of its own messages
    /// A program between the two, which is given the server's references and says those that the
    /// client is to call, and the first of its arguments; empty for none.
    std::string middle{};
    std::string middle_kind{};
    bool by_tls = false;       ///< the bytes that its sockets move are records of TLS
    bool by_datagrams = false; ///< it makes oneways only
};

/// Every system that there may be, in the order of the reports.
[[nodiscard]] std::span<const System> all_systems();

/// Kairos without stubs or without skeletons, by the names of --invocation.
[[nodiscard]] std::span<const System> invocation_systems();

/// The ways between a client and a server of one host, and the yardsticks for them.
[[nodiscard]] std::span<const System> local_systems();

/// Calls between two processes whose threads wait in different ways, and blocking sockets.
[[nodiscard]] std::span<const System> spinning_systems();

/// Calls by TLS, and their yardstick: OpenSSL's functions on raw sockets. Called by the names of
/// all_systems(); `keys` must last as long as they run.
[[nodiscard]] std::vector<System> tls_systems(const TlsKeys& keys);

/// Oneways in datagrams, and their yardstick: bare UDP. Called by the names of all_systems().
[[nodiscard]] std::span<const System> datagram_systems();

/// The programs that connect by TLS, again and again and many at a time: Kairos, by TCP as well,
/// and OpenSSL's functions on raw sockets. `keys` must last as long as they run.
[[nodiscard]] std::vector<System> connecting_systems(const TlsKeys& keys);

/// Those that know Param_Test: each kind of stubs and skeletons, and other ORBs.
[[nodiscard]] std::span<const System> param_systems();

/// The programs that marshal without calling anybody, one for each kind of generated code. Their
/// options are those of param_systems().
[[nodiscard]] std::span<const System> marshal_systems();

/// The program that finds objects and operations without calling anybody, once for each way of
/// finding objects.
[[nodiscard]] std::span<const System> demux_systems();

/// The programs with a Naming Service in them.
[[nodiscard]] std::span<const System> naming_systems();

/// The program with portable interceptors, once for each number of them; none come first.
[[nodiscard]] std::span<const System> interceptors_systems();

/// Raw sockets and Kairos, each with nothing between client and server, and with something.
[[nodiscard]] std::span<const System> gateway_systems();

/// The program that calls without waiting, once for each way and number of calls outstanding, and
/// the ways of stubs.
[[nodiscard]] std::span<const System> asynchronous_systems();

/// Event channels with one consumer and with a hundred, and oneway calls without any.
[[nodiscard]] std::span<const System> events_systems();

/// A real-time channel with lanes that low priorities flood, and raw sockets of the same shape.
[[nodiscard]] std::span<const System> events_load_systems();

/// The program whose channel is kept in a store, which it also measures alone.
[[nodiscard]] std::span<const System> events_kept_systems();

/// Kairos, raw sockets and the systems of today, those of bench/modern: one program each.
[[nodiscard]] std::span<const System> modern_systems();

/// The program that calls an object of its own, once for each kind of collocation.
[[nodiscard]] std::span<const System> collocated_systems();

/// What names every pair of architectures, where an experiment has pairs.
inline constexpr std::string_view all_pairs = "all-pairs";

/// The systems a comma-separated list names; an empty list names all of `known`. Pairs are there
/// for those who ask, by their names or for all of them.
[[nodiscard]] Result<std::vector<System>>
select_systems(const std::string& list, std::span<const System> known = all_systems(),
               std::span<const System> pairs = {});

/// Where the measured programs are: beside the running program or in the libexec folder of its
/// installation.
[[nodiscard]] std::filesystem::path default_program_directory();

[[nodiscard]] bool installed(const System& system, const std::filesystem::path& directory);

/// How one side of a system is started, beyond the system's own program and arguments.
struct SideOptions {
    std::vector<std::string> wrapper{};     ///< a program that runs the side's, with its arguments
    std::vector<std::string> environment{}; ///< "NAME=value"
    int inherited_descriptor = -1;
};

struct StartOptions {
    std::filesystem::path program_directory;
    Pinning pinning = Pinning::free;
    std::uint32_t queue_bytes = 0; ///< socket queues; 0 is the operating system's default
    SideOptions server;
    SideOptions client;
    SideOptions middle{}; ///< of a program between them
};

/// A server, ready to be called, and its client, connected.
class RunningSystem {
  public:
    static Result<RunningSystem> start(const System& system, const StartOptions& options);

    using Figures = std::map<std::string, double>;

    /// Has the client carry out an order and returns the figures it answers with.
    [[nodiscard]] Result<Figures> order(Verb verb, const Exercise& exercise);
    /// The same for programs whose orders are no Exercise.
    [[nodiscard]] Result<Figures> order(const std::string& line);
    /// The same of the server, where its program takes orders.
    [[nodiscard]] Result<Figures> order_server(const std::string& line);

    struct BothRemains {
        ChildProcess::Remains client;
        ChildProcess::Remains server;
    };
    /// Ends the client, then the server, in good order.
    Result<BothRemains> finish();

    /// Puts both sides on a processor each, if there are several, and lets them go where they like
    /// from there on: the scheduler may have left both on one.
    void put_apart() const;

    /// What both sides, and what is between them, have taken of processors so far.
    [[nodiscard]] double cpu_seconds() const;

    [[nodiscard]] pid_t server_pid() const { return server_.pid(); }
    [[nodiscard]] pid_t client_pid() const { return client_.pid(); }
    /// The program between them; the server where there is none.
    [[nodiscard]] pid_t middle_pid() const { return middle_ ? middle_->pid() : server_.pid(); }
    /// What the server told clients to call.
    [[nodiscard]] const std::vector<std::string>& references() const { return references_; }

  private:
    RunningSystem(ChildProcess server, std::optional<ChildProcess> middle, ChildProcess client,
                  std::vector<std::string> references)
        : server_(std::move(server)), middle_(std::move(middle)), client_(std::move(client)),
          references_(std::move(references))
    {
    }

    ChildProcess server_;
    std::optional<ChildProcess> middle_;
    ChildProcess client_;
    std::vector<std::string> references_;
};

/// A measured program that needs no peer; it is given the system's client arguments.
class RunningProgram {
  public:
    static Result<RunningProgram> start(const System& system,
                                        const std::filesystem::path& directory,
                                        const SideOptions& options = {});
    [[nodiscard]] Result<RunningSystem::Figures> order(Verb verb, const Exercise& exercise);
    /// What it has said on standard error.
    Result<std::string> finish();
    [[nodiscard]] pid_t pid() const { return process_.pid(); }

  private:
    explicit RunningProgram(ChildProcess process) : process_(std::move(process)) {}
    ChildProcess process_;
};

[[nodiscard]] std::string_view name_of(Pinning pinning);

/// "thread-per-connection, pin=free, queue=64K": the variant of a system's rows.
[[nodiscard]] std::string variant_of(const System& system, Pinning pinning,
                                     std::string_view queue = {});

/// The GIOP message of a call on the wire, before any ORB has been asked for its own: 12 octets of
/// header, the request or reply header, and the argument.
[[nodiscard]] Exercise with_estimated_bytes(Exercise exercise);

} // namespace kairos::bench
