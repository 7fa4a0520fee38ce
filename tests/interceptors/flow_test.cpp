// SPDX-License-Identifier: Apache-2.0
//
// Flow stacks (CORBA 3.3 part 1, 16.3): who is told of which end, whatever an interceptor throws at
// whichever point; in every way of calling.
#include "tests/interceptors/fixture.h"

#include "kairos/corba/request.h"

#include <atomic>

namespace kairos::orb_testing {
namespace {

const Lines told_of_reply{"A send_request",  "B send_request",  "C send_request",
                          "C receive_reply", "B receive_reply", "A receive_reply"};
const Lines served{"X arrival",         "Y arrival",         "Z arrival",
                   "X receive_request", "Y receive_request", "Z receive_request",
                   "Z send_reply",      "Y send_reply",      "X send_reply"};
constexpr const char* permission_id = "IDL:omg.org/CORBA/NO_PERMISSION:1.0";
constexpr const char* unknown_id = "IDL:omg.org/CORBA/UNKNOWN:1.0";

[[nodiscard]] std::string told(const std::string& point, const std::string& id)
{
    return point + " receive_exception " + id;
}

/// What a call finds: with an idle connection it takes the straight line of plain calls.
enum class Connection { none, idle };

/// Three interceptors at each side; the one in the middle does what the test says.
class Flow : public ::testing::TestWithParam<Connection> {
  protected:
    ~Flow() override
    {
        if (server_) server_->end(); // while interceptors can still look at it
    }
    void start(const ClientActs& client_acts, const ServerActs& server_acts,
               const std::string& architecture = "reactor",
               const std::vector<std::string>& client_options = {})
    {
        is_armed_ = false;
        const Plan plan([&](PI::ORBInitInfo_ptr info) {
            const CORBA::StringSeq_var arguments = info->arguments();
            const bool is_server =
                arguments[arguments->length() - 1] == std::string_view("iiop://127.0.0.1:0");
            for (const char* name : {"A", "B", "C"})
                add_client(info, name, &calls_,
                           *name == 'B' && !is_server ? armed(client_acts) : ClientActs());
            for (const char* name : {"X", "Y", "Z"})
                add_server(info, name, &upcalls_, *name == 'Y' ? armed(server_acts) : ServerActs());
        });
        server_.emplace(architecture);
        client_.emplace(client_options);
        target_ = client_->target(server_->reference());
        server_->servant().action = [] { throw Probe::Refused("no"); };
        if (GetParam() == Connection::idle) {
            EXPECT_FALSE(target_->_non_existent());
            EXPECT_EQ(calls_.take(), told_of_reply);
            EXPECT_EQ(upcalls_.take(), served);
        }
        is_armed_ = true;
    }
    template <typename Acts>
    [[nodiscard]] Acts armed(const Acts& acts)
    {
        Acts all;
        for (const auto& [point, act] : acts)
            all[point] = [this, act = act](auto* ri) {
                if (is_armed_) act(ri);
            };
        return all;
    }
    [[nodiscard]] std::string ping()
    {
        return outcome([this] { target_->ping(); });
    }
    [[nodiscard]] CORBA::Object_ptr other()
    {
        return client_->orb()->string_to_object(other_.reference().c_str());
    }

    static constexpr const char* no_permission = "NO_PERMISSION 0x7 NO";

    std::atomic<bool> is_armed_{false};
    LogLines log_;
    Record calls_;
    Record upcalls_;
    RunningServer other_{"thread-per-connection"};
    std::optional<Client> client_;
    std::optional<RunningServer> server_;
    Probe::Target_var target_;
};

[[noreturn]] void refuse() { throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO); }
const auto refuse_at = [](auto*) { refuse(); };

TEST_P(Flow, GoesBackInReverse)
{
    start({}, {});
    EXPECT_EQ(ping(), "ok");
    EXPECT_EQ(calls_.take(), told_of_reply);
    EXPECT_EQ(upcalls_.take(), served);
}

// --- Exceptions at each point of the client ------------------------------------------------------

TEST_P(Flow, SendRequestRefuses)
{
    start({{"send_request", refuse_at}}, {});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", told("A", permission_id)}));
    EXPECT_TRUE(upcalls_.take().empty());
}

TEST_P(Flow, ReceiveReplyRefuses)
{
    start({{"receive_reply", refuse_at}}, {});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(calls_.take(),
              (Lines{"A send_request", "B send_request", "C send_request", "C receive_reply",
                     "B receive_reply", told("A", permission_id)}));
}

TEST_P(Flow, ReceiveExceptionRefusesOtherwise)
{
    start({{"receive_exception", refuse_at}}, {});
    EXPECT_EQ(outcome([&] { target_->act(); }), no_permission);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", "C send_request",
                                    told("C", "IDL:Probe/Refused:1.0"),
                                    told("B", "IDL:Probe/Refused:1.0"), told("A", permission_id)}));
}

