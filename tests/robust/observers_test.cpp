// SPDX-License-Identifier: Apache-2.0
//
// The two doors for observers: who is told of what in which order, what they can add, end and send
// elsewhere, over every kind of server and way of calling.
#include "tests/robust/observers.h"

#include "kairos/corba/request.h"
#include "kairos/ior/text.h"

namespace kairos::orb_testing {
namespace {

using Start = RunningServer::Start;

[[noreturn]] void raise_permission() { throw CORBA::NO_PERMISSION(7, CORBA::COMPLETED_NO); }

[[nodiscard]] ior::Ior ior_of(const std::string& reference)
{
    const auto parsed = ior::from_string(reference);
    EXPECT_TRUE(parsed.ok());
    return parsed.value();
}

const Lines told_of_reply{"A send_request", "B send_request", "B receive_reply", "A receive_reply"};
const Lines served{"X arrival",         "Y arrival",    "X receive_request",
                   "Y receive_request", "Y send_reply", "X send_reply"};

// --- Every server, every way ---------------------------------------------------------------------

/// Client and server that each add 40 KB of contexts and count those of the other.
class Observers : public EveryArchitecture {
  protected:
    ~Observers() override
    {
        if (server_) server_->end(); // while observers can still look at it
    }
    void start(std::vector<std::string> client_options = {},
               std::vector<std::string> server_options = {})
    {
        client_.emplace(std::move(client_options));
        const auto count = [this](orb::ObservedCall& call) {
            replies_ += count_many(call.reply_contexts(), "reply");
        };
        observe_calls(client_->orb(), "A", calls_, {{"send_request", [](orb::ObservedCall& call) {
                                                         add_many(call.request_contexts(),
                                                                  "request");
                                                     }}});
        observe_calls(client_->orb(), "B", calls_,
                      {{"receive_reply", count}, {"receive_exception", count}});
        server_.emplace(
            GetParam(), std::move(server_options), Start::active, [this](CORBA::ORB_ptr orb) {
                observe_upcalls(orb, "X", upcalls_,
                                {{"arrival", [this](orb::ObservedUpcall& upcall) {
                                      requests_ += count_many(upcall.request().contexts, "request");
                                      add_many(upcall.reply_contexts(), "reply");
                                  }}});
                observe_upcalls(orb, "Y", upcalls_,
                                {{"receive_request", [this](auto& upcall) { see(upcall); }}});
            });
        server_->servant().action = [] { throw Probe::Refused("no"); };
        target_ = client_->target(server_->reference());
    }
    void see(orb::ObservedUpcall& upcall)
    {
        ASSERT_NE(upcall.object(), nullptr);
        EXPECT_EQ(upcall.object()->interface(), "IDL:Probe/Target:1.0");
        const auto& id = server_->id();
        EXPECT_EQ(as_text(upcall.object()->id),
                  as_text(std::as_bytes(std::span(id.get_buffer(), id.length()))));
        EXPECT_EQ(as_text(upcall.object_key()), as_text(server_->key_bytes()));
    }
    /// Calls in all ways that end differently; both sides get all contexts each time.
    void call_and_check()
    {
        const auto expect = [this](const Lines& calls, const Lines& upcalls) {
            EXPECT_EQ(calls_.take(), calls);
            EXPECT_EQ(upcalls_.take(), upcalls);
            EXPECT_EQ(requests_.exchange(0), many_contexts);
            EXPECT_EQ(replies_.exchange(0), many_contexts);
        };
        EXPECT_EQ(target_->add(2, 3), 5);
        expect(told_of_reply, served);
        target_->ping();
        expect(told_of_reply, served);
        const Probe::Octets_var large = target_->produce(100'000);
        EXPECT_EQ(large->length(), 100'000u);
        expect(told_of_reply, served);
        EXPECT_EQ(outcome([this] { target_->act(); }), "Refused");
        expect({"A send_request", "B send_request", "B receive_exception user Refused",
                "A receive_exception user Refused"},
               {"X arrival", "Y arrival", "X receive_request", "Y receive_request",
                "Y send_exception user Refused", "X send_exception user Refused"});
    }

    Record calls_;
    Record upcalls_;
    std::atomic<int> requests_{0};
    std::atomic<int> replies_{0};
    std::optional<Client> client_;
    std::optional<RunningServer> server_;
    Probe::Target_var target_;
};
KAIROS_EVERY_ARCHITECTURE(Observers);

TEST_P(Observers, AreToldInOrderAndOfTheEndInReverse)
{
    start();
    for (int round = 0; round < 3; ++round)
        call_and_check();
}

TEST_P(Observers, AddToFragmentsAndOlderGiop)
{
    for (const char* version : {"1.2", "1.1", "1.0"}) {
        server_.reset();
        client_.reset();
        start({"-ORBFragmentSize", "1024"},
              {"-ORBFragmentSize", "1024", "-ORBGIOPVersion", version});
        call_and_check();
    }
}

TEST_P(Observers, HearOfSharedConnections)
{
    for (const char* architecture : {"leader-followers", "active"}) {
        server_.reset();
        client_.reset();
        start({"-ORBConnection", architecture});
        call_and_check();
    }
}

TEST_P(Observers, HearOfOneways)
{
    start();
    Event noted;
    server_->servant().note_action = [&] { noted.set(); };
    target_->note(1);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request",
                                    "B receive_other successful", "A receive_other successful"}));
    EXPECT_TRUE(noted.wait());
    EXPECT_EQ(upcalls_.take(6), served);
    EXPECT_EQ(requests_, many_contexts);
}

TEST_P(Observers, AreToldOnceOfWhatIsHeld)
{
    start();
    server_->manager()->hold_requests(false);
    std::thread caller([this] { EXPECT_EQ(target_->add(1, 2), 3); });
    EXPECT_EQ(upcalls_.take(2), (Lines{"X arrival", "Y arrival"}));
    server_->manager()->activate();
    caller.join();
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X receive_request", "Y receive_request", "Y send_reply", "X send_reply"}));
    EXPECT_EQ(replies_, many_contexts); // which were added when it arrived
}

TEST_P(Observers, HearOfDeferredCalls)
{
    start();
    const CORBA::Request_var request = target_->_request("add");
    request->set_return_type(CORBA::_tc_long);
    request->add_in_arg() <<= CORBA::Long{3};
    request->add_in_arg() <<= CORBA::Long{4};
    request->send_deferred();
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request"}));
    request->get_response();
    EXPECT_EQ(calls_.take(), (Lines{"B receive_reply", "A receive_reply"}));
    EXPECT_EQ(upcalls_.take(), served);
    EXPECT_EQ(requests_, many_contexts);
    EXPECT_EQ(replies_, many_contexts);
    {
        const CORBA::Request_var abandoned = target_->_request("ping");
        abandoned->send_deferred();
        (void)calls_.take(2);
    }
    EXPECT_EQ(calls_.take(), (Lines{"B receive_other unknown", "A receive_other unknown"}));
}

// --- Within the process --------------------------------------------------------------------------

class Collocated : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, Collocated, ::testing::Values("no", "through-poa", "direct"));

