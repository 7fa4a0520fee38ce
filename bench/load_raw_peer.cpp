// SPDX-License-Identifier: Apache-2.0
//
// The yardstick of the priority and concurrency experiments: blocking sockets, a connection for
// each client and a thread of the server for each connection. With "raise" the server's thread for
// the high client runs in real-time priority: the floor that an ORB can reach.
#include "bench/c_stream.h"
#include "bench/load_driver.h"
#include "bench/load_servants.h"
#include "bench/peer.h"
#include "bench/raw_hello.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kairos::bench {
namespace {

constexpr std::uint32_t message_max = 4096;

template <typename Record>
bool receive(CStream& stream, Record& record)
{
    return stream.receive_all(reinterpret_cast<char*>(&record), sizeof record);
}

template <typename Record>
void send(CStream& stream, const Record& record)
{
    stream.send_all(reinterpret_cast<const char*>(&record), sizeof record);
}

/// The last octet of a request is the number, as it is in GIOP; the last of a reply its cube.
template <typename Cube>
void serve_cubes(CStream& stream, const RawHello& hello, Cube& cube)
{
    char buffer[message_max] = {};
    while (stream.receive_all(buffer, hello.request_bytes)) {
        const auto number = static_cast<std::uint8_t>(buffer[hello.request_bytes - 1]);
        arrived(number);
        buffer[hello.reply_bytes - 1] = static_cast<char>(cube.cube(number));
        stream.send_all(buffer, hello.reply_bytes);
    }
}

class Server {
  public:
    explicit Server(bool raises) : high_(raises) {}

    void serve(CStream stream)
    {
        RawHello hello;
        if (!receive(stream, hello)) return;
        const auto possible = [](std::uint32_t bytes) { return bytes > 0 && bytes <= message_max; };
        if (!possible(hello.request_bytes) || !possible(hello.reply_bytes)) return;
        if (hello.who == RawHello::high)
            serve_cubes(stream, hello, high_);
        else if (hello.who == RawHello::low)
            serve_cubes(stream, hello, low_);
        else
            observe(stream);
    }

  private:
    /// A number asks to begin with so much computing, its successor for what was seen since.
    void observe(CStream& stream)
    {
        std::uint32_t compute_us = 0;
        std::uint32_t end = 0;
        while (receive(stream, compute_us)) {
            forget_arrivals();
            low_.set_compute(compute_us);
            send(stream, std::uint32_t{0}); // done
            if (!receive(stream, end)) return;
            send(stream, arrivals_seen());
        }
    }

    HighCube high_;
    LowCube low_;
};

int serve(bool raises)
{
    Server server(raises);
    std::string reference;
    const int listener = listen_tcp(reference);
    std::thread([&server, listener] {
        for (;;) {
            auto stream = std::make_shared<CStream>(accept_one(listener));
            std::thread([&server, stream] {
                try {
                    server.serve(std::move(*stream));
                } catch (const std::exception&) { // the client has gone without reading its reply
                }
            }).detach();
        }
    }).detach();
    announce_ready(reference);
    wait_for_quit();
    std::_Exit(0); // nobody joins the threads, which wait for clients
}

class LoadClient {
  public:
    explicit LoadClient(std::string reference)
        : reference_(std::move(reference)), observer_(introduced({.who = RawHello::observer}))
    {
    }

    std::string execute(const std::string& line)
    {
        const auto load = parse_load(line);
        if (!load || load->request_bytes == 0 || load->reply_bytes == 0)
            throw std::invalid_argument("not a load with bytes: " + line);
        const LoadFigures figures = run_load(
            *load, [&](bool high) { return connect_client(high, *load); },
            [&] { begin(load->compute_us); });
        Findings findings;
        send(observer_, std::uint32_t{0});
        if (!receive(observer_, findings))
            throw std::runtime_error("the server closed the connection");
        return format_answer(figures, findings);
    }

  private:
    void begin(std::uint32_t compute_us)
    {
        std::uint32_t done = 0;
        send(observer_, compute_us);
        if (!receive(observer_, done)) throw std::runtime_error("the server closed the connection");
    }

    [[nodiscard]] CStream introduced(const RawHello& hello) const
    {
        CStream stream = connect_tcp(reference_);
        send(stream, hello);
        return stream;
    }

    [[nodiscard]] CubeCall connect_client(bool high, const Load& load) const
    {
        struct Connection {
            CStream stream;
            std::vector<char> request;
            std::vector<char> reply;
        };
        auto to = std::make_shared<Connection>(
            Connection{.stream = introduced({.who = high ? RawHello::high : RawHello::low,
                                             .request_bytes = load.request_bytes,
                                             .reply_bytes = load.reply_bytes}),
                       .request = std::vector<char>(load.request_bytes),
                       .reply = std::vector<char>(load.reply_bytes)});
        return [to](std::uint8_t number) {
            to->request.back() = static_cast<char>(number);
            to->stream.send_all(to->request.data(), to->request.size());
            if (!to->stream.receive_all(to->reply.data(), to->reply.size()))
                throw std::runtime_error("the server closed the connection");
            return static_cast<std::uint8_t>(to->reply.back());
        };
    }

    std::string reference_;
    CStream observer_;
};

int run(const std::vector<std::string>& arguments)
{
    const std::string role = arguments.empty() ? "" : arguments[0];
    if (role == "server" && arguments.size() <= 2)
        return serve(arguments.size() == 2 && arguments[1] == "raise");
    if (role == "client" && arguments.size() == 2) {
        LoadClient client(arguments[1]);
        return serve_lines("client", [&](const std::string& line) { return client.execute(line); });
    }
    std::cerr << "usage: kairos-bench-load-raw server [raise]\n"
                 "       kairos-bench-load-raw client REFERENCE\n";
    return 2;
}

} // namespace
} // namespace kairos::bench

int main(int argc, char** argv)
{
    try {
        return kairos::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& failure) {
        std::cerr << "kairos-bench-load-raw: " << failure.what() << '\n';
        return 1;
    }
}
