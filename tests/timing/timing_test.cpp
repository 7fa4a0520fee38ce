// SPDX-License-Identifier: Apache-2.0
//
// What becomes of operations that end after the deadlines of their IDL (docs/scheduling.md).
#include "kairos/orb/late_calls.h"
#include "tests/malformed/fixture.h"

#include "timed_skel.h"

namespace kairos::orb_testing {
namespace {

constexpr const char* late_and_executed = "TIMEOUT 0x4b520011 YES";
constexpr const char* late_and_not_executed = "TIMEOUT 0x4b520011 NO";

class SensorsServant final : public POA_Timed::Sensors {
  public:
    std::atomic<int> executed{0};
    std::atomic<bool> fails{false};

    CORBA::Long in_time(CORBA::Long value) override { return count(value); }
    CORBA::Long never(CORBA::Long value) override { return count(value); }
    CORBA::Long when_ready(CORBA::Long value) override
    {
        // Until the deadline, which is a second after something earlier, has passed.
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin <= std::chrono::seconds(1))
            std::this_thread::yield();
        if (fails) throw Timed::Failed();
        return count(value);
    }
    void note(CORBA::Long value) override { (void)count(value); }
    void undated() override { ++executed; }
    void untimed() override { ++executed; }

  private:
    CORBA::Long count(CORBA::Long value)
    {
        ++executed;
        return value + 1;
    }
};

class Late : public ::testing::TestWithParam<const char*> {
  protected:
    /// Serves with this architecture; `late` is what -ORBLateCalls says.
    void serve(const std::string& late)
    {
        std::vector<std::string> options = orb_testing::options_of_architecture(GetParam());
        options.insert(options.end(),
                       {"-ORBLateCalls", late, "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        orb_ = make_orb(std::move(options));
        orb_->_kairos_set_late_call_handler([this](const orb::LateCall& call) {
            const std::lock_guard lock(mutex_);
            calls_.push_back(std::string(call.operation) + (call.executed ? " done" : " not done"));
            EXPECT_GT(call.response, call.deadline);
            reported_.notify_all();
        });
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        const PortableServer::ObjectId_var id = poa->activate_object(&servant_);
        const CORBA::Object_var reference = poa->id_to_reference(id);
        const CORBA::String_var text = orb_->object_to_string(reference);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        thread_ = std::thread([this] {
            try {
                orb_->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before this thread came that far
            }
        });
        const CORBA::Object_var remote = client_.orb()->string_to_object(text);
        sensors_ = Timed::Sensors::_unchecked_narrow(remote);
    }
    ~Late() override
    {
        orb_->shutdown(true);
        thread_.join();
        orb_->destroy();
    }
    [[nodiscard]] std::vector<std::string> wait_for_reports(std::size_t count)
    {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(reported_.wait_for(lock, patience, [&] { return calls_.size() >= count; }));
        return calls_;
    }

    LogLines log_;
    Client client_;
    CORBA::ORB_var orb_;
    SensorsServant servant_;
    Timed::Sensors_var sensors_;

  private:
    std::thread thread_;
    std::mutex mutex_; // guards what follows
    std::vector<std::string> calls_;
    std::condition_variable reported_;
};

using Reports = std::vector<std::string>;

TEST_P(Late, CallsAreReportedAndAnswered)
{
    serve("results");
    EXPECT_EQ(sensors_->in_time(1), 2);
    sensors_->undated();
    sensors_->untimed();
    EXPECT_EQ(orb_->_kairos_late_calls(), 0u);
    EXPECT_EQ(sensors_->never(1), 2);
    EXPECT_EQ(wait_for_reports(1), Reports{"Timed::Sensors::never done"});
    sensors_->note(1);
    EXPECT_EQ(wait_for_reports(2).back(), "Timed::Sensors::note done");
    EXPECT_EQ(orb_->_kairos_late_calls(), 2u);
    EXPECT_EQ(servant_.executed, 5);
}

TEST_P(Late, CallsAreNotBegunIfSoWanted)
{
    serve("timeout");
    EXPECT_EQ(sensors_->in_time(1), 2);
    sensors_->untimed();
    EXPECT_EQ(outcome([this] { (void)sensors_->never(1); }), late_and_not_executed);
    EXPECT_EQ(wait_for_reports(1), Reports{"Timed::Sensors::never not done"});
    EXPECT_EQ(servant_.executed, 2);
}

TEST_P(Late, ResultsAreReplacedIfSoWanted)
{
    serve("timeout");
    EXPECT_EQ(outcome([this] { (void)sensors_->when_ready(1); }), late_and_executed);
    EXPECT_EQ(wait_for_reports(1), Reports{"Timed::Sensors::when_ready done"});
    EXPECT_EQ(servant_.executed, 1);
    EXPECT_EQ(sensors_->in_time(1), 2); // the connection goes on
}

/// What the servant says is worth more than that it was late.
TEST_P(Late, ExceptionsAreReportedAndAnswered)
{
    serve("timeout");
    servant_.fails = true;
    EXPECT_EQ(outcome([this] { (void)sensors_->when_ready(1); }), "Failed");
    EXPECT_EQ(wait_for_reports(1), Reports{"Timed::Sensors::when_ready done"});
}

KAIROS_EVERY_ARCHITECTURE(Late);

TEST(Timings, AreDataOfTheSkeleton)
{
    const auto timings = POA_Timed::Sensors::_kairos_timings();
    ASSERT_EQ(timings.size(), 5u);
    const orb::OperationTiming& first = timings[0];
    EXPECT_EQ(first.operation, "Timed::Sensors::in_time");
    EXPECT_EQ(first.period, 1'000'000'000);
    EXPECT_EQ(first.deadline, 3'600'000'000'000);
    EXPECT_EQ(first.worst_case, 200'000);
    EXPECT_EQ(first.criticality, 3);
    EXPECT_EQ(first.importance, 2);
    EXPECT_EQ(timings[4].operation, "Timed::Sensors::undated");
    EXPECT_EQ(timings[4].deadline, 0);
    EXPECT_EQ(timings[4].importance, 4);
}

} // namespace
} // namespace kairos::orb_testing