TEST_P(Collocated, CallsGoThroughBothDoors)
{
    Record record;
    int requests = 0;
    int replies = 0;
    RunningServer server(
        "reactor", {"-ORBCollocation", GetParam()}, Start::active, [&](CORBA::ORB_ptr orb) {
            observe_calls(orb, "A", record,
                          {{"send_request",
                            [](orb::ObservedCall& call) {
                                add_many(call.request_contexts(), "request");
                                EXPECT_NE(call.profile(), nullptr);
                            }},
                           {"receive_reply", [&](orb::ObservedCall& call) {
                                replies += count_many(call.reply_contexts(), "reply");
                            }}});
            observe_upcalls(orb, "X", record,
                            {{"arrival", [&](orb::ObservedUpcall& upcall) {
                                  EXPECT_TRUE(upcall.is_local());
                                  requests += count_many(upcall.request().contexts, "request");
                                  add_many(upcall.reply_contexts(), "reply");
                              }}});
        });
    const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    for (int call = 1; call <= 3; ++call) {
        EXPECT_EQ(target->add(1, 1), 2);
        EXPECT_EQ(record.take(), (Lines{"A send_request", "X arrival", "X receive_request",
                                        "X send_reply", "A receive_reply"}));
        EXPECT_EQ(requests, call * many_contexts);
        EXPECT_EQ(replies, call * many_contexts);
    }
    server.servant().action = [] { throw Probe::Refused("no"); };
    EXPECT_EQ(outcome([&] { target->act(); }), "Refused");
    EXPECT_EQ(record.take(),
              (Lines{"A send_request", "X arrival", "X receive_request",
                     "X send_exception user Refused", "A receive_exception user Refused"}));
    target->note(1);
    EXPECT_EQ(record.take(), (Lines{"A send_request", "X arrival", "X receive_request",
                                    "X send_reply", "A receive_other successful"}));
}

