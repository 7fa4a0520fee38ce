// SPDX-License-Identifier: Apache-2.0
//
// Two ends of TLS in one thread, whose octets the test carries to and fro.
#pragma once

#include "kairos/tls/channel.h"
#include "kairos/tls/context.h"
#include "tests/tls/certificates.h"

#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

namespace kairos::tls_testing {

using net::IoResult;
using orb::ClientCheck;
using orb::ServerCheck;
using tls::Channel;

/// Two ends of one stream, neither of which blocks.
inline std::array<net::Socket, 2> socket_pair()
{
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {net::Socket(ends[0]), net::Socket(ends[1])};
}

/// A client and a server, each with a socket to the test, which stands between them.
class Pair {
  public:
    struct What {
        std::string certificate = "server";
        std::string trust = "ca";
        std::string host = "127.0.0.1";
        ServerCheck check_server = ServerCheck::name;
        ClientCheck check_client = ClientCheck::no;
        std::string client_certificate{};
    };

    explicit Pair(const What& what,
                  std::shared_ptr<tls::Sessions> sessions = std::make_shared<tls::Sessions>())
        : Pair(what, std::move(sessions), *server_context(what))
    {
    }
    /// With a context that other servers have as well.
    Pair(const What& what, std::shared_ptr<tls::Sessions> sessions, SSL_CTX& server_context)
        : Pair(what, *client_context(what), std::move(sessions), server_context)
    {
    }
    Pair(const What& what, SSL_CTX& client_context, std::shared_ptr<tls::Sessions> sessions,
         SSL_CTX& server_context)
    {
        auto client_channel = Channel::to_server(client.descriptor(), client_context, what.host,
                                                 4711, what.check_server, std::move(sessions));
        client_channel_ = client_channel.value().get();
        client.set_channel(std::move(client_channel).value());
        auto server_channel = Channel::to_client(server.descriptor(), server_context,
                                                 what.check_client, handshakes, peer);
        server_channel_ = server_channel.value().get();
        server.set_channel(std::move(server_channel).value());
    }
    [[nodiscard]] static tls::ContextPointer client_context(const What& what)
    {
        const Certificates& files = Certificates::get();
        orb::TlsOptions options;
        options.trust = files.path(what.trust + ".pem");
        options.check_server = what.check_server;
        if (!what.client_certificate.empty()) {
            options.certificate = files.path(what.client_certificate + ".pem");
            options.key = files.path(what.client_certificate + "-key.pem");
        }
        auto context = tls::make_context(tls::Side::client, options).value();
        tls::watch_sessions(*context);
        return context;
    }
    [[nodiscard]] static tls::ContextPointer server_context(const What& what)
    {
        const Certificates& files = Certificates::get();
        return tls::make_context(tls::Side::server,
                                 {.certificate = files.path(what.certificate + ".pem"),
                                  .key = files.path(what.certificate + "-key.pem"),
                                  .trust = files.path("ca.pem"),
                                  .check_client = what.check_client})
            .value();
    }

    /// Carries octets, at most so many in all to each end. False: there were none.
    bool carry(std::size_t to_server_max = ~std::size_t{0},
               std::size_t to_client_max = ~std::size_t{0})
    {
        const bool some = carry(at_client_, at_server_, to_server, to_server_max);
        return carry(at_server_, at_client_, to_client, to_client_max) || some;
    }
    /// Has both shake hands until nothing goes on. True: they have agreed.
    bool shake(std::size_t to_server_max = ~std::size_t{0},
               std::size_t to_client_max = ~std::size_t{0})
    {
        do {
            by_client = client_channel_->agree();
            by_server = server_channel_->agree();
        } while (carry(to_server_max, to_client_max));
        return by_client.ok() && by_server.ok();
    }
    [[nodiscard]] std::string_view refusal_of_client() const { return client_channel_->refusal(); }
    [[nodiscard]] std::string_view refusal_of_server() const { return server_channel_->refusal(); }
    [[nodiscard]] const Channel& client_channel() const { return *client_channel_; }
    [[nodiscard]] Channel& server_channel() { return *server_channel_; }

  private:
    static bool carry(net::Socket& from, net::Socket& to, std::size_t& carried, std::size_t max)
    {
        std::array<std::byte, 70'000> octets;
        const std::size_t size = std::min(octets.size(), max - carried);
        if (size == 0) return false;
        const IoResult got = from.read(MutableBytes(octets).first(size));
        if (!got.ok()) return false;
        carried += got.bytes;
        EXPECT_TRUE(to.write_all(Bytes(octets).first(got.bytes)).ok());
        return true;
    }

    std::array<net::Socket, 2> of_client_ = socket_pair();
    std::array<net::Socket, 2> of_server_ = socket_pair();
    net::Socket& at_client_ = of_client_[1];
    net::Socket& at_server_ = of_server_[1];
    Channel* client_channel_ = nullptr;
    Channel* server_channel_ = nullptr;

  public:
    const net::Address peer = net::Address::loopback_ipv4();
    const std::shared_ptr<tls::Handshakes> handshakes = std::make_shared<tls::Handshakes>();
    net::Socket& client = of_client_[0];
    net::Socket& server = of_server_[0];
    IoResult by_client;
    IoResult by_server;
    std::size_t to_server = 0; // octets carried
    std::size_t to_client = 0;
    /// Whoever was at the client has gone.
    void end_client() { at_server_.shutdown_both(); }
    void end_server() { at_client_.shutdown_both(); }
    /// What the server reads next is this.
    void send_to_server(std::string_view octets)
    {
        EXPECT_TRUE(at_server_.write_all(as_bytes(octets)).ok());
    }
    /// What it has still to read.
    [[nodiscard]] std::size_t left_at_server() const
    {
        int size = 0;
        EXPECT_EQ(::ioctl(server.descriptor(), FIONREAD, &size), 0);
        return static_cast<std::size_t>(size);
    }
    /// What the server has written is for the test.
    template <typename Take>
    void take_from_server(Take take)
    {
        std::array<std::byte, 70'000> octets;
        const IoResult got = at_server_.read(octets);
        if (got.ok()) take(Bytes(octets).first(got.bytes));
    }
    void send_to_client(std::string_view octets)
    {
        EXPECT_TRUE(at_client_.write_all(as_bytes(octets)).ok());
    }
};

/// Writes as a connection would: what was not taken is offered again.
inline std::string exchange(Pair& pair, net::Socket& from, net::Socket& to, const std::string& text)
{
    std::string got(text.size() + 1, '\0');
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int idle = 0; received < text.size() && idle < 3; ++idle) {
        if (sent < text.size()) {
            const IoResult wrote = from.write(as_bytes(std::string_view(text).substr(sent)),
                                              net::WriteFlags::do_not_wait);
            sent += wrote.bytes;
            if (wrote.bytes != 0) idle = 0;
        }
        if (pair.carry()) idle = 0;
        const IoResult read = to.read(std::as_writable_bytes(std::span(got)).subspan(received));
        received += read.bytes;
        if (read.bytes != 0) idle = 0;
    }
    got.resize(received);
    return got;
}

} // namespace kairos::tls_testing
