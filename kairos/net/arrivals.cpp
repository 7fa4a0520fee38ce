// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/arrivals.h"

#include "kairos/net/system_error.h"

#include <cerrno>
#include <sys/epoll.h>
#include <unistd.h>

namespace kairos::net {

Result<Arrivals> Arrivals::at(int descriptor)
{
    Arrivals arrivals(::epoll_create1(EPOLL_CLOEXEC));
    if (arrivals.descriptor_ < 0) return system_error("cannot create an epoll set", errno);
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = nullptr}};
    if (::epoll_ctl(arrivals.descriptor_, EPOLL_CTL_ADD, descriptor, &event) != 0)
        return system_error("cannot watch a socket", errno);
    return arrivals;
}

Arrivals::~Arrivals()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Arrivals::forget() noexcept
{
    epoll_event event{};
    (void)::epoll_wait(descriptor_, &event, 1, 0);
}

} // namespace kairos::net