// --- The rules of the flow stack -----------------------------------------------------------------

/// Three observers at each door; the one in the middle does what the test says.
class FlowStack : public ::testing::Test {
  protected:
    ~FlowStack() override
    {
        if (server_) server_->end(); // while observers can still look at it
    }
    void start(CallDeeds calls, UpcallDeeds upcalls)
    {
        for (const char* name : {"A", "B", "C"})
            observe_calls(client_.orb(), name, calls_, *name == 'B' ? calls : CallDeeds());
        server_.emplace(
            "reactor", std::vector<std::string>(), Start::active, [&](CORBA::ORB_ptr orb) {
                for (const char* name : {"X", "Y", "Z"})
                    observe_upcalls(orb, name, upcalls_, *name == 'Y' ? upcalls : UpcallDeeds());
            });
        target_ = client_.target(server_->reference());
    }
    [[nodiscard]] std::string ping()
    {
        return outcome([this] { target_->ping(); });
    }
    static constexpr const char* no_permission = "NO_PERMISSION 0x7 NO";
    static constexpr const char* unknown = "UNKNOWN 0x4b520009 MAYBE";

    LogLines log_;
    Record calls_;
    Record upcalls_;
    Client client_;
    std::optional<RunningServer> server_;
    Probe::Target_var target_;
};

TEST_F(FlowStack, EndsForThoseWhoseBeginningReturned)
{
    start({{"send_request", [](auto&) { raise_permission(); }}}, {});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "B send_request",
                                    "A receive_exception system NO_PERMISSION"}));
    EXPECT_TRUE(upcalls_.take().empty());
    EXPECT_EQ(server_->servant().calls, 0u);
}

TEST_F(FlowStack, EndsOtherwiseForThoseBehindWhoChangesTheReply)
{
    start({{"receive_reply", [](auto&) { raise_permission(); }}}, {});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(calls_.take(),
              (Lines{"A send_request", "B send_request", "C send_request", "C receive_reply",
                     "B receive_reply", "A receive_exception system NO_PERMISSION"}));
    EXPECT_EQ(server_->servant().calls, 1u);
}

TEST_F(FlowStack, EndsWithUnknownForWhatIsNoneOfCorbas)
{
    start({{"receive_reply", [](auto&) { throw std::runtime_error("mine"); }}}, {});
    EXPECT_EQ(ping(), unknown);
    EXPECT_EQ(calls_.take().back(), "A receive_exception system UNKNOWN");
    EXPECT_EQ(LogLines::count("an observer threw: mine"), 1u);
}

TEST_F(FlowStack, RefusesRequestsThatArrive)
{
    start({}, {{"arrival", [](auto&) { raise_permission(); }}});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X arrival", "Y arrival", "X send_exception system NO_PERMISSION"}));
    EXPECT_EQ(server_->servant().calls, 0u);
    EXPECT_EQ(calls_.take().back(), "A receive_exception system NO_PERMISSION");
}

TEST_F(FlowStack, RefusesRequestsWhoseServantWasFound)
{
    start({}, {{"receive_request", [](auto&) { raise_permission(); }}});
    EXPECT_EQ(ping(), no_permission);
    EXPECT_EQ(upcalls_.take(), (Lines{"X arrival", "Y arrival", "Z arrival", "X receive_request",
                                      "Y receive_request", "Z send_exception system NO_PERMISSION",
                                      "Y send_exception system NO_PERMISSION",
                                      "X send_exception system NO_PERMISSION"}));
    EXPECT_EQ(server_->servant().calls, 0u);
}

