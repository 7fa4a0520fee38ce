// SPDX-License-Identifier: Apache-2.0
//
// Which process this is. After fork() a child has its parent's objects but not its threads, and
// what the system shares between the two (sockets, epoll instances, files) is the parent's still.
// Whoever has any of that asks whether it was made here. Any thread.
#pragma once

#include "kairos/base/export.h"

namespace kairos::net {

/// How many forks have led here since it was first asked for. Another number than before: this is a
/// child of the process that asked then.
[[nodiscard]] KAIROS_API unsigned fork_count() noexcept;

/// A member of something that belongs to the process which has made it: tells whether the calling
/// process is that one.
class MadeHere {
  public:
    MadeHere() noexcept : by_(fork_count()) {}
    [[nodiscard]] bool here() const noexcept { return by_ == fork_count(); }

  private:
    unsigned by_;
};

} // namespace kairos::net