TEST_P(Flow, ReceiveOtherRefuses)
{
    start({{"receive_other", refuse_at}}, {});
    EXPECT_EQ(outcome([&] { target_->note(1); }), no_permission);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", "C send_request",
                                    "C receive_other SUCCESSFUL", "B receive_other SUCCESSFUL",
                                    told("A", permission_id)}));
}

TEST_P(Flow, WhatNobodyMayThrowIsUnknown)
{
    start({{"send_request", [](auto*) { throw std::runtime_error("mine"); }}}, {});
    EXPECT_EQ(ping(), "UNKNOWN 0x4b520009 NO");
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", told("A", unknown_id)}));
    EXPECT_EQ(LogLines::count("an interceptor threw: mine"), 1u);
}

TEST_P(Flow, CompletionOfUnknownIsThatOfTheCall)
{
    start(
        {{"receive_reply", [](auto*) { throw 1; }}, {"receive_exception", [](auto*) { throw 1; }}},
        {});
    EXPECT_EQ(ping(), "UNKNOWN 0x4b520009 YES");
    EXPECT_EQ(outcome([&] { target_->act(); }), "UNKNOWN 0x4b520009 YES");
    server_->servant().action = refuse;
    EXPECT_EQ(outcome([&] { target_->act(); }), "UNKNOWN 0x4b520009 NO");
}

// --- Exceptions at each point of the server ------------------------------------------------------

TEST_P(Flow, ArrivalIsRefused)
{
    start({}, {{"arrival", refuse_at}});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X arrival", "Y arrival", "X send_exception SYSTEM_EXCEPTION"}));
    EXPECT_EQ(calls_.take().back(), told("A", permission_id));
    EXPECT_EQ(server_->servant().calls, 0u);
}

TEST_P(Flow, ReceiveRequestRefuses)
{
    start({}, {{"receive_request", refuse_at}});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X arrival", "Y arrival", "Z arrival", "X receive_request",
                     "Y receive_request", "Z send_exception SYSTEM_EXCEPTION",
                     "Y send_exception SYSTEM_EXCEPTION", "X send_exception SYSTEM_EXCEPTION"}));
    EXPECT_EQ(server_->servant().calls, 0u);
}

TEST_P(Flow, SendReplyRefuses)
{
    start({}, {{"send_reply", refuse_at}});
    EXPECT_EQ(ping(), no_permission);
    const Lines lines = upcalls_.take();
    ASSERT_EQ(lines.size(), 9u);
    EXPECT_EQ(lines[7], "Y send_reply");
    EXPECT_EQ(lines[8], "X send_exception SYSTEM_EXCEPTION");
    EXPECT_EQ(server_->servant().calls, 1u);
}

TEST_P(Flow, SendExceptionRefusesOtherwise)
{
    start({}, {{"send_exception", refuse_at}});
    EXPECT_EQ(outcome([&] { target_->act(); }), no_permission);
    const Lines lines = upcalls_.take();
    ASSERT_EQ(lines.size(), 9u);
    EXPECT_EQ(lines[6], "Z send_exception USER_EXCEPTION");
    EXPECT_EQ(lines[7], "Y send_exception USER_EXCEPTION");
    EXPECT_EQ(lines[8], "X send_exception SYSTEM_EXCEPTION");
}

