// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench gateway`: what a gateway between client and server adds to a call, beside what a
// bare TCP proxy adds that passes the same bytes on.
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kairos::bench {
namespace {

/// At most, of what a bare proxy adds to the p50 of a null call.
constexpr double added_to_proxy = 1.3;

using GatewayRounds = std::vector<RunningSystem::Figures>;

std::vector<Exercise> forwarded_exercises(const LatencyOptions& options)
{
    std::vector<Exercise> exercises{{.direction = Direction::twoway, .calls = options.calls}};
    for (const Payload payload : options.payloads)
        for (const std::uint32_t units : options.units)
            exercises.push_back({.direction = Direction::twoway,
                                 .payload = payload,
                                 .units = units,
                                 .calls = options.calls});
    return exercises;
}

std::vector<double> p50_of(const GatewayRounds& rounds)
{
    std::vector<double> values;
    for (const auto& round : rounds)
        values.push_back(round.at("p50_us"));
    return values;
}

/// What lies between adds, in each round.
std::vector<double> added(const GatewayRounds& through, const GatewayRounds& direct)
{
    std::vector<double> values;
    for (std::size_t i = 0; i < std::min(through.size(), direct.size()); ++i)
        values.push_back(through[i].at("p50_us") - direct[i].at("p50_us"));
    return values;
}

void compare(Row& row, const std::string& option,
             const std::map<std::string, GatewayRounds>& rounds)
{
    const auto of = [&](const char* name) { return rounds.find(name); };
    const auto direct = of(option == "gateway" ? "kairos" : "raw");
    if ((option != "gateway" && option != "proxy") || direct == rounds.end()) return;
    std::vector<double> own = added(rounds.at(option), direct->second);
    row.set("added_us", median(own));
    if (option != "gateway" || of("raw") == rounds.end() || of("proxy") == rounds.end()) return;
    const std::vector<double> bare = added(of("proxy")->second, of("raw")->second);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(own.size(), bare.size()); ++i)
        if (bare[i] > 0) ratios.push_back(own[i] / bare[i]);
    if (!ratios.empty()) row.set("added_to_proxy", median(std::move(ratios)));
    if (row.payload_type == "null")
        row.bars = {{"added_to_proxy", Bar::Relation::at_most, added_to_proxy}};
}

} // namespace

Result<Report> run_gateway(const LatencyOptions& options)
{
    Report report{
        .experiment = "gateway", .rows = {}, .notes = {}, .needs = {{"added_to_proxy", "null"}}};
    auto started = start_contestants(options, 0, report);
    if (!started) return started.error();
    std::vector<Contestant>& contestants = *started;
    std::vector<Row> absent;
    absent.swap(report.rows);
    for (Exercise exercise : forwarded_exercises(options)) {
        const auto complete = with_message_bytes(exercise, contestants);
        if (!complete) return complete.error();
        exercise = *complete;
        std::map<std::string, GatewayRounds> rounds;
        for (unsigned round = 0; round < options.rounds; ++round) {
            options.progress(static_cast<double>(round) / options.rounds,
                             fmt::format("round {} of {}", round + 1, options.rounds));
            for (Contestant& contestant : contestants) {
                auto figures = contestant.running.order(Verb::latency, exercise);
                if (!figures) return figures.error();
                rounds[contestant.system.option].push_back(std::move(*figures));
            }
        }
        for (const Contestant& contestant : contestants) {
            Row row;
            row.system = contestant.system.name;
            row.variant = variant_of(contestant.system, options.pinning);
            row.direction = name_of(exercise.direction);
            row.payload_type = name_of(exercise.payload);
            row.payload_bytes = payload_bytes(exercise);
            row.set("units", exercise.units);
            row.set("p50_us", median(p50_of(rounds[contestant.system.option])));
            compare(row, contestant.system.option, rounds);
            report.rows.push_back(std::move(row));
        }
    }
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Contestant& contestant : contestants)
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Medians of {} rounds of {} calls. Added: p50 through what lies between, less p50 without "
        "it, in the same round; × proxy: what the gateway adds to calls against what two threads "
        "that read and write add to raw sockets with as many bytes.",
        options.rounds, options.calls));
    return report;
}

std::vector<Column> gateway_columns()
{
    return {{"units", "units", 0},
            {"p50_us", "p50 µs", 2},
            {"added_us", "added µs", 2},
            {"added_to_proxy", "× proxy", 2}};
}

} // namespace kairos::bench
