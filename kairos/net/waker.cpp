// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/waker.h"

#include "kairos/net/system_error.h"

#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace kairos::net {

Result<Waker> Waker::create()
{
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return system_error("cannot make an eventfd", errno);
    return Waker(descriptor);
}

Waker::Waker(Waker&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Waker::~Waker()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Waker::wake() noexcept
{
    const std::uint64_t one = 1;
    (void)!::write(descriptor_, &one, sizeof one); // full: then it is readable anyway
}

void Waker::clear() noexcept
{
    std::uint64_t count = 0;
    (void)!::read(descriptor_, &count, sizeof count);
}

} // namespace kairos::net
