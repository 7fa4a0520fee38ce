// SPDX-License-Identifier: Apache-2.0
//
// The functions of the system that this module may be refused, as a table: what opens sockets,
// connections, memory and threads, and asks for names. The library has one table and never another;
// tests put their own in its place (tests/faults). Nothing here is on the way of a call, which
// reads and writes its descriptor itself. docs/decisions/0011 says why it is so.
#pragma once

#include <atomic>
#include <cstddef>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

namespace kairos::net {

class Socket;
struct SocketOptions;

/// Each function means what the system's of the same name means, errno included.
struct System {
    int (*socket)(int family, int type, int protocol);
    int (*connect)(int descriptor, const sockaddr* address, socklen_t size);
    int (*accept4)(int descriptor, sockaddr* peer, socklen_t* size, int flags);
    /// Of files that are there: it makes none.
    int (*open)(const char* path, int flags);
    int (*epoll_create1)(int flags);
    int (*timerfd_create)(clockid_t clock, int flags);
    int (*memfd_create)(const char* name, unsigned flags);
    int (*pthread_create)(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument);
    int (*pthread_setschedparam)(pthread_t thread, int policy, const sched_param* parameter);
    int (*getaddrinfo)(const char* host, const char* service, const addrinfo* hints,
                       addrinfo** found);

    /// Told of each connection that net::connect() has made with these options, before anybody else
    /// has it. May replace the socket, or give it a channel. The system's own does nothing.
    void (*on_connected)(Socket& socket, const SocketOptions& options);
    /// Told of each connection that an Acceptor has accepted, before anybody else has it. May
    /// replace the socket, or give it a channel. The system's own does nothing.
    void (*on_accepted)(Socket& socket);
    /// Told of each socket that has got shared memory (Socket::offer_memory). May replace its
    /// channel. The system's own does nothing.
    void (*on_memory)(Socket& socket);
};

/// The system itself.
extern const System real_system;

/// The table in use. Any thread; whoever puts another there keeps it for as long as the process.
extern std::atomic<const System*> system_in_use;

[[nodiscard]] inline const System& system() noexcept
{
    return *system_in_use.load(std::memory_order_acquire);
}

} // namespace kairos::net
