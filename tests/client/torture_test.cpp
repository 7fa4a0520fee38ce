// SPDX-License-Identifier: Apache-2.0
//
// Every way to connect against several ways to serve: calls, oneways, time limits that run out, a
// server that ends while calls are under way, and then the client's ORB. What a call ends with is
// one of few things, a reply is never another's, and all that was begun ends.
#include "tests/client/policies.h"

#include <memory>
#include <random>
#include <tuple>

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;

class Torture : public testing::TestWithParam<std::tuple<const char*, const char*>> {
  protected:
    static constexpr int callers = 12;
    static constexpr int rounds = 200;

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

INSTANTIATE_TEST_SUITE_P(Architectures, Torture,
                         testing::Combine(testing::Values("non-multiplexed", "leader-followers",
                                                          "active"),
                                          testing::Values("thread-per-connection", "reactor",
                                                          "worker-pool", "leader-followers")),
                         both_names);

} // namespace
} // namespace kairos::orb_testing
