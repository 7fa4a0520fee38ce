// SPDX-License-Identifier: Apache-2.0
//
// Sets the sockets of a measured program alike whatever library opens them: this socket() stands
// before libc's. Accepted sockets inherit from the listening one. Any thread.
#include <cstdlib>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/socket.h>

namespace {

/// The orchestrator says how many bytes in KAIROS_BENCH_QUEUE; without it the system's stay.
int requested_queue_bytes()
{
    const char* text = std::getenv("KAIROS_BENCH_QUEUE");
    return text == nullptr ? 0 : std::atoi(text);
}

void set_queues(int descriptor, int bytes)
{
    // The kernel clamps and doubles these for its own use; both directions are set alike.
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/// BBR, the default of some systems, paces a connection by what it once learned from it. Over
/// loopback that is nonsense: a connection that began with a few small messages then runs at half
/// of its speed for a hundred megabytes. Nothing is ever lost here, so that Reno never brakes, and
/// every kernel permits it.
void set_congestion_control(int descriptor)
{
    constexpr std::string_view name = "reno";
    setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), name.size());
}

} // namespace

extern "C" int socket(int domain, int type, int protocol) noexcept
{
    using Socket = int (*)(int, int, int);
    static const auto next = reinterpret_cast<Socket>(dlsym(RTLD_NEXT, "socket"));
    static const int queue_bytes = requested_queue_bytes();
    const int descriptor = next(domain, type, protocol);
    if (descriptor < 0) return descriptor;
    if (queue_bytes > 0) set_queues(descriptor, queue_bytes);
    if (domain == AF_INET || domain == AF_INET6) set_congestion_control(descriptor);
    return descriptor;
}
