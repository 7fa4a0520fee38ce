// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/shared_poller.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <cerrno>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace kairos::net {
namespace {

/// What is watched again may be found ready, served and closed by another thread before epoll_ctl
/// has returned. The system does not mind, and the number is not used behind the call; but
/// ThreadSanitizer takes epoll_ctl for a use that nothing keeps apart from the other's close().
class PassesDescriptorOn {
  public:
    PassesDescriptorOn(const PassesDescriptorOn&) = delete;
    PassesDescriptorOn& operator=(const PassesDescriptorOn&) = delete;
#ifdef __SANITIZE_THREAD__
    PassesDescriptorOn() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
    ~PassesDescriptorOn() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
    PassesDescriptorOn() = default;
    ~PassesDescriptorOn() = default;
#endif
};

std::uint32_t one_shot(Interest interest)
{
    const bool reads =
        interest == Interest::readable || interest == Interest::readable_and_writable;
    const bool writes =
        interest == Interest::writable || interest == Interest::readable_and_writable;
    return EPOLLONESHOT | (reads ? EPOLLIN | EPOLLRDHUP : 0u) | (writes ? EPOLLOUT : 0u);
}

} // namespace

Result<std::unique_ptr<SharedPoller>> SharedPoller::create()
{
    std::unique_ptr<SharedPoller> poller(new SharedPoller);
    poller->epoll_ = system().epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll_ < 0) return system_error("cannot create an epoll set", errno);
    poller->wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poller->wake_ < 0) return system_error("cannot create an eventfd", errno);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (::epoll_ctl(poller->epoll_, EPOLL_CTL_ADD, poller->wake_, &event) != 0)
        return system_error("cannot register an eventfd", errno);
    return poller;
}

SharedPoller::~SharedPoller()
{
    if (wake_ >= 0) ::close(wake_);
    if (epoll_ >= 0) ::close(epoll_);
}

Result<void> SharedPoller::add(int descriptor, Interest interest, void* token)
{
    epoll_event event{.events = one_shot(interest), .data = {.ptr = token}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
    return system_error("cannot watch descriptor " + std::to_string(descriptor), errno);
}

Result<void> SharedPoller::watch(int descriptor, Interest interest, void* token)
{
    epoll_event event{.events = one_shot(interest), .data = {.ptr = token}};
    [[maybe_unused]] const PassesDescriptorOn passes_on;
    if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event) == 0) return {};
    return system_error("cannot watch descriptor " + std::to_string(descriptor), errno);
}

Result<void> SharedPoller::add_for_each(int descriptor, void* token)
{
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.ptr = token}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
    return system_error("cannot watch descriptor " + std::to_string(descriptor), errno);
}

void SharedPoller::remove(int descriptor) noexcept
{
    (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

SharedPoller::Ready SharedPoller::wait() noexcept { return wait_until(-1); }

SharedPoller::Ready SharedPoller::look() noexcept { return wait_until(0); }

SharedPoller::Ready SharedPoller::wait_until(int timeout_ms) noexcept
{
    for (;;) {
        epoll_event event{};
        const int count = ::epoll_wait(epoll_, &event, 1, timeout_ms);
        if (count == 0) return {};
        if (count < 0) {
            KAIROS_CHECK(errno == EINTR);
            continue;
        }
        const bool ended = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
        return {.token = event.data.ptr,
                .readiness = {.readable = ended || (event.events & (EPOLLIN | EPOLLRDHUP)) != 0,
                              .writable = ended || (event.events & EPOLLOUT) != 0,
                              .hung_up = ended}};
    }
}

void SharedPoller::wake_all() noexcept
{
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one); // cannot fail: nobody calls it so often
}

} // namespace kairos::net
