// SPDX-License-Identifier: Apache-2.0
//
// What portable interceptors are told of requests that are answered later: each point once, at the
// answer, and what they may ask there is what it was when the request came.
#include "fixture.h"

#include "tests/interceptors/fixture.h"

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

KAIROS_EVERY_ARCHITECTURE(InterceptedHandlers);

} // namespace
} // namespace kairos::amh_testing
