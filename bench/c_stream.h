// SPDX-License-Identifier: Apache-2.0
//
// Blocking C sockets and nothing else: what the yardstick programs are made of. One thread each.
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kairos::bench {

[[noreturn]] inline void fail(const char* what)
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

    [[nodiscard]] int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

inline int open_socket(int family)
{
    const int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    return descriptor;
}

inline sockaddr_in loopback(unsigned long port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

/// On 127.0.0.1, at a port of the kernel's choice, which the reference says: "tcp:PORT".
inline int listen_tcp(std::string& reference)
{
    const int listener = open_socket(AF_INET);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) fail("bind");
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    if (listen(listener, SOMAXCONN) != 0) fail("listen");
    reference = "tcp:" + std::to_string(ntohs(address.sin_port));
    return listener;
}

inline CStream accept_one(int listener)
{
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) fail("accept");
    return CStream(descriptor);
}

inline CStream connect_tcp(const std::string& reference)
{
    const sockaddr_in address = loopback(std::stoul(reference.substr(reference.find(':') + 1)));
    CStream stream(open_socket(AF_INET));
    if (connect(stream.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
        0)
        fail("connect");
    return stream;
}

} // namespace kairos::bench
