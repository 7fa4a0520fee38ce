// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench modern`: Kairos beside the systems of today (bench/modern), by one source of
// measurement. A system that fails says so in its row and keeps nobody else from being measured.
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace kairos::bench {
namespace {

constexpr std::uint32_t struct_bytes = 24;
constexpr std::uint32_t structs_of_64k = 64 * 1024 / struct_bytes;

/// What every system is ordered to do.
struct Measure {
    const char* figure;
    const char* ratio; ///< the figure's against raw sockets, within a round
    std::string order;
    const char* answer;
    bool one_cpu = false; ///< both processes on the same
};

std::vector<Measure> measures_of(const ModernOptions& options)
{
    const auto calls = [&](double bytes) {
        return std::max(1u, static_cast<std::uint32_t>(options.megabytes * 1e6 / bytes));
    };
    const std::string ping = fmt::format("ping {}", options.calls);
    constexpr std::uint32_t small = 64 * 1024;
    constexpr std::uint32_t large = 1024 * 1024;
    return {
        {"null_one_cpu_us", "null_one_cpu_to_raw", ping, "p50_us", true},
        {"null_us", "null_to_raw", ping, "p50_us"},
        {"threads_calls_per_s", "threads_to_raw",
         fmt::format("threads {} {}", options.threads, options.duration_ms), "calls_per_s"},
        {"structs_64k_mbyte_s", "structs_64k_to_raw",
         fmt::format("structs {} {}", structs_of_64k, calls(small)), "mbyte_s"},
        {"octets_64k_mbyte_s", "octets_64k_to_raw",
         fmt::format("octets {} {}", small, calls(small)), "mbyte_s"},
        {"octets_1m_mbyte_s", "octets_1m_to_raw", fmt::format("octets {} {}", large, calls(large)),
         "mbyte_s"},
    };
}

/// One system, running twice: where it likes, and on one CPU.
struct ModernContestant {
    System system;
    std::optional<RunningSystem> free{};
    std::optional<RunningSystem> on_one_cpu{};
    std::string failure{};                               ///< of a system that is out of it
    std::map<std::string, std::vector<double>> rounds{}; ///< by figure
    std::optional<double> resident_mbyte{};
};

/// Of the process now.
std::optional<double> resident_mbyte(pid_t process)
{
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) * 1024 / 1e6;
    return std::nullopt;
}

/// What every program has, and what none brings with it: of the C and C++ run time.
bool is_of_the_run_time(const std::string& library)
{
    static constexpr std::array<std::string_view, 9> names{
        "libc.so",    "libm.so",        "libdl.so",     "librt.so",   "libpthread.so",
        "ld-linux-x", "libstdc++.so.6", "libgcc_s.so.", "linux-vdso."};
    const std::string name = std::filesystem::path(library).filename();
    return std::ranges::any_of(names,
                               [&](std::string_view each) { return name.starts_with(each); });
}

Result<std::string> output_of(std::vector<std::string> command)
{
    auto remains = run_to_end(
        {.command = std::move(command), .environment = {}, .cpu = {}, .inherited_descriptor = -1},
        std::chrono::seconds(30));
    if (!remains) return remains.error();
    if (remains->exit_status != 0) return Error{ErrorCode::system, remains->errors};
    return std::move(remains->output);
}

/// Code and data of a program and of the libraries that it is linked with, as ldd finds them and
/// size counts them; nothing where these are not installed.
std::optional<double> linked_mbyte(const std::filesystem::path& program)
{
    const std::string ldd = find_program("ldd");
    const std::string size = find_program("size");
    if (ldd.empty() || size.empty()) return std::nullopt;
    const auto libraries = output_of({ldd, program.string()});
    if (!libraries) return std::nullopt;
    std::vector<std::string> command{size, program.string()};
    std::istringstream lines(*libraries);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t path = line.find("=> /");
        if (path == std::string::npos) continue;
        const std::size_t end = line.find(' ', path + 3);
        std::string library = line.substr(path + 3, end - path - 3);
        if (!is_of_the_run_time(library)) command.push_back(std::move(library));
    }
    const auto sizes = output_of(std::move(command));
    if (!sizes) return std::nullopt;
    double bytes = 0;
    std::istringstream table(*sizes);
    std::string line;
    std::getline(table, line); // what the columns are called
    while (std::getline(table, line)) {
        double text = 0;
        double data = 0;
        if (std::istringstream(line) >> text >> data) bytes += text + data;
    }
    return bytes / 1e6;
}

/// A server that polls would take a processor from everybody while it has nothing to do: it stands
/// still then.
void let_run(const ModernContestant& contestant, const RunningSystem& running, bool runs)
{
    if (contestant.system.architecture.ends_with("polling"))
        ::kill(running.server_pid(), runs ? SIGCONT : SIGSTOP);
}

void start(ModernContestant& contestant, const ModernOptions& options)
{
    StartOptions where{.program_directory = options.program_directory,
                       .pinning = Pinning::free,
                       .queue_bytes = 0,
                       .server = {},
                       .client = {}};
    auto free = RunningSystem::start(contestant.system, where);
    if (!free) {
        contestant.failure = free.error().reason;
        return;
    }
    contestant.free = std::move(*free);
    // Its client has made one call and waits.
    contestant.resident_mbyte = resident_mbyte(contestant.free->server_pid());
    where.pinning = Pinning::same;
    auto on_one_cpu = RunningSystem::start(contestant.system, where);
    if (!on_one_cpu) {
        contestant.failure = on_one_cpu.error().reason;
        return;
    }
    contestant.on_one_cpu = std::move(*on_one_cpu);
    let_run(contestant, *contestant.free, false);
    let_run(contestant, *contestant.on_one_cpu, false);
}