TEST_F(FlowStack, ChangesResultsToAnException)
{
    start({}, {{"send_reply", [](auto&) { throw 1; }}});
    EXPECT_EQ(outcome([this] { (void)target_->produce(100'000); }), unknown);
    const Lines told = upcalls_.take();
    ASSERT_EQ(told.size(), 9u);
    EXPECT_EQ(told[6], "Z send_reply");
    EXPECT_EQ(told[7], "Y send_reply");
    EXPECT_EQ(told[8], "X send_exception system UNKNOWN");
    EXPECT_EQ(server_->servant().calls, 1u);
}

TEST_F(FlowStack, IsToldOfObjectsThatAreNotThere)
{
    start({}, {});
    server_->poa()->deactivate_object(server_->id());
    EXPECT_EQ(ping().substr(0, 16), "OBJECT_NOT_EXIST");
    EXPECT_EQ(upcalls_.take(), (Lines{"X arrival", "Y arrival", "Z arrival",
                                      "Z send_exception system OBJECT_NOT_EXIST",
                                      "Y send_exception system OBJECT_NOT_EXIST",
                                      "X send_exception system OBJECT_NOT_EXIST"}));
}

TEST_F(FlowStack, KeepsWhatObserversRemember)
{
    static constexpr int mine = 0;
    static constexpr int another = 0;
    int kept = 0;
    const auto remember = [](auto& seen) {
        seen.state_of(&mine) = std::make_shared<int>(42);
        EXPECT_EQ(seen.state_of(&another), nullptr);
    };
    const auto recall = [&](auto& seen) { kept += *static_cast<int*>(seen.state_of(&mine).get()); };
    start({{"send_request", remember}, {"receive_reply", recall}},
          {{"arrival", remember}, {"receive_request", recall}, {"send_reply", recall}});
    EXPECT_EQ(ping(), "ok");
    EXPECT_EQ(kept, 3 * 42);
}

// --- Elsewhere -----------------------------------------------------------------------------------

class Elsewhere : public ::testing::Test {
  protected:
    LogLines log_;
    Record calls_;
    Record upcalls_;
    RunningServer other_{"thread-per-connection"};
};

TEST_F(Elsewhere, ServersObserversSendCallers)
{
    const ior::Ior to = ior_of(other_.reference());
    RunningServer server("leader-followers", {}, Start::active, [&](CORBA::ORB_ptr orb) {
        observe_upcalls(orb, "X", upcalls_);
        observe_upcalls(orb, "Y", upcalls_,
                        {{"arrival", [&](auto&) { throw orb::LocationForward{to}; }}});
    });
    Client client;
    std::vector<std::size_t> ports;
    observe_calls(client.orb(), "A", calls_,
                  {{"send_request", [&](orb::ObservedCall& call) {
                        ports.push_back(call.place().targets().front().endpoint->port());
                    }}});
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(target->add(1, 2), 3);
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "A receive_other location_forward",
                                    "A send_request", "A receive_reply"}));
    EXPECT_EQ(ports, (std::vector<std::size_t>{server.port(), other_.port()}));
    EXPECT_EQ(upcalls_.take(), (Lines{"X arrival", "Y arrival", "X send_other location_forward"}));
    EXPECT_EQ(server.servant().calls, 0u);
    EXPECT_EQ(other_.servant().calls, 1u);
}

TEST_F(Elsewhere, ClientsObserversSendCalls)
{
    RunningServer server("reactor");
    for (const char* point : {"send_request", "receive_reply"}) {
        const ior::Ior to = ior_of(other_.reference());
        Client client;
        bool first = true;
        const auto once = [&](auto&) {
            if (std::exchange(first, false)) throw orb::LocationForward{to};
        };
        observe_calls(client.orb(), "A", calls_);
        observe_calls(client.orb(), "B", calls_, {{point, once}});
        const Probe::Target_var target = client.target(server.reference());
        server.servant().calls = 0;
        other_.servant().calls = 0;
        EXPECT_EQ(target->add(1, 2), 3);
        const bool at_once = std::string_view(point) == "send_request";
        Lines expected{"A send_request", "B send_request"};
        if (!at_once) expected.emplace_back("B receive_reply");
        expected.emplace_back("A receive_other location_forward");
        expected.insert(expected.end(), told_of_reply.begin(), told_of_reply.end());
        EXPECT_EQ(calls_.take(), expected);
        EXPECT_EQ(server.servant().calls, at_once ? 0u : 1u);
        EXPECT_EQ(other_.servant().calls, 1u);
        // Deferred calls, too.
        first = true;
        const Probe::Target_var again = client.target(server.reference());
        const CORBA::Request_var request = again->_request("ping");
        request->send_deferred();
        request->get_response();
        EXPECT_EQ(request->env()->exception(), nullptr);
        EXPECT_EQ(calls_.take(), expected);
        EXPECT_EQ(other_.servant().calls, 2u);
    }
}

TEST_F(Elsewhere, ForEverIsTooLong)
{
    const ior::Ior to = ior_of(other_.reference());
    Client client;
    observe_calls(client.orb(), "A", calls_,
                  {{"send_request", [&](auto&) { throw orb::LocationForward{to}; }}});
    EXPECT_EQ(
        outcome([&] { Probe::Target_var(client.target(other_.reference()))->ping(); }).substr(0, 9),
        "TRANSIENT");
}

TEST_F(Elsewhere, WhoeverSentTheCallThereIsAskedAgain)
{
    const ior::Ior to = ior_of(other_.reference());
    other_.poa()->deactivate_object(other_.id());
    bool first = true;
    RunningServer server("reactor", {}, Start::active, [&](CORBA::ORB_ptr orb) {
        observe_upcalls(orb, "X", upcalls_, {{"arrival", [&](orb::ObservedUpcall& upcall) {
                                                  add_many(upcall.reply_contexts(), "reply");
                                                  if (std::exchange(first, false))
                                                      throw orb::LocationForward{to};
                                              }}});
    });
    Client client;
    Lines counts;
    const auto count = [&](orb::ObservedCall& call) {
        counts.push_back(text_of(call.ending()) + " " +
                         std::to_string(count_many(call.reply_contexts(), "reply")));
    };
    observe_calls(client.orb(), "A", calls_, {{"receive_other", count}, {"receive_reply", count}});
    EXPECT_EQ(Probe::Target_var(client.target(server.reference()))->add(1, 2), 3);
    EXPECT_EQ(calls_.take(),
              (Lines{"A send_request", "A receive_other location_forward", "A send_request",
                     "A receive_other retry", "A send_request", "A receive_reply"}));
    EXPECT_EQ(counts, (Lines{"location_forward 20", "retry 0", "successful 20"}));
    EXPECT_EQ(upcalls_.take(),
              (Lines{"X arrival", "X arrival", "X receive_request", "X send_reply"}));
}

TEST_F(Elsewhere, EachAttemptIsTold)
{
    RunningServer gone("reactor");
    const std::string nowhere = std::to_string(gone.port());
    gone.end();
    std::string url =
        "corbaloc::127.0.0.1:" + nowhere + ",:127.0.0.1:" + std::to_string(other_.port()) + "/";
    for (const std::byte octet : other_.key_bytes()) {
        char text[4];
        std::snprintf(text, sizeof text, "%%%02x", std::to_integer<unsigned>(octet));
        url += text;
    }
    Client client;
    observe_calls(client.orb(), "A", calls_);
    EXPECT_EQ(outcome([&] { Probe::Target_var(client.target(url))->ping(); }), "ok");
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "A receive_other retry", "A send_request",
                                    "A receive_reply"}));
    EXPECT_EQ(
        outcome([&] { Probe::Target_var(client.target(gone.reference()))->ping(); }).substr(0, 9),
        "TRANSIENT");
    EXPECT_EQ(calls_.take(), (Lines{"A send_request", "A receive_exception system TRANSIENT"}));
}

