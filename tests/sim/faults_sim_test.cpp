// SPDX-License-Identifier: Apache-2.0
//
// Clients and a server in one process while the system fails them as a seed says (net/faults.h):
// messages in pieces, connections that break at any octet, attempts refused for now, signals,
// threads and descriptors that are not to be had. Some calls lead on to another server, and back.
// Whatever the seed, every way to serve and every way to connect: each call ends, with its own
// result or with a system exception that may be expected there; what ended with COMPLETED_NO was
// not executed, nothing was executed twice; once nothing fails any more calls succeed; and the end
// of all ORBs gives back what they had. With every fourth seed the server ends while calls are
// under way.
//
// A seed stands for a plan and for the calls. What it does not determine is which thread comes
// first: a failure may need several runs to come back.
// KAIROS_SIM_SEED=<n> repeats one seed, KAIROS_SIM_SEEDS=<n> runs so many; with
// KAIROS_SIM_VERBOSE set each tells what it came to.
#include "kairos/net/faults.h"
#include "tests/client/policies.h"
#include "tests/robust/local.h"

#include <csignal>
#include <map>
#include <random>
#include <sys/time.h>
#include <tuple>

namespace kairos::orb_testing {
namespace {

using net::FaultPlan;
using net::SystemCall;
using std::chrono::milliseconds;

constexpr unsigned callers = 3;
constexpr unsigned calls_each = 60;
constexpr CORBA::ULong large = 40'000;

/// Made up of the number of a call, so that nobody takes it for another's.
std::string text_of(unsigned number)
{
    std::string text = std::to_string(number) + ":";
    text.resize(large, static_cast<char>('a' + number % 26));
    return text;
}

/// Counts the executions of each call.
class CountingServant final : public POA_Probe::Target {
  public:
    Probe::Target_var partner; ///< whom `negate` calls, and who calls back
    std::atomic<unsigned> served{0};
    std::array<std::atomic<unsigned>, callers * calls_each> executed{};

    void ping() override { ++served; }
    CORBA::Long add(CORBA::Long number, CORBA::Long refuses) override
    {
        count(number);
        if (refuses != 0) throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_YES);
        return number + 1'000;
    }
    char* echo(const char* text) override
    {
        count(std::stol(text));
        return CORBA::string_dup(text);
    }
    CORBA::ULong count_octets(const Probe::Octets& octets) override
    {
        const auto number = static_cast<unsigned>(octets[0] + 256 * octets[1]);
        count(number);
        for (CORBA::ULong i = 2; i < octets.length(); ++i)
            if (octets[i] != static_cast<CORBA::Octet>(number + i)) return 0;
        return octets.length() + number;
    }
    Probe::Octets* produce(CORBA::ULong size) override
    {
        count(size - large);
        Probe::Octets_var octets = new Probe::Octets;
        octets->length(size);
        for (CORBA::ULong i = 0; i < size; ++i)
            octets[i] = static_cast<CORBA::Octet>(size + i);
        return octets._retn();
    }
    void note(CORBA::Long number) override { count(number); }
    void act() override { throw Probe::Refused("because"); }
    CORBA::Boolean negate(CORBA::Boolean value) override
    {
        partner->act();
        return !value;
    }
    CORBA::ULong count_strings(const Probe::Strings&) override { return 0; }
    CORBA::ULong count_trees(const Probe::Tree&) override { return 0; }

  private:
    void count(long number)
    {
        EXPECT_LT(static_cast<std::size_t>(number), executed.size());
        ++executed.at(static_cast<std::size_t>(number));
        ++served;
    }
};

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
    return plan;
}

