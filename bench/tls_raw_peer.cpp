// SPDX-License-Identifier: Apache-2.0
//
// The yardstick for calls by TLS: blocking C sockets and OpenSSL's functions, and nothing else. It
// does what a good program does: TLS 1.3, as much as has come in one system call, a record for what
// fits into one. And the yardstick for making connections: a thread for each at both ends, as many
// ORBs have it, and sessions that are resumed.
#include "bench/c_stream.h"
#include "bench/connecting.h"
#include "bench/stream_exchange.h"

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace kairos::bench {
namespace {

struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using Session = std::unique_ptr<SSL_SESSION, Free>;
using Context = std::unique_ptr<SSL_CTX, Free>;

void require(bool done, const std::string& what)
{
    if (done) return;
    const char* const reason = ERR_reason_error_string(ERR_get_error());
    throw std::runtime_error(what + ": " + (reason == nullptr ? "no reason" : reason));
}

class TlsStream {
  public:
    TlsStream(CStream stream, SSL_CTX& context, bool is_server, SSL_SESSION* session = nullptr)
        : stream_(std::move(stream)), ssl_(SSL_new(&context))
    {
        require(ssl_ != nullptr && SSL_set_fd(ssl_.get(), stream_.descriptor()) == 1, "SSL_new");
        if (session != nullptr) require(SSL_set_session(ssl_.get(), session) == 1, "session");
        require((is_server ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) == 1, "handshake");
    }

    void send_all(const char* data, std::size_t size)
    {
        std::size_t sent = 0;
        require(size == 0 || SSL_write_ex(ssl_.get(), data, size, &sent) == 1, "SSL_write");
    }
    std::size_t receive_some(char* data, std::size_t size)
    {
        std::size_t received = 0;
        return SSL_read_ex(ssl_.get(), data, size, &received) == 1 ? received : 0;
    }
    bool receive_all(char* data, std::size_t size)
    {
        while (size > 0) {
            const std::size_t received = receive_some(data, size);
            if (received == 0) return false;
            data += received;
            size -= received;
        }
        return true;
    }
    [[nodiscard]] bool is_resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
    /// Tells the other end that nothing more comes.
    void end() { (void)SSL_shutdown(ssl_.get()); }

  private:
    CStream stream_;
    std::unique_ptr<SSL, Free> ssl_;
};

/// What a null call of an ORB sends and gets.
constexpr std::size_t null_request = 60;
constexpr std::size_t null_reply = 24;

int serve_connections(SSL_CTX& context)
{
    std::signal(SIGPIPE, SIG_IGN);                                // clients end first
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF); // tickets need none
    SSL_CTX_set_num_tickets(&context, 1);
    std::string reference;
    const int listener = listen_tcp(reference);
    announce_ready(reference);
    std::thread([listener, &context] {
        for (;;) {
            std::thread([stream = accept_one(listener), &context]() mutable {
                try {
                    TlsStream client(std::move(stream), context, true);
                    std::array<char, null_request> buffer{};
                    while (client.receive_all(buffer.data(), buffer.size()))
                        client.send_all(buffer.data(), null_reply);
                    client.end();
                } catch (const std::exception& failure) {
                    std::cerr << "kairos-bench-tls-raw: " << failure.what() << '\n';
                }
            }).detach();
        }
    }).detach();
    wait_for_quit();
    std::cerr.flush();
    std::_Exit(0); // whatever those threads are at
}

/// The last session, of whichever connection. One connection is made at a time.
Session last_session;

int make_connections(SSL_CTX& context, const std::string& reference)
{
    SSL_CTX_set_session_cache_mode(&context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(&context, [](SSL*, SSL_SESSION* session) {
        last_session.reset(session);
        return 1;
    });
    const auto once = [&] {
        const Session session = std::move(last_session);
        TlsStream server(connect_tcp(reference), context, false, session.get());
        std::array<char, null_request> buffer{};
        server.send_all(buffer.data(), buffer.size());
        require(server.receive_all(buffer.data(), null_reply), "reply");
        server.end();
        return server.is_resumed();
    };
    return serve_lines("client", [&](const std::string& line) {
        std::atomic<std::uint32_t> resumed{0};
        const ConnectingOrder order = parse_connecting(line);
        const double seconds = seconds_of_threads(order.count, [&] {
            if (once()) ++resumed;
        });
        return answer_of_connecting(seconds, resumed);
    });
}

Context make_context(const SSL_METHOD* method)
{
    Context context(SSL_CTX_new(method));
    require(context != nullptr && SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1,
            "SSL_CTX_new");
    SSL_CTX_set_read_ahead(context.get(), 1);
    return context;
}

int run(const std::vector<std::string>& arguments)
{
    if ((arguments.size() == 3 || (arguments.size() == 4 && arguments[3] == "connections")) &&
        arguments[0] == "client") {
        const Context context = make_context(TLS_client_method());
        require(SSL_CTX_load_verify_file(context.get(), arguments[2].c_str()) == 1, arguments[2]);
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
        if (arguments.size() == 4) return make_connections(*context, arguments[1]);
        StreamClient client(TlsStream(connect_tcp(arguments[1]), *context, false));
        return serve_orders(client);
    }
    const bool connections = arguments.size() == 4 && arguments[1] == "connections";
    if ((arguments.size() == 3 || connections) && arguments[0] == "server") {
        const Context context = make_context(TLS_server_method());
        const std::string& certificate = arguments[connections ? 2 : 1];
        const std::string& key = arguments.back();
        require(SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) == 1,
                certificate);
        require(SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1,
                key);
        if (connections) return serve_connections(*context);
        std::string reference;
        const int listener = listen_tcp(reference);
        return serve_streams(listener, reference,
                             [&] { return TlsStream(accept_one(listener), *context, true); });
    }
    std::cerr << "usage: kairos-bench-tls-raw server [connections] CERTIFICATE KEY\n"
                 "       kairos-bench-tls-raw client REFERENCE AUTHORITY [connections]\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-tls-raw: " << failure.what() << '\n';
        return 1;
    }
}
