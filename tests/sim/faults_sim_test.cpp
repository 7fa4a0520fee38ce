// SPDX-License-Identifier: Apache-2.0
//
// Clients and a server in one process while the system fails them as a seed says (tests/faults):
// messages in pieces, connections that break at any octet or go silent there, attempts refused for
// now, signals, threads, descriptors and priorities that are not to be had, names that are answered
// late. Some calls lead on to another server, and back. Whatever the seed, every way to serve and
// every way to connect: each call ends, with its own result or with a system exception that may be
// expected there; what ended with COMPLETED_NO was not executed, nothing was executed twice; once
// nothing fails any more calls succeed; and the end of all ORBs, though silent connections are
// left, gives back what they had. With every fourth seed the server ends while calls are under way.
//
// A seed stands for a plan and for the calls. What it does not determine is which thread comes
// first: a failure may need several runs to come back.
// KAIROS_SIM_SEED=<n> repeats one seed, KAIROS_SIM_SEEDS=<n> runs so many; with
// KAIROS_SIM_VERBOSE set each tells what it came to.
#include "kairos/net/thread.h"
#include "kairos/rtcorba/RTCORBA.h"
#include "tests/client/policies.h"
#include "tests/faults/faults.h"
#include "tests/robust/local.h"
#include "tests/sim/hazards.h"
#include "tests/sim/sim_calls.h"

#include <map>
#include <random>
#include <sstream>
#include <tuple>

namespace kairos::orb_testing {
namespace {

using net::testing::FaultPlan;
using net::testing::SystemCall;
using std::chrono::milliseconds;

/// Behind a black hole whoever has no time limit waits for ever: then all have one.
bool goes_silent(std::uint64_t seed) { return seed % 7 == 0 || seed % 7 >= 5; }
constexpr milliseconds silence_max{20};

/// Whether the server ends while calls are under way.
bool ends_early(std::uint64_t seed) { return seed % 4 == 3; }

/// Whether callers have priorities, and say them.
bool has_priorities(std::uint64_t seed) { return seed % 4 >= 2; }

/// ThreadSanitizer's threads spin for each other, and AddressSanitizer's for the locks of its
/// allocator. Those of real time do so for ever when they keep whoever has the lock from running: a
/// thread of theirs with a lower priority gets no part of what the system leaves to ordinary ones.
/// There all of them are refused.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool may_be_real_time = false;
#else
constexpr bool may_be_real_time = true;
#endif

/// Whether a priority that the system refuses is an error.
bool requires_priorities(std::uint64_t seed)
{
    if (!may_be_real_time) return false;
    static const bool allowed =
        net::Thread::start(
            {.name = "try", .scheduling = net::Scheduling{net::SchedulingPolicy::fifo, 1}}, [] {})
            .ok();
    return allowed && has_priorities(seed) && seed % 5 == 3;
}

/// What a seed stands for, apart from the calls.
FaultPlan plan_of(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto one_of = [&random](auto... values) {
        const std::uint32_t all[] = {static_cast<std::uint32_t>(values)...};
        return all[random() % sizeof...(values)];
    };
    FaultPlan plan{.seed = seed,
                   .cut_every = one_of(0, 200, 1'000, 5'000),
                   .breaks = one_of(0, 60, 95),
                   .break_within = one_of(500, 20'000, 100'000),
                   .storms = one_of(0, 30),
                   .delays = one_of(0, 1),
                   .delay_us = 200};
    for (const SystemCall call : {SystemCall::socket, SystemCall::connect, SystemCall::accept,
                                  SystemCall::spare, SystemCall::memory, SystemCall::thread})
        plan.of(call) = static_cast<std::uint16_t>(one_of(0, 0, 50, 400));
    plan.of(SystemCall::scheduling) = static_cast<std::uint16_t>(one_of(0, 50, 400));
    if (!may_be_real_time) plan.of(SystemCall::scheduling) = 1'000;
    plan.of(SystemCall::resolve) = static_cast<std::uint16_t>(one_of(0, 50, 400));
    plan.slow_answers = one_of(0, 20);
    plan.answer_delay_us = 5'000;
    if (!goes_silent(seed)) return plan;
    plan.silences = one_of(3, 10, 20);
    // Else time limits would be over before anybody is accepted.
    plan.of(SystemCall::accept) = std::min<std::uint16_t>(plan.of(SystemCall::accept), 50);
    return plan;
}

/// How calls may end while the system fails.
bool may_end_so(std::string_view how, std::uint64_t seed)
{
    // By the manager that has ended; or by who had it, behind a request that is still being served.
    if (how == "OBJ_ADAPTER 0x4f4d0001 NO" || how == "TRANSIENT 0x4f4d0001 NO")
        return ends_early(seed);
    // Of a servant's own call, when its ORB was shut down.
    if (how == "BAD_INV_ORDER 0x4f4d0004 NO") return ends_early(seed);
    if (how == "NO_PERMISSION 0x0 NO") return requires_priorities(seed);
    for (const std::string_view one :
         {"ok", "COMM_FAILURE 0x4b520002 MAYBE", "TRANSIENT 0x4b520001 NO",
          "TRANSIENT 0x4b520002 NO", "TIMEOUT 0x4b52000f NO", "TIMEOUT 0x4b520010 MAYBE",
          "NO_RESOURCES 0x0 NO"})
        if (how == one) return true;
    return false;
}

class FaultsSim : public testing::TestWithParam<std::tuple<const char*, const char*>> {
  protected:
    [[nodiscard]] static const char* connection() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const char* concurrency() { return std::get<1>(GetParam()); }

