// SPDX-License-Identifier: Apache-2.0
//
// Observers of threads that are around what a thread does, on its stack.
#pragma once

#include "kairos/base/export.h"

#include <functional>
#include <string>

namespace kairos::net {

/// What a ThreadObserver may be besides: it is not told of the beginning and the end of its threads
/// then, but does what they do.
class KAIROS_API ThreadRunner {
  public:
    /// Called in the thread, by nobody else, before anything else is done in it; the thread ends
    /// when this returns. Has to call `body`, once. `name` is that of the options, whole.
    virtual void run(const std::string& name, const std::function<void()>& body) noexcept = 0;

  protected:
    ~ThreadRunner() = default;
};

} // namespace kairos::net