TEST_P(Flow, IsToldOfObjectsThatAreNotThere)
{
    start({}, {{"send_exception", [](PI::ServerRequestInfo* ri) {
                    EXPECT_EQ(standard_outcome([&] { (void)ri->object_id(); }), "NO_RESOURCES 1");
                }}});
    server_->poa()->deactivate_object(server_->id());
    EXPECT_EQ(ping().substr(0, 16), "OBJECT_NOT_EXIST");
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X arrival", "Y arrival", "Z arrival", "Z send_exception SYSTEM_EXCEPTION",
                     "Y send_exception SYSTEM_EXCEPTION", "X send_exception SYSTEM_EXCEPTION"}));
}

// --- Elsewhere, from each point ------------------------------------------------------------------

TEST_P(Flow, ClientsPointsForward)
{
    for (const std::string point : {"send_request", "receive_exception", "receive_other"}) {
        bool first = true;
        target_ = Probe::Target::_nil();
        client_.reset();
        server_.reset();
        (void)calls_.take(); // they were told of the end of their ORBs
        (void)upcalls_.take();
        start({{point,
                [&](PI::ClientRequestInfo*) {
                    if (!std::exchange(first, false)) return;
                    const CORBA::Object_var to = other();
                    throw PI::ForwardRequest(to.in());
                }}},
              {{"arrival", [&](PI::ServerRequestInfo*) {
                    if (point == "receive_exception") refuse();
                }}});
        const std::uint64_t before = other_.servant().calls;
        const bool is_oneway = point == "receive_other";
        EXPECT_EQ(is_oneway ? outcome([&] { target_->note(1); }) : ping(), "ok");
        const Lines lines = calls_.take();
        EXPECT_EQ(std::ranges::count(lines, "A receive_other LOCATION_FORWARD"), 1) << point;
        if (is_oneway) {     // it was sent here, and there
            server_.reset(); // what is done here at its arrival reads `point`
            continue;
        }
        EXPECT_EQ(other_.servant().calls, before + 1) << point;
        (void)upcalls_.take();
    }
}

TEST_P(Flow, ServersPointsForward)
{
    for (const std::string point : {"arrival", "receive_request", "send_exception"}) {
        target_ = Probe::Target::_nil();
        client_.reset();
        server_.reset();
        (void)calls_.take(); // they were told of the end of their ORBs
        (void)upcalls_.take();
        start({}, {{point, [&](PI::ServerRequestInfo*) {
                        const CORBA::Object_var to =
                            server_->orb()->string_to_object(other_.reference().c_str());
                        throw PI::ForwardRequest(to.in());
                    }}});
        other_.servant().action = [] {};
        const std::uint64_t before = other_.servant().calls;
        EXPECT_EQ(outcome([&] { target_->act(); }), "ok") << point;
        EXPECT_EQ(other_.servant().calls, before + 1) << point;
        EXPECT_EQ(upcalls_.take().back(), "X send_other LOCATION_FORWARD");
        const Lines lines = calls_.take();
        EXPECT_EQ(lines[5], "A receive_other LOCATION_FORWARD");
        EXPECT_EQ(lines.back(), "A receive_reply");
    }
}

TEST_P(Flow, ForwardsThatCannotBe)
{
    start({{"receive_reply",
            [&](auto*) {
                const CORBA::Object_var to = other();
                throw PI::ForwardRequest(to.in());
            }},
           {"send_request",
            [&](PI::ClientRequestInfo* ri) {
                const CORBA::String_var operation = ri->operation();
                if (std::string_view(operation.in()) == "add") throw PI::ForwardRequest();
            }}},
          {});
    EXPECT_EQ(ping(), "UNKNOWN 0x4b520009 YES"); // receive_reply cannot
    EXPECT_EQ(outcome([&] { (void)target_->add(1, 2); }), "INV_OBJREF 0x0 NO");
}

// --- Every way of calling ------------------------------------------------------------------------

TEST_P(Flow, Oneways)
{
    start({}, {});
    Event noted;
    server_->servant().note_action = [&] { noted.set(); };
    target_->note(1);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", "C send_request",
                                    "C receive_other SUCCESSFUL", "B receive_other SUCCESSFUL",
                                    "A receive_other SUCCESSFUL"}));
    EXPECT_TRUE(noted.wait());
    EXPECT_EQ(upcalls_.take(9), served);
}

