// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/peer_watch.h"

#include "kairos/net/system_error.h"

#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace kairos::net {

namespace {

constinit std::mutex known_mutex; // guards which watch the process has; held while it forks

extern "C" void lock_known() noexcept { known_mutex.lock(); }
extern "C" void unlock_known() noexcept { known_mutex.unlock(); }

} // namespace

Result<std::shared_ptr<PeerWatch>> PeerWatch::get()
{
    static std::weak_ptr<PeerWatch>& known = *new std::weak_ptr<PeerWatch>; // never destroyed
    static const int registered = ::pthread_atfork(&lock_known, &unlock_known, &unlock_known);
    (void)registered;
    const std::lock_guard lock(known_mutex);
    if (auto watch = known.lock(); watch && watch->is_of_here()) return watch;
    auto waker = Waker::create();
    if (!waker) return waker.error();
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) return system_error("cannot watch peers", errno);
    const std::shared_ptr<PeerWatch> watch(new PeerWatch(epoll, std::move(waker).value()));
    epoll_event event{.events = EPOLLIN, .data = {.fd = watch->waker_.descriptor()}};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, watch->waker_.descriptor(), &event) != 0)
        return system_error("cannot watch peers", errno);
    auto thread = Thread::start({.name = "kairos-peers"}, [&self = *watch] { self.run(); });
    if (!thread) return thread.error();
    watch->thread_ = std::move(thread).value();
    known = watch;
    return watch;
}

PeerWatch::~PeerWatch()
{
    if (is_of_here()) waker_.wake();
    thread_.join();
    ::close(epoll_);
}

Result<void> PeerWatch::add(int descriptor, Watched& watched)
{
    const std::lock_guard lock(mutex_);
    watched_[descriptor] = &watched;
    // Once, and not when there is something to read: that is for others.
    epoll_event event{.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.fd = descriptor}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
    watched_.erase(descriptor);
    return system_error("cannot watch a peer", errno);
}

void PeerWatch::remove(int descriptor) noexcept
{
    if (!is_of_here()) return;
    const std::lock_guard lock(mutex_);
    if (watched_.erase(descriptor) != 0) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void PeerWatch::run() noexcept
{
    for (;;) {
        epoll_event event{};
        const int count = ::epoll_wait(epoll_, &event, 1, -1);
        if (count < 0 && errno != EINTR) return;
        if (count != 1) continue;
        if (event.data.fd == waker_.descriptor()) return;
        note(event.data.fd);
    }
}

/// The number may be another socket's by now.
void PeerWatch::note(int descriptor) noexcept
{
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(descriptor);
    if (found == watched_.end()) return;
    pollfd ended{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
    if (::poll(&ended, 1, 0) > 0) found->second->note_end();
}

} // namespace kairos::net