    /// By TCP, by a Unix socket or by shared memory.
    [[nodiscard]] static Arguments server_options(std::uint64_t seed)
    {
        Arguments options = limits(seed);
        options.insert(options.end(), {"-ORBPublish", "host=localhost"}); // a name to ask for
        if (requires_priorities(seed)) options.insert(options.end(), {"-ORBRealTime", "required"});
        if (goes_silent(seed) && seed % 2 == 0)
            options.insert(options.end(), {"-ORBReceiveTimeout", "50", "-ORBSendQueue", "4096"});
        if (seed % 3 == 1)
            options.insert(options.end(), {"-ORBListenEndpoints", "uiop://"});
        else if (has_memory(seed))
            options.insert(options.end(), {"-ORBListenEndpoints", "shmiop://"});
        return options;
    }
    [[nodiscard]] static bool has_memory(std::uint64_t seed) { return seed % 3 == 2; }
    /// Of every ORB, for its calls.
    [[nodiscard]] static Arguments limits(std::uint64_t seed)
    {
        if (!goes_silent(seed)) return {};
        return {"-ORBClientTimeout", std::to_string(silence_max.count())};
    }

    /// The threads of a pool, where the architecture has any, or those of the architecture serve.
    [[nodiscard]] static bool has_pool(std::uint64_t seed)
    {
        constexpr std::string_view without[] = {"thread-per-connection", "reactor",
                                                "leader-followers"};
        return has_priorities(seed) && seed % 8 < 4 && !has_memory(seed) &&
               std::ranges::find(without, concurrency()) == std::end(without);
    }
    static CORBA::PolicyList policies_of(CORBA::ORB_ptr orb, std::uint64_t seed,
                                         RTCORBA::ThreadpoolId pool)
    {
        CORBA::PolicyList policies;
        if (!has_priorities(seed)) return policies;
        const CORBA::Object_var object = orb->resolve_initial_references("RTORB");
        const RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(object);
        policies.length(has_pool(seed) ? 2 : 1);
        policies[0] = rtorb->create_priority_model_policy(RTCORBA::CLIENT_PROPAGATED, 0);
        if (has_pool(seed)) policies[1] = rtorb->create_threadpool_policy(pool);
        return policies;
    }
    /// Threads that are there, and some that are made when they are needed.
    static RTCORBA::ThreadpoolId make_pool(CORBA::ORB_ptr orb, std::uint64_t seed)
    {
        const CORBA::Object_var object = orb->resolve_initial_references("RTORB");
        const RTCORBA::RTORB_var rtorb = RTCORBA::RTORB::_narrow(object);
        RTCORBA::ThreadpoolLanes lanes;
        lanes.length(2);
        lanes[0] = {0, 1, 2};
        lanes[1] = {1'000, 1, 2};
        return rtorb->create_threadpool_with_lanes(0, lanes, seed % 16 < 8, seed % 3 == 0, 0, 0);
    }

    static void run(std::uint64_t seed)
    {
        const std::string what = std::string("KAIROS_SIM_SEED=") + std::to_string(seed) + " " +
                                 connection() + " to " + concurrency();
        SCOPED_TRACE(what);
        const Watchdog watchdog(what);
        CountingServant servant;
        RTCORBA::ThreadpoolId pool = 0;
        std::optional<net::testing::Faults> at_start = start_without_priorities(seed);
        RunningServer server(concurrency(), server_options(seed), RunningServer::Start::active,
                             [&](CORBA::ORB_ptr orb) {
                                 if (has_pool(seed)) pool = make_pool(orb, seed);
                             });
        at_start.reset();
        const PortableServer::POA_var poa = server.poa()->create_POA(
            "served", server.manager(), policies_of(server.orb(), seed, pool));
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        const CORBA::String_var text = server.orb()->object_to_string(object);
        const std::string reference = text.in();
        RunningServer partner("thread-per-connection", limits(seed), RunningServer::Start::holding);
        const CORBA::Object_var back = partner.orb()->string_to_object(reference.c_str());
        const Probe::Target_var to_back = Probe::Target::_unchecked_narrow(back);
        partner.servant().action = [&] { to_back->ping(); };
        const CORBA::Object_var there = server.orb()->string_to_object(partner.reference().c_str());
        servant.partner = Probe::Target::_unchecked_narrow(there);
        partner.manager()->activate();
        net::testing::Faults faults(plan_of(seed));
        const std::vector<Ended> ended = call_with(faults, seed, reference, server, servant);
        if (!ends_early(seed)) {
            Client client({"-ORBConnection", connection()});
            const Probe::Target_var target = client.target(reference);
            EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        }
        server.end();
        partner.end();
        servant.partner = Probe::Target::_nil();
        check(ended, servant, seed);
    }

    /// A server that wants priorities, and gets none, begins all the same.
    static std::optional<net::testing::Faults> start_without_priorities(std::uint64_t seed)
    {
        if (may_be_real_time && (seed % 2 != 0 || requires_priorities(seed))) return std::nullopt;
        FaultPlan plan{.seed = seed};
        plan.of(SystemCall::scheduling) = 1'000;
        return std::optional<net::testing::Faults>(plan);
    }

    static std::vector<Ended> call_with(net::testing::Faults& faults, std::uint64_t seed,
                                        const std::string& reference, RunningServer& server,
                                        const CountingServant& servant)
    {
        std::optional<Signals> signals;
        if (seed % 2 == 0) signals.emplace();
        Arguments options = limits(seed);
        options.insert(options.end(), {"-ORBConnection", connection(), "-ORBFragmentSize",
                                       seed % 5 == 0 ? "1024" : "1048576"});
        if (requires_priorities(seed)) options.insert(options.end(), {"-ORBRealTime", "required"});
        Client client(options);
        std::array<std::vector<Ended>, callers> ended;
        std::vector<std::thread> threads;
        for (unsigned caller = 0; caller < callers; ++caller)
            threads.emplace_back(
                [&, caller] { ended.at(caller) = call_often(seed, caller, client, reference); });
        std::atomic<bool> all_called{false};
        std::thread ender([&] {
            if (!ends_early(seed)) return;
            while (servant.served < callers * calls_each / 3 && !all_called)
                std::this_thread::yield();
            server.end();
        });
        for (std::thread& thread : threads)
            thread.join();
        all_called = true;
        ender.join();
        faults.stop();
        if (std::getenv("KAIROS_SIM_VERBOSE") != nullptr) tell(seed, faults.counts(), ended);
        // The connections of before may have broken; those that are made now do not.
        std::thread([&] {
            if (ends_early(seed)) return;
            const Probe::Target_var target = client.target(reference);
            std::string how;
            // Where calls have time limits these may be too short for a busy machine.
            const Deadline end = Deadline::after(patience);
            for (int attempt = 0;
                 how != "ok" && (attempt < 4 || goes_silent(seed)) && !end.has_passed(); ++attempt)
                how = outcome([&] { target->ping(); });
            EXPECT_EQ(how, "ok");
        }).join();
        std::vector<Ended> all;
        for (const std::vector<Ended>& some : ended)
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }

    static void tell(std::uint64_t seed, const net::testing::FaultCounts& counts,
                     const std::array<std::vector<Ended>, callers>& ended)
    {
        std::map<std::string, int> ends;
        for (const std::vector<Ended>& some : ended)
            for (const Ended& one : some)
                ++ends[one.how];
        std::ostringstream text;
        text << "seed " << seed << ": " << counts.cuts << " cuts, " << counts.storms << " storms, "
             << counts.delays << " delays, " << counts.breaks << " breaks, " << counts.silences
             << " silences, " << counts.slow_answers << " slow answers, " << counts.refusals
             << " refusals";
        for (const auto& [how, count] : ends)
            text << "; " << count << ' ' << how;
        std::puts(text.str().c_str());
    }

    static std::vector<Ended> call_often(std::uint64_t seed, unsigned caller, Client& client,
                                         const std::string& reference)
    {
        const Probe::Target_var patient = client.target(reference);
        const Probe::Target_var hasty = with(patient, round_trip(client.orb(), milliseconds(2)));
        std::mt19937_64 random(seed * callers + caller);
        if (has_priorities(seed)) take_priority(client.orb(), caller);
        std::vector<Ended> ended;
        for (unsigned i = 0; i < calls_each; ++i) {
            const auto kind = static_cast<unsigned>(random() % 9);
            Probe::Target_ptr target = random() % 8 == 0 ? hasty.in() : patient.in();
            ended.push_back(call(target, caller * calls_each + i, kind));
            if (ended.back().how == "ok" && is_oneway(kind)) ended.back().how = "sent";
        }
        return ended;
    }

    /// The calling thread's, or none if the system refuses it.
    static void take_priority(CORBA::ORB_ptr orb, unsigned caller)
    {
        const CORBA::Object_var object = orb->resolve_initial_references("RTCurrent");
        const RTCORBA::Current_var current = RTCORBA::Current::_narrow(object);
        const std::string how =
            outcome([&] { current->the_priority(static_cast<RTCORBA::Priority>(caller * 1'000)); });
        EXPECT_TRUE(how == "ok" || how == "NO_PERMISSION 0x0 NO") << how;
    }

    /// After the server's end: nothing is executed any more.
    static void check(const std::vector<Ended>& ended, const CountingServant& servant,
                      std::uint64_t seed)
    {
        ASSERT_EQ(ended.size(), servant.executed.size());
        for (const Ended& one : ended) {
            EXPECT_TRUE(one.how == "sent" || may_end_so(one.how, seed)) << one.how;
            if (!one.is_counted) continue;
            const unsigned executed = servant.executed.at(one.number);
            EXPECT_LE(executed, 1u) << one.number << " ended: " << one.how;
            EXPECT_TRUE(executed == 1 || one.how != "ok") << one.number;
            EXPECT_TRUE(executed == 0 || !one.how.ends_with(" NO"))
                << one.number << " ended: " << one.how;
        }
    }

    /// Whether there are no more than that, when those that end have ended; some of them may have
    /// been counted.
    [[nodiscard]] static bool comes_back_to(std::size_t count, std::size_t (*present)())
    {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (present() > count && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        return present() <= count;
    }

    LogLines log_;
};

TEST_P(FaultsSim, EveryCallEndsAndNothingIsExecutedTwice)
{
    const char* const one = std::getenv("KAIROS_SIM_SEED");
    const char* const many = std::getenv("KAIROS_SIM_SEEDS");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    const std::uint64_t count = many != nullptr  ? std::strtoull(many, nullptr, 10)
                                : one != nullptr ? 1
                                                 : 7;
    std::thread([] {}).join(); // ThreadSanitizer adds one of its own with the first
    const std::size_t descriptors_before = descriptors();
    const std::size_t threads_before = threads();
    for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
        run(seed);
        EXPECT_TRUE(comes_back_to(descriptors_before, &descriptors))
            << descriptors() << " descriptors, before " << descriptors_before << ", seed " << seed;
        EXPECT_TRUE(comes_back_to(threads_before, &threads))
            << threads() << " threads, before " << threads_before << ", seed " << seed;
    }
}

std::string both_names(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info)
{
    std::string name = std::string(std::get<0>(info.param)) + "_to_" + std::get<1>(info.param);
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(
    Architectures, FaultsSim,
    testing::Combine(testing::Values("non-multiplexed", "leader-followers", "active"),
                     testing::Values("thread-per-connection", "reactor", "reactor-per-priority",
                                     "reactor-per-priority-each", "leader-followers", "worker-pool",
                                     "thread-per-request", "thread-per-object", "filter-chain")),
    both_names);

} // namespace
} // namespace kairos::orb_testing
