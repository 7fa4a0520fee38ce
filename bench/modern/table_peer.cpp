// SPDX-License-Identifier: Apache-2.0
#include "bench/modern/table_peer.h"

#include "bench/peer.h"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace kairos::bench::modern {
namespace {

constexpr std::uint32_t threads_max = 256;
constexpr std::uint32_t duration_max_ms = 60'000;

Octets made_octets(std::uint32_t count)
{
    Octets octets(count);
    for (std::uint32_t i = 0; i < count; ++i)
        octets[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
    return octets;
}

Structs made_structs(std::uint32_t count)
{
    Structs structs(count);
    for (std::uint32_t i = 0; i < count; ++i)
        structs[i] = {.s = static_cast<std::int16_t>(i),
                      .c = 'k',
                      .l = static_cast<std::int32_t>(i * 3),
                      .o = static_cast<std::uint8_t>(i),
                      .d = i + 0.5};
    return structs;
}

void expect(bool right, const char* what)
{
    if (!right) throw std::runtime_error(std::string(what) + " arrived differently");
}

std::string said(const char* figure, double value)
{
    char text[80];
    std::snprintf(text, sizeof text, "{\"%s\":%.3f}", figure, value);
    return text;
}

template <typename Send>
std::string throughput(std::uint64_t bytes, std::uint32_t calls, std::uint64_t mark, Send&& send)
{
    for (std::uint32_t i = 0; i < std::min(calls, ttcp_warm_up_calls); ++i)
        expect(send() == mark, "the data");
    const std::int64_t start = now_ns();
    for (std::uint32_t i = 0; i < calls; ++i)
        expect(send() == mark, "the data");
    const auto ns = static_cast<double>(std::max<std::int64_t>(1, now_ns() - start));
    return said("mbyte_s", static_cast<double>(bytes) * calls * 1e3 / ns);
}

/// Pings of several threads until a time, whoever has how many.
class Crowd {
  public:
    Crowd(const Connect& connect, std::uint32_t threads, std::uint32_t duration_ms)
        : connect_(connect), calls_(threads), failures_(threads),
          duration_ns_(std::int64_t{duration_ms} * 1'000'000), start_(threads, Begin{&begin_ns_})
    {
    }

    double calls_per_s()
    {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < calls_.size(); ++i)
            threads.emplace_back([this, i] { call(i); });
        for (std::thread& thread : threads)
            thread.join();
        for (const std::exception_ptr& failure : failures_)
            if (failure) std::rethrow_exception(failure);
        std::uint64_t sum = 0;
        for (const std::uint64_t calls : calls_)
            sum += calls;
        return static_cast<double>(sum) * 1e9 / static_cast<double>(duration_ns_);
    }

  private:
    struct Begin {
        std::int64_t* at_ns;
        void operator()() const noexcept { *at_ns = now_ns(); }
    };

    void call(std::size_t place)
    {
        constexpr int warm_up = 20;
        bool started = false;
        try {
            const std::unique_ptr<Connection> connection = connect_();
            for (int i = 0; i < warm_up; ++i)
                connection->ping();
            started = true;
            start_.arrive_and_wait();
            std::uint64_t calls = 0;
            for (const std::int64_t end = begin_ns_ + duration_ns_; now_ns() < end; ++calls)
                connection->ping();
            calls_[place] = calls;
        } catch (...) {
            failures_[place] = std::current_exception();
        }
        if (!started) start_.arrive_and_drop(); // the others begin without it
    }

    const Connect& connect_;
    std::vector<std::uint64_t> calls_;         // each its thread's own until that has ended
    std::vector<std::exception_ptr> failures_; // likewise
    const std::int64_t duration_ns_;
    std::int64_t begin_ns_ = 0; // written when all have arrived, before any goes on
    std::barrier<Begin> start_;
};

std::string execute(Connection& connection, const Connect& connect, const std::string& line)
{
    std::istringstream words(line);
    std::string verb;
    std::uint32_t first = 0;
    std::uint32_t calls = 0;
    words >> verb >> first;
    if (!words || first == 0) throw std::invalid_argument("not an order: " + line);
    if (verb == "ping" && first <= calls_max) {
        for (std::uint32_t i = 0; i < warm_up_calls; ++i)
            connection.ping();
        return said("p50_us", time_each(first, [&] { connection.ping(); }).p50_us);
    }
    words >> calls;
    if (!words || calls == 0 || calls > calls_max)
        throw std::invalid_argument("not an order: " + line);
    if (verb == "octets" && first <= units_max) {
        const Octets octets = made_octets(first);
        connection.prepare(octets);
        expect(connection.octets_back() == octets, "octets");
        return throughput(octets.size(), calls, mark_of(octets),
                          [&] { return connection.send_octets(); });
    }
    if (verb == "structs" && first <= units_max) {
        const Structs structs = made_structs(first);
        connection.prepare(structs);
        expect(connection.structs_back() == structs, "structs");
        return throughput(structs.size() * sizeof(BinStruct), calls, mark_of_structs(structs),
                          [&] { return connection.send_structs(); });
    }
    if (verb == "threads" && first <= threads_max && calls <= duration_max_ms)
        return said("calls_per_s", Crowd(connect, first, calls).calls_per_s());
    throw std::invalid_argument("not an order: " + line);
}

} // namespace

int serve_orders(const Connect& connect)
{
    const std::unique_ptr<Connection> connection = connect();
    connection->ping();
    return serve_lines(
        "client", [&](const std::string& line) { return execute(*connection, connect, line); });
}

int run(int argc, char** argv, const std::function<void(const std::string& kind)>& serve,
        const std::function<std::unique_ptr<Connection>(const std::string& reference,
                                                        const std::string& kind)>& connect)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const auto argument = [&](std::size_t i) {
        return i < arguments.size() ? arguments[i] : std::string{};
    };
    try {
        if (argument(0) == "server") {
            serve(argument(1));
            return 0;
        }
        if (argument(0) == "client" && arguments.size() > 1)
            return serve_orders([&] { return connect(argument(1), argument(2)); });
        std::cerr << "usage: " << argv[0] << " server [KIND] | client REFERENCE [KIND]\n";
        return 2;
    } catch (const std::exception& failure) {
        std::cerr << argv[0] << ": " << failure.what() << '\n';
        return 1;
    }
}

} // namespace kairos::bench::modern
