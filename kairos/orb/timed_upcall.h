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
    /// Begins an execution; `timing` has a deadline. Throws CORBA::TIMEOUT, COMPLETED_NO, if that
    /// has passed and -ORBLateCalls says so.
    TimedUpcall(Upcall& upcall, const OperationTiming& timing);
    /// Ends an execution: with an exception of the operation, unless end() was called.
    ~TimedUpcall();
    TimedUpcall(const TimedUpcall&) = delete;
    TimedUpcall& operator=(const TimedUpcall&) = delete;

    /// Ends an execution after the operation has returned. Throws CORBA::TIMEOUT, COMPLETED_YES, in
    /// place of the reply if it ended too late and -ORBLateCalls says so.
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
