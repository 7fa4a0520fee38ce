// SPDX-License-Identifier: Apache-2.0
//
// Every way to connect against every way to serve: calls, oneways, time limits that run out, a peer
// that cancels and goes away as it likes, a server that ends while calls are under way, and then
// the client's ORB. What a call ends with is one of few things, a reply is never another's, and all
// that was begun ends.
#include "tests/client/policies.h"

#include <map>
#include <memory>
#include <random>
#include <tuple>

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;

/// One connection of a client that changes its mind: it cancels what is under way, what was
/// answered and what it never asked. A whole request that is cancelled is answered all the same,
/// for the cancel may always come too late; parts of one are forgotten.
class FickleConnection {
  public:
    FickleConnection(const RunningServer& server, std::mt19937& random)
        : key_(server.key_bytes()), peer_(server.connect()), random_(random),
          version_{1, static_cast<std::uint8_t>(random() % 3)},
          next_id_(static_cast<std::uint32_t>(random()))
    {
    }
    /// Does so much by chance.
    void go_on(int steps)
    {
        while (steps-- > 0)
            step();
    }
    /// Reads what it is owed still: one answer to each, and nothing else.
    void hear_all()
    {
        while (!owed_.empty())
            hear();
    }

  private:
    void step()
    {
        switch (random_() % 8) {
        case 0:
            return cancel(owed_.empty() ? answered_ : owed_.begin()->first);
        case 1:
            return cancel(answered_);
        case 2:
            return cancel(static_cast<std::uint32_t>(random_()));
        case 3:
            peer_.send(request(key_, "note", ++next_id_, version_, false).u32(1).finish());
            return;
        case 4:
            return version_ == giop::version_1_2 ? ask_in_parts() : ask();
        case 5:
            if (!owed_.empty()) hear();
            return;
        default:
            ask();
        }
    }
    void cancel(std::uint32_t id)
    {
        peer_.send(WireMessage(giop::MessageType::cancel_request, version_).u32(id).finish());
    }
    void ask()
    {
        const std::uint32_t left = promise(++next_id_);
        peer_.send(request(key_, "add", next_id_, version_).u32(left).u32(1).finish());
    }
    void ask_in_parts()
    {
        peer_.send(request(key_, "add", ++next_id_, version_).flag(2).finish());
        const bool changes_its_mind = random_() % 2 == 0;
        if (changes_its_mind) cancel(next_id_);
        if (changes_its_mind && random_() % 2 == 0) return;
        const std::uint32_t left = changes_its_mind ? 1 : promise(next_id_);
        WireMessage rest(giop::MessageType::fragment, version_);
        peer_.send(rest.u32(next_id_).u32(left).u32(1).finish());
    }
    /// What to add one to, of which the answer will be known again.
    std::uint32_t promise(std::uint32_t id)
    {
        const std::uint32_t left = id % 1'000'000;
        owed_.emplace(id, left + 1);
        return left;
    }
    void hear()
    {
        const ParsedReply answer(peer_.read_message());
        const auto expected = owed_.find(answer.reply.request_id);
        if (!answer.valid || expected == owed_.end()) {
            ADD_FAILURE() << "not an answer: " << answer.text() << " to "
                          << answer.reply.request_id;
            owed_.clear(); // what else comes would be no better
            return;
        }
        EXPECT_EQ(answer.text(), "NO_EXCEPTION");
        cdr::Reader body = answer.reply.body;
        EXPECT_EQ(body.read<std::uint32_t>(), expected->second);
        answered_ = expected->first;
        owed_.erase(expected);
    }

    const Bytes key_;
    RawPeer peer_;
    std::mt19937& random_;
    const giop::Version version_;
    std::uint32_t next_id_;
    std::uint32_t answered_ = 0;
    std::map<std::uint32_t, std::uint32_t> owed_; // the answers by the ids of their requests
};

/// A client that connects again and again, and closes wherever it is.
void be_fickle(const RunningServer& server, unsigned seed)
try {
    constexpr int connections = 25;
    constexpr unsigned steps = 20;
    std::mt19937 random(seed);
    for (int i = 0; i < connections; ++i) {
        FickleConnection connection(server, random);
        connection.go_on(static_cast<int>(random() % steps));
        if (random() % 2 == 0) connection.hear_all();
    }
} catch (const std::exception& exception) {
    ADD_FAILURE() << "the fickle client ended with " << exception.what();
}

