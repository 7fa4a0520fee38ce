// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/system.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

namespace kairos::net {

constinit const System real_system{
    .socket = &::socket,
    .connect = &::connect,
    .accept4 = &::accept4,
    .open = [](const char* path, int flags) { return ::open(path, flags); },
    .epoll_create1 = &::epoll_create1,
    .timerfd_create = &::timerfd_create,
    .memfd_create = &::memfd_create,
    .pthread_create = &::pthread_create,
    .pthread_setschedparam = &::pthread_setschedparam,
    .getaddrinfo = &::getaddrinfo,
    .on_connected = [](Socket&, const SocketOptions&) {},
    .on_accepted = [](Socket&) {},
    .on_memory = [](Socket&) {},
};

constinit std::atomic<const System*> system_in_use{&real_system};

} // namespace kairos::net
