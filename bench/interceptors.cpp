// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench interceptors`: what empty portable interceptors add to a null call, counted as
// `kairos bench counters` counts.
#include "bench/experiment.h"
#include "bench/systems.h"

#include <algorithm>
#include <optional>

namespace kairos::bench {
namespace {

constexpr const char* null_call = "null";

} // namespace

Result<Report> run_interceptors(const CountersOptions& options)
{
    CountersOptions of_null_calls = options;
    of_null_calls.instructions_of_all = false;
    auto report = run_counters(of_null_calls);
    if (!report) return report;
    report->experiment = "interceptors";
    report->needs = {{"allocations_per_call", null_call}};
    std::erase_if(report->rows, [](const Row& row) {
        return row.status.empty() && row.payload_type != null_call;
    });
    std::optional<double> none;
    for (Row& row : report->rows) {
        // Those of plain calls, to which observers add (docs/interceptors.md).
        std::erase_if(row.bars, [](const Bar& bar) {
            return bar.figure == "instructions_per_call" || bar.figure == "syscalls_per_call";
        });
        if (row.side != "both") continue;
        const auto spent = row.figure("instructions_per_call");
        if (!spent) continue;
        if (!none) none = spent; // the first system has none
        row.set("instructions_ratio", *spent / *none);
    }
    report->notes.emplace_back("Of each kind, client's and server's, so many interceptors, which "
                               "do nothing. The ratio is to the same program without any.");
    return report;
}

std::vector<Column> interceptors_columns()
{
    return {{"allocations_per_call", "allocations", 2},
            {"locks_per_call", "locks", 2},
            {"syscalls_per_call", "system calls", 2},
            {"instructions_per_call", "instructions", 0},
            {"instructions_ratio", "of none", 2}};
}

} // namespace kairos::bench