class Torture : public testing::TestWithParam<std::tuple<const char*, const char*>> {
  protected:
    static constexpr int callers = 12;
    static constexpr int rounds = 100;

    [[nodiscard]] static bool is_expected(std::string_view ended)
    {
        for (const std::string_view one :
             {"ok", "TIMEOUT", "COMM_FAILURE", "TRANSIENT", "OBJECT_NOT_EXIST", "OBJ_ADAPTER"})
            if (ended.starts_with(one)) return true;
        return false;
    }
    [[nodiscard]] std::unique_ptr<RunningServer> server()
    {
        auto made = std::make_unique<RunningServer>(
            std::get<1>(GetParam()), std::vector<std::string>{}, RunningServer::Start::holding);
        made->servant().action = [this] {
            std::this_thread::yield();
            if (!holds_) return;
            inside_.set();
            EXPECT_TRUE(go_.wait());
        };
        made->manager()->activate();
        return made;
    }
    /// One caller's calls, by chance; counts those that came back.
    static void call(Probe::Target_ptr target, Probe::Target_ptr hasty, unsigned seed,
                     std::atomic<int>& answered)
    {
        std::mt19937 random(seed);
        for (int i = 0; i < rounds; ++i) {
            const auto number = static_cast<CORBA::Long>(random() % 1'000'000);
            const std::string ended = outcome([&] {
                switch (random() % 6) {
                case 0:
                    return target->note(number);
                case 1:
                    return target->act();
                case 2:
                    return hasty->act();
                case 3: {
                    const std::string text(random() % 40'000, static_cast<char>('a' + seed % 26));
                    const CORBA::String_var echoed = target->echo(text.c_str());
                    EXPECT_EQ(text, echoed.in());
                    break;
                }
                default:
                    EXPECT_EQ(target->add(number, 1), number + 1);
                }
                ++answered;
            });
            EXPECT_TRUE(is_expected(ended)) << ended;
        }
    }
    LogLines log_;
    std::atomic<bool> holds_{false}; // what `act` does: it waits
    Event inside_;
    Event go_;
};

TEST_P(Torture, CallersNeverGetWhatIsNotTheirs)
{
    auto first = server();
    auto second = server();
    const CORBA::ORB_var orb = make_orb({"-ORBConnection", std::get<0>(GetParam())});
    std::vector<std::thread> threads;
    std::atomic<int> answered{0};
    for (unsigned i = 0; i < callers; ++i) {
        const std::string& reference = i % 3 == 0 ? first->reference() : second->reference();
        threads.emplace_back([&, i, reference] {
            const CORBA::Object_var object = orb->string_to_object(reference.c_str());
            const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
            const Probe::Target_var hasty = with(target, round_trip(orb, milliseconds(1)));
            call(target, hasty, i, answered);
        });
    }
    threads.emplace_back([&] { be_fickle(*second, callers); });
    while (answered < callers * rounds / 8)
        std::this_thread::yield();
    first.reset(); // in order, with calls under way
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_GT(answered, callers * rounds / 4);
    // And the end of the client while somebody waits.
    holds_ = true;
    std::vector<std::string> ends(4);
    std::vector<std::thread> waiting;
    const CORBA::Object_var object = orb->string_to_object(second->reference().c_str());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    for (std::string& end : ends)
        waiting.emplace_back([&] { end = outcome([&] { target->act(); }); });
    EXPECT_TRUE(inside_.wait());
    orb->destroy();
    for (std::thread& thread : waiting)
        thread.join();
    go_.set();
    for (const std::string& end : ends)
        EXPECT_TRUE(end.starts_with("COMM_FAILURE") || end.starts_with("BAD_INV_ORDER") ||
                    end.starts_with("TRANSIENT"))
            << end;
}

std::string both_names(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info)
{
    std::string name = std::string(std::get<0>(info.param)) + "_to_" + std::get<1>(info.param);
    std::ranges::replace(name, '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(
    Architectures, Torture,
    testing::Combine(testing::Values("non-multiplexed", "leader-followers", "active"),
                     testing::Values("thread-per-connection", "reactor", "reactor-per-priority",
                                     "reactor-per-priority-each", "leader-followers", "worker-pool",
                                     "thread-per-request", "thread-per-object", "filter-chain")),
    both_names);

} // namespace
} // namespace kairos::orb_testing
