// SPDX-License-Identifier: Apache-2.0
//
// The yardstick for calls by TLS: blocking C sockets and OpenSSL's functions, and nothing else. It
// does what a good program does: TLS 1.3, as much as has come in one system call, a record for what
// fits into one.
#include "bench/c_stream.h"
#include "bench/stream_exchange.h"

#include <iostream>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace kairos::bench {
namespace {

struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using Context = std::unique_ptr<SSL_CTX, Free>;

void require(bool done, const std::string& what)
{
    if (done) return;
    const char* const reason = ERR_reason_error_string(ERR_get_error());
    throw std::runtime_error(what + ": " + (reason == nullptr ? "no reason" : reason));
}

class TlsStream {
  public:
    TlsStream(CStream stream, SSL_CTX& context, bool is_server)
        : stream_(std::move(stream)), ssl_(SSL_new(&context))
    {
        require(ssl_ != nullptr && SSL_set_fd(ssl_.get(), stream_.descriptor()) == 1, "SSL_new");
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

  private:
    CStream stream_;
    std::unique_ptr<SSL, Free> ssl_;
};

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
    if (arguments.size() == 3 && arguments[0] == "client") {
        const Context context = make_context(TLS_client_method());
        require(SSL_CTX_load_verify_file(context.get(), arguments[2].c_str()) == 1, arguments[2]);
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
        StreamClient client(TlsStream(connect_tcp(arguments[1]), *context, false));
        return serve_orders(client);
    }
    if (arguments.size() == 3 && arguments[0] == "server") {
        const Context context = make_context(TLS_server_method());
        require(SSL_CTX_use_certificate_chain_file(context.get(), arguments[1].c_str()) == 1,
                arguments[1]);
        require(
            SSL_CTX_use_PrivateKey_file(context.get(), arguments[2].c_str(), SSL_FILETYPE_PEM) == 1,
            arguments[2]);
        std::string reference;
        const int listener = listen_tcp(reference);
        return serve_streams(listener, reference,
                             [&] { return TlsStream(accept_one(listener), *context, true); });
    }
    std::cerr << "usage: kairos-bench-tls-raw server CERTIFICATE KEY\n"
                 "       kairos-bench-tls-raw client REFERENCE AUTHORITY\n";
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
