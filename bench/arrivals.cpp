// SPDX-License-Identifier: Apache-2.0
#include "bench/arrivals.h"

#include "bench/peer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace kairos::bench {
namespace {

/// When the request of each client arrived that is not dispatched yet; 0: that was not seen. A
/// client has one request at a time.
std::array<std::atomic<std::int64_t>, 256> arrivals_ns;
/// Of the high request: which thread read it, and how often that had lost the processor.
std::atomic<const void*> reader;
std::atomic<long> readers_switches;
/// Of all low requests dispatched so far, when the one that arrived last did; and of those that
/// this thread has dispatched.
std::atomic<std::int64_t> latest_low_ns;
thread_local std::int64_t own_latest_low_ns = 0;
std::atomic<bool> watching;
std::atomic<std::uint64_t> high_requests;
std::atomic<std::uint64_t> stamped;
std::atomic<std::uint64_t> inversions;
std::atomic<bool> raised;

const void* this_thread() noexcept { return &own_latest_low_ns; }

/// How often this thread has lost the processor.
long switches() noexcept
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/// The request that arrived then has not gone straight from its reading to its servant.
bool waited(std::int64_t arrival_ns) noexcept
{
    return reader != this_thread() || own_latest_low_ns > arrival_ns ||
           readers_switches != switches();
}

void dispatched_high(std::int64_t arrival_ns) noexcept
{
    ++high_requests;
    if (arrival_ns == 0) return;
    ++stamped;
    if (latest_low_ns > arrival_ns && waited(arrival_ns)) ++inversions;
}

void dispatched_low(std::int64_t arrival_ns) noexcept
{
    own_latest_low_ns = std::max(own_latest_low_ns, arrival_ns);
    std::int64_t latest = latest_low_ns;
    while (latest < arrival_ns && !latest_low_ns.compare_exchange_weak(latest, arrival_ns)) {
    }
}

} // namespace

void watch_arrivals() noexcept { watching = true; }

void forget_arrivals() noexcept
{
    for (std::atomic<std::int64_t>& arrival_ns : arrivals_ns)
        arrival_ns = 0;
    latest_low_ns = 0;
    high_requests = stamped = inversions = 0;
}

void arrived(std::uint8_t number) noexcept
{
    arrivals_ns[number] = now_ns();
    if (number != 0) return;
    reader = this_thread();
    readers_switches = switches();
}

void dispatched(std::uint8_t number) noexcept
{
    const std::int64_t arrival_ns = arrivals_ns[number].exchange(0);
    if (number == 0)
        dispatched_high(arrival_ns);
    else
        dispatched_low(arrival_ns);
}

void note_raised() noexcept { raised = true; }

Findings arrivals_seen() noexcept
{
    return {.high_requests = high_requests,
            .stamped = stamped,
            .inversions = inversions,
            .raised = raised ? 1u : 0u};
}

} // namespace kairos::bench

extern "C" ssize_t recv(int descriptor, void* buffer, std::size_t size, int flags)
{
    using Recv = ssize_t (*)(int, void*, std::size_t, int);
    static const auto next = reinterpret_cast<Recv>(dlsym(RTLD_NEXT, "recv"));
    const ssize_t received = next(descriptor, buffer, size, flags);
    if (received > 0 && kairos::bench::watching.load(std::memory_order_relaxed))
        kairos::bench::for_each_request(static_cast<const unsigned char*>(buffer),
                                        static_cast<std::size_t>(received), kairos::bench::arrived);
    return received;
}