// --- What else -----------------------------------------------------------------------------------

TEST(ObserversOf, AnOrbMayCallWithinAPoint)
{
    RunningServer other("reactor");
    RunningServer server("reactor");
    Record calls;
    Client client;
    const Probe::Target_var beside = client.target(other.reference());
    observe_calls(client.orb(), "A", calls,
                  {{"send_request", [&](orb::ObservedCall& call) {
                        add_many(call.request_contexts(), "request");
                        if (call.operation().name() == "ping") return;
                        beside->ping();
                        EXPECT_EQ(count_many(call.request_contexts().contexts(), "request"),
                                  many_contexts);
                    }}});
    EXPECT_EQ(Probe::Target_var(client.target(server.reference()))->add(1, 2), 3);
    EXPECT_EQ(calls.take(),
              (Lines{"A send_request", "A send_request", "A receive_reply", "A receive_reply"}));
    EXPECT_EQ(other.servant().calls, 1u);
}

TEST(ObserversOf, AnOrbComeBeforeItServes)
{
    Record record;
    RunningServer server("reactor");
    EXPECT_THROW(observe_calls(server.orb(), "A", record), CORBA::BAD_INV_ORDER);
    EXPECT_THROW(observe_upcalls(server.orb(), "X", record), CORBA::BAD_INV_ORDER);
}

} // namespace
} // namespace kairos::orb_testing
