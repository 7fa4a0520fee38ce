// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: blocking C sockets and nothing else, over TCP or a Unix socket.
#include "bench/stream_exchange.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

namespace kairos::bench {
namespace {

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

/// A connected descriptor, used by the C functions alone.
class CStream {
  public:
    explicit CStream(int descriptor) : descriptor_(descriptor)
    {
        const int on = 1; // refused by Unix sockets, which need nothing of the kind
        setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    CStream(CStream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    CStream& operator=(CStream&&) = delete;
    ~CStream()
    {
        if (descriptor_ >= 0) close(descriptor_);
    }

    void send_all(const char* data, std::size_t size)
    {
        while (size > 0) {
            const ssize_t sent = send(descriptor_, data, size, MSG_NOSIGNAL);
            if (sent < 0) fail("send");
            data += sent;
            size -= static_cast<std::size_t>(sent);
        }
    }

    std::size_t receive_some(char* data, std::size_t size)
    {
        const ssize_t received = recv(descriptor_, data, size, 0);
        if (received < 0) fail("recv");
        return static_cast<std::size_t>(received);
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
    int descriptor_;
};

int open_socket(int family)
{
    const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    return descriptor;
}

sockaddr_in loopback(unsigned long port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

// References as text: "tcp:PORT" on 127.0.0.1, or "unix:NAME" in the abstract name space, where
// nothing is left behind.
CStream connect_to(const std::string& reference)
{
    if (reference.starts_with("tcp:")) {
        const sockaddr_in address = loopback(std::stoul(reference.substr(4)));
        const int descriptor = open_socket(AF_INET);
        if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            fail("connect");
        return CStream(descriptor);
    }
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (!reference.starts_with("unix:") || reference.size() - 4 > sizeof address.sun_path)
        throw std::invalid_argument("no reference: " + reference);
    const std::string name = reference.substr(5);
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int descriptor = open_socket(AF_UNIX);
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0)
        fail("connect");
    return CStream(descriptor);
}

int listen_tcp(std::string& reference)
{
    const int listener = open_socket(AF_INET);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) fail("bind");
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    if (listen(listener, 16) != 0) fail("listen");
    reference = "tcp:" + std::to_string(ntohs(address.sin_port));
    return listener;
}

int listen_unix(std::string& reference)
{
    const int listener = open_socket(AF_UNIX);
    // An address without a name: the kernel chooses an abstract one.
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) != 0)
        fail("bind");
    socklen_t size = sizeof address;
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    if (listen(listener, 16) != 0) fail("listen");
    reference = "unix:";
    reference.append(address.sun_path + 1, size - offsetof(sockaddr_un, sun_path) - 1);
    return listener;
}

int run(const std::vector<std::string>& arguments)
{
    if (arguments.size() == 2 && arguments[0] == "client") {
        StreamClient client(connect_to(arguments[1]));
        return serve_orders(client);
    }
    if (arguments.size() == 2 && arguments[0] == "server") {
        std::string reference;
        const int listener =
            arguments[1] == "unix" ? listen_unix(reference) : listen_tcp(reference);
        return serve_streams(listener, reference, [listener] {
            const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (descriptor < 0) fail("accept");
            return CStream(descriptor);
        });
    }
    std::cerr << "usage: kairos-bench-raw server tcp|unix\n"
                 "       kairos-bench-raw client REFERENCE\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-raw: " << failure.what() << '\n';
        return 1;
    }
}
