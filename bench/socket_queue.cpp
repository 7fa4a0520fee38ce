// SPDX-License-Identifier: Apache-2.0
//
// Sets the socket queues of a measured program whatever library opens its sockets: this socket()
// stands before libc's. Accepted sockets inherit the sizes of the listening one. The orchestrator
// says how many bytes in KAIROS_BENCH_QUEUE; without it nothing changes. Any thread.
#include <cstdlib>
#include <dlfcn.h>
#include <sys/socket.h>

namespace {

int requested_queue_bytes()
{
    const char* text = std::getenv("KAIROS_BENCH_QUEUE");
    return text == nullptr ? 0 : std::atoi(text);
}

} // namespace

extern "C" int socket(int domain, int type, int protocol) noexcept
{
    using Socket = int (*)(int, int, int);
    static const auto next = reinterpret_cast<Socket>(dlsym(RTLD_NEXT, "socket"));
    static const int queue_bytes = requested_queue_bytes();
    const int descriptor = next(domain, type, protocol);
    if (descriptor >= 0 && queue_bytes > 0) {
        // The kernel clamps and doubles these for its own use; both directions are set alike.
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &queue_bytes, sizeof queue_bytes);
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &queue_bytes, sizeof queue_bytes);
    }
    return descriptor;
}
