// SPDX-License-Identifier: Apache-2.0
//
// Calls that nobody waits for, and answers that are given later, while the system fails them as a
// seed says (tests/faults): reply handlers, pollers and coroutines, some of which are cancelled,
// beside ordinary calls; servants whose answers come from other threads; calls back to clients over
// their own connections, or over others; interceptors at both ends that refuse requests and send
// them on. Whatever the seed, in every architecture: each call ends once, with its own result or
// with an exception that may be expected there; nothing is executed twice, and what ended with
// COMPLETED_NO was not executed; interceptors are told of the end of whatever they were told of;
// once nothing fails any more calls succeed; and the end gives back what the ORBs had.
//
// KAIROS_SIM_SEED=<n> repeats one seed, KAIROS_SIM_SEEDS=<n> runs so many; with KAIROS_SIM_VERBOSE
// set each tells what it came to.
#include "kairos/corba/BiDirPolicy.h"
#include "kairos/messaging/task.h"
#include "tests/faults/faults.h"
#include "tests/interceptors/fixture.h"
#include "tests/robust/local.h"
#include "tests/sim/hazards.h"

#include "ways_skel.h"

#include <deque>
#include <random>
#include <stop_token>

namespace kairos::orb_testing {
namespace {

using net::testing::FaultPlan;
using net::testing::SystemCall;

constexpr unsigned callers = 3;
constexpr unsigned batch = 6; // calls of one caller that are under way at the same time
constexpr unsigned batches = 5;
constexpr unsigned calls = callers * batch * batches;
constexpr CORBA::ULong large = 20'000;
constexpr CORBA::ULong for_ever = 0xFFFFFFFF;

bool is_bidirectional(std::uint64_t seed) { return seed % 2 == 0; }
bool has_interceptors(std::uint64_t seed) { return seed % 3 != 0; }

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
                                  SystemCall::spare, SystemCall::thread})
        plan.of(call) = static_cast<std::uint16_t>(one_of(0, 0, 50, 400));
    return plan;
}

/// Threads that do what is left to them.
class Workers {
  public:
    Workers()
    {
        for (std::thread& thread : threads_)
            thread = std::thread([this] { work(); });
    }
    ~Workers()
    {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_)
            thread.join();
    }
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void leave(std::function<void()> job)
    {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
    }

  private:
    void work()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
            if (jobs_.empty()) return;
            const std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job();
            lock.lock();
        }
    }

    std::mutex mutex_; // guards what follows, but the threads
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool is_over_ = false;
    std::array<std::thread, 2> threads_;
};

using Executions = std::array<std::atomic<unsigned>, calls>;

/// Answers from other threads, and counts the executions of each call.
class LaterServant final : public POA_Ways::AMH_Target {
  public:
    explicit LaterServant(Workers& workers) : workers_(workers) {}

