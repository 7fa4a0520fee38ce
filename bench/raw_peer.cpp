// SPDX-License-Identifier: Apache-2.0
//
// The yardstick: blocking C sockets and nothing else, over TCP or a Unix socket. One connection
// carries all exercises; each begins with a Setup record that tells the server what will come.
// One thread moves the data in either program.
#include "bench/peer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kairos::bench {
namespace {

struct Setup {
    std::uint32_t oneway = 0;
    std::uint32_t request_bytes = 0;
    std::uint32_t reply_bytes = 0;
    std::uint32_t calls = 0;
};

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

void send_all(int connection, const char* data, std::size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);
        if (sent < 0) fail("send");
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
}

/// False when the other side is gone.
bool receive_all(int connection, char* data, std::size_t size)
{
    while (size > 0) {
        const ssize_t received = recv(connection, data, size, 0);
        if (received < 0) fail("recv");
        if (received == 0) return false;
        data += received;
        size -= static_cast<std::size_t>(received);
    }
    return true;
}

void set_no_delay(int connection)
{
    const int on = 1; // refused by Unix sockets, which need nothing of the kind
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Addresses as text: "tcp:PORT" on 127.0.0.1, or "unix:NAME" in the abstract name space, where
// nothing is left behind.
int connect_to(const std::string& reference)
{
    const bool unix_domain = reference.starts_with("unix:");
    const int connection = socket(unix_domain ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) fail("socket");
    int outcome = -1;
    if (unix_domain) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        const std::string name = reference.substr(5);
        if (name.size() + 1 > sizeof address.sun_path) throw std::invalid_argument(reference);
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        const auto size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
        outcome = connect(connection, reinterpret_cast<sockaddr*>(&address),
                          static_cast<socklen_t>(size));
    } else {
        if (!reference.starts_with("tcp:")) throw std::invalid_argument(reference);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoul(reference.substr(4))));
        outcome = connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
    if (outcome != 0) fail("connect");
    set_no_delay(connection);
    return connection;
}

int listen_tcp(std::string& reference)
{
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) fail("socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) fail("bind");
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    if (listen(listener, 16) != 0) fail("listen");
    reference = "tcp:" + std::to_string(ntohs(address.sin_port));
    return listener;
}

int listen_unix(std::string& reference)
{
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) fail("socket");
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

bool serve_exercise(int connection, std::vector<char>& buffer)
{
    Setup setup;
    if (!receive_all(connection, reinterpret_cast<char*>(&setup), sizeof setup)) return false;
    if (setup.request_bytes > message_bytes_max || setup.reply_bytes > message_bytes_max)
        return false;
    buffer.resize(std::max({buffer.size(), std::size_t{setup.request_bytes},
                            std::size_t{setup.reply_bytes}, std::size_t{1}}));
    if (setup.oneway != 0) {
        // As ttcp does: whatever is there, at most one buffer a time, until all has come.
        std::uint64_t left = std::uint64_t{setup.request_bytes} * setup.calls;
        while (left > 0) {
            const std::size_t wanted = std::min<std::uint64_t>(left, setup.request_bytes);
            const ssize_t received = recv(connection, buffer.data(), wanted, 0);
            if (received < 0) fail("recv");
            if (received == 0) return false;
            left -= static_cast<std::uint64_t>(received);
        }
        send_all(connection, buffer.data(), 1);
        return true;
    }
    for (std::uint32_t call = 0; call < setup.calls; ++call) {
        if (!receive_all(connection, buffer.data(), setup.request_bytes)) return false;
        send_all(connection, buffer.data(), setup.reply_bytes);
    }
    return true;
}

int serve(int listener, const std::string& reference)
{
    announce_ready(reference);
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
        const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) fail("accept");
        set_no_delay(connection);
        while (serve_exercise(connection, buffer)) {
        }
        close(connection);
    }
}

class RawClient final : public Client {
  public:
    explicit RawClient(const std::string& reference) : connection_(connect_to(reference)) {}
    ~RawClient() override { close(connection_); }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    LatencySummary latency(const Exercise& exercise) override
    {
        call(with_calls(exercise, warm_up_calls));
        LatencySummary summary;
        prepare(exercise);
        summary = time_each(exercise.calls, [&] { call_once(exercise); });
        finish(exercise);
        return summary;
    }

    double ttcp_seconds(const Exercise& exercise) override
    {
        call(with_calls(exercise, std::min(exercise.calls, 8u)));
        prepare(exercise);
        const std::int64_t start = now_ns();
        for (std::uint32_t i = 0; i < exercise.calls; ++i)
            call_once(exercise);
        finish(exercise);
        return static_cast<double>(now_ns() - start) / 1e9;
    }

    void call(const Exercise& exercise) override
    {
        prepare(exercise);
        for (std::uint32_t i = 0; i < exercise.calls; ++i)
            call_once(exercise);
        finish(exercise);
    }

    MessageBytes message_bytes(const Exercise& exercise) override
    {
        return {.request = exercise.request_bytes, .reply = exercise.reply_bytes};
    }

  private:
    static Exercise with_calls(Exercise exercise, std::uint32_t calls)
    {
        exercise.calls = calls;
        return exercise;
    }

    void prepare(const Exercise& exercise)
    {
        const bool oneway = exercise.direction == Direction::oneway;
        if (exercise.request_bytes == 0 || (!oneway && exercise.reply_bytes == 0))
            throw std::invalid_argument("raw sockets need to know the bytes of a call");
        buffer_.resize(std::max({buffer_.size(), std::size_t{exercise.request_bytes},
                                 std::size_t{exercise.reply_bytes}}));
        const Setup setup{.oneway = oneway ? 1u : 0u,
                          .request_bytes = exercise.request_bytes,
                          .reply_bytes = exercise.reply_bytes,
                          .calls = exercise.calls};
        send_all(connection_, reinterpret_cast<const char*>(&setup), sizeof setup);
    }

    void call_once(const Exercise& exercise)
    {
        send_all(connection_, buffer_.data(), exercise.request_bytes);
        if (exercise.direction == Direction::oneway) return;
        if (!receive_all(connection_, buffer_.data(), exercise.reply_bytes))
            throw std::runtime_error("the server closed the connection");
    }

    void finish(const Exercise& exercise)
    {
        if (exercise.direction == Direction::twoway) return;
        char acknowledgement = 0;
        if (!receive_all(connection_, &acknowledgement, 1))
            throw std::runtime_error("the server closed the connection");
    }

    int connection_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20, 'k');
};

int run(const std::vector<std::string>& arguments)
{
    if (arguments.size() == 2 && arguments[0] == "client") {
        RawClient client(arguments[1]);
        return serve_orders(client);
    }
    if (arguments.size() == 2 && arguments[0] == "server") {
        std::string reference;
        const int listener =
            arguments[1] == "unix" ? listen_unix(reference) : listen_tcp(reference);
        // The data thread blocks in accept or recv, so the process is ended from beside it.
        std::thread([] {
            wait_for_quit();
            std::_Exit(0);
        }).detach();
        return serve(listener, reference);
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
