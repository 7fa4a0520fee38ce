// SPDX-License-Identifier: Apache-2.0
//
// Operations whose IDL says by when they must have ended (docs/scheduling.md): their skeletons
// measure that, and somebody is told when it was too late. What has no timing in its IDL is not
// measured.
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/operation_timing.h"

#include <cstdint>

namespace kairos::orb {

class Upcall;

/// One execution of such an operation, on the stack of its skeleton.
class KAIROS_API TimedUpcall {
  public:
    /// `timing` has a deadline. Throws CORBA::TIMEOUT, COMPLETED_NO, if that has passed and
    /// -ORBLateCalls says so.
    TimedUpcall(Upcall& upcall, const OperationTiming& timing);
    /// The operation has ended with an exception, unless end() was called.
    ~TimedUpcall();
    TimedUpcall(const TimedUpcall&) = delete;
    TimedUpcall& operator=(const TimedUpcall&) = delete;

    /// Behind the reply. Throws CORBA::TIMEOUT, COMPLETED_YES, instead of it if it comes too late
    /// and -ORBLateCalls says so.
    void end();

  private:
    [[nodiscard]] bool note_if_late(bool executed) noexcept;

    Upcall& upcall_;
    const OperationTiming& timing_;
    const std::int64_t released_ns_; // since the epoch of std::chrono::steady_clock
    const bool refuses_;
    bool ended_ = false;
};

} // namespace kairos::orb
