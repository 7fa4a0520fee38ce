// SPDX-License-Identifier: Apache-2.0
//
// What portable interceptors are told of requests that are answered later: each point once, at the
// answer, and what they may ask there is what it was when the request came.
#include "fixture.h"

#include "tests/interceptors/fixture.h"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kairos::amh_testing {
namespace {

namespace PI = PortableInterceptor;

/// Hands its handler to the test.
class Holding final : public POA_Amh::AMH_Clash {
  public:
    void go(Amh::AMH_AMH_ClashResponseHandler_ptr handler, CORBA::Long) override
    {
        held = Amh::AMH_AMH_ClashResponseHandler::_duplicate(handler);
        asked.set();
    }
    void go_excep(Amh::AMH_AMH_ClashResponseHandler_ptr handler) override { handler->go_excep(); }

    Amh::AMH_AMH_ClashResponseHandler_var held;
    Event asked;
};

/// Writes down what one point says of a request.
class Notes {
  public:
    void note(const std::string& point, PI::ServerRequestInfo* info)
    {
        const CORBA::String_var operation = info->operation();
        const CORBA::OctetSeq_var id = info->object_id();
        std::string line = point + " " + operation.in() + " ";
        for (CORBA::ULong i = 0; i < id->length(); ++i)
            line += std::to_string(id[i]) + ".";
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::move(line));
    }
    [[nodiscard]] std::vector<std::string> lines()
    {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

  private:
    std::mutex mutex_; // guards lines_
    std::vector<std::string> lines_;
};

[[nodiscard]] CORBA::Any slot_of(CORBA::Long number)
{
    CORBA::Any any;
    any <<= number;
    return any;
}
/// -1 for a slot that is empty.
[[nodiscard]] CORBA::Long number_in_slot(CORBA::Any* owned)
{
    const CORBA::Any_var any = owned;
    CORBA::Long number = -1;
    (void)(any.in() >>= number);
    return number;
}

[[nodiscard]] Amh::Clash_var clash_of(const Caller& caller, const std::string& reference)
{
    const CORBA::Object_var object = caller.orb->string_to_object(reference.c_str());
    return Amh::Clash::_unchecked_narrow(object);
}

class InterceptedHandlers : public EveryArchitecture {};

TEST_P(InterceptedHandlers, TellOfTheirObjectWhenTheyAnswer)
{
    Notes notes;
    const orb_testing::ServerActs acts{
        {"receive_request", [&](PI::ServerRequestInfo* info) { notes.note("received", info); }},
        {"send_reply", [&](PI::ServerRequestInfo* info) { notes.note("answered", info); }}};
    const orb_testing::Plan plan(
        [&](PI::ORBInitInfo_ptr info) { orb_testing::add_server(info, "probe", nullptr, acts); });
    RunningServer server(GetParam());
    Holding servant;
    const Caller caller;
    const CORBA::Object_var object =
        caller.orb->string_to_object(activate(server, &servant).c_str());
    const Amh::Clash_var clash = Amh::Clash::_unchecked_narrow(object);
    auto call = begin([&] { EXPECT_EQ(4, clash->go(3)); });
    ASSERT_TRUE(servant.asked.wait());
    ASSERT_EQ(1u, notes.lines().size());
    servant.held->go(4);
    EXPECT_EQ("ok", call.get());
    servant.held = nullptr;
    const std::vector<std::string> lines = notes.lines();
    ASSERT_EQ(2u, lines.size());
    EXPECT_EQ("received go " + lines[0].substr(lines[0].rfind(' ') + 1), lines[0]);
    EXPECT_EQ("answered" + lines[0].substr(lines[0].find(' ')), lines[1]);
}

/// The thread that has called the servant has its own again; so has the one that answers.
TEST_P(InterceptedHandlers, KeepTheSlotsOfTheRequest)
{
    PI::Current_var current;
    std::atomic<CORBA::Long> at_arrival{0};
    std::atomic<CORBA::Long> at_end{0};
    const orb_testing::ServerActs acts{{"arrival",
                                        [&](PI::ServerRequestInfo* info) {
                                            at_arrival = number_in_slot(current->get_slot(0));
                                            info->set_slot(0, slot_of(7));
                                        }},
                                       {"send_reply", [&](PI::ServerRequestInfo* info) {
                                            at_end = number_in_slot(info->get_slot(0));
                                        }}};
    const orb_testing::Plan plan([&](PI::ORBInitInfo_ptr info) {
        EXPECT_EQ(0u, info->allocate_slot_id());
        orb_testing::add_server(info, "probe", nullptr, acts);
    });
    RunningServer server(GetParam());
    const CORBA::Object_var found = server.orb()->resolve_initial_references("PICurrent");
    current = PI::Current::_narrow(found.in());
    current->set_slot(0, slot_of(5));
    Holding servant;
    const Caller caller;
    const Amh::Clash_var clash = clash_of(caller, activate(server, &servant));
    auto call = begin([&] { EXPECT_EQ(4, clash->go(3)); });
    ASSERT_TRUE(servant.asked.wait());
    for (int i = 0; i < 3; ++i) {
        clash->go_excep();
        EXPECT_EQ(-1, at_arrival);
        EXPECT_EQ(7, at_end);
    }
    at_end = 0;
    servant.held->go(4);
    EXPECT_EQ("ok", call.get());
    EXPECT_EQ(7, at_end);
    EXPECT_EQ(5, number_in_slot(current->get_slot(0)));
    servant.held = nullptr;
}

TEST_P(InterceptedHandlers, WaitForNoEndWhereTheyAnswer)
{
    RunningServer* serving = nullptr;
    std::vector<std::string> ends;
    const auto end = [&](auto&& how) { ends.push_back(orb_testing::standard_outcome(how)); };
    const orb_testing::ServerActs acts{{"send_reply", [&](PI::ServerRequestInfo*) {
                                            end([&] { serving->orb()->shutdown(true); });
                                            end([&] { serving->orb()->destroy(); });
                                            end([&] { serving->poa()->destroy(true, true); });
                                        }}};
    const orb_testing::Plan plan(
        [&](PI::ORBInitInfo_ptr info) { orb_testing::add_server(info, "probe", nullptr, acts); });
    RunningServer server(GetParam());
    serving = &server;
    Holding servant;
    const Caller caller;
    const Amh::Clash_var clash = clash_of(caller, activate(server, &servant));
    auto call = begin([&] { EXPECT_EQ(4, clash->go(3)); });
    ASSERT_TRUE(servant.asked.wait());
    servant.held->go(4);
    EXPECT_EQ("ok", call.get());
    EXPECT_EQ(std::vector<std::string>(3, "BAD_INV_ORDER 3"), ends);
    servant.held = nullptr;
}

KAIROS_EVERY_ARCHITECTURE(InterceptedHandlers);

/// An id that lies in the object key, and in the same thread then one that does not.
TEST(InterceptedObjects, AreToldApart)
{
    Notes notes;
    const orb_testing::ServerActs acts{
        {"receive_request", [&](PI::ServerRequestInfo* info) { notes.note("received", info); }}};
    const orb_testing::Plan plan(
        [&](PI::ORBInitInfo_ptr info) { orb_testing::add_server(info, "probe", nullptr, acts); });
    RunningServer server("reactor");
    Holding by_system;
    Holding by_user;
    const Caller caller;
    clash_of(caller, activate(server, &by_system))->go_excep();
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = server.poa()->create_id_assignment_policy(PortableServer::USER_ID);
    const PortableServer::POA_var users =
        server.poa()->create_POA("users", server.manager(), policies);
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("user");
    users->activate_object_with_id(id, &by_user);
    const CORBA::Object_var object = users->id_to_reference(id);
    const CORBA::String_var text = server.orb()->object_to_string(object);
    clash_of(caller, text.in())->go_excep();
    ASSERT_EQ(2u, notes.lines().size());
    EXPECT_EQ("received go_excep 117.115.101.114.", notes.lines()[1]);
    users->destroy(true, true);
}

} // namespace
} // namespace kairos::amh_testing
