// SPDX-License-Identifier: Apache-2.0
//
// Oneways in datagrams, to servers of every architecture that may have them; what a server does
// with what is none; and what callers get where it cannot be had.
#include "tests/access/rules.h"
#include "tests/datagrams/fixture.h"
#include "tests/tls/certificates.h"

#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/Messaging.h"
#include "kairos/datagrams/channel.h"
#include "kairos/datagrams/oneway.h"
#include "kairos/datagrams/profiles.h"
#include "kairos/ior/describe.h"

#include <fstream>
#include <sys/wait.h>

namespace kairos::orb_testing {
namespace {

const std::vector<std::string> listens{"-ORBListenEndpoints",
                                       "iiop://127.0.0.1:0;diop://127.0.0.1:0"};

/// The exception that a call ends with, and what it says.
template <typename Call>
std::string told(Call call)
{
    try {
        call();
        return "ok";
    } catch (const CORBA::SystemException& exception) {
        return std::string(exception._rep_id()) + " " + std::to_string(exception.minor() & 0xfff) +
               ": " + exception.what();
    }
}

/// The same, of which nobody waits until it is sent. Takes the reference over.
Sensors::Listener_ptr without_waiting(CORBA::ORB_ptr orb, Sensors::Listener_ptr listener)
{
    const Sensors::Listener_var owned = listener;
    CORBA::Any scope;
    scope <<= Messaging::SYNC_NONE;
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, scope);
    const CORBA::Object_var object = owned->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
    return Sensors::Listener::_unchecked_narrow(object);
}

/// Waits until that is so.
template <typename Condition>
bool comes(Condition condition)
{
    const auto last = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > last) return false;
        std::this_thread::yield();
    }
    return true;
}

ior::IiopProfile datagrams_of(const std::string& reference)
{
    const ior::Ior ior = ior::from_string(reference).value();
    const auto at = std::ranges::find(ior.profiles, datagrams::tag_diop, &ior::TaggedProfile::tag);
    return ior::decode_iiop(at->data).value();
}

/// Waits until the server has taken from its socket what was sent to it.
bool taken(const std::string& reference)
{
    char place[16];
    std::snprintf(place, sizeof place, ":%04X ", datagrams_of(reference).port);
    return comes([&] {
        std::ifstream sockets("/proc/net/udp");
        for (std::string line; std::getline(sockets, line);)
            if (const auto at = line.find(place); at != std::string::npos && at < 20)
                return line.find(":00000000 ", at + 24) != std::string::npos;
        return false;
    });
}

/// Sends octets to where the reference says.
class RawSender {
  public:
    explicit RawSender(const std::string& reference)
    {
        const ior::IiopProfile profile = datagrams_of(reference);
        key_ = profile.object_key;
        address_ = net::Address::parse(profile.host, profile.port).value();
        EXPECT_EQ(::connect(socket_.descriptor(), address_.native(), address_.native_size()), 0);
    }
    [[nodiscard]] const net::Address& address() const { return address_; }
    void send(Bytes octets)
    {
        EXPECT_EQ(::send(socket_.descriptor(), octets.data(), octets.size(), 0),
                  static_cast<ssize_t>(octets.size()));
    }
    /// A request to say `text`, with these response flags.
    [[nodiscard]] WireMessage say(std::string_view text, std::uint8_t response_flags = 0) const
    {
        WireMessage message(giop::MessageType::request);
        message.u32(1).u8(response_flags).u8(0).u8(0).u8(0);
        message.u16(0).align(4).octets(key_).align(4).string("said").align(4).u32(0).align(8);
        return message.string(text);
    }

  private:
    net::Socket socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    net::Address address_;
    Octets key_;
};

/// Every architecture that may have datagrams beside it.
class Diop : public EveryArchitecture {};