    void add(Ways::AMH_TargetResponseHandler_ptr _tao_rh, CORBA::Long number,
             CORBA::Boolean refuses) override
    {
        later(_tao_rh, number, [number, refuses](Ways::AMH_TargetResponseHandler_ptr handler) {
            if (!refuses) return handler->add(number + 1'000);
            Ways::AMH_TargetExceptionHolder holder(new Ways::Refused("asked to"));
            handler->add_excep(&holder);
        });
    }
    void mirror(Ways::AMH_TargetResponseHandler_ptr _tao_rh, CORBA::Long number,
                const Ways::Octets& octets) override
    {
        later(_tao_rh, number,
              [octets](Ways::AMH_TargetResponseHandler_ptr handler) { handler->mirror(octets); });
    }
    void through(Ways::AMH_TargetResponseHandler_ptr _tao_rh, CORBA::Long number,
                 Ways::Back_ptr back) override
    {
        const Ways::Back_var kept = Ways::Back::_duplicate(back);
        later(_tao_rh, number, [number, kept](Ways::AMH_TargetResponseHandler_ptr handler) {
            CORBA::Long taken = 0;
            const std::string how = outcome([&] { taken = kept->took(number); });
            if (how == "ok") return handler->through(taken);
            Ways::AMH_TargetExceptionHolder holder(new Ways::Refused(how.c_str()));
            handler->through_excep(&holder);
        });
    }

    Executions executed{};

  private:
    template <typename Answer>
    void later(Ways::AMH_TargetResponseHandler_ptr handler, CORBA::Long number, Answer answer)
    {
        ++executed.at(static_cast<std::size_t>(number));
        workers_.leave([kept = Ways::AMH_TargetResponseHandler_var(
                            Ways::AMH_TargetResponseHandler::_duplicate(handler)),
                        answer = std::move(answer)] { answer(kept.in()); });
    }

    Workers& workers_;
};

class BackServant final : public POA_Ways::Back {
  public:
    CORBA::Long took(CORBA::Long number) override
    {
        ++executed.at(static_cast<std::size_t>(number));
        return number + 2'000;
    }
    Executions executed{};
};

/// Hears of the end of one call at a time.
class Hearer final : public POA_Ways::AMI_TargetHandler {
  public:
    void begin()
    {
        const std::lock_guard lock(mutex_);
        heard_ = 0;
    }
    /// Waits until it has heard, and returns what.
    [[nodiscard]] std::string how()
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return heard_ > 0; })) return "nothing";
        return heard_ == 1 ? how_ : "more than one end";
    }
    CORBA::Long number = 0; ///< of the result
    Ways::Octets octets;

    void add(CORBA::Long result) override { end("ok", result); }
    void add_excep(Messaging::ExceptionHolder* holder) override { fail(holder); }
    void mirror(const Ways::Octets& result) override
    {
        octets = result;
        end("ok", 0);
    }
    void mirror_excep(Messaging::ExceptionHolder* holder) override { fail(holder); }
    void through(CORBA::Long result) override { end("ok", result); }
    void through_excep(Messaging::ExceptionHolder* holder) override { fail(holder); }

  private:
    void fail(Messaging::ExceptionHolder* holder)
    {
        end(outcome([&] { holder->raise_exception(); }), 0);
    }
    void end(std::string how, CORBA::Long result)
    {
        const std::lock_guard lock(mutex_);
        ++heard_;
        how_ = std::move(how);
        number = result;
        changed_.notify_all();
    }

    std::mutex mutex_; // guards what follows, and the results
    std::condition_variable changed_;
    unsigned heard_ = 0;
    std::string how_;
};

/// What is called of the operations, and what its result has to be.
struct Called {
    enum class Kind { add, refuse, mirror, through, count_ };
    Kind kind;
    CORBA::Long number;

