// SPDX-License-Identifier: Apache-2.0
#include "bench/experiment.h"

#include "bench/peer.h"
#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace kairos::bench {

std::vector<std::uint32_t> unit_counts()
{
    std::vector<std::uint32_t> counts;
    for (std::uint32_t units = 1; units <= 1024; units *= 2)
        counts.push_back(units);
    return counts;
}

std::vector<std::uint32_t> servant_counts()
{
    return {1, 100, 200, 300, 400, 500, 10'000, 100'000};
}

std::vector<std::uint32_t> buffer_sizes()
{
    std::vector<std::uint32_t> sizes{1};
    for (std::uint32_t kilobytes = 1; kilobytes <= 128; kilobytes *= 2)
        sizes.push_back(kilobytes * 1024);
    return sizes;
}

std::string size_name(std::uint32_t bytes)
{
    if (bytes == 0) return "default";
    if (bytes % 1024 == 0) return fmt::format("{}K", bytes / 1024);
    return fmt::format("{}", bytes);
}

Row absent_row(const System& system, const CommonOptions& options, const std::string& status)
{
    return {.system = system.name,
            .variant = variant_of(system, options.pinning),
            .direction = {},
            .payload_type = {},
            .payload_bytes = 0,
            .side = {},
            .status = status,
            .figures = {},
            .system_calls = {},
            .bars = {}};
}

Result<std::vector<System>> installed_systems(const CommonOptions& options, Report& report)
{
    std::vector<System> systems;
    for (const System& system : options.systems) {
        if (installed(system, options.program_directory))
            systems.push_back(system);
        else
            report.rows.push_back(absent_row(system, options, "not installed"));
    }
    if (systems.empty())
        return Error{ErrorCode::not_found, fmt::format("no measured program found in {}",
                                                       options.program_directory.string())};
    return systems;
}

Result<std::vector<Contestant>> start_contestants(const CommonOptions& options,
                                                  std::uint32_t queue_bytes, Report& report)
{
    const auto systems = installed_systems(options, report);
    if (!systems) return systems.error();
    std::vector<Contestant> contestants;
    for (const System& system : *systems) {
        auto running = RunningSystem::start(system, {.program_directory = options.program_directory,
                                                     .pinning = options.pinning,
                                                     .queue_bytes = queue_bytes,
                                                     .server = {},
                                                     .client = {}});
        if (!running) return running.error();
        contestants.push_back({system, std::move(*running)});
    }
    return contestants;
}

namespace {

/// Of octets that are records of TLS 1.3, full but for the last one.
std::uint32_t data_in_records(std::uint32_t octets)
{
    constexpr std::uint32_t around = 5 + 1 + 16; // header, kind of content, tag
    constexpr std::uint32_t record = 16'384 + around;
    return octets - (octets + record - 1) / record * around;
}

} // namespace

Result<Exercise> with_message_bytes(Exercise exercise, std::vector<Contestant>& contestants)
{
    for (Contestant& contestant : contestants) {
        if (!contestant.system.orb) continue;
        auto bytes = contestant.running.order(Verb::bytes, exercise);
        if (!bytes) return bytes.error();
        exercise.request_bytes = static_cast<std::uint32_t>(bytes->at("request_bytes"));
        exercise.reply_bytes = static_cast<std::uint32_t>(bytes->at("reply_bytes"));
        if (contestant.system.by_tls) {
            exercise.request_bytes = data_in_records(exercise.request_bytes);
            exercise.reply_bytes = data_in_records(exercise.reply_bytes);
        }
        // A kernel that does not tell leaves zero.
        if (exercise.request_bytes > 0) return exercise;
    }
    return with_estimated_bytes(exercise);
}

Result<RunningSystem::Figures> time_calls(RunningSystem& running, const Exercise& exercise)
{
    const double before = running.cpu_seconds();
    auto figures = running.order(Verb::latency, exercise);
    if (!figures) return figures.error();
    (*figures)["cpu_us"] =
        (running.cpu_seconds() - before) * 1e6 / (exercise.calls + warm_up_calls);
    return figures;
}

std::vector<double> values_of(const std::vector<RunningSystem::Figures>& rounds,
                              const std::string& figure)
{
    std::vector<double> values;
    for (const auto& round : rounds)
        values.push_back(round.at(figure));
    return values;
}

double median_ratio(const std::vector<RunningSystem::Figures>& mine,
                    const std::vector<RunningSystem::Figures>& other, const std::string& figure)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i)
        if (other[i].at(figure) > 0) ratios.push_back(mine[i].at(figure) / other[i].at(figure));
    return median(std::move(ratios));
}

} // namespace kairos::bench
