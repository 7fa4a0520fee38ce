// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench naming`: how often a second a name of three components is resolved, beside null
// calls of the same server.
#include "bench/experiment.h"
#include "bench/statistics.h"

#include <array>
#include <fmt/format.h>

namespace kairos::bench {
namespace {

/// What is called, by the number that orders have for it.
constexpr std::array<const char*, 2> subjects{"null call", "resolve, 3 components"};
using Rates = std::array<std::vector<double>, subjects.size()>; ///< by subject, round by round

Result<Rates> measure(Contestant& contestant, const NamingOptions& options)
{
    Rates rates;
    for (unsigned round = 0; round < options.rounds; ++round) {
        options.progress(static_cast<double>(round) / options.rounds,
                         fmt::format("{}, round {} of {}", contestant.system.architecture,
                                     round + 1, options.rounds));
        for (std::uint32_t subject = 0; subject < subjects.size(); ++subject) {
            const auto figures = contestant.running.order(
                Verb::latency, {.calls = options.calls, .request_bytes = subject});
            if (!figures) return figures.error();
            rates[subject].push_back(1e6 / figures->at("mean_us"));
        }
    }
    return rates;
}

/// Of rates within a round, since both then saw the machine in the same state.
double median_ratio(const std::vector<double>& rates, const std::vector<double>& to)
{
    std::vector<double> ratios;
    for (std::size_t round = 0; round < rates.size(); ++round)
        ratios.push_back(rates[round] / to[round]);
    return median(std::move(ratios));
}

} // namespace

Result<Report> run_naming(const NamingOptions& options)
{
    Report report{.experiment = "naming", .rows = {}, .notes = {}, .needs = {{"to_null"}}};
    auto contestants = start_contestants(options, 0, report);
    if (!contestants) return contestants.error();
    for (Contestant& contestant : *contestants) {
        const auto rates = measure(contestant, options);
        if (!rates) return rates.error();
        for (std::size_t subject = 0; subject < subjects.size(); ++subject) {
            Row row;
            row.system = contestant.system.name;
            row.variant = variant_of(contestant.system, options.pinning);
            row.direction = subjects[subject];
            row.set("calls_per_s", median((*rates)[subject]));
            row.set("to_null", median_ratio((*rates)[subject], rates->front()));
            if (subject != 0) row.bars = {{"to_null", Bar::Relation::at_least, 0.9}};
            report.rows.push_back(std::move(row));
        }
        if (auto ended = contestant.running.finish(); !ended) return ended.error();
    }
    report.notes.push_back(
        fmt::format("One client; medians of {} interleaved rounds of {} calls; × null: the rate "
                    "against that of null calls of the same server, within a round.",
                    options.rounds, options.calls));
    return report;
}

std::vector<Column> naming_columns()
{
    return {{"calls_per_s", "calls/s", 0}, {"to_null", "× null", 3}};
}

} // namespace kairos::bench
