// SPDX-License-Identifier: Apache-2.0
//
// The experiments end to end, short and between real processes. What comes out is checked for being
// there and being possible; how fast it was is never.
#include "bench/demux_peer.h"
#include "bench/experiment.h"
#include "bench/plot.h"
#include "bench/stored_report.h"
#include "bench/tls_keys.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kairos::bench {
namespace {

template <typename Options>
Options options_for(const std::string& peers)
{
    Options options;
    options.systems = select_systems(peers).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.rounds = 2;
    return options;
}

const Row* find_row(const Report& report, const std::string& system, const std::string& direction,
                    const std::string& payload, std::uint64_t bytes)
{
    for (const Row& row : report.rows)
        if (row.system == system && row.direction == direction && row.payload_type == payload &&
            row.payload_bytes == bytes)
            return &row;
    return nullptr;
}

void expect_latency_row(const Row* row)
{
    ASSERT_NE(row, nullptr);
    const double p50 = row->figure("p50_us").value();
    EXPECT_GT(p50, 0);
    EXPECT_GE(row->figure("p99_us").value(), p50);
    EXPECT_GE(row->figure("max_us").value(), row->figure("p999_us").value());
    EXPECT_GT(row->figure("mean_us").value(), 0);
    EXPECT_GT(row->figure("ratio_to_raw").value(), 0);
}

TEST(Latency, HasARowForEverySystemAndExercise)
{
    auto options = options_for<LatencyOptions>("raw,unix,wrapper,omniorb");
    options.calls = 20;
    options.units = {1, 1024};
    options.payloads = {Payload::octet, Payload::bin_struct};
    const auto report = run_latency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    std::vector<std::string> present{"raw-tcp", "raw-unix", "wrapper"};
    if (installed(options.systems[3], options.program_directory)) present.push_back("omniorb");
    for (const std::string& system : present) {
        expect_latency_row(find_row(report.value(), system, "twoway", "null", 0));
        expect_latency_row(find_row(report.value(), system, "oneway", "null", 0));
        expect_latency_row(find_row(report.value(), system, "twoway", "octet", 1));
        expect_latency_row(find_row(report.value(), system, "twoway", "octet", 1024));
        expect_latency_row(find_row(report.value(), system, "twoway", "BinStruct", 24));
        expect_latency_row(find_row(report.value(), system, "twoway", "BinStruct", 24'576));
    }
    EXPECT_EQ(find_row(report.value(), "raw-tcp", "twoway", "null", 0)->figure("ratio_to_raw"), 1);
    // Everything that raw sockets moved was at least the message around the payload.
    for (const Row& row : report.value().rows) {
        const auto bytes = static_cast<double>(row.payload_bytes);
        EXPECT_TRUE(!row.status.empty() || row.figure("request_bytes").value() > bytes);
    }
}

TEST(Ttcp, HasARowForEverySystemAndPoint)
{
    auto options = options_for<TtcpOptions>("raw,wrapper,omniorb");
    options.buffers = {1, 8192};
    options.queues = {65536, 0};
    options.payloads = {Payload::octet, Payload::bin_struct, Payload::text, Payload::strings};
    options.directions = {Direction::oneway, Direction::twoway};
    options.megabytes = 1;
    options.calls_max = 200;
    const auto report = run_ttcp(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const bool omniorb = installed(options.systems[2], options.program_directory);
    // Two buffers, directions and queues; sockets send one type, the ORB four.
    EXPECT_EQ(report.value().rows.size(), 8u * 2 + (omniorb ? 8u * 4 : 1u));
    for (const Row& row : report.value().rows) {
        if (!row.status.empty()) continue;
        EXPECT_GT(row.figure("throughput_mbyte_s").value(), 0);
        EXPECT_GT(row.figure("ratio_to_raw").value(), 0);
        EXPECT_EQ(row.figure("ratio_to_octets").has_value(),
                  row.system == "omniorb" && row.payload_type != "octet");
    }
    const Row* structs = find_row(report.value(), "omniorb", "twoway", "BinStruct", 341 * 24);
    EXPECT_EQ(structs != nullptr, omniorb);
    ASSERT_NE(find_row(report.value(), "raw-tcp", "oneway", "octet", 1), nullptr);
    ASSERT_EQ(report->notes.size(), 2u); // what the figures are; and that of small buffers
    EXPECT_NE(report->notes[1].find("200 calls at most"), std::string::npos);
}

TEST(Ttcp, ComparesCallsWithoutStubsAndServantsWithoutSkeletons)
{
    auto options = options_for<TtcpOptions>("kairos");
    options.systems.insert(options.systems.end(), invocation_systems().begin(),
                           invocation_systems().end());
    options.buffers = {1024};
    options.queues = {0};
    options.payloads = {Payload::octet, Payload::bin_struct, Payload::text, Payload::strings};
    options.directions = {Direction::oneway, Direction::twoway};
    options.megabytes = 1;
    options.calls_max = 100;
    const auto report = run_ttcp(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    EXPECT_EQ(report.value().rows.size(), 5u * 2 * 4);
    for (const Row& row : report.value().rows)
        EXPECT_EQ(row.figure("ratio_to_stubs").has_value(),
                  row.variant.find("DII") != std::string::npos ||
                      row.variant.find("DSI") != std::string::npos)
            << row.variant;
}

/// Raw sockets move by TLS what the ORB's messages have, without what TLS puts around it.
TEST(Tls, IsComparedWithOpenSslOnSockets)
{
    const auto keys = TlsKeys::make();
    ASSERT_TRUE(keys.ok()) << keys.error().reason;
    const auto systems = tls_systems(*keys);
    auto plain = options_for<LatencyOptions>("kairos");
    plain.calls = 20;
    plain.units = {1};
    plain.payloads = {Payload::octet};
    auto by_tls = plain;
    by_tls.systems = select_systems("raw,kairos", systems).value();
    const auto clear = run_latency(plain);
    const auto report = run_latency(by_tls);
    ASSERT_TRUE(clear.ok()) << clear.error().reason;
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const Row* const raw = find_row(*report, "raw-tls", "twoway", "null", 0);
    const Row* const kairos = find_row(*report, "kairos", "twoway", "null", 0);
    ASSERT_NE(raw, nullptr);
    ASSERT_NE(kairos, nullptr);
    EXPECT_GT(kairos->figure("ratio_to_raw").value(), 0);
    EXPECT_FALSE(kairos->bars.empty());
    EXPECT_EQ(kairos->figure("request_bytes"),
              find_row(*clear, "kairos", "twoway", "null", 0)->figure("request_bytes"));
    auto ttcp = options_for<TtcpOptions>("raw");
    ttcp.systems = by_tls.systems;
    ttcp.buffers = {65536};
    ttcp.queues = {0};
    ttcp.payloads = {Payload::octet};
    ttcp.directions = {Direction::oneway};
    ttcp.megabytes = 4;
    const auto much = run_ttcp(ttcp);
    ASSERT_TRUE(much.ok()) << much.error().reason;
    EXPECT_GT(find_row(*much, "kairos", "oneway", "octet", 65536)->figure("ratio_to_raw").value(),
              0);
}

/// Sessions are resumed; and what a connection takes of the server's heap is seen, ours and
/// OpenSSL's apart.
TEST(Tls, ConnectionsAreMadeAgainAndCountedWhileTheyIdle)
{
    const auto keys = TlsKeys::make();
    ASSERT_TRUE(keys.ok()) << keys.error().reason;
    auto options = options_for<ConnectingOptions>("kairos");
    options.systems = connecting_systems(*keys);
    options.connections = 5;
    options.idle = 20;
    const auto report = run_connecting(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 5u);
    for (const Row& row : report->rows)
        EXPECT_GT(row.figure("connections_per_s").value(), 0) << row.variant;
    for (const std::size_t by_tls : {1, 2}) {
        const Row& row = report->rows[by_tls];
        EXPECT_GT(row.figure("ratio_to_raw").value(), 0) << row.variant;
        EXPECT_GT(row.figure("openssl_bytes_per_idle").value(), 10'000) << row.variant;
        EXPECT_GT(row.figure("own_bytes_per_idle").value(), 500) << row.variant;
    }
    EXPECT_NEAR(report->rows[3].figure("openssl_bytes_per_idle").value(), 0, 1);
}

TEST(Datagrams, AreComparedWithBareUdp)
{
    auto options = options_for<LatencyOptions>("kairos");
    options.systems.assign(datagram_systems().begin(), datagram_systems().end());
    options.by_datagrams = true;
    options.calls = 20;
    options.units = {16};
    options.payloads = {Payload::octet};
    const auto report = run_latency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const Row* const null_oneway = find_row(*report, "kairos", "oneway", "null", 0);
    ASSERT_NE(null_oneway, nullptr);
    EXPECT_GT(null_oneway->figure("ratio_to_raw").value(), 0);
    EXPECT_GT(null_oneway->figure("request_bytes").value(), 40);
    EXPECT_FALSE(null_oneway->bars.empty());
    EXPECT_NE(find_row(*report, "raw-udp", "oneway", "octet", 16), nullptr);
    EXPECT_EQ(find_row(*report, "kairos", "twoway", "null", 0), nullptr);
    auto ttcp = options_for<TtcpOptions>("raw");
    ttcp.systems = options.systems;
    ttcp.buffers = {8192};
    ttcp.queues = {0};
    ttcp.payloads = {Payload::octet};
    ttcp.directions = {Direction::oneway};
    ttcp.megabytes = 1;
    const auto much = run_ttcp(ttcp);
    ASSERT_TRUE(much.ok()) << much.error().reason;
    EXPECT_GT(find_row(*much, "kairos", "oneway", "octet", 8192)->figure("ratio_to_raw").value(),
              0);
}

TEST(Ttcp, SaysWhySmallQueuesHaveNoBars)
{
    auto options = options_for<TtcpOptions>("raw");
    options.buffers = {8192};
    options.queues = {8192};
    options.payloads = {Payload::octet};
    options.directions = {Direction::oneway};
    options.megabytes = 1;
    options.calls_max = 20; // each may wait for TCP's probe timer
    options.connections = 1;
    const auto report = run_ttcp(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 1u);
    EXPECT_TRUE(report->rows[0].bars.empty());
    ASSERT_EQ(report->notes.size(), 3u);
    EXPECT_NE(report->notes[1].find("have no bars"), std::string::npos);
}

TEST(Systems, ThatAreNotInstalledSaySoAndTheOthersRun)
{
    auto options = options_for<LatencyOptions>("raw");
    options.systems.push_back({"other", "other", "unknown", "no-such-program", {}, {}, true});
    options.calls = 5;
    const auto report = run_latency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report.value().rows.size(), 3u);
    EXPECT_EQ(report.value().rows[2].status, "not installed");
}

TEST(Systems, AllMissingIsAnError)
{
    auto options = options_for<LatencyOptions>("raw");
    options.program_directory = "/no/such/directory";
    const auto report = run_latency(options);
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().reason.find("/no/such/directory"), std::string::npos);
}

TEST(Systems, UnknownNamesAreRefused)
{
    const auto chosen = select_systems("raw,orbix");
    ASSERT_FALSE(chosen.ok());
    EXPECT_NE(chosen.error().reason.find("orbix"), std::string::npos);
    EXPECT_FALSE(select_systems(",").ok());
    EXPECT_EQ(select_systems("").value().size(), all_systems().size());
}

TEST(Systems, APeerRefusesWhatItCannotDo)
{
    const System raw = select_systems("raw").value().front();
    auto running = RunningSystem::start(raw, {.program_directory = KAIROS_PROGRAM_DIRECTORY,
                                              .pinning = Pinning::same,
                                              .queue_bytes = 0,
                                              .server = {},
                                              .client = {}});
    ASSERT_TRUE(running.ok()) << running.error().reason;
    const auto refused = running->order(Verb::latency, {.calls = 1}); // no bytes given
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().reason.find("bytes of a call"), std::string::npos);
    // … and goes on working.
    EXPECT_TRUE(running->order(Verb::call, with_estimated_bytes({.calls = 3})).ok());
    EXPECT_TRUE(running->finish().ok());
}

ParamOptions param_options()
{
    ParamOptions options;
    options.systems = select_systems("", param_systems()).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.rounds = 2;
    options.calls = 20;
    options.counted_calls = 0;
    options.marshal_ms = 0.05;
    return options;
}

TEST(Param, HasARowForEveryOperationSystemAndRole)
{
    const ParamOptions options = param_options();
    const auto report = run_param(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    for (const System& system : options.systems) {
        if (!installed(system, options.program_directory)) continue;
        const auto count = [&](auto&& matches) {
            return std::count_if(report->rows.begin(), report->rows.end(), [&](const Row& row) {
                return row.system == system.name && row.variant.starts_with(system.architecture) &&
                       matches(row);
            });
        };
        EXPECT_EQ(count([](const Row& row) { return row.figure("calls_per_s").value_or(0) > 0; }),
                  7)
            << system.option;
        // Four roles and their sum; of omniORB nobody knows how it marshals.
        EXPECT_EQ(count([](const Row& row) { return row.figure("marshal_ns").value_or(0) > 0; }),
                  system.name == "kairos" ? 7 * 5 : 0)
            << system.option;
    }
    const auto json = to_json(*report);
    EXPECT_EQ(json.size(), report->rows.size() + 1);
    EXPECT_EQ(json[1]["payload_type"], "short");
}

TEST(Marshal, HasARowForEverySequence)
{
    MarshalOptions options;
    options.systems = select_systems("kairos", marshal_systems()).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.buffers = {1024, 8192};
    options.payloads = {Payload::octet, Payload::float64, Payload::bin_struct};
    options.megabytes = 0.05;
    const auto report = run_marshal(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 6u);
    for (const Row& row : report->rows) {
        for (const char* figure : {"memcpy_mbyte_s", "encode_mbyte_s", "decode_mbyte_s",
                                   "swapped_mbyte_s", "gather_mbyte_s", "view_mbyte_s"})
            EXPECT_GT(row.figure(figure).value_or(0), 0) << row.payload_type << figure;
        EXPECT_EQ(row.bars.size(), row.payload_bytes < 8000 ? 0u : 3u);
    }
}

TEST(Demux, HasARowForEveryPairOfStrategies)
{
    DemuxOptions options;
    options.systems = select_systems("hash,active", demux_systems()).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.rounds = 2;
    options.servants = {1, 100};
    options.requests = 500;
    options.instructions = false;
    options.calls = 20;
    const auto report = run_demux(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const auto with = [&](const char* figure) {
        return std::count_if(report->rows.begin(), report->rows.end(),
                             [&](const Row& row) { return row.figure(figure).value_or(0) > 0; });
    };
    constexpr int points_per_pair = 4 * 3 * 2; // patterns, operations, servants
    const auto calls = with("p50_us");
    EXPECT_GE(calls, 3 * points_per_pair); // hash, active and de-layered
    EXPECT_EQ(calls % points_per_pair, 0);
    EXPECT_EQ(with("to_fewest"), calls);
    EXPECT_EQ(with("servants"), 7 * points_per_pair + calls);
    EXPECT_EQ(with("step_ns"), 7 * points_per_pair + 3 * 3);
    EXPECT_EQ(with("to_next"), 3 * points_per_pair);
    EXPECT_EQ(with("to_layered"), points_per_pair);
    EXPECT_EQ(with("spread"), 2 * 4 * 3 + 3);
    const auto pictures = pictures_of(*report, "demux.svg");
    ASSERT_EQ(pictures.size(), 2u);
    EXPECT_EQ(pictures[1].path, "demux-calls.svg");
    for (const Picture& picture : pictures) {
        EXPECT_NE(picture.script.find("worst case, 100 operations"), std::string::npos);
        EXPECT_NE(picture.script.find("title 'active, perfect'"), std::string::npos);
        EXPECT_NE(picture.script.find("title 'active, de-layered'"), std::string::npos);
    }
}

TEST(Naming, HasNullCallsAndResolutionsOfEachServer)
{
    NamingOptions options;
    options.systems = select_systems("", naming_systems()).value();
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.rounds = 2;
    options.calls = 20;
    const auto report = run_naming(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 2u * 2);
    for (std::size_t i = 0; i < report->rows.size(); ++i) {
        EXPECT_GT(report->rows[i].figure("calls_per_s").value(), 0);
        const double to_null = report->rows[i].figure("to_null").value();
        EXPECT_TRUE(i % 2 == 0 ? to_null == 1 : to_null > 0) << to_null;
    }
    const std::string script = pictures_of(*report, "naming.svg").at(0).script;
    EXPECT_NE(script.find("\"null call\" "), std::string::npos);
    EXPECT_NE(script.find("title 'kairos reactor'"), std::string::npos);
}

TEST(Demux, EveryPointHasANumber)
{
    std::uint32_t expected = 1;
    for (const OperationStrategy strategy : all_operation_strategies)
        for (const std::uint32_t operations : operation_counts)
            for (const Pattern pattern : all_patterns)
                EXPECT_EQ(point_number(pattern, strategy, operations), expected++);
}

TEST(Param, AllocatesWhatTheMappingObliges)
{
    ParamOptions options = param_options();
    std::erase_if(options.systems, [](const System& s) { return s.name != "kairos"; });
    options.counted_calls = 50;
    const auto report = run_param(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    std::size_t counted = 0;
    for (const Row& row : report->rows) {
        const auto beyond = row.figure("allocations_beyond");
        if (!beyond) continue;
        ++counted;
        EXPECT_LE(*beyond, 0) << row.variant << ' ' << row.payload_type << ' ' << row.side;
    }
    EXPECT_GE(counted, 14u);
}

TEST(Counters, OfSocketsAreExact)
{
    auto options = options_for<CountersOptions>("raw,wrapper");
    options.calls = 50;
    options.instructions = false;
    const auto report = run_counters(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report.value().rows.size(), 2u * 4 * 2);
    const std::map<std::string, double> two_calls{{"recvfrom", 1}, {"sendto", 1}};
    for (const Row& row : report.value().rows) {
        EXPECT_EQ(row.figure("allocations_per_call"), 0) << row.system << row.side;
        EXPECT_EQ(row.figure("locks_per_call"), 0) << row.system << row.side;
        EXPECT_EQ(row.figure("futexes_per_call"), 0) << row.system << row.side;
        EXPECT_EQ(row.figure("syscalls_per_call"), 2) << row.system << row.side;
        EXPECT_EQ(row.system_calls, two_calls) << row.system << row.side;
    }
}

TEST(Counters, OfInstructionsAreTheSumOfBothSides)
{
    if (find_program("valgrind").empty()) GTEST_SKIP() << "no valgrind";
    auto options = options_for<CountersOptions>("raw");
    options.calls = 50;
    options.instructions = true;
    const auto report = run_counters(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 4u * 3); // each call's client, server and both, in this order
    for (std::size_t i = 0; i < report->rows.size(); i += 3) {
        const Row& both = report->rows[i + 2];
        EXPECT_EQ(report->rows[i].side, "client");
        EXPECT_EQ(report->rows[i + 1].side, "server");
        EXPECT_EQ(both.side, "both");
        const double client = report->rows[i].figure("instructions_per_call").value();
        const double server = report->rows[i + 1].figure("instructions_per_call").value();
        EXPECT_GT(client, 0) << both.payload_type;
        EXPECT_GT(server, 0) << both.payload_type;
        EXPECT_DOUBLE_EQ(both.figure("instructions_per_call").value(), client + server);
    }
}

TEST(Interceptors, AllocateAndLockNothing)
{
    auto options = options_for<CountersOptions>("kairos");
    options.systems.assign(interceptors_systems().begin(), interceptors_systems().end());
    options.calls = 50;
    options.instructions = false;
    const auto report = run_interceptors(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 3u * 2);
    for (const Row& row : report->rows) {
        EXPECT_EQ(row.payload_type, "null");
        EXPECT_NEAR(row.figure("allocations_per_call").value(), 0, 0.02) << row.variant;
        EXPECT_NEAR(row.figure("locks_per_call").value(), 0, 0.02) << row.variant;
    }
}

TEST(Gateway, IsComparedWithAProxy)
{
    auto options = options_for<LatencyOptions>("kairos");
    options.systems.assign(gateway_systems().begin(), gateway_systems().end());
    options.calls = 20;
    options.units = {4};
    options.payloads = {Payload::bin_struct};
    const auto report = run_gateway(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 2u * 4);
    for (const Row& row : report->rows)
        EXPECT_GT(row.figure("p50_us").value(), 0) << row.variant;
}

TEST(Local, PassesLargeOctetsOnLoan)
{
    auto options = options_for<LatencyOptions>("kairos");
    options.systems =
        select_systems("unix,kairos-tcp,kairos-memory,kairos-loan", local_systems()).value();
    options.within_host = true;
    options.calls = 20;
    const auto report = run_latency(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    unsigned large = 0;
    for (const Row& row : report->rows) {
        EXPECT_GT(row.figure("cpu_us").value(), 0) << row.variant;
        if (row.payload_type == "null") continue;
        ++large;
        EXPECT_EQ(row.payload_bytes, 1u << 20);
        EXPECT_GT(row.figure("mbyte_s").value(), 0) << row.variant;
    }
    EXPECT_EQ(large, 4u);
}

TEST(Spinning, ComparesWaysOfWaitingAloneAndBesideOthers)
{
    auto options = options_for<SpinningOptions>("kairos");
    options.systems.assign(spinning_systems().begin(), spinning_systems().end());
    options.calls = 50;
    options.busy = {0, 1};
    const auto report = run_spinning(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), 4u * 2);
    for (const Row& row : report->rows) {
        EXPECT_GT(row.figure("p50_us").value(), 0) << row.variant;
        EXPECT_GT(row.figure("cpu_us").value(), 0) << row.variant;
        EXPECT_GT(row.figure("ratio_to_raw").value(), 0) << row.variant;
    }
    const std::string script = pictures_of(*report, "spinning.svg").at(0).script;
    for (const char* part : {"'-ORBSpin auto'", "'blocking sockets'", "\"1 busy\""})
        EXPECT_NE(script.find(part), std::string::npos) << part;
}

TEST(Modern, MeasuresWhoIsInstalledAndSaysWhoIsNot)
{
    auto options = options_for<ModernOptions>("kairos");
    options.systems.assign(modern_systems().begin(), modern_systems().end());
    System nowhere = options.systems.back();
    nowhere.name = "nowhere";
    nowhere.program = "kairos-bench-modern-nowhere";
    options.systems.push_back(nowhere);
    options.calls = 20;
    options.megabytes = 0.5;
    options.threads = 3;
    options.duration_ms = 5;
    const auto report = run_modern(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), options.systems.size());
    unsigned measured = 0;
    for (const Row& row : report->rows) {
        const bool ours = row.system == "kairos" || row.system == "raw-tcp";
        if (row.system == "nowhere") EXPECT_EQ(row.status, "not installed");
        if (ours) EXPECT_EQ(row.status, "") << row.variant;
        if (!row.status.empty()) continue;
        EXPECT_GT(row.figure("null_one_cpu_us").value_or(0), 0) << row.system;
        EXPECT_GT(row.figure("null_to_raw").value_or(0), 0) << row.system;
        EXPECT_GT(row.figure("resident_mbyte").value_or(0), 0) << row.system;
        ++measured;
        for (const char* figure : {"threads_to_raw", "structs_64k_to_raw", "octets_64k_to_raw",
                                   "octets_1m_to_raw", "octets_1m_mbyte_s"})
            EXPECT_GT(row.figure(figure).value_or(0), 0) << row.system << ' ' << figure;
    }
    EXPECT_GE(measured, 4u);
    const std::string script = pictures_of(*report, "modern.svg").at(0).script;
    for (const char* panel : {"Null call on one CPU", "1 MB of octets", "'shared memory'"})
        EXPECT_NE(script.find(panel), std::string::npos) << panel;
}

TEST(Asynchronous, CallsAllocateOnce)
{
    auto options = options_for<AsynchronousOptions>("kairos");
    options.systems.assign(asynchronous_systems().begin(), asynchronous_systems().end());
    options.calls = options.counted_calls = 2000;
    const auto report = run_asynchronous(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    ASSERT_EQ(report->rows.size(), asynchronous_systems().size());
    for (const Row& row : report->rows) {
        EXPECT_GT(row.figure("calls_per_s").value(), 0) << row.variant;
        EXPECT_LE(row.figure("allocations_per_call").value_or(0), 1.01) << row.variant;
    }
}

TEST(Events, AreComparedWithOneways)
{
    auto options = options_for<EventsOptions>("kairos");
    options.systems.assign(events_systems().begin(), events_systems().end());
    options.events = 1000;
    options.high_events = 20;
    options.kept_events = 64;
    const auto report = run_events(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    const std::size_t rates = events_systems().size();
    const std::size_t floods = events_load_systems().size();
    ASSERT_EQ(report->rows.size(), rates + floods + 2 * events_kept_systems().size());
    for (std::size_t i = 0; i < report->rows.size(); ++i) {
        const Row& row = report->rows[i];
        const bool is_flooded = i >= rates && i < rates + floods;
        const char* const figure = is_flooded ? "mean_us" : "events_per_s";
        if (row.status.empty()) EXPECT_GT(row.figure(figure).value(), 0) << row.variant;
    }
    EXPECT_TRUE(report->rows[1].figure("ratio_to_two_oneways"));
    const Row& kept = report->rows[rates + floods];
    EXPECT_GT(kept.figure("ratio_to_store").value(), 0);
    EXPECT_GE(kept.figure("events_per_commit").value(), 1);
}

TEST(Counters, SeeTheLocksAndAllocationsOfAnOrb)
{
    auto options = options_for<CountersOptions>("omniorb");
    if (!installed(options.systems[0], options.program_directory)) GTEST_SKIP() << "no omniORB";
    options.calls = 50;
    options.instructions = false;
    const auto report = run_counters(options);
    ASSERT_TRUE(report.ok()) << report.error().reason;
    for (const Row& row : report.value().rows) {
        const double locks = row.figure("locks_per_call").value();
        const double allocations = row.figure("allocations_per_call").value();
        // A background thread of the server may tick in between; its client is quiet.
        EXPECT_TRUE(row.side != "client" || locks >= 5) << locks;
        // One for each string of the sequence, give or take such a tick.
        const bool strings_arrive = row.side == "server" && row.payload_type == "string32";
        EXPECT_TRUE(!strings_arrive || allocations > 30) << allocations;
    }
}

} // namespace
} // namespace kairos::bench
