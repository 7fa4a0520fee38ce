// SPDX-License-Identifier: Apache-2.0
//
// Connections that threads share, to peers of which nothing comes any more: after three calls
// whose time was over the next have another, and nobody's call ends by that.
#include "tests/client/policies.h"
#include "tests/faults/faults.h"
#include "tests/robust/local.h"

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;

/// Whether the request was sent by then or not.
void expect_too_late(Probe::Target_ptr target)
{
    EXPECT_TRUE(outcome([&] { target->ping(); }).starts_with("TIMEOUT"));
}

class Unanswered : public testing::TestWithParam<const char*> {
  protected:
    [[nodiscard]] static Arguments sharing() { return {"-ORBConnection", GetParam()}; }

    LogLines log_;
    RunningServer server_{"thread-per-connection"};
    Client client_{sharing()};
    Probe::Target_var target_ = client_.target(server_.reference());
    Probe::Target_var impatient_ = with(target_, round_trip(client_.orb(), milliseconds(20)));
};

TEST_P(Unanswered, BlackHolesAreLeft)
{
    {
        net::testing::Faults faults({.seed = 1, .break_within = 1, .silences = 100});
        while (outcome([&] { impatient_->ping(); }) == "ok") // a few octets get through
            ;
        faults.stop(); // the connection stays as it is
        // By another connection, once this one is left: a call that was not sent in its time, as on
        // a busy machine, says nothing of it, and during one a part of the reply may have come.
        int calls = 1;
        while (outcome([&] { impatient_->ping(); }) != "ok" && calls < 1000)
            ++calls;
        EXPECT_LT(calls, 1000);
        EXPECT_EQ(outcome([&] { target_->ping(); }), "ok");
    }
    // What the Faults carried has ended with them, and the connection may have been one of these:
    // it was made before they were stopped, and used afterwards. Then this call may say so.
    const std::string how = outcome([&] { target_->ping(); });
    EXPECT_TRUE(how == "ok" || how == "COMM_FAILURE 0x4b520002 MAYBE") << how;
    EXPECT_EQ(outcome([&] { target_->ping(); }), "ok");
}

/// A server that is busy with one call of the connection cannot be told from a black hole.
class Busy : public Unanswered {
  protected:
    Busy()
    {
        server_.servant().action = [this] {
            inside_.set();
            EXPECT_TRUE(let_go_.wait());
        };
        patient_ = std::thread([this] { how_ = outcome([&] { target_->act(); }); });
        EXPECT_TRUE(inside_.wait());
    }
    ~Busy() override
    {
        let_go_.set();
        if (patient_.joinable()) patient_.join();
    }

    Event inside_;
    Event let_go_;
    std::string how_;
    std::thread patient_;
};

TEST_P(Busy, CallsThatWaitGoOn)
{
    for (int i = 0; i < 3; ++i)
        expect_too_late(impatient_);
    EXPECT_EQ(outcome([&] { target_->ping(); }), "ok"); // by another connection
    let_go_.set();
    patient_.join();
    EXPECT_EQ(how_, "ok");
}

TEST_P(Busy, OneCallAloneSaysNothing)
{
    expect_too_late(impatient_);
    std::string how;
    std::thread other([&] { how = outcome([&] { target_->ping(); }); });
    let_go_.set();
    other.join();
    patient_.join();
    EXPECT_EQ(how + how_, "okok");
}

TEST_P(Busy, CallsThatWaitEndWithTheirOrb)
{
    for (int i = 0; i < 3; ++i)
        expect_too_late(impatient_);
    EXPECT_EQ(outcome([&] { target_->ping(); }), "ok");
    client_.orb()->destroy();
    patient_.join();
    EXPECT_EQ(how_, "COMM_FAILURE 0x4b520002 MAYBE");
    let_go_.set();
}

INSTANTIATE_TEST_SUITE_P(Sharing, Unanswered, testing::Values("leader-followers", "active"),
                         architecture_name);
INSTANTIATE_TEST_SUITE_P(Sharing, Busy, testing::Values("leader-followers", "active"),
                         architecture_name);

} // namespace
} // namespace kairos::orb_testing
