// SPDX-License-Identifier: Apache-2.0
//
// The yardstick for oneways in datagrams: C sockets and nothing else. As with an ORB, a thread of
// the server receives datagrams, another answers on a connection how much has come.
#include "bench/c_stream.h"
#include "bench/datagrams.h"
#include "bench/peer.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::bench {
namespace {

constexpr std::size_t datagram_max = 65'507;

int open_datagrams()
{
    const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    return descriptor;
}

/// One client; its reference is "udp:PORT:PORT", of datagrams and of the connection.
int serve_datagrams()
{
    const int receiver = open_datagrams();
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(receiver, reinterpret_cast<sockaddr*>(&address), size) != 0) fail("bind");
    if (getsockname(receiver, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("bind");
    std::string connection;
    const int listener = listen_tcp(connection);
    std::atomic<std::uint64_t> received{0}; // by the receiving thread; the other one reads it
    std::atomic<bool> is_over{false};
    std::thread receiving([receiver, &received, &is_over] {
        std::vector<char> buffer(datagram_max + 1);
        ssize_t got = 0;
        while ((got = recv(receiver, buffer.data(), buffer.size(), 0)) > 0) // an empty one ends it
            received.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
        is_over = true;
    });
    announce_ready("udp:" + std::to_string(ntohs(address.sin_port)) + connection.substr(3));
    {
        CStream client = accept_one(listener);
        for (char question = 0; client.receive_all(&question, 1);) {
            const std::uint64_t now = received.load(std::memory_order_relaxed);
            client.send_all(reinterpret_cast<const char*>(&now), sizeof now);
        }
    }
    wait_for_quit();
    const int self = open_datagrams();
    while (!is_over) { // where the queue is full it is dropped
        if (sendto(self, "", 0, 0, reinterpret_cast<const sockaddr*>(&address), size) != 0)
            fail("sendto");
        std::this_thread::yield();
    }
    receiving.join();
    for (const int each : {self, listener, receiver})
        close(each);
    return 0;
}

class DatagramClient final : public Client {
  public:
    explicit DatagramClient(const std::string& reference)
        : socket_(open_datagrams()), connection_(connect_tcp(reference.substr(4)))
    {
        const sockaddr_in address = loopback(std::stoul(reference.substr(4)));
        if (connect(socket_.descriptor(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof address) != 0)
            fail("connect");
    }

    LatencySummary latency(const Exercise& exercise) override
    {
        check(exercise);
        for (std::uint32_t i = 0; i < warm_up_calls; ++i)
            send_one(exercise);
        (void)received();
        const LatencySummary summary = time_each(exercise.calls, [&] { send_one(exercise); });
        (void)received();
        return summary;
    }

    double ttcp_seconds(const Exercise& exercise) override
    {
        transfer(exercise, std::min(exercise.calls, ttcp_warm_up_calls));
        const std::int64_t start = now_ns();
        transfer(exercise, exercise.calls);
        return static_cast<double>(now_ns() - start) / 1e9;
    }

    void call(const Exercise& exercise) override { transfer(exercise, exercise.calls); }

    MessageBytes message_bytes(const Exercise& exercise) override
    {
        return {.request = exercise.request_bytes, .reply = 0};
    }

  private:
    static void check(const Exercise& exercise)
    {
        if (exercise.direction != Direction::oneway || exercise.request_bytes == 0 ||
            exercise.request_bytes > datagram_max)
            throw std::invalid_argument("datagrams carry oneways of 1 to 65,507 octets");
    }

    void send_one(const Exercise& exercise)
    {
        socket_.send_all(buffer_.data(), exercise.request_bytes);
    }

    [[nodiscard]] std::uint64_t received()
    {
        std::uint64_t now = 0;
        connection_.send_all("?", 1);
        if (!connection_.receive_all(reinterpret_cast<char*>(&now), sizeof now))
            throw std::runtime_error("the server closed the connection");
        return now;
    }

    void transfer(const Exercise& exercise, std::uint32_t calls)
    {
        check(exercise);
        const std::uint32_t at_once = datagrams_at_once(exercise.request_bytes);
        std::uint64_t expected = received();
        while (calls > 0) {
            const std::uint32_t some = std::min(calls, at_once);
            for (std::uint32_t i = 0; i < some; ++i)
                send_one(exercise);
            calls -= some;
            expected += std::uint64_t{exercise.request_bytes} * some;
            constexpr int attempts_max = 100'000;
            for (int attempt = 0; received() < expected; ++attempt)
                if (attempt == attempts_max) throw std::runtime_error("datagrams were lost");
        }
    }

    CStream socket_;
    CStream connection_;
    std::vector<char> buffer_ = std::vector<char>(datagram_max, 'k');
};

int run(const std::vector<std::string>& arguments)
{
    if (arguments.size() == 2 && arguments[0] == "client") {
        DatagramClient client(arguments[1]);
        return serve_orders(client);
    }
    if (arguments.size() == 1 && arguments[0] == "server") return serve_datagrams();
    std::cerr << "usage: kairos-bench-udp-raw server\n"
                 "       kairos-bench-udp-raw client REFERENCE\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-udp-raw: " << failure.what() << '\n';
        return 1;
    }
}
