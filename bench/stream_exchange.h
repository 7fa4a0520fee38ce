// SPDX-License-Identifier: Apache-2.0
//
// What the yardstick programs do with a byte stream, C sockets and C++ wrappers alike: the same
// exchange, so that only the way to the socket differs. One connection carries all exercises; each
// begins with a Setup record that tells the server what will come. One thread in either program.
//
// A Stream has send_all(data, size), receive_all(data, size) and receive_some(data, size); the last
// two say false or 0 when the other side has closed; all throw when the system refuses.
#pragma once

#include "bench/peer.h"

#include <algorithm>
#include <cstddef>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kairos::bench {

struct Setup {
    std::uint32_t oneway = 0;
    std::uint32_t request_bytes = 0;
    std::uint32_t reply_bytes = 0;
    std::uint32_t calls = 0;
};

template <typename Stream>
bool receive_oneways(Stream& stream, const Setup& setup, std::vector<char>& buffer)
{
    // As ttcp does: whatever is there, at most one buffer a time, until all has come.
    std::uint64_t left = std::uint64_t{setup.request_bytes} * setup.calls;
    while (left > 0) {
        const std::size_t wanted = std::min<std::uint64_t>(left, setup.request_bytes);
        const std::size_t received = stream.receive_some(buffer.data(), wanted);
        if (received == 0) return false;
        left -= received;
    }
    stream.send_all(buffer.data(), 1);
    return true;
}

/// False when the client has closed the connection.
template <typename Stream>
bool serve_exercise(Stream& stream, std::vector<char>& buffer)
{
    Setup setup;
    if (!stream.receive_all(reinterpret_cast<char*>(&setup), sizeof setup)) return false;
    if (setup.request_bytes > message_bytes_max || setup.reply_bytes > message_bytes_max)
        return false;
    buffer.resize(std::max({buffer.size(), std::size_t{setup.request_bytes},
                            std::size_t{setup.reply_bytes}, std::size_t{1}}));
    if (setup.oneway != 0) return receive_oneways(stream, setup, buffer);
    for (std::uint32_t call = 0; call < setup.calls; ++call) {
        if (!stream.receive_all(buffer.data(), setup.request_bytes)) return false;
        stream.send_all(buffer.data(), setup.reply_bytes);
    }
    return true;
}

/// Serves one client after the other until standard input ends, which is looked at between them:
/// a second thread only for that would change what the system's functions do.
template <typename Accept>
int serve_streams(int listener, const std::string& reference, Accept&& accept_stream)
{
    announce_ready(reference);
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
        pollfd waiting[2] = {{.fd = listener, .events = POLLIN, .revents = 0},
                             {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
        if (poll(waiting, 2, -1) < 0) continue;
        if (waiting[1].revents != 0) return 0;
        auto stream = accept_stream();
        while (serve_exercise(stream, buffer)) {
        }
    }
}

template <typename Stream>
class StreamClient final : public Client {
  public:
    explicit StreamClient(Stream stream) : stream_(std::move(stream)) {}

    LatencySummary latency(const Exercise& exercise) override
    {
        call(with_calls(exercise, warm_up_calls));
        prepare(exercise);
        const LatencySummary summary = time_each(exercise.calls, [&] { call_once(exercise); });
        finish(exercise);
        return summary;
    }

    double ttcp_seconds(const Exercise& exercise) override
    {
        call(with_calls(exercise, std::min(exercise.calls, ttcp_warm_up_calls)));
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
            throw std::invalid_argument("sockets need to know the bytes of a call");
        buffer_.resize(std::max({buffer_.size(), std::size_t{exercise.request_bytes},
                                 std::size_t{exercise.reply_bytes}}));
        const Setup setup{.oneway = oneway ? 1u : 0u,
                          .request_bytes = exercise.request_bytes,
                          .reply_bytes = exercise.reply_bytes,
                          .calls = exercise.calls};
        stream_.send_all(reinterpret_cast<const char*>(&setup), sizeof setup);
    }

    void call_once(const Exercise& exercise)
    {
        stream_.send_all(buffer_.data(), exercise.request_bytes);
        if (exercise.direction == Direction::oneway) return;
        if (!stream_.receive_all(buffer_.data(), exercise.reply_bytes))
            throw std::runtime_error("the server closed the connection");
    }

    void finish(const Exercise& exercise)
    {
        if (exercise.direction == Direction::twoway) return;
        char acknowledgement = 0;
        if (!stream_.receive_all(&acknowledgement, 1))
            throw std::runtime_error("the server closed the connection");
    }

    Stream stream_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20, 'k');
};

} // namespace kairos::bench
