// SPDX-License-Identifier: Apache-2.0
//
// What a child of fork() does with what it inherited of its parent's threads, which it has not.
#pragma once

#include <condition_variable>
#include <memory>

namespace kairos::net {

/// Makes a condition as good as new in a child in which nobody can wait for it yet. Threads of the
/// parent that waited count among those to be woken: in their stead a thread of the child's would
/// sleep on, and whoever notifies or destroys it might wait for them to leave. It is not destroyed
/// here for that reason; it holds nothing but itself.
inline void forget_waiters(std::condition_variable& condition) noexcept
{
    std::construct_at(&condition);
}

} // namespace kairos::net