    [[nodiscard]] Ways::Octets octets() const
    {
        Ways::Octets all;
        all.length(large);
        for (CORBA::ULong i = 0; i < large; ++i)
            all[i] = static_cast<CORBA::Octet>(static_cast<CORBA::ULong>(number) + i);
        return all;
    }
    /// What it ended with, if the result is its own.
    [[nodiscard]] std::string with(const std::string& how, CORBA::Long result,
                                   const Ways::Octets& mirrored) const
    {
        if (kind == Kind::refuse) return how == "ok" ? "no exception" : how;
        if (how != "ok") return how;
        if (kind == Kind::add && result != number + 1'000) return "another's sum";
        if (kind == Kind::through && result != number + 2'000) return "another's taking";
        if (kind != Kind::mirror) return how;
        const Ways::Octets own = octets();
        return mirrored.length() == large &&
                       std::equal(own.get_buffer(), own.get_buffer() + large, mirrored.get_buffer())
                   ? how
                   : "others' octets";
    }
};

struct Ended {
    Called called;
    std::string how;
};

/// Whether the call may end so while the system fails.
bool may_end_so(const Ended& ended, std::uint64_t seed)
{
    if (ended.how == "Refused")
        return ended.called.kind == Called::Kind::refuse ||
               ended.called.kind == Called::Kind::through;
    if (ended.how == "Cancelled") return true;
    if (ended.how == "NO_PERMISSION 0x9 NO" || ended.how == "NO_PERMISSION 0xa NO")
        return has_interceptors(seed);
    for (const std::string_view one :
         {"ok", "COMM_FAILURE 0x4b520002 MAYBE", "TRANSIENT 0x4b520001 NO",
          "TRANSIENT 0x4b520002 NO", "NO_RESOURCES 0x0 NO"})
        if (ended.how == one) return true;
    return false;
}

messaging::Task<std::string> awaited(Ways::Target_ptr target, Ways::Back_ptr back, Called called,
                                     std::stop_token token)
{
    const auto options = messaging::AsyncOptions().stopped_by(std::move(token));
    CORBA::Long result = 0;
    Ways::Octets octets;
    std::string how = "ok";
    try {
        switch (called.kind) {
        case Called::Kind::mirror: {
            const Ways::Octets sent = called.octets();
            const Ways::Octets_var got =
                co_await target->async(options).mirror(called.number, sent);
            octets = got.in();
            break;
        }
        case Called::Kind::through:
            result = co_await target->async(options).through(called.number, back);
            break;
        default:
            result = co_await target->async(options).add(called.number,
                                                         called.kind == Called::Kind::refuse);
        }
    } catch (const messaging::Cancelled&) {
        how = "Cancelled";
    } catch (...) {
        const std::exception_ptr failure = std::current_exception();
        how = outcome([&] { std::rethrow_exception(failure); });
    }
    co_return called.with(how, result, octets);
}

/// A client with a thread in ORB::run.
class WaysClient {
  public:
    WaysClient(const std::string& reference, std::uint64_t seed)
        : orb_(make_orb({"-ORBFragmentSize", seed % 5 == 0 ? "1024" : "1048576"}))
    {
        const CORBA::Object_var root_object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var root = PortableServer::POA::_narrow(root_object);
        const PortableServer::POAManager_var manager = root->the_POAManager();
        CORBA::PolicyList policies = policies_of(orb_, seed);
        poa_ = root->create_POA("client", manager, policies);
        const CORBA::Object_var object = orb_->string_to_object(reference.c_str());
        const CORBA::Object_var offering =
            object->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
        target_ = Ways::Target::_unchecked_narrow(offering);
        const CORBA::Object_var back = activate(&back_servant_);
        back_ = Ways::Back::_unchecked_narrow(back);
        for (Hearer& hearer : hearers_) {
            const CORBA::Object_var handler = activate(&hearer);
            handlers_.emplace_back(Ways::AMI_TargetHandler::_unchecked_narrow(handler));
        }
        manager->activate();
        thread_ = std::thread([this] { (void)outcome([&] { orb_->run(); }); });
    }
    ~WaysClient()
    {
        end();
        orb_->destroy();
    }
    WaysClient(const WaysClient&) = delete;
    WaysClient& operator=(const WaysClient&) = delete;

    void end()
    {
        if (!thread_.joinable()) return;
        orb_->shutdown(true);
        thread_.join();
    }

    static CORBA::PolicyList policies_of(CORBA::ORB_ptr orb, std::uint64_t seed)
    {
        CORBA::PolicyList policies;
        if (!is_bidirectional(seed)) return policies;
        CORBA::Any any;
        any <<= BiDirPolicy::BOTH;
        policies.length(1);
        policies[0] = orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, any);
        return policies;
    }

    [[nodiscard]] std::vector<Ended> call_often(std::uint64_t seed, unsigned caller)
    {
        std::mt19937_64 random(seed * callers + caller);
        std::vector<Ended> ended;
        for (unsigned i = 0; i < batches; ++i)
            call_some(random, caller, (caller * batches + i) * batch, ended);
        return ended;
    }
    [[nodiscard]] std::string call_once()
    {
        return outcome([&] { EXPECT_EQ(1'000, target_->add(0, false)); });
    }
    [[nodiscard]] const Executions& taken() const { return back_servant_.executed; }

  private:
    [[nodiscard]] CORBA::Object_ptr activate(PortableServer::Servant servant)
    {
        const PortableServer::ObjectId_var id = poa_->activate_object(servant);
        return poa_->id_to_reference(id);
    }

    void call_some(std::mt19937_64& random, unsigned caller, unsigned first,
                   std::vector<Ended>& ended)
    {
        std::vector<std::pair<Hearer*, Called>> hearing;
        std::vector<std::pair<Ways::AMI_TargetPoller_var, Called>> polled;
        for (unsigned i = 0; i < batch; ++i) {
            const auto kind = random() % static_cast<unsigned>(Called::Kind::count_);
            const Called called{static_cast<Called::Kind>(kind),
                                static_cast<CORBA::Long>(first + i)};
            std::string how = "ok";
            switch (random() % 4) {
            case 0: {
                Hearer& hearer = hearers_.at(caller * batch + i);
                hearer.begin();
                how = outcome([&] { send(called, handlers_.at(caller * batch + i).in()); });
                if (how == "ok") hearing.emplace_back(&hearer, called);
                break;
            }
            case 1: {
                Ways::AMI_TargetPoller_var poller;
                how = outcome([&] { poller = send(called); });
                if (how == "ok") polled.emplace_back(std::move(poller), called);
                break;
            }
            case 2:
                ended.push_back({called, await(called, random() % 4)});
                continue;
            default:
                ended.push_back({called, call(called)});
                continue;
            }
            if (how != "ok") ended.push_back({called, how});
        }
        for (const auto& [hearer, called] : hearing) {
            const std::string how = hearer->how();
            ended.push_back({called, called.with(how, hearer->number, hearer->octets)});
        }
        for (const auto& [poller, called] : polled)
            ended.push_back({called, poll(poller.in(), called)});
    }

    [[nodiscard]] std::string call(const Called& called)
    {
        CORBA::Long result = 0;
        Ways::Octets_var octets = new Ways::Octets;
        const std::string how = outcome([&] {
            if (called.kind == Called::Kind::mirror)
                octets = target_->mirror(called.number, called.octets());
            else if (called.kind == Called::Kind::through)
                result = target_->through(called.number, back_.in());
            else
                result = target_->add(called.number, called.kind == Called::Kind::refuse);
        });
        return called.with(how, result, octets.in());
    }
    void send(const Called& called, Ways::AMI_TargetHandler_ptr handler)
    {
        if (called.kind == Called::Kind::mirror)
            target_->sendc_mirror(handler, called.number, called.octets());
        else if (called.kind == Called::Kind::through)
            target_->sendc_through(handler, called.number, back_.in());
        else
            target_->sendc_add(handler, called.number, called.kind == Called::Kind::refuse);
    }
    [[nodiscard]] Ways::AMI_TargetPoller* send(const Called& called)
    {
        if (called.kind == Called::Kind::mirror)
            return target_->sendp_mirror(called.number, called.octets());
        if (called.kind == Called::Kind::through)
            return target_->sendp_through(called.number, back_.in());
        return target_->sendp_add(called.number, called.kind == Called::Kind::refuse);
    }
    [[nodiscard]] static std::string poll(Ways::AMI_TargetPoller* poller, const Called& called)
    {
        CORBA::Long result = 0;
        Ways::Octets_var octets = new Ways::Octets;
        const std::string how = outcome([&] {
            if (called.kind == Called::Kind::mirror)
                poller->mirror(for_ever, octets.out());
            else if (called.kind == Called::Kind::through)
                poller->through(for_ever, result);
            else
                poller->add(for_ever, result);
        });
        return called.with(how, result, how == "ok" ? octets.in() : Ways::Octets());
    }
    /// Stops one in four, at whatever point it is.
    [[nodiscard]] std::string await(const Called& called, std::uint64_t fate)
    {
        std::stop_source stop;
        std::jthread stopping;
        if (fate == 0) stopping = std::jthread([&] { stop.request_stop(); });
        return awaited(target_.in(), back_.in(), called, stop.get_token()).wait();
    }

    BackServant back_servant_; // these two outlive the ORB
    std::array<Hearer, callers * batch> hearers_;
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    Ways::Target_var target_;
    Ways::Back_var back_;
    std::vector<Ways::AMI_TargetHandler_var> handlers_;
    std::thread thread_;
};

/// What interceptors were told of, and whether they refuse and forward.
struct Told {
    std::atomic<long> requests{0}; ///< minus the ends of requests
    std::atomic<unsigned> turn{0};
    std::atomic<bool> is_quiet{false};
    CORBA::Object_var elsewhere; ///< where requests are sent on to; set before they begin

    [[nodiscard]] bool is_turn(unsigned every) { return !is_quiet && ++turn % every == 0; }
};

/// Whether the thread calls as the seed says: what dispatches replies calls handlers, which are to
/// hear of them.
thread_local bool is_caller = false;

/// Of the server's ORB, or of the client's.
void add_interceptors(PI::ORBInitInfo_ptr info, Told& told, bool is_server)
{
    const auto begin = [&told](auto*) { ++told.requests; };
    const auto end = [&told](auto*) { --told.requests; };
    const auto refuse = [&told](auto*) {
        if (is_caller && told.is_turn(17)) throw CORBA::NO_PERMISSION(9, CORBA::COMPLETED_NO);
    };
    const auto send_on = [&told, is_server](auto*) {
        if (!is_server) return;
        if (told.is_turn(19)) throw CORBA::NO_PERMISSION(10, CORBA::COMPLETED_NO);
        if (told.is_turn(23)) throw PI::ForwardRequest(told.elsewhere.in());
    };
    add_client(info, "counts", nullptr,
               {{"send_request", begin},
                {"receive_reply", end},
                {"receive_exception", end},
                {"receive_other", end}});
    add_client(info, "refuses", nullptr, {{"send_request", refuse}});
    add_server(
        info, "counts", nullptr,
        {{"arrival", begin}, {"send_reply", end}, {"send_exception", end}, {"send_other", end}});
    add_server(info, "refuses", nullptr, {{"receive_request", send_on}});
}

class WaysSim : public EveryArchitecture {
  protected:
    static void run(std::uint64_t seed)
    {
        const std::string what =
            std::string("KAIROS_SIM_SEED=") + std::to_string(seed) + " " + GetParam();
        SCOPED_TRACE(what);
        const Watchdog watchdog(what);
        Told at_client;
        Told at_server;
        bool is_server = true; // whose ORB comes first
        std::optional<Plan> plan;
        if (has_interceptors(seed))
            plan.emplace([&](PI::ORBInitInfo_ptr info) {
                add_interceptors(info, is_server ? at_server : at_client, is_server);
                is_server = false;
            });
        Workers workers; // these two outlive the server
        LaterServant servant(workers);
        RunningServer server(GetParam(), {}, RunningServer::Start::holding);
        const PortableServer::POA_var poa = server.poa()->create_POA(
            "ways", server.manager(), WaysClient::policies_of(server.orb(), seed));
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        const CORBA::String_var text = server.orb()->object_to_string(object);
        at_server.elsewhere = CORBA::Object::_duplicate(object);
        server.manager()->activate();
        WaysClient client(text.in(), seed);
        const std::vector<Ended> ended = call_all(client, seed);
        at_client.is_quiet = at_server.is_quiet = true;
        std::thread([&] {
            std::string how; // the connections of before may have broken
            for (int attempt = 0; how != "ok" && attempt < 4; ++attempt)
                how = client.call_once();
            EXPECT_EQ(how, "ok");
        }).join();
        client.end();
        server.end();
        if (std::getenv("KAIROS_SIM_VERBOSE") != nullptr) tell(seed, ended);
        at_server.elsewhere = CORBA::Object::_nil();
        check(ended, servant.executed, client.taken(), seed);
        EXPECT_EQ(at_client.requests, 0);
        EXPECT_EQ(at_server.requests, 0);
    }

    static std::vector<Ended> call_all(WaysClient& client, std::uint64_t seed)
    {
        net::testing::Faults faults(plan_of(seed));
        std::optional<Signals> signals;
        if (seed % 2 == 0) signals.emplace();
        std::array<std::vector<Ended>, callers> ended;
        std::vector<std::thread> threads;
        for (unsigned caller = 0; caller < callers; ++caller)
            threads.emplace_back(
                [&, caller] { ended.at(caller) = client.call_often(seed, caller); });
        for (std::thread& thread : threads)
            thread.join();
        faults.stop();
        std::vector<Ended> all;
        for (const std::vector<Ended>& some : ended)
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }

    static void tell(std::uint64_t seed, const std::vector<Ended>& ended)
    {
        std::map<std::string, int> ends;
        for (const Ended& one : ended)
            ++ends[one.how];
        std::string text = "seed " + std::to_string(seed);
        for (const auto& [how, count] : ends)
            text += "; " + std::to_string(count) + " " + how;
        std::puts(text.c_str());
    }

    static void check(const std::vector<Ended>& ended, const Executions& served,
                      const Executions& taken, std::uint64_t seed)
    {
        ASSERT_EQ(ended.size(), calls);
        for (const Ended& one : ended) {
            const auto number = static_cast<std::size_t>(one.called.number);
            // The last call, when nothing fails, has the first one's number.
            const unsigned executed = served.at(number) - (number == 0 ? 1 : 0);
            EXPECT_TRUE(may_end_so(one, seed)) << one.called.number << " ended: " << one.how;
            EXPECT_LE(executed, 1U) << one.called.number << " ended: " << one.how;
            EXPECT_LE(taken.at(number), executed) << one.called.number << " ended: " << one.how;
            EXPECT_TRUE(executed == 1 || (one.how != "ok" && one.how != "Refused"))
                << one.called.number << " ended: " << one.how;
            EXPECT_TRUE(executed == 0 || !one.how.ends_with(" NO"))
                << one.called.number << " ended: " << one.how;
        }
    }
};

TEST_P(WaysSim, EveryCallEndsOnceHoweverItWasMade)
{
    const char* const one = std::getenv("KAIROS_SIM_SEED");
    const char* const many = std::getenv("KAIROS_SIM_SEEDS");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    const std::uint64_t count = many != nullptr  ? std::strtoull(many, nullptr, 10)
                                : one != nullptr ? 1
                                                 : 6;
    for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
        run(seed);
}

KAIROS_EVERY_ARCHITECTURE(WaysSim);

} // namespace
} // namespace kairos::orb_testing
