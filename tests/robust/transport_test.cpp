// SPDX-License-Identifier: Apache-2.0
//
// A transport that a program has added, in one file (docs/transports.md, "Adding another"): it does
// what those of the ORB do, beside every architecture. Its octets go through a Unix socket, each
// changed on the way, once both ends have said by one octet that they know of it.
#include "tests/robust/local.h"

#include "kairos/net/connector.h"
#include "kairos/net/descriptor_channel.h"
#include "kairos/orb/transport.h"

#include <array>

namespace kairos::orb_testing {
namespace {

constexpr std::byte greeting{0x17};
constexpr std::byte change{0x5a};

/// What goes through the socket is changed; nothing else about it is.
class ChangingChannel final : public net::DescriptorChannel {
  public:
    explicit ChangingChannel(int descriptor) noexcept : DescriptorChannel(descriptor) {}

    net::IoResult read(MutableBytes buffer, net::ReadFlags flags) noexcept override
    {
        const net::IoResult got = plain_.read(buffer, flags);
        for (std::byte& octet : buffer.first(got.bytes))
            octet ^= change;
        return got;
    }
    net::IoResult write(std::span<const iovec> segments, net::WriteFlags flags) noexcept override
    {
        std::array<std::byte, 1000> some; // the caller goes on with the rest
        std::size_t count = 0;
        for (const iovec& segment : segments)
            for (const std::byte octet : Bytes(static_cast<const std::byte*>(segment.iov_base),
                                               std::min(segment.iov_len, some.size() - count)))
                some[count++] = octet ^ change;
        return plain_.write(Bytes(some).first(count), flags);
    }
};

class Changing final : public orb::LocalTransport {
  public:
    constexpr Changing() noexcept : LocalTransport("changing", Number{200}, 2) {}

    [[nodiscard]] bool needs_threads() const noexcept override { return true; }
    [[nodiscard]] Result<net::Socket> connect(const net::Address& address,
                                              const net::SocketOptions& options,
                                              Deadline deadline) const override
    {
        auto socket = LocalTransport::connect(address, options, deadline);
        if (!socket) return socket;
        std::byte answer{};
        (void)socket->write_all(Bytes(&greeting, 1));
        if (!socket->read(MutableBytes(&answer, 1), deadline).ok() || answer != greeting)
            return Error{ErrorCode::unreachable, "no greeting from " + address.to_text()};
        socket->set_channel(std::make_unique<ChangingChannel>(socket->descriptor()));
        return socket;
    }
    void prepare(net::Socket& socket, std::chrono::microseconds) const override
    {
        socket.set_channel(std::make_unique<ChangingChannel>(socket.descriptor()));
    }
    [[nodiscard]] Result<void> accept(net::Socket& socket, Deadline deadline) const override
    {
        std::byte said{};
        if (!socket.read(MutableBytes(&said, 1), deadline).ok() || said != (greeting ^ change))
            return Error{ErrorCode::invalid_argument, "not greeted"};
        (void)socket.write_all(Bytes(&said, 1));
        return {};
    }
};

const orb::LocalTransport& changing()
{
    static constexpr Changing transport;
    static const bool added = orb::add_transport(transport).ok();
    EXPECT_TRUE(added);
    return transport;
}

class OwnTransport : public EveryArchitecture {
  protected:
    static Arguments options()
    {
        (void)changing();
        return {"-ORBDebug", "0", "-ORBListenEndpoints", "changing://"};
    }
    DeadPort dead_;
};

TEST_P(OwnTransport, CallsOfEverySize)
{
    RunningServer server(GetParam(), options());
    expect_calls_of_every_size(server, with_port(server.reference(), dead_.port()));
}

TEST_P(OwnTransport, ManyClientsAtOnce)
{
    RunningServer server(GetParam(), options());
    expect_many_clients(server, with_port(server.reference(), dead_.port()),
                        std::vector<Arguments>(8));
}

TEST_P(OwnTransport, ShuttingDownAnswersTheRequestInProgress)
{
    RunningServer server(GetParam(), options());
    Event inside;
    Event go_on;
    server.servant().action = [&] {
        inside.set();
        EXPECT_TRUE(go_on.wait());
    };
    Client client;
    const Probe::Target_var target = client.target(with_port(server.reference(), dead_.port()));
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); });
    ASSERT_TRUE(inside.wait());
    server.orb()->shutdown(false);
    go_on.set();
    server.end();
    calling.join();
    EXPECT_FALSE(exists(local_path(server.reference())));
}

