// SPDX-License-Identifier: Apache-2.0
//
// Threads that may not have real-time priorities, whatever the process may.
#pragma once

#include <gtest/gtest.h>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kairos::orb_testing {

/// Takes the right to real-time priorities away from the calling thread, and from those that it
/// starts.
inline void give_up_real_time()
{
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct data[2]{};
    ASSERT_EQ(::syscall(SYS_capget, &header, data), 0);
    data[0].effective &= ~(1u << CAP_SYS_NICE);
    ASSERT_EQ(::syscall(SYS_capset, &header, data), 0);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_RTPRIO, &limit), 0);
    limit.rlim_cur = 0;
    ASSERT_EQ(::setrlimit(RLIMIT_RTPRIO, &limit), 0);
}

} // namespace kairos::orb_testing
