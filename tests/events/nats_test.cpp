// SPDX-License-Identifier: Apache-2.0
//
// Channels of two processes' worth of ORBs joined by NATS, against Debian's server, which the test
// starts, ends and starts again; and by a client that knows nothing of events.
#include "bench/process.h"
#include "bench/tls_keys.h"
#include "kairos/events/channel_testing.h"
#include "kairos/nats/federation.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "tests/calls/held_ports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nats/nats.h>
#include <netinet/in.h>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace kairos::nats {
namespace {

using events::Consumer;
using events::patience;

class NatsServer {
  public:
    explicit NatsServer(std::uint16_t port, const std::vector<std::string>& more = {})
    {
        std::string command =
            "exec '" KAIROS_NATS_SERVER "' --addr 127.0.0.1 --port " + std::to_string(port);
        for (const std::string& word : more)
            command += " '" + word + "'";
        process_ = std::make_unique<bench::ChildProcess>(
            bench::ChildProcess::start({.command = {"/bin/sh", "-c", command + " 2>&1"},
                                        .environment = {},
                                        .cpu = {},
                                        .inherited_descriptor = -1})
                .value());
        for (;;)
            if (process_->read_line(patience).value().ends_with("Server is ready")) return;
    }
    void end()
    {
        ::kill(process_->pid(), SIGTERM);
        (void)process_->finish(patience);
    }

  private:
    std::unique_ptr<bench::ChildProcess> process_;
};

/// A process of the federation: a channel "Lab", and clients of it.
class Site {
  public:
    explicit Site(const std::string& servers, const FederationOptions& options = {})
        : service_(server_.in())
    {
        FederationOptions mine = options;
        mine.servers = servers;
        federation_.emplace(server_.in(), mine);
        channel_ = federation_->create_channel(service_, "Lab");
        const CosEventChannelAdmin::SupplierAdmin_var suppliers = channel_->for_suppliers();
        supplier_ = suppliers->obtain_push_consumer();
        supplier_->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        connect(first_);
    }

    /// Connects a consumer, which must outlive this.
    void connect(Consumer& consumer)
    {
        const auto object = server_.activate<CosEventComm::PushConsumer>(&consumer);
        const CosEventChannelAdmin::ConsumerAdmin_var consumers = channel_->for_consumers();
        const CosEventChannelAdmin::ProxyPushSupplier_var proxy = consumers->obtain_push_supplier();
        proxy->connect_push_consumer(object.in());
    }
    /// One that has been there from the beginning.
    [[nodiscard]] Consumer& first() { return first_; }
    void push(CORBA::Long value) { push(events::event_of(value)); }
    void push(const CORBA::Any& event) { supplier_->push(event); }
    [[nodiscard]] Federation& federation() { return *federation_; }
    [[nodiscard]] const Federation& federation() const { return *federation_; }
    [[nodiscard]] events::EventService& service() { return service_; }
    void leave() { federation_.reset(); }
    /// Until the figures are so: they change in threads of the bus's library, which tells nobody.
    [[nodiscard]] bool wait(const std::function<bool(const FederationFigures&)>& condition) const
    {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!condition(federation_->figures())) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::yield();
        }
        return true;
    }
    [[nodiscard]] bool is_connected() const
    {
        return wait([](const FederationFigures& now) { return now.is_connected; });
    }

  private:
    Consumer first_; // outlives the others
    events::TestOrb server_;
    events::EventService service_;
    std::optional<Federation> federation_;
    KairosEvents::Channel_var channel_;
    CosEventChannelAdmin::ProxyPushConsumer_var supplier_;
};

class NatsTest : public ::testing::Test {
  protected:
    NatsTest() { server_.emplace(port_.port()); }
    [[nodiscard]] std::string servers() const
    {
        return "nats://127.0.0.1:" + std::to_string(port_.port());
    }
    /// Returns when both hear each other: who has the server's subscription nobody is told.
    static void join(Site& one, Site& other)
    {
        ASSERT_TRUE(one.is_connected());
        ASSERT_TRUE(other.is_connected());
        const auto hears = [](Site& site, CORBA::Long value) {
            return std::ranges::count(site.first().values(), value) != 0;
        };
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!hears(one, -2) || !hears(other, -1)) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
            if (!hears(other, -1)) one.push(-1);
            if (!hears(one, -2)) other.push(-2);
        }
    }

    const calls::HeldPorts port_{1};
    events::LogLines log_;
    std::optional<NatsServer> server_;
};

