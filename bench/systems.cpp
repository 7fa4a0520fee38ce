// SPDX-License-Identifier: Apache-2.0
#include "bench/systems.h"

#include "bench/tls_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kairos::bench {
namespace {

// Valgrind needs this long to bring a large program up.
constexpr std::chrono::seconds start_patience{60};
// The longest single order is a full ttcp point through a slow socket queue.
constexpr std::chrono::seconds answer_patience{600};

Result<std::string> await_ready(ChildProcess& process)
{
    Result<std::string> line = process.read_line(start_patience);
    if (!line) return line.error();
    constexpr std::string_view prefix = "ready ";
    if (!line->starts_with(prefix))
        return Error{ErrorCode::malformed, process.name() + " said: " + *line};
    return line->substr(prefix.size());
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(separator, start), text.size());
        if (end > start) parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

/// Each once: some pairs are among the known ones.
std::vector<System> with_pairs(std::span<const System> known, std::span<const System> pairs)
{
    std::vector<System> all(known.begin(), known.end());
    for (const System& pair : pairs)
        if (std::ranges::find(all, pair.option, &System::option) == all.end()) all.push_back(pair);
    return all;
}

/// What --peers accepts, for the complaint about what it does not.
std::string names_of(std::span<const System> all, std::span<const System> pairs)
{
    std::string names;
    for (const System& system : all)
        names += (names.empty() ? "" : ", ") + system.option;
    if (!pairs.empty()) names += fmt::format(", {}", all_pairs);
    return names;
}

/// Server and client never share a CPU when split; the client has the first.
Result<std::optional<int>> cpu_for(Pinning pinning, bool server)
{
    if (pinning == Pinning::free) return std::optional<int>{};
    const std::vector<int> cpus = usable_cpus();
    const std::size_t needed = pinning == Pinning::split ? 2 : 1;
    if (cpus.size() < needed)
        return Error{ErrorCode::invalid_argument, "--pin split needs two CPUs; there is one"};
    return std::optional<int>(cpus[server && pinning == Pinning::split ? 1 : 0]);
}

Result<ChildProcess> start_side(const System& system, const StartOptions& options,
                                const SideOptions& side, bool server,
                                const std::vector<std::string>& arguments)
{
    const auto cpu = cpu_for(options.pinning, server);
    if (!cpu) return cpu.error();
    ProcessOptions process;
    process.command = side.wrapper;
    process.command.push_back((options.program_directory / system.program).string());
    process.command.insert(process.command.end(), arguments.begin(), arguments.end());
    process.environment = side.environment;
    if (options.queue_bytes > 0)
        process.environment.push_back(fmt::format("KAIROS_BENCH_QUEUE={}", options.queue_bytes));
    process.cpu = *cpu;
    process.inherited_descriptor = side.inherited_descriptor;
    return ChildProcess::start(process);
}

/// It listens on loopback, as servers do, and is on the client's CPU where there are two.
Result<ChildProcess> start_middle(const System& system, const StartOptions& options,
                                  std::vector<std::string> references)
{
    System program = system;
    program.program = system.middle;
    references.insert(references.begin(), system.middle_kind);
    if (system.orb)
        references.insert(references.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1"});
    return start_side(program, options, options.middle, false, references);
}

/// Has a program carry out an order.
Result<RunningSystem::Figures> ask(ChildProcess& process, const std::string& text)
{
    if (auto written = process.write_line(text); !written) return written.error();
    const auto line = process.read_line(answer_patience);
    if (!line) return line.error();
    const auto answer = nlohmann::json::parse(*line, nullptr, false);
    if (!answer.is_object())
        return Error{ErrorCode::malformed, process.name() + " answered: " + *line};
    if (answer.contains("error"))
        return Error{ErrorCode::system,
                     fmt::format("{}, ordered '{}': {}", process.name(), text, *line)};
    RunningSystem::Figures figures;
    for (const auto& [name, value] : answer.items())
        if (value.is_number()) figures[name] = value.get<double>();
    return figures;
}

} // namespace

std::span<const System> all_systems()
{
    static const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
    static const std::vector<std::string> loopback_reactor{
        "-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBConcurrency", "reactor"};
    static const std::array<System, 6> systems{{
        {"raw", "raw-tcp", "blocking sockets", "kairos-bench-raw", {"tcp"}, {}, false},
        {"unix", "raw-unix", "blocking sockets", "kairos-bench-raw", {"unix"}, {}, false},
        {"wrapper", "wrapper", "blocking sockets", "kairos-bench-wrapper", {}, {}, false},
        {"kairos", "kairos", "thread-per-connection", "kairos-bench-orb", loopback, {}, true},
        {"kairos-reactor", "kairos", "reactor", "kairos-bench-orb", loopback_reactor, {}, true},
        {"omniorb", "omniorb", "thread-per-connection", "kairos-bench-omniorb", {}, {}, true},
    }};
    return systems;
}

std::span<const System> invocation_systems()
{
    const auto system = [](const char* option, const char* architecture,
                           std::vector<std::string> server, std::vector<std::string> client) {
        server.insert(server.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1"});
        return System{option, "kairos", architecture, "kairos-bench-orb-dynamic",
                      server, client,   true};
    };
    static const std::array<System, 4> systems{
        system("dii", "DII", {}, {"dii"}),
        system("dii-reused", "DII, requests used again", {}, {"dii-reused"}),
        system("deferred", "DII, deferred", {}, {"deferred"}),
        system("dsi", "DSI", {"dsi"}, {}),
    };
    return systems;
}

std::span<const System> local_systems()
{
    const auto raw = [](const char* option, const char* name, const char* architecture) {
        return System{option, name, architecture, "kairos-bench-raw", {option}, {}, false};
    };
    const auto kairos = [](const char* option, const char* architecture, const char* endpoint,
                           std::vector<std::string> spin = {}) {
        std::vector<std::string> server{"-ORBListenEndpoints", endpoint};
        server.insert(server.end(), spin.begin(), spin.end());
        return System{option, "kairos", architecture, "kairos-bench-orb", server, spin, true};
    };
    const auto on_loan = [](System system) {
        system.client_arguments.insert(system.client_arguments.begin(), "loan");
        return system;
    };
    static const std::array<System, 9> systems{
        raw("unix", "raw-unix", "blocking sockets"),
        raw("ring", "raw-ring", "futex"),
        raw("spin", "raw-ring", "spinning"),
        // Its bytes can be counted, and the others have as many.
        kairos("kairos-tcp", "TCP", "iiop://127.0.0.1"),
        kairos("kairos-unix", "Unix socket", "uiop://"),
        kairos("kairos-memory", "shared memory", "shmiop://"),
        kairos("kairos-spin", "shared memory, spinning", "shmiop://", {"-ORBSpin", "1000"}),
        // The same, but for large octets.
        on_loan(kairos("kairos-loan", "shared memory, loans", "shmiop://")),
        on_loan(kairos("kairos-loan-spin", "shared memory, loans, spinning", "shmiop://",
                       {"-ORBSpin", "1000"})),
    };
    return systems;
}

std::span<const System> spinning_systems()
{
    const auto kairos = [](const char* spin) {
        return System{spin,
                      "kairos",
                      "-ORBSpin " + std::string(spin),
                      "kairos-bench-orb",
                      {"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBSpin", spin},
                      {"-ORBSpin", spin},
                      true};
    };
    static const std::array<System, 4> systems{
        {{"raw", "raw-tcp", "blocking sockets", "kairos-bench-raw", {"tcp"}, {}, false},
         kairos("0"),
         kairos("auto"),
         kairos("1000")}};
    return systems;
}

std::vector<System> tls_systems(const TlsKeys& keys)
{
    const auto kairos = [&](const char* option, const char* architecture) {
        System system{option,
                      "kairos",
                      std::string(architecture) + ", TLS",
                      "kairos-bench-orb-tls",
                      {"-ORBListenEndpoints", "ssliop://127.0.0.1", "-ORBConcurrency", architecture,
                       "-ORBTlsCertificate", keys.certificate(), "-ORBTlsKey", keys.key()},
                      {"-ORBTlsClient", "required", "-ORBTlsTrust", keys.authority()},
                      true};
        system.by_tls = true;
        return system;
    };
    const std::vector<std::string> omniorb{
        "-ORBsslCAFile",      keys.authority(), "-ORBsslKeyFile",    keys.both(),
        "-ORBsslKeyPassword", "none",           "-ORBsslVerifyMode", "none"};
    std::vector<std::string> omniorb_server = omniorb;
    omniorb_server.insert(omniorb_server.end(), {"-ORBendPoint", "giop:ssl:127.0.0.1:"});
    return {{"raw",
             "raw-tls",
             "blocking sockets, OpenSSL",
             "kairos-bench-tls-raw",
             {keys.certificate(), keys.key()},
             {keys.authority()},
             false},
            kairos("kairos", "thread-per-connection"),
            kairos("kairos-reactor", "reactor"),
            {"omniorb", "omniorb", "thread-per-connection, TLS", "kairos-bench-omniorb-tls",
             omniorb_server, omniorb, true}};
}

std::span<const System> datagram_systems()
{
    static const std::array<System, 2> systems = [] {
        std::array<System, 2> both{
            {{"raw", "raw-udp", "blocking sockets", "kairos-bench-udp-raw", {}, {}, false},
             {"kairos",
              "kairos",
              "thread-per-connection, DIOP",
              "kairos-bench-orb-diop",
              {"-ORBListenEndpoints", "iiop://127.0.0.1;diop://127.0.0.1"},
              {},
              true}}};
        for (System& each : both)
            each.by_datagrams = true;
        return both;
    }();
    return systems;
}

std::vector<System> connecting_systems(const TlsKeys& keys)
{
    const auto kairos = [&](const char* option, const char* architecture, bool by_tls) {
        System system{option,
                      "kairos",
                      std::string(architecture) + (by_tls ? ", TLS" : ", TCP"),
                      "kairos-bench-tls",
                      {"-ORBConcurrency", architecture, "-ORBListenEndpoints",
                       by_tls ? "ssliop://127.0.0.1" : "iiop://127.0.0.1"},
                      {},
                      true};
        system.by_tls = by_tls;
        if (!by_tls) return system;
        system.server_arguments.insert(system.server_arguments.end(),
                                       {"-ORBTlsCertificate", keys.certificate(), "-ORBTlsKey",
                                        keys.key(), "-ORBTlsHandshakes", "0"});
        system.client_arguments = {"-ORBTlsClient", "required", "-ORBTlsTrust", keys.authority()};
        return system;
    };
    System raw = tls_systems(keys).front();
    raw.architecture = "thread-per-connection, OpenSSL";
    raw.server_arguments.insert(raw.server_arguments.begin(), "connections");
    raw.client_arguments.emplace_back("connections");
    raw.by_tls = true;
    return {raw, kairos("kairos", "thread-per-connection", true),
            kairos("kairos-reactor", "reactor", true),
            kairos("kairos-tcp", "thread-per-connection", false),
            kairos("kairos-reactor-tcp", "reactor", false)};
}

std::span<const System> param_systems()
{
    static const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
    static const std::array<System, 3> systems{{
        {"kairos", "kairos", "compiled", "kairos-bench-param", loopback, {}, true},
        {"kairos-interpretive",
         "kairos",
         "interpretive",
         "kairos-bench-param-interpretive",
         loopback,
         {},
         true},
        {"omniorb", "omniorb", "compiled", "kairos-bench-param-omniorb", {}, {}, true},
    }};
    return systems;
}

std::span<const System> marshal_systems()
{
    static const std::array<System, 2> systems{{
        {"kairos", "kairos", "compiled", "kairos-bench-marshal", {}, {}, false},
        {"kairos-interpretive",
         "kairos",
         "interpretive",
         "kairos-bench-marshal-interpretive",
         {},
         {},
         false},
    }};
    return systems;
}

std::span<const System> demux_systems()
{
    static const std::array<System, 4> systems{{
        {"linear", "kairos", "objects linear", "kairos-bench-demux", {}, {"linear"}, false},
        {"hash", "kairos", "objects hash", "kairos-bench-demux", {}, {"hash"}, false},
        {"perfect", "kairos", "objects perfect", "kairos-bench-demux", {}, {"perfect"}, false},
        {"active", "kairos", "objects active", "kairos-bench-demux", {}, {"active"}, false},
    }};
    return systems;
}

std::span<const System> naming_systems()
{
    static const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
    static const std::vector<std::string> loopback_reactor{
        "-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBConcurrency", "reactor"};
    static const std::array<System, 2> systems{{
        {"kairos", "kairos", "thread-per-connection", "kairos-bench-naming", loopback, {}, true},
        {"kairos-reactor", "kairos", "reactor", "kairos-bench-naming", loopback_reactor, {}, true},
    }};
    return systems;
}

std::span<const System> interceptors_systems()
{
    const auto system = [](const char* option, const char* variant, const char* orb_id) {
        return System{option,
                      "kairos",
                      variant,
                      "kairos-bench-interceptors",
                      {"-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBid", orb_id},
                      {"-ORBid", orb_id},
                      true};
    };
    static const std::array<System, 3> systems{system("none", "no interceptor", "interceptors-0"),
                                               system("1", "1 interceptor", "interceptors-1"),
                                               system("4", "4 interceptors", "interceptors-4")};
    return systems;
}

std::span<const System> asynchronous_systems()
{
    const auto system = [](const char* way, const char* architecture,
                           std::vector<std::string> of_client = {}) {
        of_client.insert(of_client.begin(), way);
        return System{way,
                      "kairos",
                      architecture,
                      "kairos-bench-asynchronous",
                      {"-ORBListenEndpoints", "iiop://127.0.0.1"},
                      of_client,
                      true};
    };
    static const std::array<System, 8> systems{
        system("stub", "a stub"),
        system("stub-active", "a stub, -ORBConnection active", {"-ORBConnection", "active"}),
        system("threads-16", "stubs of 16 threads"),
        system("callbacks-1", "callbacks, one by one"),
        system("callbacks-1000", "callbacks, 1000 outstanding"),
        system("pollers-1000", "pollers, 1000 outstanding"),
        system("coroutines-1", "a coroutine"),
        system("coroutines-1000", "1000 coroutines"),
    };
    return systems;
}

std::span<const System> events_systems()
{
    constexpr const char* program = "kairos-bench-events";
    const auto system = [](const char* option, const char* name, const char* architecture,
                           const char* consumers, const char* middle = "") {
        const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
        std::vector<std::string> server{consumers};
        if (std::string_view(middle).starts_with("rt")) server.emplace_back("rt");
        server.insert(server.end(), loopback.begin(), loopback.end());
        std::vector<std::string> client{*middle == '\0' ? "0" : consumers};
        client.insert(client.end(), loopback.begin(), loopback.end());
        const bool has_channel = *middle != '\0';
        return System{option, name,   architecture, program,
                      server, client, true,         has_channel ? program : "",
                      middle};
    };
    static const std::array<System, 8> systems{
        system("oneways", "kairos", "oneways, no channel", "1"),
        system("kairos", "kairos", "one consumer", "1", "channel"),
        system("kairos-100", "kairos", "100 consumers", "100", "channel"),
        system("rt", "kairos", "real time, one consumer", "1", "rt"),
        system("rt-lanes", "kairos", "real time, lanes, one consumer", "1", "rt-lanes"),
        system("rt-100", "kairos", "real time, 100 consumers", "100", "rt"),
        system("omnievents", "omnievents", "one consumer", "1", "omnievents"),
        system("omnievents-100", "omnievents", "100 consumers", "100", "omnievents"),
    };
    return systems;
}

std::span<const System> events_load_systems()
{
    constexpr const char* program = "kairos-bench-events-load"; // whose high priority is 13041
    static const std::vector<std::string> lanes{"-ORBListenEndpoints", "iiop://127.0.0.1",
                                                "-ORBConcurrency",     "reactor-per-priority",
                                                "-ORBLanes",           "0:each,13041:each"};
    static const std::array<System, 2> systems{{
        {"rt-flood", "kairos", "real time, lanes", program, lanes, lanes, true},
        {"rt-flood-raw", "raw-tcp", "real-time threads", program, {"raw"}, {"raw"}, false},
    }};
    return systems;
}

std::span<const System> events_kept_systems()
{
    static const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
    static const std::array<System, 1> systems{{
        {"kept",
         "kairos",
         "kept, 16 suppliers",
         "kairos-bench-events-kept",
         loopback,
         {"16", "-ORBListenEndpoints", "iiop://127.0.0.1"},
         true},
    }};
    return systems;
}

std::span<const System> gateway_systems()
{
    static const std::vector<std::string> loopback{"-ORBListenEndpoints", "iiop://127.0.0.1"};
    constexpr const char* middle = "kairos-bench-gateway";
    static const std::array<System, 4> systems{{
        {"raw", "raw-tcp", "blocking sockets", "kairos-bench-raw", {"tcp"}, {}, false},
        {"proxy",
         "raw-tcp",
         "through a proxy",
         "kairos-bench-raw",
         {"tcp"},
         {},
         false,
         middle,
         "proxy"},
        {"kairos", "kairos", "thread-per-connection", "kairos-bench-orb", loopback, {}, true},
        {"gateway",
         "kairos",
         "through a gateway",
         "kairos-bench-orb",
         loopback,
         {},
         true,
         middle,
         "gateway"},
    }};
    return systems;
}

std::span<const System> modern_systems()
{
    const auto kairos = [](const char* option, const char* architecture, const char* endpoint,
                           std::vector<std::string> spin = {}) {
        std::vector<std::string> server{"-ORBListenEndpoints", endpoint};
        server.insert(server.end(), spin.begin(), spin.end());
        return System{option, "kairos", architecture, "kairos-bench-modern-kairos",
                      server, spin,     true};
    };
    const auto other = [](const char* name, const char* architecture) {
        return System{name, name, architecture, std::string("kairos-bench-modern-") + name,
                      {},   {},   false};
    };
    static const std::array<System, 14> systems{
        System{"raw", "raw-tcp", "blocking sockets", "kairos-bench-modern-raw", {}, {}, false},
        kairos("kairos", "thread-per-connection", "iiop://127.0.0.1"),
        kairos("kairos-memory", "shared memory", "shmiop://"),
        kairos("kairos-spin", "shared memory, spinning", "shmiop://", {"-ORBSpin", "1000"}),
        other("omniorb", "thread-per-connection"),
        other("thrift", "threaded server, frames"),
        other("ice", "thread pool"),
        other("zeromq", "REQ and REP"),
        other("capnproto", "event loop"),
        other("grpc", "unary, callback server"),
        System{"grpc-stream",
               "grpc",
               "a stream for each client",
               "kairos-bench-modern-grpc",
               {},
               {"stream"},
               false},
        other("cyclone", "two topics for each client"),
        other("iceoryx2", "request-response, events"),
        System{"iceoryx2-polling",
               "iceoryx2",
               "request-response, polling",
               "kairos-bench-modern-iceoryx2",
               {"polling"},
               {"polling"},
               false},
    };
    return systems;
}

std::span<const System> collocated_systems()
{
    const auto system = [](const char* option, const char* architecture) {
        return System{
            option,       "kairos",
            architecture, "kairos-bench-collocated",
            {},           {"-ORBCollocation", option, "-ORBListenEndpoints", "iiop://127.0.0.1:0"},
            false};
    };
    static const std::array<System, 3> systems{system("direct", "collocated, direct"),
                                               system("through-poa", "collocated, through-poa"),
                                               system("no", "collocated, marshalled")};
    return systems;
}

Result<std::vector<System>> select_systems(const std::string& list, std::span<const System> known,
                                           std::span<const System> pairs)
{
    if (list.empty()) return std::vector<System>(known.begin(), known.end());
    const std::vector<System> all = with_pairs(known, pairs);
    std::vector<System> chosen;
    for (const std::string& name : split(list, ',')) {
        if (name == all_pairs && !pairs.empty()) {
            chosen.insert(chosen.end(), pairs.begin(), pairs.end());
            continue;
        }
        const auto found = std::ranges::find(all, name, &System::option);
        if (found == all.end())
            return Error{ErrorCode::invalid_argument,
                         fmt::format("--peers: '{}' is none of {}", name, names_of(all, pairs))};
        chosen.push_back(*found);
    }
    if (chosen.empty()) return Error{ErrorCode::invalid_argument, "--peers names nothing"};
    return chosen;
}

std::filesystem::path default_program_directory()
{
    std::error_code failure;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
    const std::filesystem::path here = self.parent_path();
    if (std::filesystem::exists(here / "kairos-bench-raw", failure)) return here;
    return here.parent_path() / "libexec" / "kairos";
}

bool installed(const System& system, const std::filesystem::path& directory)
{
    return access((directory / system.program).c_str(), X_OK) == 0;
}

Result<RunningSystem> RunningSystem::start(const System& system, const StartOptions& options)
{
    std::vector<std::string> arguments{"server"};
    arguments.insert(arguments.end(), system.server_arguments.begin(),
                     system.server_arguments.end());
    auto server = start_side(system, options, options.server, true, arguments);
    if (!server) return server.error();
    const auto references = await_ready(*server);
    if (!references) return references.error();

    std::vector<std::string> to_call = split(*references, ' ');
    std::optional<ChildProcess> middle;
    if (!system.middle.empty()) {
        auto between = start_middle(system, options, to_call);
        if (!between) return between.error();
        middle = std::move(between).value();
        const auto through = await_ready(*middle);
        if (!through) return through.error();
        to_call = split(*through, ' ');
    }
    arguments = {"client"};
    arguments.insert(arguments.end(), to_call.begin(), to_call.end());
    arguments.insert(arguments.end(), system.client_arguments.begin(),
                     system.client_arguments.end());
    auto client = start_side(system, options, options.client, false, arguments);
    if (!client) return client.error();
    if (const auto ready = await_ready(*client); !ready) return ready.error();
    return RunningSystem(std::move(*server), std::move(middle), std::move(*client), to_call);
}

Result<RunningSystem::Figures> RunningSystem::order(Verb verb, const Exercise& exercise)
{
    return ask(client_, format_order({.verb = verb, .exercise = exercise}));
}

Result<RunningSystem::Figures> RunningSystem::order(const std::string& line)
{
    return ask(client_, line);
}

void RunningSystem::put_apart() const
{
    const std::vector<int> cpus = usable_cpus();
    if (cpus.size() < 2) return;
    server_.run_on({cpus[0]});
    client_.run_on({cpus[1]});
    server_.run_on(cpus);
    client_.run_on(cpus);
}

double RunningSystem::cpu_seconds() const
{
    double seconds = client_.cpu_seconds() + server_.cpu_seconds();
    if (middle_) seconds += middle_->cpu_seconds();
    return seconds;
}

Result<RunningSystem::Figures> RunningSystem::order_server(const std::string& line)
{
    return ask(server_, line);
}

Result<RunningProgram> RunningProgram::start(const System& system,
                                             const std::filesystem::path& directory,
                                             const SideOptions& options)
{
    std::vector<std::string> command = options.wrapper;
    command.push_back((directory / system.program).string());
    command.insert(command.end(), system.client_arguments.begin(), system.client_arguments.end());
    auto process = ChildProcess::start({.command = std::move(command),
                                        .environment = options.environment,
                                        .cpu = {},
                                        .inherited_descriptor = options.inherited_descriptor});
    if (!process) return process.error();
    if (const auto ready = await_ready(*process); !ready) return ready.error();
    return RunningProgram(std::move(*process));
}

Result<RunningSystem::Figures> RunningProgram::order(Verb verb, const Exercise& exercise)
{
    return ask(process_, format_order({.verb = verb, .exercise = exercise}));
}

Result<std::string> RunningProgram::finish()
{
    auto remains = process_.finish(start_patience);
    if (remains.exit_status == 0) return std::move(remains.errors);
    return Error{ErrorCode::system, fmt::format("{} ended with status {}: {}", process_.name(),
                                                remains.exit_status, remains.errors)};
}

Result<RunningSystem::BothRemains> RunningSystem::finish()
{
    BothRemains remains;
    ChildProcess::Remains between;
    for (auto [process, left] :
         {std::pair{&client_, &remains.client}, std::pair{middle_ ? &*middle_ : nullptr, &between},
          std::pair{&server_, &remains.server}}) {
        if (process == nullptr) continue;
        const std::string name = process->name();
        *left = process->finish(start_patience);
        if (left->exit_status != 0)
            return Error{ErrorCode::system, fmt::format("{} ended with status {}: {}", name,
                                                        left->exit_status, left->errors)};
    }
    return remains;
}

std::string_view name_of(Pinning pinning)
{
    switch (pinning) {
    case Pinning::free:
        return "free";
    case Pinning::same:
        return "same";
    case Pinning::split:
        return "split";
    }
    return "?";
}

std::string variant_of(const System& system, Pinning pinning, std::string_view queue)
{
    std::string variant = fmt::format("{}, pin={}", system.architecture, name_of(pinning));
    if (!queue.empty()) variant += fmt::format(", queue={}", queue);
    return variant;
}

Exercise with_estimated_bytes(Exercise exercise)
{
    constexpr std::uint32_t request_header = 72; // GIOP 1.2 with a key of a dozen octets
    constexpr std::uint32_t reply_header = 24;
    constexpr std::uint32_t length_field = 8;
    const auto argument = static_cast<std::uint32_t>(payload_bytes(exercise));
    exercise.request_bytes = request_header + (argument == 0 ? 0 : length_field + argument);
    exercise.reply_bytes = exercise.direction == Direction::oneway ? 0 : reply_header;
    return exercise;
}

} // namespace kairos::bench
