// SPDX-License-Identifier: Apache-2.0
//
// Thread pools whose threads all wait for calls of their own, or have not begun, in a system that
// gives no more threads.
#include "tests/faults/faults.h"
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

net::testing::FaultPlan without_threads()
{
    net::testing::FaultPlan plan;
    plan.of(net::testing::SystemCall::thread) = 1000;
    return plan;
}

/// A POA with a pool, one object in it, and a partner that its servant calls.
class NestedInPool : public testing::Test {
  protected:
    void open(RTCORBA::ThreadpoolId pool, RTCORBA::PriorityModel model)
    {
        poa_ = world_.make_poa("pool", {world_.rtorb()->create_threadpool_policy(pool),
                                        world_.rtorb()->create_priority_model_policy(model, low)});
        const PortableServer::ObjectId_var id = poa_->activate_object(&servant_);
        const CORBA::Object_var made = poa_->id_to_reference(id);
        local_ = Probe::Target::_narrow(made);
        target_ = world_.to_client(made);
        const CORBA::Object_var there =
            world_.orb()->string_to_object(partner_.reference().c_str());
        to_partner_ = Probe::Target::_unchecked_narrow(there);
        const CORBA::String_var text = world_.orb()->object_to_string(made);
        const CORBA::Object_var back = partner_.orb()->string_to_object(text.in());
        to_pool_ = Probe::Target::_unchecked_narrow(back);
        partner_.servant().action = [this] { to_pool_->ping(); };
        servant_.action = [this] { to_partner_->act(); };
        partner_.manager()->activate();
        world_.activate();
    }

    static constexpr RTCORBA::Priority low = 10;
    LogLines log_;
    World world_;
    orb_testing::RunningServer partner_{"reactor", {}, orb_testing::RunningServer::Start::holding};
    RTPortableServer::POA_var poa_;
    PortableServer::Servant_var<Servant> holder_ = new Servant;
    Servant& servant_ = *holder_;
    Probe::Target_var local_;
    Probe::Target_var target_;
    Probe::Target_var to_partner_;
    Probe::Target_var to_pool_;
};

TEST_F(NestedInPool, WhoWaitsServes)
{
    open(world_.rtorb()->create_threadpool(0, 1, 0, low, false, 0, 0), RTCORBA::SERVER_DECLARED);
    target_->ping();
    const net::testing::Faults faults(without_threads());
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(outcome([&] { target_->act(); }), "ok");
    EXPECT_EQ(servant_.calls, 7u);
}

TEST_F(NestedInPool, WhoWaitsServesCallersOfItsProcess)
{
    open(world_.rtorb()->create_threadpool(0, 1, 0, low, false, 0, 0), RTCORBA::SERVER_DECLARED);
    const net::testing::Faults faults(without_threads());
    EXPECT_EQ(outcome([&] { local_->act(); }), "ok");
    EXPECT_EQ(servant_.calls, 2u);
}

TEST_F(NestedInPool, WhoWaitsServesAtThePriorityOfTheLane)
{
    RTCORBA::ThreadpoolLanes lanes(2);
    lanes.length(2);
    lanes[0] = {low, 1, 0};
    lanes[1] = {low + 10, 1, 0};
    open(world_.rtorb()->create_threadpool_with_lanes(0, lanes, true, false, 0, 0),
         RTCORBA::SERVER_DECLARED);
    std::vector<RTCORBA::Priority> priorities;
    servant_.note_action = [&] { priorities.push_back(world_.current()->the_priority()); };
    partner_.servant().action = [this] {
        to_pool_->note(1);
        to_pool_->ping();
    };
    const net::testing::Faults faults(without_threads());
    EXPECT_EQ(outcome([&] { target_->act(); }), "ok");
    EXPECT_EQ(priorities, std::vector{low});
}

TEST_F(NestedInPool, SeveralWaitAtOnce)
{
    open(world_.rtorb()->create_threadpool(0, 2, 0, low, false, 0, 0), RTCORBA::SERVER_DECLARED);
    const net::testing::Faults faults(without_threads());
    std::vector<std::thread> callers;
    callers.reserve(5);
    for (int i = 0; i < 5; ++i)
        callers.emplace_back([&] {
            for (int n = 0; n < 10; ++n)
                EXPECT_EQ(outcome([&] { target_->act(); }), "ok");
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(servant_.calls, 100u);
}

/// Nobody would ever look for the request.
TEST_F(NestedInPool, WithoutAnyThreadRequestsAreRefused)
{
    open(world_.rtorb()->create_threadpool(0, 0, 1, low, true, 0, 0), RTCORBA::SERVER_DECLARED);
    {
        const net::testing::Faults faults(without_threads());
        EXPECT_EQ(outcome([&] { target_->ping(); }), "NO_RESOURCES 0x0 NO");
        EXPECT_EQ(outcome([&] { local_->ping(); }), "NO_RESOURCES 0x0 NO");
    }
    EXPECT_EQ(outcome([&] { target_->ping(); }), "ok");
    EXPECT_EQ(servant_.calls, 1u);
}

} // namespace
} // namespace kairos::rtcorba_testing