/// What a program makes of NATS that has no ORB.
class Plain {
  public:
    explicit Plain(const std::string& servers)
    {
        EXPECT_EQ(NATS_OK, natsConnection_ConnectTo(&connection_, servers.c_str()));
    }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    ~Plain()
    {
        natsSubscription_Destroy(subscription_);
        natsConnection_Destroy(connection_);
    }
    void publish(const std::string& subject, const std::string& octets)
    {
        EXPECT_EQ(NATS_OK, natsConnection_Publish(connection_, subject.c_str(), octets.data(),
                                                  static_cast<int>(octets.size())));
        EXPECT_EQ(NATS_OK, natsConnection_Flush(connection_));
    }
    void subscribe(const std::string& subject)
    {
        EXPECT_EQ(NATS_OK,
                  natsConnection_SubscribeSync(&subscription_, connection_, subject.c_str()));
        EXPECT_EQ(NATS_OK, natsConnection_Flush(connection_));
    }
    [[nodiscard]] std::string next()
    {
        natsMsg* message = nullptr;
        const auto limit = std::chrono::milliseconds(patience).count();
        if (natsSubscription_NextMsg(&message, subscription_, limit) != NATS_OK) return "nothing";
        std::string octets(natsMsg_GetData(message),
                           static_cast<std::size_t>(natsMsg_GetDataLength(message)));
        natsMsg_Destroy(message);
        return octets;
    }

  private:
    natsConnection* connection_ = nullptr;
    natsSubscription* subscription_ = nullptr;
};

TEST_F(NatsTest, ConsumersOfAllProcessesGetWhatIsPushedIntoOne)
{
    Consumer here;
    Consumer there;
    Site one(servers());
    Site other(servers());
    join(one, other);
    one.connect(here);
    other.connect(there);
    for (CORBA::Long value = 1; value <= 100; ++value)
        one.push(value);
    ASSERT_TRUE(here.has_value(100));
    ASSERT_TRUE(there.has_value(100));
    other.push(101);
    ASSERT_TRUE(here.has_value(101));
    ASSERT_TRUE(there.has_value(101));
    std::vector<CORBA::Long> expected(101);
    std::iota(expected.begin(), expected.end(), 1);
    const auto of_the_test = [](std::vector<CORBA::Long> values) {
        std::erase_if(values, [](CORBA::Long value) { return value < 0; }); // of joining
        return values;
    };
    EXPECT_EQ(expected, of_the_test(here.values())); // each once, and in order
    EXPECT_EQ(expected, of_the_test(there.values()));
}

TEST_F(NatsTest, ConnectsAgainWhenTheServerIsBack)
{
    Site one(servers());
    Site other(servers());
    join(one, other);
    server_->end();
    ASSERT_TRUE(log_.wait_for("is gone"));
    ASSERT_TRUE(one.wait([](const auto& now) { return !now.is_connected; }));
    one.push(1); // those here have it all the same
    ASSERT_TRUE(one.first().has_value(1));
    server_.emplace(port_.port());
    ASSERT_TRUE(log_.wait_for("is there again"));
    other.push(2);
    ASSERT_TRUE(other.first().has_value(2));
    const auto end = std::chrono::steady_clock::now() + patience;
    for (CORBA::Long value = 3; std::ranges::count(other.first().values(), value) == 0;) {
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        one.push(value);
    }
    ASSERT_TRUE(one.is_connected());
    EXPECT_GE(one.federation().figures().connections, 2U);
}

TEST_F(NatsTest, BeginsBeforeTheServer)
{
    server_->end();
    Site one(servers());
    Site other(servers());
    EXPECT_FALSE(one.federation().figures().is_connected);
    server_.emplace(port_.port());
    join(one, other);
}

TEST_F(NatsTest, ByTlsOnlyToAServerThatItIsToldToBelieve)
{
    const bench::TlsKeys keys = bench::TlsKeys::make().value();
    const bench::TlsKeys others = bench::TlsKeys::make().value();
    const auto serve_by = [&](const bench::TlsKeys& with) {
        server_->end();
        server_.emplace(port_.port(),
                        std::vector<std::string>{"--tls", "--tlscert", with.certificate(),
                                                 "--tlskey", with.key()});
    };
    const std::string tls = "tls://127.0.0.1:" + std::to_string(port_.port());
    FederationOptions options;
    options.authorities = keys.authority();
    serve_by(others);
    Site one(tls, options);
    const Site plain(servers(), options); // the server wants TLS of everybody
    const Site trusting(tls);             // what the system believes
    const auto is_refused = [](const auto& now) { return now.failures >= 2; };
    for (const Site* site : std::initializer_list<const Site*>{&one, &plain, &trusting}) {
        EXPECT_TRUE(site->wait(is_refused));
        EXPECT_EQ(0U, site->federation().figures().connections);
    }
    serve_by(keys);
    Site other(tls, options);
    join(one, other); // which has tried again
    const auto before = trusting.federation().figures().failures;
    EXPECT_TRUE(trusting.wait([&](const auto& now) { return now.failures > before + 1; }));
    EXPECT_EQ(0U, trusting.federation().figures().connections);
}