/// Signals that interrupt whatever blocks, every millisecond, in any thread.
class Signals {
  public:
    Signals()
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        ::sigaction(SIGALRM, &action, &former_); // without SA_RESTART
        constexpr timeval often{.tv_sec = 0, .tv_usec = 1'000};
        set({.it_interval = often, .it_value = often});
    }
    ~Signals()
    {
        set({});
        ::sigaction(SIGALRM, &former_, nullptr);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

  private:
    static void set(itimerval when) { ::setitimer(ITIMER_REAL, &when, nullptr); }
    struct sigaction former_ {};
};

/// Ends the process, and says with which seed, if something waits for ever.
class Watchdog {
  public:
    explicit Watchdog(std::string what)
        : what_(std::move(what)), thread_([this] {
              std::unique_lock lock(mutex_);
              if (ended_.wait_for(lock, 2 * patience, [this] { return is_over_; })) return;
              std::fprintf(stderr, "stuck: %s\n", what_.c_str());
              std::abort();
          })
    {
    }
    ~Watchdog()
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    const std::string what_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_over_ = false;
    std::thread thread_;
};

/// One call and how it ended.
struct Ended {
    unsigned number = 0;
    bool is_counted = true; ///< by the servant, under the number
    std::string how;
};

/// Returns what the call is known by if it ended as it should when nothing fails.
Ended call(Probe::Target_ptr target, unsigned number, unsigned kind)
{
    const auto id = static_cast<CORBA::Long>(number);
    switch (kind) {
    case 0:
        return {number, false, outcome([&] { target->ping(); })};
    case 1:
        return {number, true, outcome([&] { EXPECT_EQ(target->add(id, 0), id + 1'000); })};
    case 2: {
        std::string how = outcome([&] { (void)target->add(id, 1); });
        return {number, true, how == "NO_PERMISSION 0x7 YES" ? "ok" : how};
    }
    case 3: {
        std::string how = outcome([&] { target->act(); });
        return {number, false, how == "Refused" ? "ok" : how == "ok" ? "no exception" : how};
    }
    case 4:
        return {number, true, outcome([&] {
                    const std::string text = text_of(number);
                    const CORBA::String_var echoed = target->echo(text.c_str());
                    EXPECT_EQ(text, echoed.in());
                })};
    case 5:
        return {number, true, outcome([&] {
                    Probe::Octets octets;
                    octets.length(large);
                    octets[0] = static_cast<CORBA::Octet>(number % 256);
                    octets[1] = static_cast<CORBA::Octet>(number / 256);
                    for (CORBA::ULong i = 2; i < large; ++i)
                        octets[i] = static_cast<CORBA::Octet>(number + i);
                    EXPECT_EQ(target->count_octets(octets), large + number);
                })};
    case 6:
        return {number, true, outcome([&] {
                    const Probe::Octets_var octets = target->produce(large + number);
                    ASSERT_EQ(octets->length(), large + number);
                    for (CORBA::ULong i = 0; i < large; ++i)
                        ASSERT_EQ(octets[i], static_cast<CORBA::Octet>(large + number + i));
                })};
    case 7:
        return {number, true, outcome([&] { target->note(id); })};
    default:
        return {number, false, outcome([&] { EXPECT_TRUE(target->negate(false)); })};
    }
}

bool is_oneway(unsigned kind) { return kind == 7; }

/// How calls may end while the system fails.
bool may_end_so(std::string_view how)
{
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
        if (seed % 3 == 1) return {"-ORBListenEndpoints", "uiop://"};
        const bool has_memory = std::string_view(concurrency()) != "reactor-per-priority";
        if (seed % 3 == 2 && has_memory) return {"-ORBListenEndpoints", "shmiop://"};
        return {};
    }

    [[nodiscard]] static bool ends_early(std::uint64_t seed) { return seed % 4 == 3; }

    static void run(std::uint64_t seed)
    {
        const std::string what = std::string("KAIROS_SIM_SEED=") + std::to_string(seed) + " " +
                                 connection() + " to " + concurrency();
        SCOPED_TRACE(what);
        const Watchdog watchdog(what);
        CountingServant servant;
        RunningServer server(concurrency(), server_options(seed));
        const PortableServer::ObjectId_var id = server.poa()->activate_object(&servant);
        const CORBA::Object_var object = server.poa()->id_to_reference(id);
        const CORBA::String_var text = server.orb()->object_to_string(object);
        const std::string reference = text.in();
        RunningServer partner("thread-per-connection", {}, RunningServer::Start::holding);
        const CORBA::Object_var back = partner.orb()->string_to_object(reference.c_str());
        const Probe::Target_var to_back = Probe::Target::_unchecked_narrow(back);
        partner.servant().action = [&] { to_back->ping(); };
        const CORBA::Object_var there = server.orb()->string_to_object(partner.reference().c_str());
        servant.partner = Probe::Target::_unchecked_narrow(there);
        partner.manager()->activate();
        const std::vector<Ended> ended = call_with_faults(seed, reference, server, servant);
        if (!ends_early(seed)) {
            Client client({"-ORBConnection", connection()});
            const Probe::Target_var target = client.target(reference);
            EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        }
        server.end();
        partner.end();
        servant.partner = Probe::Target::_nil();
        check(ended, servant, ends_early(seed));
    }

    static std::vector<Ended> call_with_faults(std::uint64_t seed, const std::string& reference,
                                               RunningServer& server,
                                               const CountingServant& servant)
    {
        std::optional<Signals> signals;
        if (seed % 2 == 0) signals.emplace();
        net::Faults faults(plan_of(seed));
        Client client({"-ORBConnection", connection(), "-ORBFragmentSize",
                       seed % 5 == 0 ? "1024" : "1048576"});
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
            for (int attempt = 0; attempt < 4 && how != "ok"; ++attempt)
                how = outcome([&] { target->ping(); });
            EXPECT_EQ(how, "ok");
        }).join();
        std::vector<Ended> all;
        for (const std::vector<Ended>& some : ended)
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }

    static void tell(std::uint64_t seed, const net::FaultCounts& counts,
                     const std::array<std::vector<Ended>, callers>& ended)
    {
        std::map<std::string, int> ends;
        for (const std::vector<Ended>& some : ended)
            for (const Ended& one : some)
                ++ends[one.how];
        std::printf("seed %llu: %llu cuts, %llu storms, %llu delays, %llu breaks, %llu refusals",
                    static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(counts.cuts),
                    static_cast<unsigned long long>(counts.storms),
                    static_cast<unsigned long long>(counts.delays),
                    static_cast<unsigned long long>(counts.breaks),
                    static_cast<unsigned long long>(counts.refusals));
        for (const auto& [how, count] : ends)
            std::printf("; %d %s", count, how.c_str());
        std::printf("\n");
    }

    static std::vector<Ended> call_often(std::uint64_t seed, unsigned caller, Client& client,
                                         const std::string& reference)
    {
        const Probe::Target_var patient = client.target(reference);
        const Probe::Target_var hasty = with(patient, round_trip(client.orb(), milliseconds(2)));
        std::mt19937_64 random(seed * callers + caller);
        std::vector<Ended> ended;
        for (unsigned i = 0; i < calls_each; ++i) {
            const auto kind = static_cast<unsigned>(random() % 9);
            Probe::Target_ptr target = random() % 8 == 0 ? hasty.in() : patient.in();
            ended.push_back(call(target, caller * calls_each + i, kind));
            if (ended.back().how == "ok" && is_oneway(kind)) ended.back().how = "sent";
        }
        return ended;
    }

    /// After the server's end: nothing is executed any more.
    static void check(const std::vector<Ended>& ended, const CountingServant& servant,
                      bool ended_early)
    {
        ASSERT_EQ(ended.size(), servant.executed.size());
        for (const Ended& one : ended) {
            EXPECT_TRUE(one.how == "sent" || may_end_so(one.how) ||
                        (ended_early && one.how == "OBJ_ADAPTER 0x4f4d0001 NO"))
                << one.how;
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
                                     "leader-followers", "worker-pool", "thread-per-request",
                                     "thread-per-object", "filter-chain")),
    both_names);

} // namespace
} // namespace kairos::orb_testing
