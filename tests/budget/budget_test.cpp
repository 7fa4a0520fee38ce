// SPDX-License-Identifier: Apache-2.0
//
// What docs/TOUR.md promises of a call in the steady state, counted in two processes from outside:
// no heap allocation, no lock, two system calls a side (three for the reactor's server). Gates, not
// measurements: the counts are the same on every machine.
#include "bench/experiment.h"

#include <gtest/gtest.h>

namespace kairos {
namespace {

bench::Report count_calls(const std::string& peer)
{
    bench::CountersOptions options;
    options.systems = bench::select_systems(peer).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.calls = 500;
    options.instructions = false;
    return bench::run_counters(options).value();
}

const bench::Row& row_of(const bench::Report& report, const std::string& payload,
                         const std::string& side)
{
    for (const bench::Row& row : report.rows)
        if (row.payload_type == payload && row.side == side) return row;
    throw std::runtime_error("no row for " + payload + " at the " + side);
}

/// Two decimals: a growing buffer or the end of the run may fall into the counted calls once.
void expect_per_call(const bench::Row& row, const std::string& figure, double expected)
{
    ASSERT_TRUE(row.figure(figure)) << figure;
    EXPECT_NEAR(*row.figure(figure), expected, 0.02)
        << figure << " of " << row.payload_type << " at the " << row.side;
}

void expect_budget(const std::string& peer, double server_system_calls)
{
    const bench::Report report = count_calls(peer);
    for (const std::string payload : {"null", "octet", "BinStruct"}) {
        for (const std::string side : {"client", "server"}) {
            const bench::Row& row = row_of(report, payload, side);
            expect_per_call(row, "allocations_per_call", 0);
            expect_per_call(row, "locks_per_call", 0);
            expect_per_call(row, "futexes_per_call", 0);
            expect_per_call(row, "syscalls_per_call", side == "client" ? 2 : server_system_calls);
        }
    }
}

TEST(Budget, ThreadPerConnection) { expect_budget("kairos", 2); }

TEST(Budget, Reactor) { expect_budget("kairos-reactor", 3); }

} // namespace
} // namespace kairos
