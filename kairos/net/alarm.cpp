// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/alarm.h"

#include "kairos/net/system.h"
#include "kairos/net/system_error.h"

#include <cerrno>
#include <ctime>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

namespace kairos::net {

Result<Alarm> Alarm::create()
{
    const int descriptor = system().timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor < 0) return system_error("cannot make a timerfd", errno);
    return Alarm(descriptor);
}

Alarm::Alarm(Alarm&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Alarm::~Alarm()
{
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Alarm::set(std::chrono::nanoseconds time) noexcept
{
    KAIROS_CHECK(time.count() > 0); // zero would clear it
    set_to(time);
}

void Alarm::clear() noexcept { set_to({}); }

void Alarm::set_to(std::chrono::nanoseconds time) noexcept
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    itimerspec when{};
    when.it_value = {.tv_sec = static_cast<std::time_t>(seconds.count()),
                     .tv_nsec = static_cast<long>((time - seconds).count())};
    KAIROS_CHECK(::timerfd_settime(descriptor_, 0, &when, nullptr) == 0);
}

} // namespace kairos::net