TEST_F(NatsTest, WithThePasswordThatTheServerWants)
{
    server_->end();
    server_.emplace(port_.port(), std::vector<std::string>{"--user", "lab", "--pass", "secret"});
    FederationOptions options;
    options.user = "lab";
    options.password = "guess";
    const Site nobody(servers());
    const Site stranger(servers(), options);
    options.password = "secret";
    Site one(servers(), options);
    Site other("nats://lab:secret@127.0.0.1:" + std::to_string(port_.port()));
    join(one, other);
    for (const Site* site : {&nobody, &stranger}) {
        EXPECT_TRUE(site->wait([](const auto& now) { return now.failures >= 1; }));
        EXPECT_EQ(0U, site->federation().figures().connections);
    }
    EXPECT_FALSE(log_.has("guess"));
}

TEST_F(NatsTest, WhatWaitsForAServerGoesOutWhenItIsThere)
{
    server_->end();
    Site one(servers());
    ASSERT_TRUE(one.wait([](const auto& now) { return now.failures >= 1; }));
    CORBA::OctetSeq octets;
    octets.length(2 << 20); // more than it will take
    CORBA::Any too_large;
    too_large <<= octets;
    one.push(too_large);
    for (CORBA::Long value = 1; value <= 20; ++value)
        one.push(value);
    server_.emplace(port_.port(), std::vector<std::string>{});
    ASSERT_TRUE(one.wait([](const auto& now) { return now.sent + now.unsent == 21; }));
    EXPECT_EQ(1U, one.federation().figures().unsent);
    // Nobody else was there: what waited for nobody but the server has gone to it.
    EXPECT_EQ(20U, one.federation().figures().sent);
}

/// A server that accepts connections, says that it is one, and then nothing any more.
TEST_F(NatsTest, NobodyWaitsForAServerThatIsSilent)
{
    for (const char* info : {"INFO {\"tls_required\":true}\r\n", "INFO {}\r\n"}) {
        net::Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const net::Address any = net::Address::loopback_ipv4(0);
        ASSERT_EQ(0, ::bind(listener.descriptor(), any.native(), any.native_size()));
        ASSERT_EQ(0, ::listen(listener.descriptor(), 8));
        sockaddr_in mine{};
        socklen_t size = sizeof mine;
        ASSERT_EQ(0,
                  ::getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&mine), &size));
        Site site("nats://127.0.0.1:" + std::to_string(ntohs(mine.sin_port)));
        const net::Socket connection(::accept(listener.descriptor(), nullptr, nullptr));
        ASSERT_EQ(static_cast<ssize_t>(std::strlen(info)),
                  ::send(connection.descriptor(), info, std::strlen(info), MSG_NOSIGNAL));
        const KairosEvents::Channel_var another =
            site.federation().create_channel(site.service(), "Another");
        site.push(1);
        EXPECT_TRUE(site.first().has_value(1));
        EXPECT_FALSE(site.federation().figures().is_connected);
        site.leave(); // returns
    }
}

TEST_F(NatsTest, LeavesWhileSuppliersPush)
{
    for (int round = 0; round < 5; ++round) {
        Site one(servers());
        Site other(servers());
        join(one, other);
        std::atomic<bool> ends{false};
        std::vector<std::thread> suppliers;
        for (Site* site : {&one, &other})
            suppliers.emplace_back([&ends, site] {
                for (CORBA::Long value = 1; !ends; ++value)
                    site->push(value);
            });
        EXPECT_TRUE(other.first().has(100));
        one.leave();
        ends = true;
        for (std::thread& supplier : suppliers)
            supplier.join();
    }
}

TEST_F(NatsTest, AChannelThatHasEndedLeavesItsSubject)
{
    Site one(servers());
    const KairosEvents::Channel_var first =
        one.federation().create_channel(one.service(), "Hall", "lab.hall");
    EXPECT_THROW((void)one.federation().create_channel(one.service(), "Other", "lab.hall"),
                 CORBA::BAD_PARAM);
    first->destroy();
    const KairosEvents::Channel_var second =
        one.federation().create_channel(one.service(), "Hall", "lab.hall");
    EXPECT_FALSE(CORBA::is_nil(second.in()));
}