void carry_out(ModernContestant& contestant, const Measure& measure)
{
    if (!contestant.failure.empty()) return;
    auto& running = measure.one_cpu ? contestant.on_one_cpu : contestant.free;
    let_run(contestant, *running, true);
    const auto answer = running->order(measure.order);
    let_run(contestant, *running, false);
    if (!answer)
        contestant.failure = answer.error().reason;
    else if (const auto figure = answer->find(measure.answer); figure == answer->end())
        contestant.failure = fmt::format("'{}' was not answered", measure.order);
    else
        contestant.rounds[measure.figure].push_back(figure->second);
}

/// Of values of the same rounds: whoever has one has had all before.
double median_to_raw(const std::vector<double>& mine, const std::vector<double>& raw)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(mine.size(), raw.size()); ++i)
        if (raw[i] > 0) ratios.push_back(mine[i] / raw[i]);
    return median(std::move(ratios));
}

Row row_of(const ModernContestant& contestant, const std::vector<Measure>& measures,
           const ModernContestant* raw, const std::filesystem::path& programs)
{
    Row row;
    row.system = contestant.system.name;
    row.variant = contestant.system.architecture;
    row.status = contestant.failure;
    if (!row.status.empty()) return row;
    for (const Measure& measure : measures) {
        const auto mine = contestant.rounds.find(measure.figure);
        if (mine == contestant.rounds.end()) continue;
        row.set(measure.figure, median(mine->second));
        if (raw == nullptr || !raw->failure.empty()) continue;
        row.set(measure.ratio, median_to_raw(mine->second, raw->rounds.at(measure.figure)));
    }
    if (contestant.resident_mbyte) row.set("resident_mbyte", *contestant.resident_mbyte);
    if (const auto linked = linked_mbyte(programs / contestant.system.program))
        row.set("linked_mbyte", *linked);
    return row;
}

} // namespace

Result<Report> run_modern(const ModernOptions& options)
{
    Report report{.experiment = "modern", .rows = {}, .notes = {}};
    const auto systems = installed_systems(options, report);
    if (!systems) return systems.error();
    for (Row& row : report.rows) // all measured both where they like and on one CPU
        row.variant = row.variant.substr(0, row.variant.find(", pin="));
    std::vector<Row> absent;
    absent.swap(report.rows);

    std::vector<ModernContestant> contestants;
    for (const System& system : *systems) {
        options.progress(0, "starting " + system.option);
        contestants.push_back({.system = system});
        start(contestants.back(), options);
    }
    const std::vector<Measure> measures = measures_of(options);
    for (unsigned round = 0; round < options.rounds; ++round)
        for (std::size_t i = 0; i < measures.size(); ++i) {
            const double done =
                round + static_cast<double>(i) / static_cast<double>(measures.size());
            options.progress(done / options.rounds,
                             fmt::format("round {} of {}", round + 1, options.rounds));
            for (ModernContestant& contestant : contestants)
                carry_out(contestant, measures[i]);
        }
    for (ModernContestant& contestant : contestants)
        for (auto* running : {&contestant.free, &contestant.on_one_cpu})
            if (running->has_value() && contestant.failure.empty()) {
                let_run(contestant, **running, true);
                if (const auto ended = (*running)->finish(); !ended)
                    contestant.failure = ended.error().reason;
            }

    const auto raw = std::ranges::find(
        contestants, "raw-tcp", [](const ModernContestant& each) { return each.system.name; });
    for (const ModernContestant& contestant : contestants)
        report.rows.push_back(row_of(contestant, measures,
                                     raw == contestants.end() ? nullptr : &*raw,
                                     options.program_directory));
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds: {} null calls (p50) on one CPU and where the system "
        "puts the processes; {:g} MB of octets and of structs of 24 bytes, which the server looks "
        "at, answered by a number; {} threads with a connection each. × raw: against blocking TCP "
        "sockets of the same round. Contents are checked.",
        options.rounds, options.calls, options.megabytes, options.threads));
    report.notes.emplace_back(
        "Idle: resident memory of the server with one connection, before anything is measured. "
        "Linked: code and data of the program and its libraries, those of C and C++ left out. How "
        "each system is set: docs/peers.md.");
    return report;
}

std::vector<Column> modern_columns()
{
    return {{"null_one_cpu_us", "null, 1 CPU µs", 2},
            {"null_one_cpu_to_raw", "× raw", 2},
            {"null_us", "null µs", 2},
            {"null_to_raw", "× raw", 2},
            {"threads_calls_per_s", "threads calls/s", 0},
            {"threads_to_raw", "× raw", 2},
            {"structs_64k_mbyte_s", "structs 64K MB/s", 0},
            {"structs_64k_to_raw", "× raw", 2},
            {"octets_64k_mbyte_s", "octets 64K MB/s", 0},
            {"octets_64k_to_raw", "× raw", 2},
            {"octets_1m_mbyte_s", "octets 1M MB/s", 0},
            {"octets_1m_to_raw", "× raw", 2},
            {"resident_mbyte", "idle MB", 1},
            {"linked_mbyte", "linked MB", 1}};
}

} // namespace kairos::bench