TEST_P(Diop, OnewaysArriveAndTwowaysGoAnotherWay)
{
    const std::uint64_t before = datagrams::figures().requests; // those of servers that have ended
    ListenerServer server(GetParam(), listens);
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        const Sensors::Listener_var there = client.oneways(server.reference());
        const std::string word = "by " + std::string(connection);
        there->said(word.c_str());
        EXPECT_TRUE(server.servant().wait_for("said " + word));
        const Sensors::Listener_var target = client.target(server.reference());
        const std::string other = "not " + word;
        target->said(other.c_str());
        EXPECT_TRUE(server.servant().wait_for("said " + other));
        EXPECT_NE(target->heard(), 0u);
    }
    EXPECT_LE(datagrams::figures().requests - before, 3u) << "the ordinary reference sends none";
}

TEST_P(Diop, HeldRequestsWait)
{
    ListenerServer server(GetParam(), listens);
    server.manager()->hold_requests(true);
    ListenerClient client;
    const Sensors::Listener_var there = client.oneways(server.reference());
    there->said("first");
    EXPECT_TRUE(taken(server.reference()));
    there->said("second");
    EXPECT_EQ(server.servant().count("said first"), 0u);
    server.manager()->activate();
    EXPECT_TRUE(server.servant().wait_for("said second"));
    EXPECT_EQ(server.servant().count("said first"), 1u);
    server.manager()->discard_requests(true);
    const std::uint64_t before = datagrams::figures().requests;
    there->said("discarded");
    EXPECT_TRUE(comes([&] { return datagrams::figures().requests > before; }));
    server.manager()->activate();
    there->said("third");
    EXPECT_TRUE(server.servant().wait_for("said third"));
    EXPECT_EQ(server.servant().count("said discarded"), 0u);
}

/// Its thread waits for the manager, and is told of the end.
TEST_P(Diop, AServerEndsWhileRequestsAreHeld)
{
    ListenerServer server(GetParam(), listens);
    server.manager()->hold_requests(true);
    ListenerClient client;
    const Sensors::Listener_var there = client.oneways(server.reference());
    there->said("never");
    EXPECT_TRUE(taken(server.reference()));
    EXPECT_EQ(server.servant().count("said never"), 0u);
}