TEST_F(NatsTest, WhatIsNoEventIsCounted)
{
    Site site(servers());
    ASSERT_TRUE(site.is_connected());
    Plain plain(servers());
    const std::string subject = Federation::subject_of("Lab");
    const auto end = std::chrono::steady_clock::now() + patience;
    std::uint64_t sent = 0;
    while (site.federation().figures().malformed == 0) { // until it has subscribed
        ASSERT_LT(std::chrono::steady_clock::now(), end);
        plain.publish(subject, "");
        ++sent;
    }
    const std::vector<std::string> malformed = {"no event", std::string(1, '\1'),
                                                std::string("\2\0\0\0\3\0\0\0\1\0\0\0", 12),
                                                std::string("\1\0\0\0\377\377\377\177", 8),
                                                std::string("\1\0\0\0\3\0\0\0\1\0\0\0more", 16)};
    for (const std::string& octets : malformed)
        plain.publish(subject, octets);
    sent += malformed.size();
    plain.publish(subject, std::string("\1\0\0\0\3\0\0\0\7\0\0\0", 12)); // a long, 7
    ASSERT_TRUE(site.first().has_value(7));
    EXPECT_TRUE(site.wait([](const auto& now) { return now.received == 1; }));
    // Those that came before it subscribed are nobody's.
    EXPECT_GE(site.federation().figures().malformed, malformed.size() + 1);
    EXPECT_LE(site.federation().figures().malformed, sent);
}

TEST_F(NatsTest, AnEventIsAnEncapsulationForEverybody)
{
    Site site(servers());
    ASSERT_TRUE(site.is_connected());
    Plain plain(servers());
    plain.subscribe("kairos.events.Lab");
    site.push(7);
    const std::string octets = plain.next();
    ASSERT_EQ(12U, octets.size());
    EXPECT_EQ(native_little_endian ? std::string("\3\0\0\0\7\0\0\0", 8)
                                   : std::string("\0\0\0\3\0\0\0\7", 8),
              octets.substr(4));
    EXPECT_EQ(native_little_endian ? '\1' : '\0', octets[0]);
}

TEST_F(NatsTest, WhatTheServerDoesNotTakeIsCountedAndOthersPass)
{
    Site site(servers());
    ASSERT_TRUE(site.is_connected());
    CORBA::OctetSeq octets;
    octets.length(2 << 20); // the server's limit is a megabyte
    CORBA::Any event;
    event <<= octets;
    site.push(event);
    ASSERT_TRUE(site.wait([](const auto& now) { return now.unsent == 1; }));
    EXPECT_TRUE(log_.wait_for("is not sent"));
    site.push(1);
    ASSERT_TRUE(site.wait([](const auto& now) { return now.sent == 1; }));
}

TEST_F(NatsTest, WhatWaitsForAServerIsBounded)
{
    server_->end();
    FederationOptions options;
    options.outgoing_octets_max = 4096;
    Site site(servers(), options);
    ASSERT_TRUE(site.wait([](const auto& now) { return now.failures >= 1; }));
    for (CORBA::Long value = 0; value < 1000; ++value)
        site.push(value);
    EXPECT_EQ(1000U - 4096 / (12 + 128), site.federation().figures().unsent);
}

TEST_F(NatsTest, AfterLeavingChannelsAreByThemselves)
{
    Site one(servers());
    Site other(servers());
    Site third(servers());
    join(one, other);
    join(other, third);
    one.leave();
    one.push(1);
    EXPECT_TRUE(one.first().has_value(1));
    other.push(2);
    third.push(3);
    // What came by the server in their order has come, then; the first would have been before.
    EXPECT_TRUE(third.first().has_value(2));
    EXPECT_TRUE(other.first().has_value(3));
    EXPECT_EQ(0, std::ranges::count(other.first().values(), 1));
    EXPECT_EQ(0, std::ranges::count(one.first().values(), 2));
    EXPECT_EQ(0, std::ranges::count(one.first().values(), 3));
}

TEST_F(NatsTest, SaysWhatCannotBe)
{
    events::TestOrb orb;
    for (const char* servers : {"", "host:4222", "http://host", "nats://", "nats://a,,nats://b"})
        EXPECT_THROW(Federation(orb.in(), {.servers = servers}), CORBA::BAD_PARAM) << servers;
    EXPECT_THROW(Federation(orb.in(), {.servers = servers(), .authorities = "/no/such/file"}),
                 CORBA::INITIALIZE);
    Site site(servers());
    for (const char* subject : {".", "a..b", "a.*", "a.>", "a b", "kairos.events.Lab"})
        EXPECT_THROW((void)site.federation().create_channel(site.service(), "Other", subject),
                     CORBA::BAD_PARAM)
            << subject;
    EXPECT_THROW((void)site.federation().create_channel(site.service(), "Lab", "else"),
                 KairosEvents::NameInUse);
    const KairosEvents::Channel_var channel =
        site.federation().create_channel(site.service(), "Other");
    EXPECT_EQ("kairos.events.a%2Eb%20%C3%A4", Federation::subject_of("a.b \xc3\xa4"));
}

} // namespace
} // namespace kairos::nats

int main(int argc, char** argv)
{
    ::testing::InitGoogleTest(&argc, argv);
    if (std::string_view(KAIROS_NATS_SERVER).ends_with("NOTFOUND")) return 77;
    return RUN_ALL_TESTS();
}
