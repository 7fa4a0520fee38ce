// SPDX-License-Identifier: Apache-2.0
//
// Reports as a run of the experiments that matter would make them, with figures that reach every
// bar.
#pragma once

#include "bench/bars.h"
#include "bench/stored_report.h"

#include <string>
#include <utility>
#include <vector>

namespace kairos::bench {

inline Row tested_row(const std::string& system, const std::string& variant,
                      const std::string& direction, const std::string& payload,
                      const std::string& side = "")
{
    Row row;
    row.system = system;
    row.variant = variant;
    row.direction = direction;
    row.payload_type = payload;
    row.side = side;
    return row;
}

inline Report tested_latency(const std::string& pinning)
{
    Report report{.experiment = "latency", .rows = {}, .notes = {"A <note> & more."}};
    report.title = "How long a call takes";
    report.columns = {{"p50_us", "p50 µs", 2},
                      {"ratio_to_raw", "× raw", 2},
                      {"ratio_to_omniorb", "× omniORB", 2}};
    report.needs = {{"ratio_to_raw", "null"}, {"ratio_to_omniorb", "null"}};
    const std::string pin = ", pin=" + pinning;
    report.rows = {tested_row("raw-tcp", "blocking sockets" + pin, "twoway", "null"),
                   tested_row("kairos", "thread-per-connection" + pin, "twoway", "null"),
                   tested_row("omniorb", "thread-per-connection" + pin, "twoway", "null")};
    report.rows[0].set("p50_us", 20);
    report.rows[1].set("p50_us", 21);
    report.rows[1].set("ratio_to_raw", 1.05);
    report.rows[1].set("ratio_to_omniorb", 0.84);
    report.rows[2].set("p50_us", 25);
    report.rows[1].bars = {{"ratio_to_raw", Bar::Relation::at_most, bars::null_call_to_raw},
                           {"ratio_to_omniorb", Bar::Relation::below, 1}};
    return report;
}

inline Report tested_ttcp()
{
    Report report{.experiment = "ttcp", .rows = {}, .notes = {}};
    report.title = "How much data a second";
    report.columns = {{"throughput_mbyte_s", "MB/s", 2},
                      {"ratio_to_raw", "× raw", 2},
                      {"ratio_to_octets", "× octets", 2}};
    report.needs = {{"ratio_to_raw", "octet"}, {"ratio_to_octets", "BinStruct"}};
    const auto add = [&report](const std::string& system, const std::string& payload, double rate) {
        const char* architecture =
            system == "raw-tcp" ? "blocking sockets" : "thread-per-connection";
        Row row = tested_row(system, std::string(architecture) + ", pin=split, queue=default",
                             "oneway", payload);
        row.set("buffer_bytes", 65536);
        row.set("throughput_mbyte_s", rate);
        report.rows.push_back(row);
        return &report.rows.back();
    };
    add("raw-tcp", "octet", 2600);
    Row* row = add("kairos", "octet", 2550);
    row->set("ratio_to_raw", 0.98);
    row->bars = {{"ratio_to_raw", Bar::Relation::at_least, bars::octets_to_raw}};
    row = add("kairos", "BinStruct", 2300);
    row->set("ratio_to_octets", 0.9);
    row->bars = {{"ratio_to_octets", Bar::Relation::at_least, bars::structs_to_octets}};
    row = add("kairos", "string32", 1020);
    row->set("ratio_to_octets", 0.4);
    row->bars = {{"ratio_to_octets", Bar::Relation::at_least, bars::strings_to_octets}};
    return report;
}

inline Report tested_counters()
{
    Report report{.experiment = "counters", .rows = {}, .notes = {}};
    report.title = "What a call costs, counted";
    report.columns = {{"allocations_per_call", "allocations", 2},
                      {"locks_per_call", "locks", 2},
                      {"syscalls_per_call", "system calls", 2},
                      {"instructions_per_call", "instructions", 0}};
    report.needs = {{"instructions_per_call", "null"}};
    for (const char* payload : {"null", "octet", "BinStruct"})
        for (const char* side : {"client", "server"}) {
            Row row =
                tested_row("kairos", "thread-per-connection, pin=free", "twoway", payload, side);
            row.set("allocations_per_call", 0);
            row.set("locks_per_call", 0);
            row.set("syscalls_per_call", 2);
            row.bars = {{"allocations_per_call", Bar::Relation::at_most, bars::allocations},
                        {"locks_per_call", Bar::Relation::at_most, bars::locks},
                        {"syscalls_per_call", Bar::Relation::at_most, bars::system_calls}};
            report.rows.push_back(row);
        }
    Row both = tested_row("kairos", "thread-per-connection, pin=free", "twoway", "null", "both");
    both.set("instructions_per_call", 1850);
    both.bars = {{"instructions_per_call", Bar::Relation::at_most, bars::instructions}};
    report.rows.push_back(both);
    return report;
}

/// By the names of their files.
inline std::vector<std::pair<std::string, Report>> tested_reports()
{
    return {{"latency", tested_latency("free")},
            {"latency-one-cpu", tested_latency("same")},
            {"ttcp", tested_ttcp()},
            {"counters", tested_counters()}};
}

inline std::vector<StoredReport> tested_stored_reports()
{
    std::vector<StoredReport> stored;
    for (auto& [name, report] : tested_reports())
        stored.push_back({.name = name, .host = this_host(), .report = std::move(report)});
    return stored;
}

} // namespace kairos::bench
