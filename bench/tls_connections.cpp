// SPDX-License-Identifier: Apache-2.0
//
// `kairos bench tls`: how often a second a connection by TLS is made that resumes a session, beside
// OpenSSL's functions on raw sockets; and what connections that idle take of a server's memory.
#include "bench/bars.h"
#include "bench/experiment.h"
#include "bench/idle_connections.h"
#include "bench/statistics.h"

#include <fmt/format.h>
#include <optional>

namespace kairos::bench {
namespace {

/// One system, and what came out.
struct Connecting {
    Contestant contestant;
    std::vector<double> rates; ///< connections a second, by round
    std::optional<double> own_octets;
    std::optional<double> openssl_octets;
};

Result<void> measure_rates(std::vector<Connecting>& all, const ConnectingOptions& options)
{
    for (unsigned round = 0; round < options.rounds; ++round)
        for (Connecting& each : all) {
            options.progress(static_cast<double>(round) / options.rounds,
                             fmt::format("round {} of {}, {}", round + 1, options.rounds,
                                         each.contestant.system.architecture));
            const auto figures =
                each.contestant.running.order(fmt::format("connect {}", options.connections));
            if (!figures) return figures.error();
            // Of the yardstick's; the first of all has no session to go on with.
            if (!each.contestant.system.orb && figures->at("resumed") + 1 < options.connections)
                return Error{ErrorCode::system, "OpenSSL has not resumed its sessions"};
            each.rates.push_back(options.connections / figures->at("seconds"));
        }
    return {};
}

/// Of a server that has some connections already, and therefore what all of them share; and that
/// keeps nothing for the next one that allocates, as the C library does for each thread. None ends
/// meanwhile.
Result<void> measure_memory(Connecting& each, const ConnectingOptions& options)
{
    const std::uint32_t connections = options.idle;
    SideOptions server;
    server.environment = {"GLIBC_TUNABLES=glibc.malloc.tcache_count=0"};
    auto started = RunningSystem::start(each.contestant.system,
                                        {.program_directory = options.program_directory,
                                         .pinning = options.pinning,
                                         .server = std::move(server),
                                         .client = {}});
    if (!started) return started.error();
    RunningSystem& running = *started;
    constexpr const char* some = "idle 20";
    if (auto warm = running.order(some); !warm) return warm.error();
    const auto before = running.order_server("memory");
    if (!before) return before.error();
    if (auto idle = running.order(fmt::format("idle {}", connections)); !idle) return idle.error();
    const auto after = running.order_server("memory");
    if (!after) return after.error();
    const double heap = after->at("heap") - before->at("heap");
    const double openssl = after->at("openssl") - before->at("openssl");
    each.own_octets = (heap - openssl) / connections;
    each.openssl_octets = openssl / connections;
    if (auto ended = running.finish(); !ended) return ended.error();
    return {};
}

/// Round by round, so that both sides of a ratio saw the machine in the same state.
double ratio_of(const std::vector<double>& rates, const std::vector<double>& to)
{
    std::vector<double> ratios;
    for (std::size_t round = 0; round < rates.size(); ++round)
        ratios.push_back(rates[round] / to[round]);
    return median(std::move(ratios));
}

Row row_of(const Connecting& each, const std::vector<Connecting>& all, Pinning pinning)
{
    const System& system = each.contestant.system;
    Row row;
    row.system = system.name;
    row.variant = variant_of(system, pinning);
    row.direction = "connection";
    row.set("connections_per_s", median(each.rates));
    const Connecting& first = all.front();
    if (system.by_tls && first.contestant.system.option == "raw")
        row.set("ratio_to_raw", ratio_of(each.rates, first.rates));
    if (each.own_octets) row.set("own_bytes_per_idle", *each.own_octets);
    if (each.openssl_octets) row.set("openssl_bytes_per_idle", *each.openssl_octets);
    if (!system.by_tls || !system.orb) return row;
    row.bars = {{"own_bytes_per_idle", Bar::Relation::at_most, bars::tls_idle_bytes}};
    if (system.option == "kairos")
        row.bars.push_back({"ratio_to_raw", Bar::Relation::at_least, bars::tls_connections_to_raw});
    return row;
}

} // namespace

Result<Report> run_connecting(const ConnectingOptions& options)
{
    Report report{.experiment = "tls",
                  .rows = {},
                  .notes = {},
                  .needs = {{"ratio_to_raw"}, {"own_bytes_per_idle"}}};
    constexpr std::size_t descriptors_beside = 200;
    if (raise_descriptor_limit(options.idle + descriptors_beside) <
        options.idle + descriptors_beside)
        return Error{ErrorCode::system,
                     fmt::format("{} connections need more descriptors than the system permits",
                                 options.idle)};
    std::vector<Row> absent;
    auto started = start_contestants(options, 0, report);
    if (!started) return started.error();
    absent.swap(report.rows);
    std::vector<Connecting> all;
    for (Contestant& contestant : *started)
        all.push_back({std::move(contestant), {}, {}, {}});
    if (auto measured = measure_rates(all, options); !measured) return measured.error();
    for (Connecting& each : all)
        if (each.contestant.system.orb)
            if (auto measured = measure_memory(each, options); !measured) return measured.error();
    for (const Connecting& each : all)
        report.rows.push_back(row_of(each, all, options.pinning));
    report.rows.insert(report.rows.end(), absent.begin(), absent.end());
    for (Connecting& each : all)
        if (auto ended = each.contestant.running.finish(); !ended) return ended.error();
    report.notes.push_back(fmt::format(
        "Medians of {} interleaved rounds of {} connections, one after the other, each with a null "
        "call by a thread of its own that ends then; sessions are resumed. × raw: within a round. "
        "Idle: what a connection that has called once adds to the server's heap, of {}, beside "
        "what OpenSSL allocates; stacks of threads are no heap.",
        options.rounds, options.connections, options.idle));
    return report;
}

std::vector<Column> connecting_columns()
{
    return {{"connections_per_s", "connections/s", 0},
            {"ratio_to_raw", "× raw", 2},
            {"own_bytes_per_idle", "octets of ours, idle", 0},
            {"openssl_bytes_per_idle", "of OpenSSL's", 0}};
}

} // namespace kairos::bench
