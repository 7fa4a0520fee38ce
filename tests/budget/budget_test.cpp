// SPDX-License-Identifier: Apache-2.0
//
// What docs/TOUR.md promises of a call in the steady state, counted in two processes from outside:
// no heap allocation, no lock, two system calls a side (three for the server of a reactor, whether
// it is one or one for each priority; three for both sides of a Unix socket), whichever kind the
// stubs and skeletons are of, and no more
// for text where both sides have one code set. Gates, not measurements: the counts are the same on
// every machine.
#include "bench/architectures.h"
#include "bench/call_counts.h"
#include "bench/collocated.h"
#include "bench/experiment.h"
#include "bench/tls_keys.h"

#include <numeric>

#include <gtest/gtest.h>

namespace kairos {
namespace {

bench::System system_of(const std::string& peer) { return bench::select_systems(peer)->front(); }

bench::Report count_calls(const bench::System& system)
{
    bench::CountersOptions options;
    options.systems = {system};
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

/// Not every call looks whether its connection is still there: only those of a client that did not
/// run for 20 ms, on a busy machine.
constexpr double looks_max = 0.9;
/// A thread of the ORB may wake up now and then meanwhile.
constexpr double extra_system_calls = 0.1;

/// Two decimals: a growing buffer or the end of the run may fall into the counted calls once.
void expect_per_call(const bench::Row& row, const std::string& figure, double expected,
                     double tolerance = 0.02)
{
    ASSERT_TRUE(row.figure(figure)) << figure;
    EXPECT_NEAR(*row.figure(figure), expected, tolerance)
        << figure << " of " << row.payload_type << " at the " << row.side;
}

void expect_budget(const bench::System& system, double server_system_calls,
                   double client_system_calls = 2)
{
    const bench::Report report = count_calls(system);
    for (const std::string payload : {"null", "octet", "BinStruct"}) {
        for (const std::string side : {"client", "server"}) {
            const bench::Row& row = row_of(report, payload, side);
            expect_per_call(row, "allocations_per_call", 0);
            expect_per_call(row, "locks_per_call", 0);
            expect_per_call(row, "futexes_per_call", 0);
            expect_per_call(row, "syscalls_per_call",
                            side == "client" ? client_system_calls : server_system_calls,
                            extra_system_calls);
            EXPECT_LT(row.figure("looks_per_call").value(), looks_max) << payload << " " << side;
        }
    }
}

TEST(Budget, ThreadPerConnection) { expect_budget(system_of("kairos"), 2); }

/// The third, a poll, spares each of the two threads a wake-up in vain (net/polled_channel.h): also
/// in the server, which reads the next request after its reply.
TEST(Budget, UnixSocket)
{
    expect_budget(bench::select_systems("kairos-unix", bench::local_systems()).value().front(), 3,
                  3);
}

TEST(Budget, Reactor) { expect_budget(system_of("kairos-reactor"), 3); }

/// What keeps priorities at both ends, and has to cost nothing for that. The count is the same
/// where the lanes' threads are not permitted their priorities.
TEST(Budget, ReactorPerPriorityAndNonMultiplexed)
{
    const auto pair = bench::select_systems("reactor-per-priority+non-multiplexed",
                                            bench::whitebox_systems(), bench::whitebox_pairs());
    ASSERT_TRUE(pair.ok()) << pair.error().reason;
    expect_budget(pair->front(), 3);
}

TEST(Budget, DelayeredDemultiplexing)
{
    bench::System system = system_of("kairos");
    system.program = "kairos-bench-orb-delayered";
    system.server_arguments.insert(system.server_arguments.end(), {"-ORBDemux", "delayered"});
    expect_budget(system, 2);
}

/// Without stubs a request that is used again needs no memory; without a skeleton the servant makes
/// a list.
TEST(Budget, WithoutStubsAndSkeletons)
{
    const auto named = [](const char* name) {
        return bench::select_systems(name, bench::invocation_systems()).value().front();
    };
    const bench::Report reused = count_calls(named("dii-reused"));
    for (const std::string payload : {"null", "BinStruct"}) {
        expect_per_call(row_of(reused, payload, "client"), "allocations_per_call", 0);
        expect_per_call(row_of(reused, payload, "client"), "locks_per_call", 0);
    }
    const bench::Report dsi = count_calls(named("dsi"));
    expect_per_call(row_of(dsi, "null", "server"), "allocations_per_call", 1);
    for (const std::string payload : {"null", "BinStruct"})
        expect_per_call(row_of(dsi, payload, "server"), "locks_per_call", 0);
}

/// Nor has the marshalled way a lock: its messages are in the thread's own buffers.
TEST(Budget, CollocatedCalls)
{
    bench::CountersOptions options;
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    options.calls = 2000;
    for (const bench::System& system : bench::collocated_systems()) {
        const auto row = bench::collocated_row(system, options, "");
        ASSERT_TRUE(row.ok()) << row.error().reason;
        EXPECT_NEAR(row->figure("allocations_per_call").value(), 0, 0.02) << system.option;
        EXPECT_NEAR(row->figure("locks_per_call").value(), 0, 0.02) << system.option;
    }
}

double per_call(std::int64_t count, int calls) { return static_cast<double>(count) / calls; }

double system_calls(const bench::Counts& counts, int calls)
{
    return per_call(
        std::accumulate(counts.syscalls.begin(), counts.syscalls.end(), std::int64_t{0}), calls);
}

// --- TLS -----------------------------------------------------------------------------------------

/// What OpenSSL takes by itself is counted in a program that has nothing else.
TEST(Budget, Tls)
{
    constexpr int calls = 500;
    const bench::TlsKeys keys = bench::TlsKeys::make().value();
    bench::CommonOptions options;
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    const auto count = [&](const bench::System& system) {
        bench::Exercise exercise{};
        exercise.request_bytes = 60; // by sockets that know no ORB
        exercise.reply_bytes = 24;
        const auto counted = bench::count_calls(system, options, calls, std::span(&exercise, 1),
                                                bench::CountingMethod::preload);
        if (!counted) throw std::runtime_error(counted.error().reason);
        return counted->at(0);
    };
    const std::vector<bench::System> systems = bench::tls_systems(keys);
    ASSERT_EQ(systems.at(0).name, "raw-tls");
    const auto raw = count(systems.at(0));
    for (const std::size_t which : {1, 2}) {
        const bench::System& system = systems.at(which);
        ASSERT_EQ(system.name, "kairos");
        const auto counted = count(system);
        EXPECT_NEAR(per_call(counted.client.allocations - raw.client.allocations, calls), 0, 0.02)
            << system.option;
        EXPECT_NEAR(per_call(counted.server.allocations - raw.server.allocations, calls), 0, 0.02)
            << system.option;
        EXPECT_NEAR(per_call(counted.client.locks - raw.client.locks, calls), 0, 0.02)
            << system.option;
        EXPECT_NEAR(per_call(counted.server.locks - raw.server.locks, calls), 0, 0.02)
            << system.option;
    }
}

// --- POAs ----------------------------------------------------------------------------------------

/// The parameter is what poa_peer.cpp calls the kind of POA.
class PoaBudget : public testing::TestWithParam<std::string> {
  protected:
    static constexpr int calls = 500;

    static bench::Sides<bench::Counts> count(bench::CountingMethod method)
    {
        const bench::System system{
            .option = GetParam(),
            .name = "kairos",
            .architecture = "thread-per-connection",
            .program = POA_PEER,
            .server_arguments = {GetParam(), "-ORBListenEndpoints", "iiop://127.0.0.1"},
            .client_arguments = {},
            .orb = true};
        bench::CommonOptions options;
        options.program_directory = KAIROS_PROGRAM_DIRECTORY;
        const bench::Exercise exercise{};
        return bench::count_calls(system, options, calls, std::span(&exercise, 1), method)
            .value()
            .at(0);
    }
};

TEST_P(PoaBudget, OfACallWhoeverFindsItsServant)
{
    const auto counted = count(bench::CountingMethod::preload);
    EXPECT_NEAR(per_call(counted.client.allocations, calls), 0, 0.02);
    EXPECT_NEAR(per_call(counted.client.locks, calls), 0, 0.02);
    EXPECT_NEAR(per_call(counted.server.allocations, calls), 0, 0.02);
    EXPECT_NEAR(per_call(counted.server.locks, calls), 0, 0.02);
    const auto traced = count(bench::CountingMethod::trace);
    EXPECT_NEAR(system_calls(traced.client, calls), 2, extra_system_calls);
    EXPECT_NEAR(system_calls(traced.server, calls), 2, extra_system_calls);
}

std::string poa_name(const testing::TestParamInfo<std::string>& info)
{
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, PoaBudget,
                         testing::Values("transient", "transient-hash", "persistent",
                                         "persistent-hash", "persistent-perfect",
                                         "persistent-linear", "default-servant",
                                         "default-servant-retain", "activator", "locator"),
                         poa_name);

// --- Kinds of marshalling and code sets ----------------------------------------------------------

struct Pair {
    std::string stubs; ///< the option of bench::param_systems
    std::string code_set;
};

std::string pair_name(const testing::TestParamInfo<Pair>& info)
{
    std::string name = info.param.stubs + '_' + info.param.code_set;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class ParameterBudget : public testing::TestWithParam<Pair> {
  protected:
    static constexpr int calls = 500;

    /// Of one operation of Param_Test, between two processes of one code set.
    static bench::Sides<bench::Counts> count(bench::Payload payload, bench::CountingMethod method)
    {
        bench::System system =
            bench::select_systems(GetParam().stubs, bench::param_systems()).value().at(0);
        for (auto* arguments : {&system.server_arguments, &system.client_arguments})
            arguments->insert(arguments->end(), {"-ORBNativeCharCodeSet", GetParam().code_set});
        bench::CommonOptions options;
        options.program_directory = KAIROS_PROGRAM_DIRECTORY;
        const bench::Exercise exercise{.payload = payload, .units = 1};
        return bench::count_calls(system, options, calls, std::span(&exercise, 1), method)
            .value()
            .at(0);
    }
    static void expect_heap(bench::Payload payload, double client, double server)
    {
        const auto counted = count(payload, bench::CountingMethod::preload);
        EXPECT_NEAR(per_call(counted.client.allocations, calls), client, 0.02) << "at the client";
        EXPECT_NEAR(per_call(counted.server.allocations, calls), server, 0.02) << "at the server";
        EXPECT_NEAR(per_call(counted.client.locks, calls), 0, 0.02) << "at the client";
        EXPECT_NEAR(per_call(counted.server.locks, calls), 0, 0.02) << "at the server";
    }
};

TEST_P(ParameterBudget, OfWhatIsOfFixedLength)
{
    expect_heap(bench::Payload::int16, 0, 0);
    expect_heap(bench::Payload::fixed_struct, 0, 0);
    const auto counted = count(bench::Payload::fixed_struct, bench::CountingMethod::trace);
    EXPECT_NEAR(system_calls(counted.client, calls), 2, extra_system_calls);
    EXPECT_NEAR(system_calls(counted.server, calls), 2, extra_system_calls);
}

/// The strings that the mapping makes somebody own, and nothing else: at the client the result, the
/// out and the new inout; at the server the inout as it comes, the one that replaces it, the out
/// and the result. What is `in` is neither copied nor converted.
TEST_P(ParameterBudget, OfStrings) { expect_heap(bench::Payload::ubstring, 3, 4); }

INSTANTIATE_TEST_SUITE_P(Kinds, ParameterBudget,
                         testing::Values(Pair{"kairos", "ISO-8859-1"}, Pair{"kairos", "UTF-8"},
                                         Pair{"kairos-interpretive", "ISO-8859-1"},
                                         Pair{"kairos-interpretive", "UTF-8"}),
                         pair_name);

// --- Interceptors --------------------------------------------------------------------------------

/// Nobody waits otherwise for a reply because somebody observes the call.
TEST(InterceptorsBudget, OfANullCall)
{
    constexpr int calls = 500;
    bench::CommonOptions options;
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    const bench::Exercise exercise{};
    for (const bench::System& system : bench::interceptors_systems()) {
        const auto count = [&](bench::CountingMethod method) {
            return bench::count_calls(system, options, calls, std::span(&exercise, 1), method)
                .value()
                .at(0);
        };
        const auto counted = count(bench::CountingMethod::preload);
        const auto traced = count(bench::CountingMethod::trace);
        EXPECT_NEAR(per_call(counted.client.allocations, calls), 0, 0.02) << system.option;
        EXPECT_NEAR(per_call(counted.client.locks, calls), 0, 0.02) << system.option;
        EXPECT_NEAR(per_call(counted.server.allocations, calls), 0, 0.02) << system.option;
        EXPECT_NEAR(per_call(counted.server.locks, calls), 0, 0.02) << system.option;
        EXPECT_NEAR(system_calls(traced.client, calls), 2, extra_system_calls) << system.option;
        EXPECT_NEAR(system_calls(traced.server, calls), 2, extra_system_calls) << system.option;
    }
}

// --- Real-time events ----------------------------------------------------------------------------

constexpr int event_calls = 500;

bench::Counts count_events(const char* channel)
{
    bench::CommonOptions options;
    options.program_directory = KAIROS_PROGRAM_DIRECTORY;
    const auto system = bench::select_systems(channel, bench::events_systems());
    const bench::Exercise exercise{};
    return bench::count_calls(system.value().front(), options, event_calls, std::span(&exercise, 1),
                              bench::CountingMethod::preload)
        .value()
        .at(0)
        .server;
}

/// What a channel adds to each event, whoever gets it: the supplier's connection and the consumers'
/// are others'.
TEST(RealTimeEventsBudget, OfTheThreadThatHasBroughtTheEvent)
{
    for (const char* const channel : {"rt", "rt-100"}) {
        const bench::Counts counted = count_events(channel);
        EXPECT_NEAR(per_call(counted.allocations, event_calls), 0, 0.02) << channel;
        EXPECT_NEAR(per_call(counted.locks, event_calls), 0, 0.02) << channel;
    }
}

/// The lane's mutex, once by who puts an event in and once by who has given it.
TEST(RealTimeEventsBudget, OfALane)
{
    const bench::Counts counted = count_events("rt-lanes");
    EXPECT_NEAR(per_call(counted.allocations, event_calls), 0, 0.02);
    EXPECT_LE(per_call(counted.locks, event_calls), 2.02);
}

} // namespace
} // namespace kairos
