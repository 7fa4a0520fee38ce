// SPDX-License-Identifier: Apache-2.0
//
// The object of tests/ami between Kairos and JacORB: called asynchronously, and with interceptors
// at both sides that answer each other (Marks.java says how).
#include "jacorb.h"
#include "tests/ami/fixture.h"
#include "tests/interceptors/fixture.h"

#include <algorithm>

namespace interop {
namespace {

namespace PI = PortableInterceptor;
using kairos::ami_testing::Client;
using kairos::ami_testing::Server;
using kairos::orb_testing::add_client;
using kairos::orb_testing::add_server;
using kairos::orb_testing::context_of;
using kairos::orb_testing::Lines;
using kairos::orb_testing::outcome;
using kairos::orb_testing::Plan;
using kairos::orb_testing::text_of;

constexpr int asynchronous_checks_of_jacorb = 7;
constexpr int checks_of_marks = 7;
constexpr CORBA::ULong request_mark = 0x4B414D01;
constexpr CORBA::ULong reply_mark = 0x4B414D02;

class KairosAndJacorb : public WithJacorb {};

// --- Asynchronous calls --------------------------------------------------------------------------

class KairosCallsJacorbLater : public WithJacorb,
                               public testing::WithParamInterface<const char*> {};

TEST_P(KairosCallsJacorbLater, HandlersHearOfReplies)
{
    Client client({"-ORBGIOPVersion", GetParam()});
    const Ami::Target_var target = client.target(jacorb().target);
    target->sendc_change(client.reference.in(), "text", Ami::Person{"Bob", {1, 2}}, {5, 6});
    (void)client.hear(1);
    target->sendc_set_name(client.reference.in(), "after");
    (void)client.hear(2);
    target->sendc_get_name(client.reference.in());
    (void)client.hear(3);
    target->sendc_get_owner(client.reference.in());
    (void)client.hear(4);
    target->sendc_refuse(client.reference.in(), "no");
    (void)client.hear(5);
    target->sendc_fail(client.reference.in(), 1);
    (void)client.hear(6);
    Ami::Octets octets;
    octets.length(1 << 20);
    target->sendc_echo(client.reference.in(), octets);
    EXPECT_EQ(
        (Lines{"change text text! 7 two 42 9", "set_name", "get_name after", "get_owner Grace 5",
               "refuse: Refused no", "fail: NO_PERMISSION 0x11 YES", "echo 1048576"}),
        client.hear(7));
}

TEST_P(KairosCallsJacorbLater, RepliesComeInAnyOrder)
{
    Client client({"-ORBGIOPVersion", GetParam()});
    const Ami::Target_var target = client.target(jacorb().target);
    for (CORBA::Long number = 1; number <= 3; ++number)
        target->sendc_hold(client.reference.in(), number);
    for (const CORBA::Long number : {3, 1, 2}) {
        const std::size_t heard = client.handler.count() + 1;
        target->note(number);
        EXPECT_EQ("hold " + std::to_string(number), client.hear(heard).back());
    }
}

TEST_P(KairosCallsJacorbLater, AThousandAreOutstanding)
{
    constexpr CORBA::Long calls = 1000;
    Client client({"-ORBGIOPVersion", GetParam()});
    const Ami::Target_var target = client.target(jacorb().target);
    for (CORBA::Long i = 0; i < calls; ++i)
        target->sendc_add(client.reference.in(), i, 1);
    Lines heard = client.hear(calls);
    Lines expected;
    for (CORBA::Long i = 0; i < calls; ++i)
        expected.push_back("add " + std::to_string(i + 1));
    std::ranges::sort(heard);
    std::ranges::sort(expected);
    EXPECT_EQ(expected, heard);
}

INSTANTIATE_TEST_SUITE_P(Versions, KairosCallsJacorbLater, testing::Values("1.0", "1.2"),
                         [](const testing::TestParamInfo<const char*>& of) {
                             return std::string("giop_1_") + of.param[2];
                         });

TEST_F(KairosAndJacorb, HandlersOfJacorbHearOfOurReplies)
{
    for (const char* version : {"1.0", "1.2"}) {
        const Server server;
        jacorb().expect_checks("target", version, server.reference, asynchronous_checks_of_jacorb);
    }
}

// --- Interceptors --------------------------------------------------------------------------------

std::string mark_of(PI::ServerRequestInfo_ptr info)
{
    try {
        const IOP::ServiceContext_var context = info->get_request_service_context(request_mark);
        return text_of(context.in());
    } catch (const CORBA::BAD_PARAM&) {
        return "";
    }
}

void answer(PI::ServerRequestInfo_ptr info)
{
    const std::string mark = mark_of(info);
    if (!mark.empty())
        info->add_reply_service_context(context_of(reply_mark, "heard " + mark), false);
}

TEST_F(KairosAndJacorb, InterceptorsOfJacorbHearFromOurs)
{
    CORBA::ORB_ptr own = CORBA::ORB::_nil(); // of the server, which makes references
    const auto look = [&](PI::ServerRequestInfo_ptr info) {
        const std::string mark = mark_of(info);
        if (mark == "refuse") throw CORBA::NO_PERMISSION(23, CORBA::COMPLETED_NO);
        if (!mark.starts_with("to ")) return;
        const CORBA::Object_var elsewhere = own->string_to_object(mark.c_str() + 3);
        throw PI::ForwardRequest(elsewhere.in());
    };
    const Plan plan([&](PI::ORBInitInfo_ptr info) {
        add_server(info, "ours", nullptr,
                   {{"arrival", look}, {"send_reply", answer}, {"send_exception", answer}});
    });
    Server server;
    own = server.orb();
    jacorb().expect_checks("marks", "1.2", server.reference, checks_of_marks);
}

/// Marks our calls, and writes down how they end.
class OfOurCalls : public WithJacorb {
  protected:
    void SetUp() override
    {
        WithJacorb::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        const Plan plan([this](PI::ORBInitInfo_ptr info) {
            add_client(info, "ours", nullptr,
                       {{"send_request", [this](PI::ClientRequestInfo_ptr call) { mark(call); }},
                        {"receive_reply", [this](auto* call) { told(call, answer_of(call)); }},
                        {"receive_exception",
                         [this](PI::ClientRequestInfo_ptr call) {
                             const CORBA::String_var id = call->received_exception_id();
                             told(call, id.in() + (" " + answer_of(call)));
                         }},
                        {"receive_other", [this](PI::ClientRequestInfo_ptr call) {
                             told(call, text_of(call->reply_status()));
                         }}});
        });
        client.emplace();
        target = client->target(jacorb().target);
    }

