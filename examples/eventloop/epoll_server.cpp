// SPDX-License-Identifier: Apache-2.0
//
// A server in a loop of plain epoll, beside a timer; SIGTERM ends it.
#include "ticking_server.h"

#include <csignal>
#include <cstdint>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

/// Readable after SIGTERM.
int end_descriptor()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

/// Readable a hundred times a second.
int timer_descriptor()
{
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const itimerspec every{.it_interval = {0, 10'000'000}, .it_value = {0, 10'000'000}};
    timerfd_settime(timer, 0, &every, nullptr);
    return timer;
}

void watch(int loop, int descriptor)
{
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    epoll_ctl(loop, EPOLL_CTL_ADD, descriptor, &event);
}

} // namespace

int main(int argc, char** argv)
try {
    const int end = end_descriptor(); // before there are other threads
    const int timer = timer_descriptor();
    TickingServer server(argc, argv);
    const int loop = epoll_create1(EPOLL_CLOEXEC);
    for (const int descriptor : {end, timer, server.descriptor()})
        watch(loop, descriptor);
    for (;;) {
        epoll_event event{};
        if (epoll_wait(loop, &event, 1, -1) != 1) continue;
        if (event.data.fd == end) break;
        if (event.data.fd == timer) {
            std::uint64_t expired = 0;
            if (read(timer, &expired, sizeof expired) == sizeof expired) server.tick();
        } else {
            server.serve();
        }
    }
} catch (const CORBA::Exception& exception) {
    std::cerr << "epoll_server: " << exception.what() << '\n';
    return 1;
}