TEST_P(Diop, TwoEndAServerWhileItServes)
{
    std::vector<std::string> options = options_of_architecture(GetParam());
    options.insert(options.end(), listens.begin(), listens.end());
    const CORBA::ORB_var orb = make_orb(std::move(options));
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<ListenerServant> servant = new ListenerServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    ListenerClient client;
    const CORBA::String_var reference = orb->object_to_string(object);
    const Sensors::Listener_var there = client.oneways(reference.in());
    there->said("wait");
    EXPECT_TRUE(servant->wait_for("said wait"));
    std::thread one([&] { (void)told([&] { orb->shutdown(true); }); });
    std::thread other([&] { EXPECT_EQ(told([&] { orb->destroy(); }), "ok"); });
    servant->may_go.set();
    one.join();
    other.join();
    EXPECT_EQ(servant->count("said wait"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Diop,
                         ::testing::Values("thread-per-connection", "reactor-per-priority",
                                           "reactor-per-priority-each", "leader-followers",
                                           "worker-pool", "thread-per-request"),
                         architecture_name);

/// Their servants would be called by another thread than they promise, or past filters.
TEST(DiopArchitectures, ThatPromiseMoreRefuseIt)
{
    const LogLines log;
    const auto start = [](std::vector<std::string> options) {
        options.insert(options.begin(), listens.begin(), listens.end());
        return told([&] {
            const CORBA::ORB_var orb = make_orb(options);
            const CORBA::Object_var poa = orb->resolve_initial_references("RootPOA");
            PortableServer::Servant_var<ListenerServant> servant = new ListenerServant;
            const Sensors::Listener_var object = servant->_this();
            orb->destroy();
        });
    };
    for (const char* architecture : {"reactor", "thread-per-object"})
        EXPECT_NE(start({"-ORBConcurrency", architecture}).find("servants need no locks"),
                  std::string::npos)
            << architecture;
    for (const char* architecture : {"filter-chain", "custom"})
        EXPECT_NE(start({"-ORBConcurrency", architecture}).find("says who may be served"),
                  std::string::npos)
            << architecture;
    const auto lanes = [&](const char* which) {
        return start({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", which});
    };
    EXPECT_NE(lanes("0").find("servants need no locks"), std::string::npos) << lanes("0");
    EXPECT_EQ(lanes("0:2").find("servants need no locks"), std::string::npos) << lanes("0:2");
    EXPECT_EQ(lanes("0,1").find("servants need no locks"), std::string::npos) << lanes("0,1");
}

class DiopServer : public ::testing::Test {
  protected:
    LogLines log_;
    ListenerServer server_{"thread-per-connection", listens};
    RawSender sender_{server_.reference()};
    const std::uint64_t dropped_ = datagrams::figures().dropped;
};

TEST_F(DiopServer, DropsAndCountsWhatIsNoOneway)
{
    const std::uint64_t before = datagrams::figures().dropped;
    const Octets good = sender_.say("good").finish();
    std::vector<Octets> bad;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{3}, std::size_t{12}, good.size() / 2, good.size() - 1})
        bad.emplace_back(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    bad.push_back(good);
    bad.back().push_back(std::byte{0}); // one octet more than it says
    bad.push_back(good);
    bad.back()[0] = std::byte{'M'};
    bad.push_back(good);
    bad.back()[5] = std::byte{9}; // of the version
    bad.push_back(sender_.say("twoway", 3).finish());
    bad.push_back(sender_.say("confirmed", 1).finish());
    bad.push_back(sender_.say("part").flag(2).finish());
    for (const auto type : {giop::MessageType::reply, giop::MessageType::locate_request,
                            giop::MessageType::close_connection, giop::MessageType::fragment}) {
        bad.push_back(good);
        bad.back()[7] = static_cast<std::byte>(type);
    }
    for (const Octets& each : bad)
        sender_.send(each);
    sender_.send(good);
    EXPECT_TRUE(server_.servant().wait_for("said good"));
    EXPECT_EQ(datagrams::figures().dropped - before, bad.size());
    EXPECT_EQ(server_.servant().heard(), 1u);
    EXPECT_TRUE(LogLines::wait_for("was dropped: it expects an answer"));
}

/// Nobody hears of what nobody serves, and the next request is served.
TEST_F(DiopServer, GoesOnAfterWhatCannotBeServed)
{
    Octets other = sender_.say("x").finish();
    const auto at = std::ranges::search(other, as_bytes(std::string_view("said"))).begin();
    at[0] = std::byte{'S'}; // an operation that there is not
    sender_.send(other);
    other = sender_.say("arguments").finish();
    other[other.size() - 14] = std::byte{0x7f}; // a length beyond the end
    sender_.send(other);
    sender_.send(sender_.say("next").finish());
    EXPECT_TRUE(server_.servant().wait_for("said next"));
    EXPECT_EQ(server_.servant().heard(), 1u);
}

TEST_F(DiopServer, ManySendersAtOnce)
{
    constexpr int senders = 16;
    std::vector<std::thread> threads;
    threads.reserve(senders);
    for (int n = 0; n < senders; ++n)
        threads.emplace_back([&, n] {
            RawSender sender(server_.reference());
            sender.send(sender.say("sender " + std::to_string(n)).finish());
        });
    for (std::thread& each : threads)
        each.join();
    for (int n = 0; n < senders; ++n)
        EXPECT_TRUE(server_.servant().wait_for("said sender " + std::to_string(n)));
}

TEST_F(DiopServer, CallersAreToldWhatDoesNotGo)
{
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        const Sensors::Listener_var there = client.oneways(server_.reference());
        for (int i = 0; i < 2; ++i) { // on a new connection, and on an old one
            const std::string twoway = told([&] { (void)there->heard(); });
            EXPECT_TRUE(twoway.starts_with("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34: ")) << twoway;
            Sensors::Samples samples;
            samples.length(70'000);
            const std::string large = told([&] { there->measured(1, samples); });
            EXPECT_TRUE(large.starts_with("IDL:omg.org/CORBA/TRANSIENT:1.0")) << large;
            const std::string word = std::string(connection) + std::to_string(i);
            there->said(word.c_str());
            EXPECT_TRUE(server_.servant().wait_for("said " + word));
        }
        EXPECT_TRUE(told([&] {
                        (void)there->_non_existent();
                    }).starts_with("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34: "));
    }
    EXPECT_TRUE(LogLines::wait_for("was not sent in a datagram: it expects an answer"));
    EXPECT_TRUE(LogLines::wait_for("was not sent in a datagram: it is too large"));
    EXPECT_EQ(server_.servant().count("measured 1 of 70000"), 0u);
}

/// Threads that share a connection: who asks for an answer hears that there is none, and nobody
/// else does.
TEST_F(DiopServer, WhatIsRefusedIsToldToTheCallThatItIs)
{
    for (const char* connection : {"leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        constexpr int calls = 50;
        std::atomic<int> refused{0};
        std::atomic<int> sent{0};
        std::vector<std::thread> threads;
        threads.reserve(4);
        for (const bool asks : {true, false, true, false})
            threads.emplace_back([&, asks] {
                const Sensors::Listener_var there = client.oneways(server_.reference());
                for (int i = 0; i < calls; ++i) {
                    const std::string ended = told([&] {
                        if (asks)
                            (void)there->heard();
                        else
                            there->said("one of them");
                    });
                    if (asks && ended.starts_with("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34: "))
                        ++refused;
                    if (!asks && ended == "ok") ++sent;
                }
            });
        for (std::thread& each : threads)
            each.join();
        EXPECT_EQ(refused, 2 * calls) << connection;
        EXPECT_EQ(sent, 2 * calls) << connection;
    }
}

/// A datagram each, however many wait to be sent.
TEST_F(DiopServer, OnewaysThatNobodyWaitsFor)
{
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        const Sensors::Listener_var target =
            without_waiting(client.orb(), client.target(server_.reference()));
        const CORBA::Object_var object = datagrams::oneways(target); // with its policies
        const Sensors::Listener_var there = Sensors::Listener::_unchecked_narrow(object);
        CORBA::PolicyTypeSeq types;
        types.length(1);
        types[0] = Messaging::SYNC_SCOPE_POLICY_TYPE;
        const CORBA::PolicyList_var policies = there->_get_policy_overrides(types);
        EXPECT_EQ(policies->length(), 1u);
        for (int i = 0; i < 40; ++i)
            there->said((connection + std::to_string(i)).c_str());
        for (int i = 0; i < 40; ++i)
            EXPECT_TRUE(server_.servant().wait_for("said " + (connection + std::to_string(i))));
    }
    EXPECT_EQ(datagrams::figures().dropped, dropped_);
}

/// As the ORB offers them where several wait, or one in pieces.
TEST_F(DiopServer, ADatagramIsOneWholeMessage)
{
    const Octets first = sender_.say("first").finish();
    const Octets second = sender_.say("second of them").finish();
    Octets both = first;
    both.insert(both.end(), second.begin(), second.end());
    auto made = datagrams::Channel::connect({"127.0.0.1", 1}, {sender_.address()}, {});
    ASSERT_TRUE(made) << made.error().reason;
    net::Socket& socket = *made;
    EXPECT_EQ(socket.write(Bytes(both)).bytes, first.size());
    EXPECT_EQ(socket.write(Bytes(second)).bytes, second.size());
    const Bytes part = Bytes(both).first(first.size() + 20);
    std::array<iovec, 3> pieces{{{both.data(), 12},
                                 {both.data() + 12, first.size()},
                                 {both.data() + 12 + first.size(), second.size() - 12}}};
    EXPECT_EQ(socket.write(std::span<const iovec>(pieces)).bytes, first.size());
    for (const std::size_t size : {std::size_t{7}, std::size_t{12}, std::size_t{30}}) {
        const auto offered = socket.write(part.first(size), net::WriteFlags::do_not_wait);
        EXPECT_EQ(offered.status, net::IoResult::Status::would_block) << size;
        EXPECT_EQ(offered.bytes, 0u);
    }
    EXPECT_EQ(socket.write(part).bytes, first.size());
    EXPECT_TRUE(server_.servant().wait_for("said second of them"));
    EXPECT_TRUE(server_.servant().wait_for_count("said first", 3));
    EXPECT_EQ(server_.servant().count("said second of them"), 1u);
    // Nothing more comes of one that stays a part.
    EXPECT_EQ(socket.write(part.first(30), net::WriteFlags::do_not_wait).status,
              net::IoResult::Status::would_block);
    EXPECT_EQ(socket.write(part.first(30)).status, net::IoResult::Status::failed);
    EXPECT_EQ(datagrams::figures().dropped, dropped_);
}

/// A name with several addresses, of which the first has nobody.
TEST_F(DiopServer, TheNextAddressIsTakenWhereNobodyIs)
{
    net::Address nobody;
    {
        const net::Socket closed(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        const net::Address any = net::Address::parse("127.0.0.1", 0).value();
        ASSERT_EQ(::bind(closed.descriptor(), any.native(), any.native_size()), 0);
        nobody = closed.local_address().value();
    }
    const ior::Address where{"sensor.example", 5500};
    const Octets message = sender_.say("arrives").finish();
    {
        auto made = datagrams::Channel::connect(where, {nobody, sender_.address()}, {});
        ASSERT_TRUE(made) << made.error().reason;
        EXPECT_TRUE(comes([&] {
            EXPECT_TRUE(made->write(Bytes(message)).ok());
            return server_.servant().count("said arrives") != 0;
        }));
    }
    EXPECT_FALSE(datagrams::Refusals::take(where));
    auto made = datagrams::Channel::connect(where, {nobody}, {});
    ASSERT_TRUE(made) << made.error().reason;
    EXPECT_TRUE(comes([&] { return !made->write(Bytes(message)).ok(); }));
    EXPECT_TRUE(datagrams::Refusals::take(where));
    EXPECT_FALSE(datagrams::Refusals::take(where)) << "told once";
}

/// The call after the one of which the system heard that nobody is there; and who is there later
/// is called.
TEST(DiopClients, HearThatNobodyIsThere)
{
    const LogLines log;
    std::string reference;
    {
        ListenerServer server("thread-per-connection", listens);
        reference = server.reference();
    }
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        const Sensors::Listener_var there = client.oneways(reference);
        std::string ended;
        EXPECT_TRUE(comes([&] {
            ended = told([&] { there->said("to nobody"); });
            return ended != "ok";
        }));
        EXPECT_TRUE(ended.starts_with("IDL:omg.org/CORBA/TRANSIENT:1.0")) << ended;
        EXPECT_EQ(told([&] { there->said("again"); }), "ok") << "nobody is asked";
    }
}

/// Nothing is sent of another version, be it the reference's or the client's.
TEST_F(DiopServer, OldVersionsAreNotSent)
{
    ior::Ior ior = ior::from_string(server_.reference()).value();
    ior::IiopProfile old = datagrams_of(server_.reference());
    old.version = {1, 1};
    ior.profiles = {ior::encode_iiop(old)};
    ior.profiles.front().tag = datagrams::tag_diop;
    ListenerClient client;
    const Sensors::Listener_var there = client.target(ior::to_string(ior));
    ListenerClient other({"-ORBGIOPVersion", "1.1"});
    const Sensors::Listener_var likewise = other.oneways(server_.reference());
    for (Sensors::Listener_ptr each : {there.in(), likewise.in()})
        EXPECT_TRUE(
            told([&] { each->said("of old"); }).starts_with("IDL:omg.org/CORBA/TRANSIENT:1.0"));
    EXPECT_TRUE(LogLines::wait_for("was not sent in a datagram: it is not of GIOP 1.2"));
    EXPECT_EQ(server_.servant().heard(), 0u);
}

/// A reference with several profiles, as of a server with several addresses.
TEST_F(DiopServer, TheNextProfileIsTakenWhereNobodyIs)
{
    const HeldPorts held(1); // for connections; datagrams come to none of those ports
    ior::Ior ior = ior::from_string(server_.reference()).value();
    ior::IiopProfile nobody = datagrams_of(server_.reference());
    nobody.port = held.port();
    ior.profiles.front() = ior::encode_iiop(nobody);
    ior.profiles.front().tag = datagrams::tag_diop;
    for (const char* connection : {"non-multiplexed", "leader-followers", "active"}) {
        ListenerClient client({"-ORBConnection", connection});
        const Sensors::Listener_var there = client.target(ior::to_string(ior));
        const std::string word = "to the next of " + std::string(connection);
        EXPECT_TRUE(comes([&] {
            EXPECT_EQ(told([&] { there->said(word.c_str()); }), "ok");
            return server_.servant().count("said " + word) != 0;
        }));
    }
}

/// A connection of datagrams carries nothing back, whatever the policies say.
TEST_F(DiopServer, ClientsThatServeInBothDirectionsCallAsOthers)
{
    ListenerClient client({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const CORBA::Object_var root = client.orb()->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    CORBA::Any both;
    both <<= BiDirPolicy::BOTH;
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = client.orb()->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    const PortableServer::POA_var back = poa->create_POA("back", manager, policies);
    manager->activate();
    const Sensors::Listener_var plain = client.oneways(server_.reference());
    const CORBA::Object_var object = plain->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
    const Sensors::Listener_var there = Sensors::Listener::_unchecked_narrow(object);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(told([&] {
                        (void)there->heard();
                    }).starts_with("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34: "));
        Sensors::Samples samples;
        samples.length(70'000);
        EXPECT_TRUE(told([&] {
                        there->measured(1, samples);
                    }).starts_with("IDL:omg.org/CORBA/TRANSIENT:1.0"));
        const std::string word = "both " + std::to_string(i);
        there->said(word.c_str());
        EXPECT_TRUE(server_.servant().wait_for("said " + word));
    }
    EXPECT_EQ(datagrams::figures().dropped, dropped_);
}

/// Ports of datagrams and of connections have nothing to do with each other.
TEST(DiopReferences, OfTheSamePortAreOfAnotherProcess)
{
    const LogLines log;
    const CORBA::ORB_var orb =
        make_orb({"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://127.0.0.1:0"});
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = poa->create_lifespan_policy(PortableServer::PERSISTENT);
    policies[1] = poa->create_id_assignment_policy(PortableServer::USER_ID);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    const PortableServer::POA_var lasting = poa->create_POA("lasting", manager, policies);
    PortableServer::Servant_var<ListenerServant> servant = new ListenerServant;
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("sensor");
    lasting->activate_object_with_id(id, servant);
    const CORBA::Object_var own = lasting->id_to_reference(id);
    const CORBA::Object_var there = datagrams::oneways(own);
    EXPECT_TRUE(there->_kairos_reference()->is_local());
    // The same key, and the port where this process takes connections: datagrams to it are not its.
    const std::uint16_t port =
        ior::decode_iiop(own->_kairos_reference()->ior().profiles.front().data).value().port;
    ior::Ior ior = there->_kairos_reference()->ior();
    ior::IiopProfile profile = ior::decode_iiop(ior.profiles.front().data).value();
    EXPECT_NE(profile.port, port);
    profile.port = port;
    ior.profiles.front() = ior::encode_iiop(profile);
    ior.profiles.front().tag = datagrams::tag_diop;
    const CORBA::Object_var other = orb->string_to_object(ior::to_string(ior).c_str());
    EXPECT_FALSE(other->_kairos_reference()->is_local());
    orb->destroy();
}

#ifndef __SANITIZE_THREAD__ // whose children of several threads start none
/// It was forked before the parent served, and serves by what the parent has opened.
TEST(DiopServers, InAChild)
{
    const LogLines log;
    const CORBA::ORB_var orb = make_orb(listens);
    const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<ListenerServant> servant = new ListenerServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const std::string reference = CORBA::String_var(orb->object_to_string(object)).in();
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        manager->activate();
        ::_exit(servant->wait_for("said to the child") ? 0 : 1);
    }
    RawSender sender(reference);
    sender.send(sender.say("to the child").finish());
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    orb->destroy();
}
#endif

/// All that fits goes, and nothing more.
TEST_F(DiopServer, TheLargestDatagram)
{
    ListenerClient client;
    const Sensors::Listener_var there = client.oneways(server_.reference());
    Sensors::Samples samples;
    CORBA::ULong fits = 60'000;
    CORBA::ULong beyond = 65'507;
    while (beyond - fits > 1) {
        const CORBA::ULong middle = (fits + beyond) / 2;
        samples.length(middle);
        const bool went = told([&] { there->measured(2, samples); }) == "ok";
        (went ? fits : beyond) = middle;
        // One at a time: they are not lost for want of room.
        if (went)
            EXPECT_TRUE(server_.servant().wait_for("measured 2 of " + std::to_string(middle)));
    }
    EXPECT_GT(fits, 65'200u);
    EXPECT_EQ(server_.servant().count("measured 2 of " + std::to_string(beyond)), 0u);
}

TEST_F(DiopServer, TextIsLatin1)
{
    ListenerClient client;
    const Sensors::Listener_var there = client.oneways(server_.reference());
    there->said("Gr\xc3\xbc\xc3\x9f"
                "e");
    EXPECT_TRUE(server_.servant().wait_for("said Gr\xc3\xbc\xc3\x9f"
                                           "e"));
}

/// Rules for places let nobody in of whom no place is known, and keep out whom they name.
TEST(DiopAccess, WhereADatagramComesFromProvesNothing)
{
    const LogLines log;
    const auto options = [](const access_testing::RulesFile& rules) {
        std::vector<std::string> all = rules.options();
        all.insert(all.end(), listens.begin(), listens.end());
        return all;
    };
    {
        const access_testing::RulesFile rules(R"([[rule]]
who = ["network:127.0.0.0/8", "local"]
allow = "**"
[[rule]]
who = "anyone"
allow = "measured")");
        ListenerServer server("thread-per-connection", options(rules));
        ListenerClient client;
        const Sensors::Listener_var there = client.oneways(server.reference());
        there->said("by datagram");
        there->measured(1, Sensors::Samples());
        EXPECT_TRUE(server.servant().wait_for("measured 1 of 0"));
        EXPECT_EQ(server.servant().count("said by datagram"), 0u);
        EXPECT_EQ(LogLines::count("from=\"none\""), 1u);
        const Sensors::Listener_var target = client.target(server.reference());
        target->said("by connection");
        EXPECT_TRUE(server.servant().wait_for("said by connection"));
    }
    LogLines::forget();
    const access_testing::RulesFile rules(R"(default = "allow"
[[rule]]
who = "network:203.0.113.0/24"
deny = "said")");
    ListenerServer server("thread-per-connection", options(rules));
    ListenerClient client;
    const Sensors::Listener_var there = client.oneways(server.reference());
    there->said("from anywhere");
    there->measured(2, Sensors::Samples());
    EXPECT_TRUE(server.servant().wait_for("measured 2 of 0"));
    EXPECT_EQ(server.servant().count("said from anywhere"), 0u);
    EXPECT_EQ(LogLines::count("from=\"none\""), 1u);
}

TEST(DiopEndpoints, WarnWhereCertificatesAreAsked)
{
    const LogLines log;
    std::vector<std::string> options{"-ORBTlsVerifyClient", "required"};
    const auto& certificates = tls_testing::Certificates::get();
    for (const auto& more : {certificates.shows("server"), certificates.trusts("ca"), listens})
        options.insert(options.end(), more.begin(), more.end());
    const std::string ended = told([&] { ListenerServer server("worker-pool", options); });
    EXPECT_TRUE(LogLines::wait_for("asks nothing of those who send datagrams to 127.0.0.1:"))
        << ended;
}

TEST(DiopReferences, HaveTheProfileOfTao)
{
    const LogLines log;
    ListenerServer server("thread-per-connection", listens);
    const ior::Ior ior = ior::from_string(server.reference()).value();
    ASSERT_EQ(ior.profiles.size(), 2u);
    EXPECT_EQ(ior.profiles[0].tag, ior::tag_internet_iop);
    EXPECT_EQ(ior.profiles[1].tag, 0x54414F04u);
    const auto first = ior::decode_iiop(ior.profiles[0].data).value();
    const auto second = ior::decode_iiop(ior.profiles[1].data).value();
    EXPECT_EQ(second.host, "127.0.0.1");
    EXPECT_NE(second.port, 0);
    EXPECT_EQ(second.object_key, first.object_key);
    EXPECT_EQ(second.version, (ior::IiopVersion{1, 2}));
    const std::string described = ior::describe(ior);
    EXPECT_NE(described.find(
                  "TAO DIOP: IIOP 1.2\n  address: 127.0.0.1:" + std::to_string(second.port) + "\n"),
              std::string::npos)
        << described;
}

/// As those of a TAO server that has nothing else.
TEST(DiopReferences, ThatHaveNothingElseAreCalledByThat)
{
    const LogLines log;
    ListenerServer server("thread-per-connection", listens);
    ior::Ior ior = ior::from_string(server.reference()).value();
    ior.profiles.erase(ior.profiles.begin());
    ListenerClient client;
    const Sensors::Listener_var target = client.target(ior::to_string(ior));
    target->said("nothing else");
    EXPECT_TRUE(server.servant().wait_for("said nothing else"));
    EXPECT_TRUE(told([&] {
                    (void)target->heard();
                }).starts_with("IDL:omg.org/CORBA/NO_IMPLEMENT:1.0 34: "));
}

/// Whoever makes references cannot have a client send datagrams that nobody has asked for.
TEST(DiopReferences, DoNotAskForDatagramsOtherwise)
{
    ior::TaggedComponent component{datagrams::tag_of_way, ior::OctetVector(2, std::byte{7})};
    EXPECT_FALSE(datagrams::port_of_way(component));
    component.data.resize(10);
    EXPECT_FALSE(datagrams::port_of_way(component));
}

TEST(DiopReferences, WithoutOneCannotBeAskedForIt)
{
    const LogLines log;
    ListenerServer server("reactor", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    ListenerClient client;
    EXPECT_TRUE(told([&] {
                    (void)client.oneways(server.reference());
                }).starts_with("IDL:omg.org/CORBA/INV_OBJREF:1.0"));
    EXPECT_TRUE(CORBA::is_nil(datagrams::oneways(CORBA::Object::_nil())));
}

TEST(DiopEndpoints, NeedAnotherBesideThem)
{
    const LogLines log;
    EXPECT_NE(told([&] {
                  ListenerServer server("reactor", {"-ORBListenEndpoints", "diop://127.0.0.1:0"});
              }).find("datagrams carry no answers: another endpoint is needed"),
              std::string::npos);
    const std::string bad = told([&] {
        ListenerServer server("reactor",
                              {"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://192.0.2.1:0"});
    });
    EXPECT_NE(bad.find("diop://192.0.2.1:0"), std::string::npos) << bad;
}

} // namespace
} // namespace kairos::orb_testing