    /// What the interceptor was told since the last time.
    [[nodiscard]] Lines take() { return std::exchange(told_, {}); }

    Lines marks; ///< of the next calls, the last one first
    std::optional<Client> client;
    Ami::Target_var target;

  private:
    void mark(PI::ClientRequestInfo_ptr call)
    {
        if (marks.empty()) return;
        call->add_request_service_context(context_of(request_mark, marks.back()), false);
        marks.pop_back();
    }
    void told(PI::ClientRequestInfo_ptr call, const std::string& what)
    {
        const CORBA::String_var operation = call->operation();
        told_.push_back(operation.in() + (" " + what));
    }
    static std::string answer_of(PI::ClientRequestInfo_ptr call)
    {
        try {
            const IOP::ServiceContext_var context = call->get_reply_service_context(reply_mark);
            return text_of(context.in());
        } catch (const CORBA::BAD_PARAM&) {
            return "unmarked";
        }
    }

    Lines told_; // by the thread of the test, which makes all calls
};

TEST_F(OfOurCalls, AreAnsweredByThoseOfJacorb)
{
    EXPECT_EQ(42, target->add(20, 22));
    EXPECT_EQ(Lines{"add unmarked"}, take());
    marks = {"one"};
    EXPECT_EQ(42, target->add(20, 22));
    EXPECT_EQ(Lines{"add heard one"}, take());
    marks = {"two"};
    EXPECT_THROW(target->refuse("no"), Ami::Refused);
    EXPECT_EQ(Lines{"refuse IDL:kairos.test/Ami/Refused:1.0 heard two"}, take());
    marks = {"three"};
    EXPECT_EQ("NO_PERMISSION 0x11 YES", outcome([&] { target->fail(1); }));
    EXPECT_EQ(Lines{"fail IDL:omg.org/CORBA/NO_PERMISSION:1.0 heard three"}, take());
    const std::string large(120'000, 'x');
    marks = {large};
    EXPECT_EQ(42, target->add(20, 22));
    EXPECT_EQ(Lines{"add heard " + large}, take());
}

TEST_F(OfOurCalls, HeardByHandlersAreAnsweredToo)
{
    marks = {"later"};
    target->sendc_add(client->reference.in(), 20, 22);
    EXPECT_EQ(Lines{"add 42"}, client->hear());
    // The handler hears of it by a call within the process.
    EXPECT_EQ((Lines{"add heard later", "add unmarked"}), take());
}

TEST_F(OfOurCalls, AreRefusedByThoseOfJacorb)
{
    marks = {"refuse"};
    EXPECT_EQ("NO_PERMISSION 0x17 NO", outcome([&] { (void)target->add(1, 2); }));
    EXPECT_EQ(Lines{"add IDL:omg.org/CORBA/NO_PERMISSION:1.0 unmarked"}, take());
}

TEST_F(OfOurCalls, AreForwardedByThoseOfJacorb)
{
    const Server elsewhere;
    Ami::Person_var owner = target->owner();
    EXPECT_STREQ("Grace", owner->name);
    EXPECT_EQ(Lines{"_get_owner unmarked"}, take());
    marks = {"to " + elsewhere.reference};
    owner = target->owner();
    EXPECT_STREQ("Ada", owner->name);
    EXPECT_EQ((Lines{"_get_owner LOCATION_FORWARD", "_get_owner unmarked"}), take());
}

} // namespace
} // namespace interop
