// SPDX-License-Identifier: Apache-2.0
//
// The same exchange as raw_peer.cpp through the ORB's own C++ wrappers for sockets (kairos/net):
// what they cost above the C functions.
#include "bench/stream_exchange.h"

#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"
#include "kairos/net/socket.h"

#include <iostream>
#include <span>

namespace kairos::bench {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

class WrapperStream {
  public:
    explicit WrapperStream(net::Socket socket) : socket_(std::move(socket)) {}

    void send_all(const char* data, std::size_t size)
    {
        if (!socket_.write_all(std::as_bytes(std::span(data, size))).ok()) fail("cannot send");
    }

    std::size_t receive_some(char* data, std::size_t size)
    {
        const net::IoResult result = socket_.read(std::as_writable_bytes(std::span(data, size)));
        if (result.status == net::IoResult::Status::failed) fail("cannot receive");
        return result.bytes;
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
    net::Socket socket_;
};

int serve()
{
    auto acceptor = net::Acceptor::open(net::Address::loopback_ipv4());
    if (!acceptor) fail(acceptor.error().reason);
    return serve_streams(acceptor->descriptor(), std::to_string(acceptor->address().port()), [&] {
        auto accepted = acceptor->accept();
        if (accepted.status != net::Acceptor::Status::accepted) fail("cannot accept");
        return WrapperStream(std::move(accepted.socket));
    });
}

int run(const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve();
    if (arguments.size() == 2 && arguments[0] == "client") {
        const auto port = static_cast<std::uint16_t>(std::stoul(arguments[1]));
        auto socket = net::connect(net::Address::loopback_ipv4(port));
        if (!socket) fail(socket.error().reason);
        StreamClient client{WrapperStream(std::move(*socket))};
        return serve_orders(client);
    }
    std::cerr << "usage: kairos-bench-wrapper server\n"
                 "       kairos-bench-wrapper client PORT\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-wrapper: " << failure.what() << '\n';
        return 1;
    }
}