TEST_P(Flow, DynamicAndDeferredCalls)
{
    start({}, {});
    const CORBA::Request_var request = target_->_request("ping");
    request->invoke();
    EXPECT_EQ(calls_.take(), told_of_reply);
    const CORBA::Request_var deferred = target_->_request("ping");
    deferred->send_deferred();
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request", "C send_request"}));
    std::thread fetching([&] { deferred->get_response(); }); // by whichever thread
    fetching.join();
    EXPECT_EQ(calls_.take(), (Lines{"C receive_reply", "B receive_reply", "A receive_reply"}));
    {
        const CORBA::Request_var abandoned = target_->_request("ping");
        abandoned->send_deferred();
        (void)calls_.take(3);
    }
    EXPECT_EQ(calls_.take(), (Lines{"C receive_other UNKNOWN", "B receive_other UNKNOWN",
                                    "A receive_other UNKNOWN"}));
}

TEST_P(Flow, CallsWithinTheProcess)
{
    start({}, {{"receive_request", [](PI::ServerRequestInfo* ri) {
                    const CORBA::String_var operation = ri->operation();
                    if (std::string_view(operation.in()) == "add") refuse();
                }}});
    const CORBA::Object_var object = server_->poa()->id_to_reference(server_->id());
    target_ = Probe::Target::_unchecked_narrow(object);
    EXPECT_EQ(ping(), "ok");
    EXPECT_EQ(calls_.take(), told_of_reply);
    EXPECT_EQ(upcalls_.take(), served);
    EXPECT_EQ(outcome([&] { (void)target_->add(1, 2); }), no_permission);
}

TEST_P(Flow, SharedConnections)
{
    start({}, {}, "leader-followers", {"-ORBConnection", "leader-followers"});
    EXPECT_EQ(ping(), "ok");
    EXPECT_EQ(calls_.take(), told_of_reply);
    EXPECT_EQ(upcalls_.take(), served);
}

TEST_P(Flow, RequestsThatAreHeld)
{
    start({}, {});
    server_->manager()->hold_requests(false);
    std::thread caller([&] { EXPECT_EQ(target_->add(1, 2), 3); });
    EXPECT_EQ(upcalls_.take(3), (Lines{"X arrival", "Y arrival", "Z arrival"}));
    server_->manager()->activate();
    caller.join();
    EXPECT_EQ(upcalls_.take(), Lines(served.begin() + 3, served.end()));
}

/// Each point makes a call of its own, which is told of, too.
TEST_P(Flow, PointsMakeCalls)
{
    int depth = 0;
    const auto call = [&](PI::ClientRequestInfo* ri) {
        if (depth != 0) return;
        ++depth;
        const CORBA::Object_var to = other();
        const Probe::Target_var target = Probe::Target::_unchecked_narrow(to.in());
        EXPECT_EQ(target->add(2, 2), 4);
        const CORBA::String_var operation = ri->operation(); // still tells of its own call
        EXPECT_STREQ(operation.in(), "ping");
        --depth;
    };
    start({{"send_request", call}, {"receive_reply", call}}, {});
    EXPECT_EQ(ping(), "ok");
    EXPECT_EQ(calls_.take().size(), told_of_reply.size() * 3);
}

TEST_P(Flow, ManyThreads)
{
    start({},
          {{"arrival",
            [](PI::ServerRequestInfo* ri) {
                ri->add_reply_service_context(context_of(0x4B520200, "x"), false);
            }}},
          "thread-per-connection");
    constexpr int threads = 4;
    constexpr int calls = 50;
    std::vector<std::thread> callers;
    for (int thread = 0; thread < threads; ++thread)
        callers.emplace_back([&] {
            for (int i = 0; i < calls; ++i)
                EXPECT_EQ(target_->add(i, 1), i + 1);
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(calls_.take().size(), told_of_reply.size() * threads * calls);
    EXPECT_EQ(upcalls_.take().size(), served.size() * threads * calls);
}

INSTANTIATE_TEST_SUITE_P(Connections, Flow, ::testing::Values(Connection::none, Connection::idle),
                         [](const auto& each) {
                             return each.param == Connection::idle ? "Idle" : "None";
                         });

} // namespace
} // namespace kairos::orb_testing