KAIROS_EVERY_ARCHITECTURE(OwnTransport);

class OwnTransportAmongOthers : public testing::Test {
  protected:
    LogLines log_;
    const orb::LocalTransport& transport_ = changing();
    RunningServer server_{"thread-per-connection",
                          {"-ORBListenEndpoints", "changing://;shmiop://;uiop://"}};
    DeadPort dead_;
};

/// In the order of their ranks, and those that cannot wait for others not at all.
TEST_F(OwnTransportAmongOthers, ClientsTryTheHighestRankFirst)
{
    std::vector<std::string> paths;
    (void)with_local(server_.reference(), [&](ior::LocalAddresses& local) {
        for (const ior::LocalAddress& each : local.addresses)
            paths.push_back(to_string(each));
    });
    ASSERT_EQ(paths.size(), 3u);
    EXPECT_TRUE(paths[0].starts_with("transport 200: /")) << paths[0];
    const auto local = [&](const Arguments& options) {
        Client client(options);
        const Probe::Target_var target =
            client.target(with_port(server_.reference(), dead_.port()));
        target->ping();
        std::vector<std::string> tried;
        for (const auto& way : target->_kairos_reference()->targets().front().endpoint->local())
            tried.emplace_back(way.transport->scheme());
        return tried;
    };
    EXPECT_EQ(local({}), (std::vector<std::string>{"changing", "shmiop", "uiop"}));
    (void)local({"-ORBConnection", "leader-followers"}); // by the Unix socket
}

TEST_F(OwnTransportAmongOthers, WhoDoesNotAgreeIsRefused)
{
    const auto address = net::Address::unix_path(local_path(server_.reference()));
    {
        RawPeer stranger(net::connect(*address).value());
        stranger.send(server_.ping()); // begins with 'G'
        EXPECT_TRUE(stranger.at_end());
    }
    EXPECT_TRUE(LogLines::wait_for("refused: not greeted"));
    Client client;
    const Probe::Target_var target = client.target(with_port(server_.reference(), dead_.port()));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_F(OwnTransportAmongOthers, OnesThatAreUnknownArePassedOver)
{
    const std::string other = with_local(server_.reference(), [](ior::LocalAddresses& local) {
        local.addresses.at(0).transport = orb::LocalTransport::Number{201};
    });
    Client client;
    const Probe::Target_var target = client.target(with_port(other, dead_.port()));
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_EQ(target->_kairos_reference()->targets().front().endpoint->local().size(), 2u);
}

class SameScheme final : public orb::LocalTransport {
  public:
    constexpr SameScheme() noexcept : LocalTransport("iiop", Number{202}, 0) {}
};
class SameNumber final : public orb::LocalTransport {
  public:
    constexpr SameNumber() noexcept : LocalTransport("other", Number::shared_memory, 0) {}
};

TEST_F(OwnTransportAmongOthers, SchemesAndNumbersAreTakenOnce)
{
    static constexpr SameScheme scheme;
    static constexpr SameNumber number;
    EXPECT_FALSE(orb::add_transport(scheme));
    EXPECT_FALSE(orb::add_transport(number));
    EXPECT_FALSE(orb::add_transport(transport_));
    EXPECT_EQ(orb::find_transport("other"), nullptr);
}

TEST_F(OwnTransportAmongOthers, IsNamedWhereEndpointsAreExplained)
{
    EXPECT_NE(orb::transport_usages().find(", shmiop://[path] or changing://[path]"),
              std::string::npos)
        << orb::transport_usages();
}

} // namespace
} // namespace kairos::orb_testing
