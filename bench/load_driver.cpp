// SPDX-License-Identifier: Apache-2.0
#include "bench/load_driver.h"

#include "bench/peer.h"
#include "bench/realtime.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <time.h>
#include <vector>

namespace kairos::bench {
namespace {

/// Of each client, before the clock runs: connections are made and buffers have grown.
constexpr int warm_up_per_client = 5;

void sleep_until(std::int64_t nanoseconds)
{
    const timespec until{.tv_sec = nanoseconds / 1'000'000'000,
                         .tv_nsec = nanoseconds % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

void call_checked(const CubeCall& call, std::uint8_t number)
{
    if (call(number) != cubed(number)) throw std::runtime_error("the cube of an octet is wrong");
}

struct LowClient {
    LatencyHistogram latencies;
    std::int64_t end_ns = 0; ///< of its last call
};

class Run {
  public:
    Run(const Load& load, const Connect& connect)
        : load_(load), connect_(connect), low_(load.low_clients),
          ready_(static_cast<std::ptrdiff_t>(threads())), start_(1)
    {
    }

    LoadFigures execute(const OnReady& on_ready)
    {
        std::vector<std::thread> running;
        try {
            for (std::uint32_t i = 0; i < load_.low_clients; ++i)
                running.emplace_back([this, i] {
                    guarded(false, number_of_client(i), [&](auto& call) { low(i, call); });
                });
            if (load_.high_calls > 0)
                running.emplace_back([this] { guarded(true, 0, [&](auto& call) { high(call); }); });
        } catch (const std::exception&) {
            fail(std::current_exception());
            ready_.count_down(static_cast<std::ptrdiff_t>(threads() - running.size()));
        }
        ready_.wait();
        try {
            on_ready();
        } catch (const std::exception&) {
            fail(std::current_exception());
        }
        begin_ns_ = now_ns();
        start_.count_down();
        if (load_.high_calls == 0) {
            sleep_until(begin_ns_ + std::int64_t{load_.duration_ms} * 1'000'000);
            ended_ = true;
        }
        for (std::thread& thread : running)
            thread.join();
        if (failure_) std::rethrow_exception(failure_);
        return figures();
    }

  private:
    [[nodiscard]] std::size_t threads() const
    {
        return load_.low_clients + (load_.high_calls > 0 ? 1u : 0u);
    }

    /// A client's thread: whatever happens, the others are not left waiting for it.
    template <typename Body>
    void guarded(bool is_high, std::uint8_t number, Body&& body)
    {
        CubeCall call;
        try {
            if (is_high) realtime_ = raise_this_thread(); // before ORBs ask what it is
            call = connect_(is_high);
            for (int i = 0; i < warm_up_per_client; ++i)
                call_checked(call, number);
        } catch (...) {
            fail(std::current_exception());
        }
        ready_.count_down();
        start_.wait();
        if (ended_) return;
        try {
            body(call);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    void high(const CubeCall& call)
    {
        std::vector<std::int64_t> samples(load_.high_calls);
        const std::int64_t period = 1'000'000'000 / load_.high_hz;
        std::int64_t next = begin_ns_;
        for (std::int64_t& sample : samples) {
            sleep_until(next += period);
            const std::int64_t start = now_ns();
            call_checked(call, 0);
            sample = now_ns() - start;
            next = std::max(next, start + sample - period); // what was missed is not made up for
            if (ended_) return;
        }
        ended_ = true;
        high_ = summarize(samples);
    }

    void low(std::uint32_t client, const CubeCall& call)
    {
        const std::uint8_t number = number_of_client(client);
        const std::int64_t period = load_.low_hz > 0 ? 1'000'000'000 / load_.low_hz : 0;
        std::int64_t next = begin_ns_;
        do {
            if (period > 0) sleep_until(next += period);
            const std::int64_t start = now_ns();
            call_checked(call, number);
            const std::int64_t end = now_ns();
            low_[client].latencies.add(end - start);
            low_[client].end_ns = end;
            if (period > 0) next = std::max(next, end - period);
        } while (!ended_);
    }

    void fail(std::exception_ptr failure)
    {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_) failure_ = std::move(failure);
        ended_ = true;
    }

    [[nodiscard]] LoadFigures figures() const
    {
        auto all = std::make_unique<LatencyHistogram>();
        std::int64_t end_ns = begin_ns_ + 1;
        for (const LowClient& one : low_) {
            all->merge(one.latencies);
            end_ns = std::max(end_ns, one.end_ns); // its calls count until then
        }
        return {.high = high_,
                .low = all->summary(),
                .low_calls_per_s = static_cast<double>(all->count()) * 1e9 /
                                   static_cast<double>(end_ns - begin_ns_),
                .realtime = realtime_};
    }

    const Load& load_;
    const Connect& connect_;
    std::vector<LowClient> low_; // each its thread's own until that has ended
    LatencySummary high_;        // the high thread's own, likewise
    bool realtime_ = false;      // likewise
    std::latch ready_;
    std::latch start_;
    std::int64_t begin_ns_ = 0; // written before start_ opens
    std::atomic<bool> ended_ = false;
    std::mutex failure_mutex_; // guards failure_
    std::exception_ptr failure_;
};

} // namespace

LoadFigures run_load(const Load& load, const Connect& connect, const OnReady& on_ready)
{
    return Run(load, connect).execute(on_ready);
}

} // namespace kairos::bench
