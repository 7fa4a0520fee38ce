// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench EXPERIMENT`: options into an experiment, its report onto the terminal and into
// files.
#include "bench/architectures.h"
#include "bench/experiment.h"
#include "bench/plot.h"
#include "bench/process.h"
#include "bench/stored_report.h"
#include "bench/tls_keys.h"
#include "kairos/base/shown.h"
#include "tools/kairos/bench_progress.h"
#include "tools/kairos/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <span>

namespace kairos::tools {
namespace {

using bench::Pinning;
using bench::Report;

/// What the user typed; lives as long as the parser.
struct BenchArguments {
    std::string peers;
    std::string pin; // empty: the experiment's own
    std::string transport = "tcp";
    std::string title;
    std::string into; // a file's path without a suffix
    std::string json_path;
    std::string plot_path;
    std::string programs;
    bool quick = false;
    bool check = false;
    unsigned rounds = 0; // 0: the experiment's own
    std::uint32_t calls = 0;
    std::uint64_t megabytes = 0;
    std::vector<std::string> queues;
    std::vector<std::string> buffers;
    std::vector<std::string> types;
    std::vector<std::string> directions;
    std::vector<std::string> invocations;
    std::vector<std::uint32_t> units;
    bool instructions = true;
    std::uint32_t compute_us = 1000;
    bool idle_sleeps = false;
    std::vector<std::uint32_t> flooding;
    std::uint32_t idle = 0;
    std::shared_ptr<BenchProgress> progress;
};

int failed(const Error& error)
{
    fmt::print(stderr, "kairos bench: {}\n", shown(error.reason));
    return error.code == ErrorCode::invalid_argument ? 2 : 1;
}

/// Accepts 8192, 8K and default (0).
Result<std::uint32_t> size_from(const std::string& option, const std::string& text)
{
    if (text == "default") return std::uint32_t{0};
    std::size_t end = 0;
    unsigned long value = 0;
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' && text.size() <= 9)
        value = std::stoul(text, &end);
    std::uint64_t bytes = value;
    if (end > 0 && end + 1 == text.size() && (text[end] == 'K' || text[end] == 'k')) {
        bytes *= 1024;
        ++end;
    }
    if (end == 0 || end != text.size() || bytes == 0 || bytes > bench::units_max)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{}: '{}' is no size between 1 and 4096K", option, text)};
    return static_cast<std::uint32_t>(bytes);
}

Result<void> fill_sizes(const std::string& option, const std::vector<std::string>& texts,
                        std::vector<std::uint32_t>& sizes)
{
    if (texts.empty()) return {};
    sizes.clear();
    for (const std::string& text : texts) {
        const auto size = size_from(option, text);
        if (!size) return size.error();
        sizes.push_back(*size);
    }
    return {};
}

/// What the papers transfer.
constexpr std::array<bench::Payload, 8> transferred{
    bench::Payload::text,       bench::Payload::character, bench::Payload::octet,
    bench::Payload::int16,      bench::Payload::int32,     bench::Payload::float64,
    bench::Payload::bin_struct, bench::Payload::strings};

Result<void> fill_payloads(const std::vector<std::string>& names,
                           std::vector<bench::Payload>& payloads,
                           std::span<const bench::Payload> known = transferred)
{
    if (names.empty()) return {};
    payloads.clear();
    for (const std::string& name : names) {
        const auto payload = bench::payload_named(name);
        if (!payload || std::find(known.begin(), known.end(), *payload) == known.end()) {
            std::string list;
            for (const bench::Payload each : known)
                list += fmt::format("{}{}", list.empty() ? "" : ", ", bench::name_of(each));
            return Error{ErrorCode::invalid_argument,
                         fmt::format("--types: '{}' is none of {}", name, list)};
        }
        payloads.push_back(*payload);
    }
    return {};
}

Result<void> fill_common(const BenchArguments& arguments, unsigned rounds, unsigned quick_rounds,
                         bench::CommonOptions& options,
                         std::span<const bench::System> known = bench::all_systems(),
                         std::span<const bench::System> pairs = {})
{
    const auto systems = bench::select_systems(arguments.peers, known, pairs);
    if (!systems) return systems.error();
    options.systems = *systems;
    options.program_directory = arguments.programs.empty()
                                    ? bench::default_program_directory()
                                    : std::filesystem::path(arguments.programs);
    options.rounds = arguments.quick ? quick_rounds : rounds;
    if (arguments.rounds > 0) options.rounds = arguments.rounds;
    options.pinning = arguments.pin == "same"    ? Pinning::same
                      : arguments.pin == "split" ? Pinning::split
                                                 : Pinning::free;
    options.progress = [progress = arguments.progress](double done, const std::string& what) {
        progress->show(done, what);
    };
    return {};
}

/// The table, its figures and its pictures into files of one name.
Result<void> write_files(const Report& report, const std::string& into)
{
    std::error_code failure;
    const auto folder = std::filesystem::path(into).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, failure);
    if (auto written = bench::write_file(into + ".txt", bench::render_table(report)); !written)
        return written;
    if (auto written = bench::write_json(report, into + ".json"); !written) return written;
    if (const auto pictures = bench::draw(report, into + ".svg"); !pictures)
        return pictures.error();
    return {};
}

Result<void> print_and_write(const Report& report, const BenchArguments& arguments)
{
    fmt::print("{}", bench::render_table(report));
    if (!arguments.json_path.empty()) {
        if (auto written = bench::write_json(report, arguments.json_path); !written) return written;
        fmt::print("JSON: {}\n", arguments.json_path);
    }
    if (!arguments.plot_path.empty()) {
        const auto pictures = bench::draw(report, arguments.plot_path);
        if (!pictures) return pictures.error();
        for (const std::string& picture : *pictures)
            fmt::print("picture: {}\n", picture);
    }
    return {};
}

/// Names what was not reached. A missed bar is a finding, not a failure of the command, for timings
/// depend on the machine; who wants it to be one says --check.
int status_of(const bench::Verdict& verdict, const BenchArguments& arguments)
{
    // Tables say it of each row.
    if (arguments.check || arguments.into.empty())
        for (const std::string& figure : verdict.absent)
            fmt::print("not measured: {}\n", figure);
    if (arguments.check)
        for (const std::string& figure : verdict.missed)
            fmt::print("missed: {}\n", figure);
    if (arguments.check || (arguments.into.empty() && !verdict.good()))
        fmt::print("{}\n", bench::in_words(verdict));
    return arguments.check && !verdict.good() ? 1 : 0;
}

int present(Result<Report> report, const std::vector<bench::Column>& columns,
            const BenchArguments& arguments)
{
    if (!report) {
        arguments.progress->fail();
        return failed(report.error());
    }
    report->columns = columns;
    report->title = arguments.title;
    const auto written =
        arguments.into.empty() ? Result<void>{} : write_files(*report, arguments.into);
    if (!written) {
        arguments.progress->fail();
        return failed(written.error());
    }
    arguments.progress->finish();
    if (arguments.into.empty())
        if (auto printed = print_and_write(*report, arguments); !printed)
            return failed(printed.error());
    return status_of(bench::judge(*report), arguments);
}

int run_latency_of(const BenchArguments& arguments, std::span<const bench::System> known,
                   const std::vector<bench::Column>& columns)
{
    using bench::Payload;
    bench::LatencyOptions options;
    options.within_host = known.data() == bench::local_systems().data();
    options.by_datagrams = known.data() == bench::datagram_systems().data();
    if (auto filled = fill_common(arguments, 25, 5, options, known); !filled)
        return failed(filled.error());
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 100 : 400;
    options.units = arguments.quick ? std::vector<std::uint32_t>{1, 1024} : bench::unit_counts();
    if (!arguments.units.empty()) options.units = arguments.units;
    options.payloads = {Payload::octet, Payload::int16, Payload::int32, Payload::float64,
                        Payload::bin_struct};
    if (auto filled = fill_payloads(arguments.types, options.payloads); !filled)
        return failed(filled.error());
    return present(bench::run_latency(options), columns, arguments);
}

/// Runs an experiment by TLS with certificates of its own.
int run_by_tls(const std::function<int(std::span<const bench::System>)>& run)
{
    const auto keys = bench::TlsKeys::make();
    if (!keys) return failed(keys.error());
    return run(bench::tls_systems(*keys));
}

int run_latency(const BenchArguments& arguments)
{
    if (arguments.transport == "tls")
        return run_by_tls([&](std::span<const bench::System> systems) {
            return run_latency_of(arguments, systems, bench::latency_columns());
        });
    return run_latency_of(
        arguments, arguments.transport == "diop" ? bench::datagram_systems() : bench::all_systems(),
        bench::latency_columns());
}

int run_local(const BenchArguments& arguments)
{
    return run_latency_of(arguments, bench::local_systems(), bench::local_latency_columns());
}

int run_ttcp_of(const BenchArguments& arguments, std::span<const bench::System> known)
{
    using bench::Direction;
    using bench::Payload;
    bench::TtcpOptions options;
    if (auto filled = fill_common(arguments, 24, 6, options, known); !filled)
        return failed(filled.error());
    // Left free, the scheduler puts the two processes onto one CPU or onto two as it likes, and a
    // twoway exchange is three times faster on one: rows would compare placements.
    if (arguments.pin.empty() && bench::usable_cpus().size() > 1) options.pinning = Pinning::split;
    options.buffers =
        arguments.quick ? std::vector<std::uint32_t>{1024, 8192, 65536} : bench::buffer_sizes();
    options.queues = arguments.quick ? std::vector<std::uint32_t>{0}
                                     : std::vector<std::uint32_t>{8192, 65536, 0};
    if (arguments.quick) options.megabytes = 48;
    if (arguments.megabytes > 0) options.megabytes = arguments.megabytes;
    options.payloads.assign(transferred.begin(), transferred.end());
    options.directions = {Direction::oneway, Direction::twoway};
    const bool by_datagrams = known.data() == bench::datagram_systems().data();
    if (by_datagrams) {
        options.buffers = arguments.quick ? std::vector<std::uint32_t>{1024, 8192}
                                          : std::vector<std::uint32_t>{1, 1024, 8192, 32'768};
        options.queues = {0};
        options.payloads = {Payload::octet};
        options.directions = {Direction::oneway};
    }
    if (auto filled = fill_sizes("--buffers", arguments.buffers, options.buffers); !filled)
        return failed(filled.error());
    if (std::find(options.buffers.begin(), options.buffers.end(), 0u) != options.buffers.end())
        return failed({ErrorCode::invalid_argument, "--buffers: there is no default size"});
    if (by_datagrams && std::ranges::max(options.buffers) > 65'000)
        return failed(
            {ErrorCode::invalid_argument, "--buffers: a datagram has no more than 65,000"});
    if (auto filled = fill_sizes("--queue", arguments.queues, options.queues); !filled)
        return failed(filled.error());
    if (auto filled = fill_payloads(arguments.types, options.payloads); !filled)
        return failed(filled.error());
    if (!arguments.directions.empty()) options.directions.clear();
    for (const std::string& name : arguments.directions)
        options.directions.push_back(*bench::direction_named(name)); // checked by the parser
    if (by_datagrams && options.directions != std::vector{Direction::oneway})
        return failed({ErrorCode::invalid_argument, "--directions: datagrams have no answers"});
    std::erase_if(options.systems, [](const bench::System& s) { return s.option == "unix"; });
    if (options.systems.empty())
        return failed({ErrorCode::invalid_argument, "--peers: ttcp runs over TCP only"});
    for (const bench::System& system : bench::invocation_systems())
        if (std::ranges::find(arguments.invocations, system.option) != arguments.invocations.end())
            options.systems.push_back(system);
    return present(bench::run_ttcp(options), bench::ttcp_columns(), arguments);
}

int run_ttcp(const BenchArguments& arguments)
{
    if (arguments.transport != "tcp" && !arguments.invocations.empty())
        return failed({ErrorCode::invalid_argument, "--invocation goes by TCP only"});
    if (arguments.transport == "tls")
        return run_by_tls([&](std::span<const bench::System> systems) {
            return run_ttcp_of(arguments, systems);
        });
    return run_ttcp_of(arguments, arguments.transport == "diop" ? bench::datagram_systems()
                                                                : bench::all_systems());
}

int run_connecting(const BenchArguments& arguments)
{
    const auto keys = bench::TlsKeys::make();
    if (!keys) return failed(keys.error());
    bench::ConnectingOptions options;
    if (auto filled = fill_common(arguments, 15, 3, options, bench::connecting_systems(*keys));
        !filled)
        return failed(filled.error());
    // On one CPU a connection costs what both sides execute; on two, mostly whom the system wakes.
    if (arguments.pin.empty()) options.pinning = Pinning::same;
    if (arguments.quick) {
        options.connections = 50;
        options.idle = 100;
    }
    if (arguments.calls > 0) options.connections = arguments.calls;
    if (arguments.idle > 0) options.idle = arguments.idle;
    return present(bench::run_connecting(options), bench::connecting_columns(), arguments);
}

int run_counters(const BenchArguments& arguments)
{
    bench::CountersOptions options;
    if (auto filled = fill_common(arguments, 1, 1, options); !filled) return failed(filled.error());
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 500 : 2000;
    options.instructions = arguments.instructions;
    options.instructions_of_all = !arguments.quick;
    return present(bench::run_counters(options), bench::counters_columns(), arguments);
}

int run_interceptors(const BenchArguments& arguments)
{
    bench::CountersOptions options;
    if (auto filled = fill_common(arguments, 1, 1, options, bench::interceptors_systems()); !filled)
        return failed(filled.error());
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 500 : 2000;
    options.instructions = arguments.instructions;
    return present(bench::run_interceptors(options), bench::interceptors_columns(), arguments);
}

int run_asynchronous(const BenchArguments& arguments)
{
    bench::AsynchronousOptions options;
    if (auto filled = fill_common(arguments, 9, 3, options, bench::asynchronous_systems()); !filled)
        return failed(filled.error());
    // On one CPU a call costs what all execute; on two, mostly whom the system wakes where.
    if (arguments.pin.empty()) options.pinning = bench::Pinning::same;
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 4000 : 20'000;
    return present(bench::run_asynchronous(options), bench::asynchronous_columns(), arguments);
}

int run_events(const BenchArguments& arguments)
{
    bench::EventsOptions options;
    if (auto filled = fill_common(arguments, 9, 3, options, bench::events_systems()); !filled)
        return failed(filled.error());
    options.events = arguments.calls > 0 ? arguments.calls : arguments.quick ? 5000 : 20'000;
    if (arguments.quick) options.kept_events = 1000;
    return present(bench::run_events(options), bench::events_columns(), arguments);
}

int run_spinning(const BenchArguments& arguments)
{
    bench::SpinningOptions options;
    if (auto filled = fill_common(arguments, 9, 2, options, bench::spinning_systems()); !filled)
        return failed(filled.error());
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 2000 : 20'000;
    if (arguments.quick) options.busy = {0, 1};
    if (!arguments.units.empty()) options.busy = arguments.units;
    return present(bench::run_spinning(options), bench::spinning_columns(), arguments);
}

int run_modern(const BenchArguments& arguments)
{
    bench::ModernOptions options;
    if (auto filled = fill_common(arguments, 9, 2, options, bench::modern_systems()); !filled)
        return failed(filled.error());
    if (arguments.quick) {
        options.calls = 200;
        options.megabytes = 4;
        options.duration_ms = 50;
    }
    if (arguments.calls > 0) options.calls = arguments.calls;
    if (arguments.megabytes > 0) options.megabytes = static_cast<double>(arguments.megabytes);
    return present(bench::run_modern(options), bench::modern_columns(), arguments);
}

int run_gateway(const BenchArguments& arguments)
{
    bench::LatencyOptions options;
    if (auto filled = fill_common(arguments, 25, 3, options, bench::gateway_systems()); !filled)
        return failed(filled.error());
    // On one CPU a call costs what all execute; on two, mostly whom the system wakes where.
    if (arguments.pin.empty()) options.pinning = Pinning::same;
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 200 : 1000;
    options.units = arguments.units.empty() ? std::vector<std::uint32_t>{1024} : arguments.units;
    options.payloads = {bench::Payload::octet, bench::Payload::bin_struct};
    if (auto filled = fill_payloads(arguments.types, options.payloads); !filled)
        return failed(filled.error());
    return present(bench::run_gateway(options), bench::gateway_columns(), arguments);
}

int run_param(const BenchArguments& arguments)
{
    bench::ParamOptions options;
    if (auto filled = fill_common(arguments, 60, 10, options, bench::param_systems()); !filled)
        return failed(filled.error());
    // On one CPU a call costs what both sides execute; on two, mostly what it takes to wake one.
    if (arguments.pin.empty()) options.pinning = Pinning::same;
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 200 : 500;
    options.counted_calls = arguments.quick ? 50 : 500;
    options.marshal_ms = arguments.quick ? 0.5 : 2;
    return present(bench::run_param(options), bench::param_columns(), arguments);
}

int run_marshal(const BenchArguments& arguments)
{
    using bench::Payload;
    bench::MarshalOptions options;
    if (auto filled = fill_common(arguments, 15, 5, options, bench::marshal_systems()); !filled)
        return failed(filled.error());
    for (const std::uint32_t buffer : bench::buffer_sizes())
        if (buffer >= 1024 && (!arguments.quick || buffer == 1024 || buffer == 131072))
            options.buffers.push_back(buffer);
    options.megabytes = arguments.megabytes > 0 ? static_cast<double>(arguments.megabytes)
                        : arguments.quick       ? 2
                                                : 8;
    constexpr std::array<Payload, 6> ladder{Payload::int16,   Payload::character,
                                            Payload::int32,   Payload::octet,
                                            Payload::float64, Payload::bin_struct};
    options.payloads.assign(ladder.begin(), ladder.end());
    if (auto filled = fill_payloads(arguments.types, options.payloads, ladder); !filled)
        return failed(filled.error());
    if (auto filled = fill_sizes("--buffers", arguments.buffers, options.buffers); !filled)
        return failed(filled.error());
    if (std::find(options.buffers.begin(), options.buffers.end(), 0u) != options.buffers.end())
        return failed({ErrorCode::invalid_argument, "--buffers: there is no default size"});
    return present(bench::run_marshal(options), bench::marshal_columns(), arguments);
}

int run_demux(const BenchArguments& arguments)
{
    bench::DemuxOptions options;
    if (auto filled = fill_common(arguments, 9, 2, options, bench::demux_systems()); !filled)
        return failed(filled.error());
    options.servants =
        arguments.quick ? std::vector<std::uint32_t>{1, 100, 500} : bench::servant_counts();
    if (!arguments.units.empty()) options.servants = arguments.units;
    std::sort(options.servants.begin(), options.servants.end());
    // On one CPU a call costs what both sides execute; on two, mostly what it takes to wake one.
    if (arguments.pin.empty()) options.pinning = Pinning::same;
    options.instructions = arguments.instructions && !arguments.quick;
    if (arguments.quick) options.calls = 100;
    options.requests = arguments.calls > 0 ? arguments.calls : arguments.quick ? 10'000 : 100'000;
    return present(bench::run_demux(options), bench::demux_columns(), arguments);
}

int run_naming(const BenchArguments& arguments)
{
    bench::NamingOptions options;
    if (auto filled = fill_common(arguments, 25, 5, options, bench::naming_systems()); !filled)
        return failed(filled.error());
    // On one CPU a call costs what both sides execute; on two, mostly what it takes to wake one.
    if (arguments.pin.empty()) options.pinning = Pinning::same;
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 100 : 2000;
    return present(bench::run_naming(options), bench::naming_columns(), arguments);
}

int run_priority(const BenchArguments& arguments)
{
    bench::PriorityOptions options;
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 20 : 4000;
    // Rounds are short and many: one disturbance of the machine's own makes the maximum of its
    // round, whichever system it meets, and the median is that of undisturbed ones.
    constexpr std::uint32_t round_calls = 200;
    const unsigned rounds = std::max(5u, options.calls / round_calls);
    if (auto filled = fill_common(arguments, rounds, 1, options, bench::priority_systems(),
                                  bench::load_pairs());
        !filled)
        return failed(filled.error());
    const std::vector<std::uint32_t> quick_clients{0, 10};
    const std::vector<std::uint32_t> quick_flooding{20};
    const std::vector<std::uint32_t>& periodic =
        arguments.units.empty() && arguments.quick ? quick_clients : arguments.units;
    const std::vector<std::uint32_t>& flooding =
        arguments.flooding.empty() && arguments.quick ? quick_flooding : arguments.flooding;
    if (periodic.empty() && flooding.empty()) options.loads = bench::priority_loads();
    for (const std::uint32_t clients : periodic)
        options.loads.push_back({.clients = clients, .flood = false, .compute_us = 0});
    for (const std::uint32_t clients : flooding)
        options.loads.push_back({.clients = clients, .flood = true, .compute_us = 0});
    if (!flooding.empty())
        options.loads.push_back({.clients = flooding.back(), .flood = true, .compute_us = 1});
    for (bench::LowLoad& load : options.loads)
        if (load.compute_us > 0) load.compute_us = arguments.compute_us;
    options.idle_sleeps = arguments.idle_sleeps;
    return present(bench::run_priority(options), bench::priority_columns(), arguments);
}

int run_concurrency(const BenchArguments& arguments)
{
    bench::ConcurrencyOptions options;
    if (auto filled = fill_common(arguments, 5, 1, options, bench::concurrency_systems(),
                                  bench::load_pairs());
        !filled)
        return failed(filled.error());
    options.threads = arguments.quick
                          ? std::vector<std::uint32_t>{1, 16}
                          : std::vector<std::uint32_t>{1, 2, 4, 8, 16, 32, 64, 100, 1000};
    if (!arguments.units.empty()) options.threads = arguments.units;
    if (arguments.quick) {
        options.duration_ms = 200;
        options.idle_connections = 500;
        options.active_connections = 50;
    }
    if (arguments.idle > 0) options.idle_connections = arguments.idle;
    return present(bench::run_concurrency(options), bench::concurrency_columns(), arguments);
}

int run_whitebox(const BenchArguments& arguments)
{
    bench::WhiteboxOptions options;
    if (auto filled = fill_common(arguments, 1, 1, options, bench::whitebox_systems(),
                                  bench::whitebox_pairs());
        !filled)
        return failed(filled.error());
    options.calls = arguments.calls > 0 ? arguments.calls : arguments.quick ? 500 : 5000;
    return present(bench::run_whitebox(options), bench::whitebox_columns(), arguments);
}

int run_footprint(const BenchArguments& arguments)
{
    bench::FootprintOptions options;
    if (auto filled = fill_common(arguments, 1, 1, options); !filled) return failed(filled.error());
    if (arguments.quick) {
        options.levels = {"-O2"};
        options.services = options.programs = false;
    }
    return present(bench::run_footprint(options), bench::footprint_columns(), arguments);
}

void add_report_options(CLI::App& command, BenchArguments& arguments)
{
    CLI::Option* json =
        command.add_option("--json", arguments.json_path, "Write the figures to this file")
            ->type_name("FILE");
    CLI::Option* plot =
        command.add_option("--plot", arguments.plot_path, "Draw the figures into this SVG file")
            ->type_name("FILE");
    command
        .add_option(
            "--into", arguments.into,
            "Write PATH.txt (the table), PATH.json and PATH.svg, and print only how long it "
            "took; kairos report reads these")
        ->type_name("PATH")
        ->excludes(json)
        ->excludes(plot);
    command.add_flag(
        "--check", arguments.check,
        "Exit with 1 when a bar is missed or a figure that one needs was not measured");
    command.add_flag("--quick", arguments.quick, "A short run that proves the experiment works");
    command
        .add_option("--programs", arguments.programs,
                    "The folder of the measured programs, if not the usual one")
        ->type_name("DIR");
}

/// What runs when the command was chosen.
void set_callback(CLI::App& command, const std::shared_ptr<BenchArguments>& arguments, int& status,
                  int (*run)(const BenchArguments&))
{
    command.callback([&command, arguments, &status, run] {
        arguments->title = command.get_description();
        if (arguments->pin == "same") arguments->title += ", both processes on one CPU";
        const std::string name =
            arguments->into.empty() ? "" : std::filesystem::path(arguments->into).filename();
        arguments->progress = std::make_shared<BenchProgress>(name, arguments->title);
        status = run(*arguments);
    });
}

/// What stands before the + of pairs or behind it, each once.
std::string sides_of(std::span<const bench::System> pairs, bool servers)
{
    std::vector<std::string> sides;
    for (const bench::System& pair : pairs) {
        const std::size_t plus = pair.option.find('+');
        std::string side = servers ? pair.option.substr(0, plus) : pair.option.substr(plus + 1);
        if (std::ranges::find(sides, side) == sides.end()) sides.push_back(std::move(side));
    }
    return fmt::format("{}", fmt::join(sides, ", "));
}

std::string help_of_peers(std::span<const bench::System> known,
                          std::span<const bench::System> pairs)
{
    std::string systems;
    for (const bench::System& system : known)
        systems += (systems.empty() ? "" : ", ") + system.option;
    const std::string help = "Comma-separated systems: " + systems + " (all of these if not given)";
    if (pairs.empty()) return help;
    return fmt::format("{}; also any SERVER+CLIENT, such as {}, and {}. SERVER: {}. CLIENT: {}",
                       help, pairs.back().option, bench::all_pairs, sides_of(pairs, true),
                       sides_of(pairs, false));
}

void add_common_options(CLI::App& command, BenchArguments& arguments,
                        std::span<const bench::System> known, std::span<const bench::System> pairs)
{
    command.add_option("--peers", arguments.peers, help_of_peers(known, pairs));
    command
        .add_option("--pin", arguments.pin,
                    "Both processes on the same CPU, split (ttcp's default), or free")
        ->check(CLI::IsMember({"same", "split", "free"}));
    add_report_options(command, arguments);
}

CLI::App& add_experiment(CLI::App& bench, const std::string& name, const std::string& about,
                         const std::shared_ptr<BenchArguments>& arguments, int& status,
                         int (*run)(const BenchArguments&),
                         std::span<const bench::System> known = bench::all_systems(),
                         std::span<const bench::System> pairs = {})
{
    CLI::App* command = bench.add_subcommand(name, about);
    add_common_options(*command, *arguments, known, pairs);
    set_callback(*command, arguments, status, run);
    return *command;
}

void add_transport(CLI::App& command, BenchArguments& arguments)
{
    command
        .add_option("--transport", arguments.transport,
                    "tcp; tls: raw (OpenSSL on sockets), kairos, kairos-reactor, omniorb; or diop, "
                    "oneways in datagrams: raw (UDP), kairos")
        ->check(CLI::IsMember({"tcp", "tls", "diop"}));
}

void add_latency(CLI::App& bench, int& status, const CLI::Range& count, const std::string& name,
                 const std::string& about, int (*run)(const BenchArguments&),
                 std::span<const bench::System> known)
{
    auto latency = std::make_shared<BenchArguments>();
    CLI::App& command = add_experiment(bench, name, about, latency, status, run, known);
    command.add_option("--rounds", latency->rounds, "Rounds of all systems")->check(count);
    command.add_option("--calls", latency->calls, "Calls per row and round")->check(count);
    command.add_option("--units", latency->units, "How many units the rows send")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 20));
    command.add_option("--types", latency->types, "Which types")->delimiter(',');
    if (name == "latency") add_transport(command, *latency);
}

void add_demux(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto demux = std::make_shared<BenchArguments>();
    CLI::App& demux_command =
        add_experiment(bench, "demux", "Finding objects and operations, alone and in calls", demux,
                       status, run_demux, bench::demux_systems());
    demux_command.add_option("--rounds", demux->rounds, "Rounds of all systems")->check(count);
    demux_command.add_option("--requests", demux->calls, "Requests per point and round")
        ->check(count);
    demux_command.add_flag("--instructions,!--no-instructions", demux->instructions,
                           "Count instructions under valgrind (the default, unless --quick)");
    demux_command.add_option("--servants", demux->units, "How many servants")
        ->delimiter(',')
        ->check(CLI::Range(1, 100'000));
}

void add_connecting(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto connecting = std::make_shared<BenchArguments>();
    // Which systems there are depends on nothing but their certificates, which nobody needs yet.
    CLI::App* command = bench.add_subcommand(
        "tls", "Connections by TLS: how many a second, and what idle ones take");
    command->add_option("--peers", connecting->peers,
                        "Comma-separated systems: raw, kairos, kairos-reactor, kairos-tcp, "
                        "kairos-reactor-tcp (all of these if not given)");
    command
        ->add_option("--pin", connecting->pin,
                     "Both processes on the same CPU (the default), split, or free")
        ->check(CLI::IsMember({"same", "split", "free"}));
    add_report_options(*command, *connecting);
    set_callback(*command, connecting, status, run_connecting);
    command->add_option("--rounds", connecting->rounds, "Rounds of all systems")->check(count);
    command->add_option("--connections", connecting->calls, "Connections made per system and round")
        ->check(CLI::Range(1, 10'000));
    command->add_option("--idle", connecting->idle, "How many connections idle")
        ->check(CLI::Range(1, 10'000));
}

void add_naming(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto naming = std::make_shared<BenchArguments>();
    CLI::App& naming_command =
        add_experiment(bench, "naming", "How fast a name is resolved, beside null calls", naming,
                       status, run_naming, bench::naming_systems());
    naming_command.add_option("--rounds", naming->rounds, "Rounds")->check(count);
    naming_command.add_option("--calls", naming->calls, "Calls per row and round")->check(count);
}

void add_interceptors(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto interceptors = std::make_shared<BenchArguments>();
    CLI::App& command = add_experiment(
        bench, "interceptors", "What empty portable interceptors add to a call, counted",
        interceptors, status, run_interceptors, bench::interceptors_systems());
    command.add_option("--calls", interceptors->calls, "Calls to count over")->check(count);
    command.add_flag("--instructions,!--no-instructions", interceptors->instructions,
                     "Count instructions under valgrind (the default)");
}

void add_asynchronous(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto asynchronous = std::make_shared<BenchArguments>();
    CLI::App& command = add_experiment(
        bench, "asynchronous", "Calls that nobody waits for, and coroutines, beside stubs",
        asynchronous, status, run_asynchronous, bench::asynchronous_systems());
    command.add_option("--rounds", asynchronous->rounds, "Rounds of all systems")->check(count);
    command.add_option("--calls", asynchronous->calls, "Calls per system and round")->check(count);
}

void add_events(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto events = std::make_shared<BenchArguments>();
    CLI::App& command =
        add_experiment(bench, "events", "Event channels, beside oneway calls and omniEvents",
                       events, status, run_events, bench::events_systems());
    command.add_option("--rounds", events->rounds, "Rounds of all systems")->check(count);
    command
        .add_option("--events", events->calls, "Events that consumers get, per system and round")
        ->check(count);
}

void add_gateway(CLI::App& bench, int& status, const CLI::Range& count)
{
    add_latency(bench, status, count, "gateway",
                "What a gateway adds to a call, beside a bare proxy", run_gateway,
                bench::gateway_systems());
}

void add_spinning(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto spinning = std::make_shared<BenchArguments>();
    CLI::App& command = add_experiment(
        bench, "spinning", "What a call takes of time and of processors, by how threads wait",
        spinning, status, run_spinning, bench::spinning_systems());
    command.add_option("--rounds", spinning->rounds, "Rounds of all systems")->check(count);
    command.add_option("--calls", spinning->calls, "Calls per system, load and round")
        ->check(count);
    command
        .add_option("--busy", spinning->units,
                    "How many threads that never stop are beside them: 0,1,2")
        ->delimiter(',')
        ->check(CLI::Range(0, 1000));
}

void add_modern(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto modern = std::make_shared<BenchArguments>();
    // Where its processes are is what it measures, so it has no --pin.
    CLI::App* command = bench.add_subcommand(
        "modern", "Kairos beside Ice, gRPC, Cap'n Proto, Thrift, ZeroMQ and Cyclone DDS");
    command->add_option("--peers", modern->peers, help_of_peers(bench::modern_systems(), {}));
    add_report_options(*command, *modern);
    set_callback(*command, modern, status, run_modern);
    command->add_option("--rounds", modern->rounds, "Rounds of all systems")->check(count);
    command->add_option("--calls", modern->calls, "Null calls per system and round")->check(count);
    command->add_option("--megabytes", modern->megabytes, "Data per system, size and round")
        ->check(CLI::Range(1, 4096));
}

void add_priority(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto priority = std::make_shared<BenchArguments>();
    CLI::App& command =
        add_experiment(bench, "priority", "A client of high priority among others", priority,
                       status, run_priority, bench::priority_systems(), bench::load_pairs());
    command.add_option("--rounds", priority->rounds, "Rounds of all systems")->check(count);
    command.add_option("--calls", priority->calls, "Calls per load, in all rounds")->check(count);
    command.add_option("--low", priority->units, "How many clients that call at a rate")
        ->delimiter(',')
        ->check(CLI::Range(0, 250));
    command.add_option("--flooding", priority->flooding, "How many clients that flood")
        ->delimiter(',')
        ->check(CLI::Range(1, 250));
    command
        .add_option("--compute-us", priority->compute_us,
                    "How long the servant of computing clients does")
        ->check(CLI::Range(1, 1'000'000));
    command.add_flag("--idle-sleeps", priority->idle_sleeps,
                     "Let idle processors sleep: then calls at a rate wait mostly for these");
}

void add_concurrency(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto concurrency = std::make_shared<BenchArguments>();
    CLI::App& command =
        add_experiment(bench, "concurrency", "Calls of many clients, by architecture", concurrency,
                       status, run_concurrency, bench::concurrency_systems(), bench::load_pairs());
    command.add_option("--rounds", concurrency->rounds, "Rounds of all systems")->check(count);
    command.add_option("--threads", concurrency->units, "How many client threads")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096));
    command.add_option("--idle", concurrency->idle, "How many connections idle beside")
        ->check(CLI::Range(1, 100'000));
}

void add_whitebox(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto whitebox = std::make_shared<BenchArguments>();
    CLI::App& command = add_experiment(
        bench, "whitebox", "Locks, system calls and switches by architecture", whitebox, status,
        run_whitebox, bench::whitebox_systems(), bench::whitebox_pairs());
    command.add_option("--calls", whitebox->calls, "Calls to count over")->check(count);
}

void add_ttcp(CLI::App& bench, int& status, const CLI::Range& count)
{
    auto ttcp = std::make_shared<BenchArguments>();
    CLI::App& ttcp_command =
        add_experiment(bench, "ttcp", "How much data a second", ttcp, status, run_ttcp);
    ttcp_command.add_option("--rounds", ttcp->rounds, "Rounds of all systems")->check(count);
    ttcp_command.add_option("--megabytes", ttcp->megabytes, "User data per point, in all rounds")
        ->check(CLI::Range(1, 65536));
    ttcp_command.add_option("--queue", ttcp->queues, "Socket queues, such as 8K,64K,default")
        ->delimiter(',');
    ttcp_command.add_option("--buffers", ttcp->buffers, "Buffers, such as 1,8K,64K")
        ->delimiter(',');
    ttcp_command.add_option("--types", ttcp->types, "Which types")->delimiter(',');
    add_transport(ttcp_command, *ttcp);
    ttcp_command.add_option("--directions", ttcp->directions, "oneway, twoway")
        ->delimiter(',')
        ->check(CLI::IsMember({"oneway", "twoway"}));
    ttcp_command
        .add_option("--invocation", ttcp->invocations,
                    "Kairos also without stubs (dii, dii-reused, deferred) or skeletons (dsi); "
                    "sii, with both, is always there")
        ->delimiter(',')
        ->check(CLI::IsMember({"sii", "dii", "dii-reused", "deferred", "dsi"}));
}

} // namespace

void add_bench_command(CLI::App& app, int& status)
{
    CLI::App* bench = app.add_subcommand("bench", "Measure this ORB beside sockets and others");
    bench->require_subcommand(1);
    const CLI::Range count(1, 10'000'000);

    add_latency(*bench, status, count, "latency", "How long a call takes", run_latency,
                bench::all_systems());
    add_latency(*bench, status, count, "local",
                "Calls within one host: Unix sockets and shared memory", run_local,
                bench::local_systems());

    add_ttcp(*bench, status, count);
    add_connecting(*bench, status, count);

    auto counters = std::make_shared<BenchArguments>();
    CLI::App& counters_command = add_experiment(*bench, "counters", "What a call costs, counted",
                                                counters, status, run_counters);
    counters_command.add_option("--calls", counters->calls, "Calls to count over")->check(count);
    counters_command.add_flag(
        "--instructions,!--no-instructions", counters->instructions,
        "Count instructions under valgrind (the default; --quick: of null calls)");

    add_interceptors(*bench, status, count);
    add_gateway(*bench, status, count);
    add_asynchronous(*bench, status, count);
    add_events(*bench, status, count);
    add_spinning(*bench, status, count);
    add_modern(*bench, status, count);

    auto param = std::make_shared<BenchArguments>();
    CLI::App& param_command =
        add_experiment(*bench, "param", "Param_Test: compiled against interpretive stubs", param,
                       status, run_param, bench::param_systems());
    param_command.add_option("--rounds", param->rounds, "Rounds of all systems")->check(count);
    param_command.add_option("--calls", param->calls, "Calls per row and round")->check(count);

    auto marshal = std::make_shared<BenchArguments>();
    CLI::App& marshal_command =
        add_experiment(*bench, "marshal", "Marshalling alone, beside memcpy", marshal, status,
                       run_marshal, bench::marshal_systems());
    marshal_command.add_option("--rounds", marshal->rounds, "Rounds of all systems")->check(count);
    marshal_command.add_option("--megabytes", marshal->megabytes, "Data per point and round")
        ->check(CLI::Range(1, 65536));
    marshal_command.add_option("--buffers", marshal->buffers, "Sequences' bytes, such as 1K,64K")
        ->delimiter(',');
    marshal_command.add_option("--types", marshal->types, "Which types")->delimiter(',');

    add_demux(*bench, status, count);

    add_naming(*bench, status, count);
    add_priority(*bench, status, count);
    add_concurrency(*bench, status, count);
    add_whitebox(*bench, status, count);

    // It compiles rather than measures, so it has but the options that say where the report goes.
    auto footprint = std::make_shared<BenchArguments>();
    CLI::App* footprint_command =
        bench->add_subcommand("footprint", "How large stubs, skeletons and programs are");
    add_report_options(*footprint_command, *footprint);
    set_callback(*footprint_command, footprint, status, run_footprint);
}

} // namespace kairos::tools
